use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let tile = shared_array::<[f32; 17], 16>();
    tile[thread_idx_y()][thread_idx_x()] = 1.0;
    barrier();
    out[global_idx_x()] = tile[0][17];
}

fn main() {}
