use sarek::prelude::*;

#[kernel]
fn wrong(count: &[Atomic<u32>], out: &mut [u32]) {
    out[global_idx_x()] = count[0];
    count[1] = 3;
}

fn main() {}
