use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let tile = shared_array![f32; 64];
    y[i] = tile[0];
}

fn main() {}
