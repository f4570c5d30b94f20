use sarek::prelude::*;

#[kernel(requires(n + 1))]
fn wrong(n: usize, y: &mut [u32]) {
    y[global_idx_x()] = n as u32;
}

fn main() {}
