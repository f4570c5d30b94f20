use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y.swap(i, 0);
}

fn main() {}
