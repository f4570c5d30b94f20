use sarek::prelude::*;

#[kernel]
fn double(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 2.0 * x[i];
}

#[kernel_test(double)]
fn doubles(x: &[f32], y: &mut [f32]) -> f32 {
    y[0] = x[0];
    y[0]
}

fn main() {}
