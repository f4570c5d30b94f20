use sarek::prelude::*;

#[kernel]
fn copy(n: u32, y: &mut [u32]) {
    y[global_idx_x()] = *n;
}

fn main() {}
