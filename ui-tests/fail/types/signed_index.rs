use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let j: i32 = 3;
    y[i] = x[j];
}

fn main() {}
