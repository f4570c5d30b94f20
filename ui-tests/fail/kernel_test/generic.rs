use sarek::prelude::*;

#[kernel]
fn double(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 2.0 * x[i];
}

#[kernel_test(double)]
fn doubles<T>(x: &[T], y: &mut [T]) {}

fn main() {}
