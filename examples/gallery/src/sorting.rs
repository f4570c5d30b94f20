//! Odd-even transposition sort (Habermann, 1972), made visible: each row of the picture is a pass.

use sarek::prelude::*;

use crate::{Pixels, colour};

/// Computes row `pass + 1` from row `pass`: pairs of neighbours are put in order, even pairs in even passes.
#[kernel]
fn pass(n: usize, pass: usize, old: &[u32], new: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        let is_first = i % 2 == pass % 2;
        new[i] = if is_first && i + 1 < n {
            old[i].min(old[i + 1])
        } else if !is_first && i > 0 {
            old[i].max(old[i - 1])
        } else {
            old[i]
        };
    }
}

pub fn draw(device: &Device, width: usize, height: usize, _: usize) -> sarek::Result<Pixels> {
    // As many numbers as passes, so that the last row is sorted.
    let n = height;
    let first = (0..n).map(|i| colour::hash(i as u32) % 1024).collect();
    let (mut old, mut new) = (Vector::from_vec(first), Vector::zeros(n));
    let mut columns = vec![old.to_vec()?];
    for number in 1..width {
        // Passes are spread over the width.
        while columns.len() * n < number * (n + 1) && columns.len() <= n {
            pass(n, columns.len() - 1, &old, &mut new)
                .over(n)
                .run_on(device)?;
            std::mem::swap(&mut old, &mut new);
            columns.push(old.to_vec()?);
        }
    }
    let stops = &[
        [36, 20, 80],
        [40, 110, 170],
        [90, 190, 150],
        [250, 220, 90],
        [240, 90, 60],
    ];
    let pixel = |at: usize| {
        let (x, y) = (at % width, at / width);
        let column = &columns[x * (columns.len() - 1) / (width - 1)];
        colour::ramp(stops, column[y] as f32 / 1023.0)
    };
    Ok((0..width * height).map(pixel).collect())
}
