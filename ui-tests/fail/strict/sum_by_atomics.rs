use sarek::prelude::*;

#[kernel(strict)]
fn wrong(x: &[f32], sums: &[Atomic<f32>]) {
    let i = global_idx_x();
    sums[0].fetch_add(x[i]);
}

fn main() {}
