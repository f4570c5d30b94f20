use sarek::prelude::*;

#[device]
fn turned(tile: &mut [[f32; 16]], x: f32) -> f32 {
    let (column, row) = (thread_idx_x(), thread_idx_y());
    tile[row][column] = x;
    let other = tile[column][row];
    barrier();
    other
}

#[kernel(block = (16, 16))]
fn k(x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<[f32; 16], 16>();
    let i = global_idx_y() * global_dim_x() + global_idx_x();
    y[i] = turned(tile, x[i]);
}

fn main() {}
