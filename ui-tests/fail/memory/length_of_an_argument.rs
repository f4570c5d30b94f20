use sarek::prelude::*;

#[kernel]
fn fill(n: usize, y: &mut [f32]) {
    let part = [0.0f32; n];
    y[global_idx_x()] = part[0];
}

fn main() {}
