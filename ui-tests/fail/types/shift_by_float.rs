use sarek::prelude::*;

#[kernel]
fn wrong(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = x[i] << 1.5;
}

fn main() {}
