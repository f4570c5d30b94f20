use sarek::prelude::*;

#[kernel(requires(width <= stride + 1))]
fn wrong(width: usize, stride: usize, y: &mut [u32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width {
        y[row * stride + col] = 1;
    }
}

fn main() {}
