use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    tile[0] = 1.0;
    barrier();
    out[global_idx_x()] = tile[0];
}

fn main() {}
