//! Stores that are proved despite unusual indices: reversed, several per thread, and at the width of the launch.

use sarek::prelude::*;

#[kernel]
fn reversed(out: &mut [u32]) {
    let i = global_idx_x();
    let n = out.len();
    if i < n {
        out[n - 1 - i] = i as u32;
    }
}

#[kernel]
fn fours(out: &mut [u32]) {
    let first = 4 * global_idx_x();
    for k in 0..4 {
        out[first + k] = k as u32;
    }
}

#[kernel]
fn launched_width(out: &mut [u32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    out[y * global_dim_x() + x] = (10 * y + x) as u32;
}

#[kernel(requires(width <= stride))]
fn padded(width: usize, stride: usize, out: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < width {
        out[row * stride + col] = 1;
    }
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::zeros(4);
    reversed(&mut out).over(4).run()?;
    assert_eq!(out.to_vec()?, [3, 2, 1, 0]);
    fours(&mut out).over(1).run()?;
    assert_eq!(out.to_vec()?, [0, 1, 2, 3]);
    launched_width(&mut out).over((2, 2)).run()?;
    assert_eq!(out.to_vec()?, [0, 1, 10, 11]);
    let mut out = Vector::zeros(6);
    padded(2, 3, &mut out).over((2, 2)).run()?;
    assert_eq!(out.to_vec()?, [1, 1, 0, 1, 1, 0]);
    Ok(())
}
