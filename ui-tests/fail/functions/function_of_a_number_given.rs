use sarek::prelude::*;

#[device]
fn apply(f: impl Fn(f32) -> f32, x: f32) -> f32 {
    f(x)
}

#[kernel]
pub fn roots(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = apply(f32::sqrt, x[i]);
    }
}

fn main() {}
