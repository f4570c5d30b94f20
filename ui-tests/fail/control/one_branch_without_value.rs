use sarek::prelude::*;

#[kernel]
fn sign(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let s = if x[i] < 0.0 { -1.0 } else { y[i] = 1.0; };
    y[i] = s;
}

fn main() {}
