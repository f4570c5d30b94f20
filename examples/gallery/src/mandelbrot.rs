//! Four steps of a zoom into the Mandelbrot set, each twelve times as near as the last.

use sarek::prelude::*;

use crate::{Pixels, colour, is_strict};

strict_and_loose! {
    /// Counts the steps until a point escape; `left` and `top` are the corner of the picture, `step` is the size of a pixel.
    fn escape, escape_loosely(
        width: usize,
        left: f32,
        top: f32,
        step: f32,
        limit: u32,
        counts: &mut [u32],
    ) {
        let (col, row) = (global_idx_x(), global_idx_y());
        if col < width {
            let cx = left + step * col as f32;
            let cy = top - step * row as f32;
            let mut x = 0.0f32;
            let mut y = 0.0f32;
            let mut count = 0;
            while count < limit && x * x + y * y <= 16.0 {
                let next = x * x - y * y + cx;
                y = 2.0 * x * y + cy;
                x = next;
                count += 1;
            }
            counts[row * width + col] = count;
        }
    }
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let escape = if is_strict(device) {
        escape
    } else {
        escape_loosely
    };
    let limit = steps as u32;
    let (w, h) = (width.div_ceil(2), height.div_ceil(2));
    let mut panels = vec![];
    let mut span = 3.6f32;
    for zoom in 0..4 {
        let step = span / w as f32;
        // A spiral in the valley of the sea horses.
        let (x, y) = if zoom == 0 {
            (-0.7, 0.0)
        } else {
            (-0.743_64, 0.131_83)
        };
        let mut counts = Vector::zeros(w * h);
        let (left, top) = (x - 0.5 * span, y + 0.5 * step * h as f32);
        escape(w, left, top, step, limit, &mut counts)
            .over((w, h))
            .run_on(device)?;
        panels.push(counts.into_vec()?);
        span /= 12.0;
    }
    let stops = &[
        [2, 4, 40],
        [30, 100, 190],
        [240, 250, 240],
        [250, 170, 20],
        [60, 10, 30],
        [2, 4, 40],
    ];
    let pixel = |at: usize| {
        let (x, y) = (at % width, at / width);
        match panels[y / h * 2 + x / w][y % h * w + x % w] {
            count if count == limit => [0, 0, 0],
            count => colour::ramp(stops, ((count as f32 + 1.0).ln() * 0.55).fract()),
        }
    };
    Ok((0..width * height).map(pixel).collect())
}
