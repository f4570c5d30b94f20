use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = if x[i] > 0.0 { 1.0 };
}

fn main() {}
