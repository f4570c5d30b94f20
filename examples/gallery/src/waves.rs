//! Waves behind two slits: the wave equation, in integers.

use sarek::prelude::*;

use crate::{Pixels, colour};

/// Computes the next heights from the last two. Walls (`medium` 0) stay flat. `medium` is 255 in open water and less near the edges, which swallow waves.
#[kernel]
fn step(
    width: usize,
    height: usize,
    medium: &[i32],
    before: &[i32],
    now: &[i32],
    next: &mut [i32],
) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    next[at] = if x > 0 && x + 1 < width && y > 0 && y + 1 < height {
        let bend = now[at - 1] + now[at + 1] + now[at - width] + now[at + width] - 4 * now[at];
        (2 * now[at] - before[at] + bend / 3) / 256 * medium[at]
            + (2 * now[at] - before[at] + bend / 3) % 256 * medium[at] / 256
    } else {
        0
    };
}

/// Moves the water at the left edge.
#[kernel(requires(width > 0))]
fn drive(width: usize, height: usize, value: i32, now: &mut [i32]) {
    let y = global_idx_x();
    if y < height {
        now[y * width + 1] = value;
    }
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let wall = width / 4;
    let (gap, slit) = (height / 8, (height / 24).max(2));
    let medium = |at: usize| {
        let (x, y) = (at % width, at / width);
        let middle = y.abs_diff(height / 2);
        if x.abs_diff(wall) < 2 && middle.abs_diff(gap) > slit {
            return 0;
        }
        let border = (width - x).min(y + 1).min(height - y);
        (256 - 16 + border.min(16)) as i32
    };
    let medium = Vector::from_vec((0..width * height).map(medium).collect());
    let mut heights = [(); 3].map(|()| Vector::zeros(width * height));
    let length = (height / 18).max(6) as f32;
    for turn in 0..steps {
        let [before, now, next] = &mut heights;
        let value = (65536.0 * (turn as f32 / length * 3.6).sin()) as i32;
        drive(width, height, value, now)
            .over(height)
            .run_on(device)?;
        step(width, height, &medium, before, now, next)
            .over((width, height))
            .run_on(device)?;
        heights.rotate_left(1);
    }
    let [_, now, _] = heights;
    let now = now.into_vec()?;
    let pixel = |(at, &h): (usize, &i32)| {
        let (x, y) = (at % width, at / width);
        if x.abs_diff(wall) < 2 && y.abs_diff(height / 2).abs_diff(gap) > slit {
            return [40, 36, 32];
        }
        let gain = if x < wall { 0.35 } else { 1.4 };
        colour::ramp(colour::SEA, 0.45 + gain * h as f32 / 131_072.0)
    };
    Ok(now.iter().enumerate().map(pixel).collect())
}
