use sarek::prelude::*;

#[device]
fn area(r: f32) -> f32 {
    r * r
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = area(x[i], 2.0);
}

fn main() {}
