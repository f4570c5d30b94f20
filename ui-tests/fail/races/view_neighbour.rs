use sarek::prelude::*;

#[kernel]
fn wrong(mut x: ViewMut2<f32>) {
    let row = global_idx_y();
    let col = global_idx_x();
    let right = x[[row, col + 1]];
    x[[row, col]] = right;
}

fn main() {}
