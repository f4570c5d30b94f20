use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = 3_000_000_000;
}

fn main() {}
