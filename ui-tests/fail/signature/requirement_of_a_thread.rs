use sarek::prelude::*;

#[kernel(requires(global_idx_x() < n))]
fn wrong(n: usize, y: &mut [u32]) {
    y[global_idx_x()] = n as u32;
}

fn main() {}
