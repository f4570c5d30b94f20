use sarek::prelude::*;

#[device]
fn put(tile: &mut [f32], at: usize, x: f32) {
    tile[at] = x;
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let i = global_idx_x();
    put(tile, i % 7, x[i]);
    barrier();
    out[i] = tile[thread_idx_x()];
}

fn main() {}
