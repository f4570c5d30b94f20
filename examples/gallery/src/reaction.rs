//! Two chemicals react and spread (Gray and Scott, 1984). Numbers have 14 fractional bits.

use sarek::prelude::*;

use crate::{Pixels, colour};

/// The number one.
pub const ONE: i32 = 1 << 14;

/// The product of two numbers, rounded.
#[device]
fn times(a: i32, b: i32) -> i32 {
    (a * b + 8192) >> 14
}

/// One step on a torus. A cell has two amounts: the first is fed and eaten by the second, which decays.
#[kernel]
pub fn react(
    width: usize,
    height: usize,
    feed: i32,
    kill: i32,
    old: &[[i32; 2]],
    new: &mut [[i32; 2]],
) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let left = y * width + (x + width - 1) % width;
    let right = y * width + (x + 1) % width;
    let above = (y + height - 1) % height * width + x;
    let below = (y + 1) % height * width + x;
    let [u, v] = old[at];
    let around_u = old[left][0] + old[right][0] + old[above][0] + old[below][0] - 4 * u;
    let around_v = old[left][1] + old[right][1] + old[above][1] + old[below][1] - 4 * v;
    let eaten = times(times(u, v), v);
    new[at] = [
        u + times(around_u, 2621) - eaten + times(feed, ONE - u),
        v + times(around_v, 1311) + eaten - times(feed + kill, v),
    ];
}

/// Draws the picture.
pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let mut old = Vector::from_vec(seeds(width, height));
    let mut new = Vector::from_vec(vec![[0; 2]; width * height]);
    for _ in 0..steps {
        react(width, height, 600, 1000, &old, &mut new)
            .over((width, height))
            .run_on(device)?;
        std::mem::swap(&mut old, &mut new);
    }
    Ok(old.into_vec()?.iter().map(|cell| colour(cell[1])).collect())
}

/// The amounts at the beginning: the first everywhere, and spots of the second.
pub fn seeds(width: usize, height: usize) -> Vec<[i32; 2]> {
    let cells = width * height;
    let mut seeds = vec![[ONE, 0]; cells];
    for spot in 0..(cells / 2000).max(4) as u32 {
        let cx = colour::hash(2 * spot) as usize % width;
        let cy = colour::hash(2 * spot + 1) as usize % height;
        for (dx, dy) in (0..36).map(|k| (k % 6, k / 6)) {
            seeds[(cy + dy) % height * width + (cx + dx) % width] = [ONE / 2, ONE / 4];
        }
    }
    seeds
}

/// The colour of an amount of the second chemical.
pub fn colour(amount: i32) -> [u8; 3] {
    let stops = &[
        [12, 20, 36],
        [24, 90, 110],
        [240, 200, 120],
        [250, 245, 230],
    ];
    colour::ramp(stops, amount as f32 / 6000.0)
}
