use sarek::prelude::*;

#[derive(Clone, Copy)]
struct Plain {
    value: f32,
}

#[kernel]
fn wrong(out: &mut [f32]) {
    let tile = shared_array::<Plain, 64>();
    tile[thread_idx_x()] = Plain { value: 1.0 };
    out[global_idx_x()] = 1.0;
}

fn main() {}
