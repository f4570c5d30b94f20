use sarek::prelude::*;

#[kernel(strict)]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = subgroup_sum(x[i]);
}

fn main() {}
