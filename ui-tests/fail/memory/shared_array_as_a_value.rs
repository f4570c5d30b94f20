use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let other = tile;
    out[global_idx_x()] = other[0];
}

fn main() {}
