use sarek::prelude::*;

#[device]
fn mirrored(tile: &mut [f32], x: f32) -> f32 {
    let t = thread_idx_x();
    tile[t] = x;
    barrier();
    let other = tile[63 - t];
    barrier();
    other
}

#[kernel(block = 64)]
fn wrong(x: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let i = global_idx_x();
    tile[thread_idx_x()] = 1.0;
    out[i] = mirrored(tile, x[i]);
}

fn main() {}
