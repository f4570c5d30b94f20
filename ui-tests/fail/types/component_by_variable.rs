use sarek::prelude::*;

#[kernel]
fn pick(k: usize, x: &[f32x4], y: &mut [f32]) {
    let i = global_idx_x();
    let v: f32x4 = x[i];
    y[i] = v[k];
}

fn main() {}
