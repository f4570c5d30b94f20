use sarek::prelude::*;

#[device]
fn left(x: f32) -> f32 {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    tile[t] = x;
    barrier();
    tile[63 - t]
}

fn main() {}
