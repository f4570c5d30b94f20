use sarek::prelude::*;

#[device]
fn last<const N: usize>(x: &[f32; N]) -> f32 {
    x[N - 1]
}

#[kernel]
fn k(y: &mut [f32]) {
    let own = [1.0f32, 2.0];
    y[global_idx_x()] = last(&own);
}

fn main() {}
