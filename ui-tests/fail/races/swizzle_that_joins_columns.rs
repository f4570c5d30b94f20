//! `|` maps two columns to one, while `^` would not.

use sarek::prelude::*;

#[kernel(block = (8, 8))]
fn wrong(y: &mut [u32]) {
    let tile = shared_array::<[u32; 8], 8>();
    let (col, row) = (thread_idx_x(), thread_idx_y());
    tile[row][col | row] = col as u32;
    barrier();
    y[global_idx_y() * global_dim_x() + global_idx_x()] = tile[col][row];
}

fn main() {}
