use sarek::prelude::*;

#[kernel]
fn k(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let all: Vec<f32> = Vec::new();
    let map: std::collections::HashMap<u32, f32> = Default::default();
    y[i] = x[i];
}

fn main() {}
