use sarek::prelude::*;

#[kernel]
fn wrong(n: u32, out: &mut [u32]) {
    let i = global_idx_x();
    n += 1;
    out[i] = n;
}

fn main() {}
