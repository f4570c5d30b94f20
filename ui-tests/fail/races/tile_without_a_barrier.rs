use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    out[global_idx_x()] = tile[63 - t];
}

fn main() {}
