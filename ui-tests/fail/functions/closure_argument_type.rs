use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let f = |a: f32| a * 2.0;
    y[i] = f(1u32);
}

fn main() {}
