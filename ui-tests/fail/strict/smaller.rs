use sarek::prelude::*;

#[kernel(strict)]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = x[i].min(0.0);
}

fn main() {}
