use sarek::prelude::*;

#[device]
fn sum<const N: usize>(x: &[f32]) -> f32 {
    let mut s = 0.0;
    for k in 0..N {
        s += x[k];
    }
    s
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = sum::<f32>(x);
}

fn main() {}
