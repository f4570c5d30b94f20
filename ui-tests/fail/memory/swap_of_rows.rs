use sarek::prelude::*;

#[kernel(block = 8)]
fn wrong(x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<[f32; 8], 8>();
    let i = global_idx_x();
    tile[0][thread_idx_x()] = x[i];
    barrier();
    if thread_idx_x() == 0 {
        tile.swap(0, 1);
    }
    x.swap(i, 0);
    y[i] = x[i];
}

fn main() {}
