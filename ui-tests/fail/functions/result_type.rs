use sarek::prelude::*;

#[device]
fn area(r: f32) -> f32 {
    r * r
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let r: u32 = area(x[i]);
    y[i] = r as f32;
}

fn main() {}
