use sarek::prelude::*;

#[kernel]
fn wrong(count: &[Atomic<u8>], out: &mut [f32]) {
    out[global_idx_x()] = 1.0;
}

fn main() {}
