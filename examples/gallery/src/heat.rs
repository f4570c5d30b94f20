//! Heat spreads in a plate: each cell moves towards the mean of its neighbours. Numbers have 16 fractional bits.

use sarek::prelude::*;

use crate::{Pixels, colour};

/// One step. Cells whose `fixed` is not 0 keep their heat, as the edges do.
#[kernel]
fn spread(width: usize, height: usize, fixed: &[u32], old: &[i32], new: &mut [i32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    new[at] = if inner && fixed[at] == 0 {
        old[at] + (old[at - 1] + old[at + 1] + old[at - width] + old[at + width] - 4 * old[at]) / 5
    } else {
        old[at]
    };
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let mut fixed = vec![0; width * height];
    let mut heat = vec![0; width * height];
    // Discs with a centre and a radius in parts of the height. Their heat is constant, from -1 to 1.
    let aspect = width as f32 / height as f32;
    let discs: [[f32; 4]; 14] = std::array::from_fn(|k| {
        let random = |i: u32| colour::unit(4 * k as u32 + i + 70);
        let heat = if k % 2 == 0 { 1.0 } else { -1.0 };
        [aspect * random(0), random(1), 0.02 + 0.06 * random(2), heat]
    });
    for (at, (fixed, heat)) in fixed.iter_mut().zip(&mut heat).enumerate() {
        let (x, y) = ((at % width) as f32, (at / width) as f32);
        for [cx, cy, radius, value] in discs {
            if (x / height as f32 - cx).hypot(y / height as f32 - cy) < radius {
                *fixed = 1;
                *heat = (value * 65536.0) as i32;
            }
        }
    }
    let fixed = Vector::from_vec(fixed);
    let mut old = Vector::from_vec(heat);
    let mut new = Vector::zeros(width * height);
    for _ in 0..steps {
        spread(width, height, &fixed, &old, &mut new)
            .over((width, height))
            .run_on(device)?;
        std::mem::swap(&mut old, &mut new);
    }
    let heat = old.into_vec()?;
    // Bands show the lines of equal heat.
    let pixel = |&heat: &i32| {
        let band = if heat.div_euclid(4096) % 2 == 0 {
            0.0
        } else {
            0.03
        };
        colour::ramp(colour::FIRE, 0.42 + 0.58 * heat as f32 / 65536.0 + band)
    };
    Ok(heat.iter().map(pixel).collect())
}
