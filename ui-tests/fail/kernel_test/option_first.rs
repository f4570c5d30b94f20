use sarek::prelude::*;

#[kernel]
fn double(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 2.0 * x[i];
}

#[kernel_test(ulps = 2)]
fn doubles(x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = 2.0 * x;
    }
}

fn main() {}
