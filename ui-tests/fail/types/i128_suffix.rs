use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u32]) {
    let i = global_idx_x();
    let x = 3i128;
    out[i] = 1;
}

fn main() {}
