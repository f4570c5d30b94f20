use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let (a, b, c) = (x[i], 1.0);
    y[i] = a + b;
}

fn main() {}
