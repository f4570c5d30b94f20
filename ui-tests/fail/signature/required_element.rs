use sarek::prelude::*;

#[kernel(requires(x[0] < n))]
fn fill(n: u32, x: &[u32], y: &mut [u32]) {
    y[global_idx_x()] = n + x[0];
}

fn main() {}
