//! Plain filters whose threads load many of the same elements: convolutions and box filters with loops.

use crate::Case;
use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Tolerance};

pub const CASES: &[Case] = &[
    Case::new("filters/convolution", &[], convolution),
    Case::new("filters/mean", &[], mean),
];

#[kernel]
fn convolution_kernel(n: usize, weights: &[f32], x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < n {
        let mut sum = 0.0;
        for t in 0..weights.len() {
            sum += weights[t] * x[i + t];
        }
        y[i] = sum;
    }
}

/// The mean of the box of `side * side` elements around each inner element.
#[kernel]
fn mean_kernel(w: usize, h: usize, side: usize, old: &[f32], new: &mut [f32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    let half = side / 2;
    if x >= half && x + half < w && y >= half && y + half < h {
        let mut sum = 0.0;
        for dy in 0..side {
            for dx in 0..side {
                sum += old[(y + dy - half) * w + x + dx - half];
            }
        }
        new[y * w + x] = sum / (side * side) as f32;
    } else if x < w && y < h {
        new[y * w + x] = old[y * w + x];
    }
}

fn near(value: f64) -> Expected<f32> {
    let absolute = 1e-5;
    Expected::Near(value, Tolerance { absolute, ..EXACT })
}

fn convolution(device: &Device) -> Check {
    for (n, taps) in [
        (1, 1),
        (64, 3),
        (333, 17),
        (1000, 0),
        (4100, 5),
        (110_004, 9),
    ] {
        let x = Random::new(n as u64).floats(n + taps, -1.0, 1.0);
        let weights = Random::new(taps as u64).floats(taps, 0.0, 0.1);
        let at = |i: usize| {
            let products = (0..taps).map(|t| f64::from(weights[t]) * f64::from(x[i + t]));
            near(products.sum())
        };
        let expected: Vec<_> = (0..n).map(at).collect();
        let (x, weights) = (Vector::from_vec(x), Vector::from_vec(weights));
        for threads in [n, n + 7] {
            let mut y = sentinel_filled(n);
            convolution_kernel(n, &weights, &x, &mut y)
                .over(threads)
                .run_on(device)?;
            let what = format!("{taps} taps, {n} elements, {threads} threads");
            expect_within(&what, &y, &expected, &|_| String::new())?;
        }
    }
    Ok(())
}

fn mean(device: &Device) -> Check {
    for (w, h, side) in [
        (1, 1, 1),
        (8, 5, 3),
        (33, 17, 5),
        (64, 40, 7),
        (400, 300, 3),
    ] {
        let old = Random::new((w * h) as u64).floats(w * h, -1.0, 1.0);
        let half = side / 2;
        let at = |i: usize| {
            let (x, y) = (i % w, i / w);
            if x < half || x + half >= w || y < half || y + half >= h {
                return Expected::Exactly(old[i]);
            }
            let rows = y - half..=y + half;
            let all = rows.flat_map(|y| (x - half..=x + half).map(move |x| y * w + x));
            let sum: f64 = all.map(|i| f64::from(old[i])).sum();
            near(sum / (side * side) as f64)
        };
        let expected: Vec<_> = (0..w * h).map(at).collect();
        let old = Vector::from_vec(old.clone());
        let mut new = sentinel_filled(w * h);
        mean_kernel(w, h, side, &old, &mut new)
            .over((w, h))
            .run_on(device)?;
        let what = format!("boxes of {side} in {w}x{h}");
        expect_within(&what, &new, &expected, &|_| String::new())?;
    }
    Ok(())
}
