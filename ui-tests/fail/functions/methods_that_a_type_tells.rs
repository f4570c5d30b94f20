use sarek::prelude::*;

#[device]
fn half(a: u32) -> Option<u32> {
    if a % 2 == 0 { Some(a / 2) } else { None }
}

#[device]
fn all(a: f32) -> f32x4 {
    f32x4::splat(a)
}

#[kernel]
fn k(y: &mut [f32]) {
    let i = global_idx_x();
    let found = half(i as u32);
    let vector = all(1.0);
    y[i] = found.unwrap_or(3) as f32 + vector.dot(vector);
}

fn main() {}
