use sarek::prelude::*;

#[device]
fn halved<T: Float>(x: T) -> T {
    let y: f32 = x;
    y * 0.5
}

#[kernel]
fn scale<T: Float>(x: &mut [T]) {
    let i = global_idx_x();
    x[i] = halved(x[i]) * 2.0;
    if x[i] > 1 {
        x[i] = 0.0f32;
    }
}

fn main() {}
