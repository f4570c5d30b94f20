//! Conway's game of life on a torus. A cell is 0, or the number of generations that it has lived.

use sarek::prelude::*;

use crate::{Pixels, colour};

#[kernel]
fn live(width: usize, height: usize, old: &[u32], new: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let mut neighbours = 0;
    for dy in 0..3 {
        for dx in 0..3 {
            let row = (y + height + dy - 1) % height;
            let col = (x + width + dx - 1) % width;
            if (dx != 1 || dy != 1) && old[row * width + col] > 0 {
                neighbours += 1;
            }
        }
    }
    let at = y * width + x;
    let age = old[at];
    new[at] = if neighbours == 3 || (neighbours == 2 && age > 0) {
        age + 1
    } else {
        0
    };
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    // Cells are drawn as squares of 4 x 4 pixels.
    let (w, h) = (width.div_ceil(4), height.div_ceil(4));
    let soup = (0..w * h)
        .map(|at| u32::from(colour::hash(at as u32) % 100 < 30))
        .collect();
    let (mut old, mut new) = (Vector::from_vec(soup), Vector::zeros(w * h));
    for _ in 0..steps {
        live(w, h, &old, &mut new).over((w, h)).run_on(device)?;
        std::mem::swap(&mut old, &mut new);
    }
    let cells = old.into_vec()?;
    let pixel = |at: usize| match cells[at / width / 4 * w + at % width / 4] {
        0 => [14, 16, 24],
        age => colour::ramp(
            &[
                [120, 255, 160],
                [60, 160, 230],
                [150, 90, 200],
                [90, 50, 90],
            ],
            (age as f32).log2() / 8.0,
        ),
    };
    Ok((0..width * height).map(pixel).collect())
}
