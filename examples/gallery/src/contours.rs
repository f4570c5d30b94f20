//! Lines of equal height by marching squares (Lorensen and Cline's method in two dimensions): each thread looks at one square of four heights.

use sarek::prelude::*;

use crate::{Pixels, colour};

/// The crossing between two heights, in sixteenths from the first.
#[device]
fn crossing(a: i32, b: i32, level: i32) -> i32 {
    16 * (level - a) / (b - a)
}

/// Writes where lines enter and leave a square, in sixteenths: up to two segments of four numbers. Unused numbers are -1. The corners are numbered from the top left, clockwise.
#[kernel]
fn march(width: usize, height: usize, level: i32, heights: &[i32], segments: &mut [[i32; 8]]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x + 1 >= width || y + 1 >= height {
        return;
    }
    let a = heights[y * width + x];
    let b = heights[y * width + x + 1];
    let c = heights[(y + 1) * width + x + 1];
    let d = heights[(y + 1) * width + x];
    let mut found = [-1; 8];
    let mut count = 0;
    // The top, the right, the bottom and the left edge.
    if (a > level) != (b > level) {
        found[0] = crossing(a, b, level);
        found[1] = 0;
        count = 2;
    }
    if (b > level) != (c > level) {
        found[count] = 16;
        found[count + 1] = crossing(b, c, level);
        count += 2;
    }
    if (c > level) != (d > level) {
        found[count] = crossing(d, c, level);
        found[count + 1] = 16;
        count += 2;
    }
    if (d > level) != (a > level) {
        found[count] = 0;
        found[count + 1] = crossing(a, d, level);
    }
    segments[y * width + x] = found;
}

pub fn draw(device: &Device, width: usize, height: usize, _: usize) -> sarek::Result<Pixels> {
    // A grid line every four pixels.
    let (w, h) = (width / 4 + 2, height / 4 + 2);
    let hills: Vec<i32> = (0..w * h)
        .map(|at| 16 * colour::hills(at % w, at / w, h / 3, 11) as i32)
        .collect();
    let heights = Vector::from_slice(&hills);
    let stops = &[
        [18, 52, 86],
        [30, 96, 110],
        [96, 140, 80],
        [190, 170, 110],
        [245, 240, 230],
    ];
    let shade = |at: usize| {
        colour::ramp(
            stops,
            hills[at / width / 4 * w + at % width / 4] as f32 / 3600.0,
        )
    };
    let mut pixels: Pixels = (0..width * height).map(shade).collect();
    let mut segments = Vector::from_vec(vec![[-1; 8]; w * h]);
    for level in (200..3800).step_by(200) {
        march(w, h, level, &heights, &mut segments)
            .over((w, h))
            .run_on(device)?;
        for (at, found) in segments.as_slice()?.iter().enumerate() {
            for line in found.chunks_exact(4).filter(|line| line[2] >= 0) {
                for part in 0..=8 {
                    let along = |from: i32, to: i32, cell: usize| {
                        cell * 4 + ((from * (8 - part) + to * part) / 32) as usize
                    };
                    let (x, y) = (
                        along(line[0], line[2], at % w),
                        along(line[1], line[3], at / w),
                    );
                    if x < width && y < height {
                        pixels[y * width + x] = if level % 1000 == 0 {
                            [20, 14, 10]
                        } else {
                            [90, 70, 50]
                        };
                    }
                }
            }
        }
    }
    Ok(pixels)
}
