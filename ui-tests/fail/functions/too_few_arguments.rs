use sarek::prelude::*;

#[device]
fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

#[kernel]
fn wrong(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = mix(x[i], 1.0);
}

fn main() {}
