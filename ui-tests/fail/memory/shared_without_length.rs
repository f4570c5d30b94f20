use sarek::prelude::*;

#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    let tile = shared_array::<f32>();
    y[global_idx_x()] = tile[0];
}

fn main() {}
