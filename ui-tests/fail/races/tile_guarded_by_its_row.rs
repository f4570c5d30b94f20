use sarek::prelude::*;

#[kernel(block = (16, 16))]
fn wrong(height: usize, y: &mut [u32]) {
    let col = block_idx_y() * 16 + thread_idx_x();
    let row = block_idx_x() * 16 + thread_idx_y();
    if row < height {
        y[row * height + col] = 1;
    }
}

fn main() {}
