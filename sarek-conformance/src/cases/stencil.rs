use crate::Case;
use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Tolerance};

pub const CASES: &[Case] = &[Case::new("stencil", &[], run)];

/// Makes a Jacobi step on the inner points of a grid, and copies its border.
#[kernel]
fn jacobi(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    new[at] = if inner {
        0.5 * old[at] + 0.125 * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width])
    } else {
        old[at]
    };
}

fn reference(width: usize, height: usize, old: &[f32]) -> Vec<Expected<f32>> {
    let get = |x: usize, y: usize| f64::from(old[y * width + x]);
    let step = |x: usize, y: usize| {
        let border = x == 0 || y == 0 || x == width - 1 || y == height - 1;
        if border {
            return Expected::Exactly(old[y * width + x]);
        }
        let around = get(x - 1, y) + get(x + 1, y) + get(x, y - 1) + get(x, y + 1);
        let absolute = 8.0 * f64::from(f32::EPSILON);
        Expected::Near(
            get(x, y) / 2.0 + around / 8.0,
            Tolerance { absolute, ..EXACT },
        )
    };
    (0..height)
        .flat_map(|y| (0..width).map(move |x| step(x, y)))
        .collect()
}

fn run(device: &Device) -> Check {
    for (width, height) in [(1, 1), (2, 2), (3, 3), (33, 9), (64, 64), (101, 37)] {
        let old = Random::new((width + height) as u64).floats(width * height, -1.0, 1.0);
        let expected = reference(width, height, &old);
        let old = Vector::from_vec(old);
        for (w, h) in [(width, height), (width + 5, height + 3)] {
            let mut new = sentinel_filled(width * height);
            jacobi(width, height, &old, &mut new)
                .over((w, h))
                .run_on(device)?;
            expect_within(
                &format!("{width}x{height} over {w}x{h}"),
                &new,
                &expected,
                &|_| String::new(),
            )?;
        }
    }
    Ok(())
}
