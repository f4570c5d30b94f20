use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let f = |a: f32, b: f32| a * b;
    y[i] = f(x[i]);
}

fn main() {}
