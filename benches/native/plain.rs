//! The kernels in plain Rust with rayon, in the usual style: zipped chunks of slices,
//! the functions of std, and the default target.

use rayon::prelude::*;
use sarek::prelude::*;

use crate::common::kernels::{RATE, SOFTENING, VOLATILITY};

/// The number of elements in a chunk. rayon may combine chunks.
const CHUNK: usize = 1 << 14;
/// The number of bodies computed side by side, so the compiler vectorises the code.
const LANES: usize = 16;

pub fn copy(a: &[f32], c: &mut [f32]) {
    c.par_chunks_mut(CHUNK)
        .zip(a.par_chunks(CHUNK))
        .for_each(|(c, a)| c.copy_from_slice(a));
}

pub fn mul(s: f32, c: &[f32], b: &mut [f32]) {
    b.par_chunks_mut(CHUNK)
        .zip(c.par_chunks(CHUNK))
        .for_each(|(b, c)| {
            for (b, c) in b.iter_mut().zip(c) {
                *b = s * c;
            }
        });
}

pub fn add(a: &[f32], b: &[f32], c: &mut [f32]) {
    c.par_chunks_mut(CHUNK)
        .zip(a.par_chunks(CHUNK))
        .zip(b.par_chunks(CHUNK))
        .for_each(|((c, a), b)| {
            for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
                *c = a + b;
            }
        });
}

pub fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    a.par_chunks_mut(CHUNK)
        .zip(b.par_chunks(CHUNK))
        .zip(c.par_chunks(CHUNK))
        .for_each(|((a, b), c)| triad_serial(s, b, c, a));
}

pub fn triad4(s: f32, b: &[f32x4], c: &[f32x4], a: &mut [f32x4]) {
    a.par_chunks_mut(CHUNK)
        .zip(b.par_chunks(CHUNK))
        .zip(c.par_chunks(CHUNK))
        .for_each(|((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = *b + s * *c;
            }
        });
}

/// Without rayon, which is fastest for small vectors.
pub fn triad_serial(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + s * c;
    }
}

pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(CHUNK)
        .zip(x.par_chunks(CHUNK))
        .for_each(|(y, x)| {
            for (y, x) in y.iter_mut().zip(x) {
                *y += a * x;
            }
        });
}

#[allow(clippy::excessive_precision)] // the coefficients as published
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let poly =
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)));
    let tail = 0.39894228 * (-0.5 * d * d).exp() * k * poly;
    if d > 0.0 { 1.0 - tail } else { tail }
}

pub fn black_scholes(
    spot: &[f32],
    strike: &[f32],
    years: &[f32],
    call: &mut [f32],
    put: &mut [f32],
) {
    (spot, strike, years, call, put).into_par_iter().for_each(
        |(&spot, &strike, &years, call, put)| {
            let root = years.sqrt();
            let drift = (RATE + 0.5 * VOLATILITY * VOLATILITY) * years;
            let d1 = ((spot / strike).ln() + drift) / (VOLATILITY * root);
            let d2 = d1 - VOLATILITY * root;
            let (n1, n2) = (normal(d1), normal(d2));
            let discounted = strike * (-RATE * years).exp();
            *call = spot * n1 - discounted * n2;
            *put = discounted * (1.0 - n2) - spot * (1.0 - n1);
        },
    );
}

pub fn map(x: &[f32], y: &mut [f32], f: impl Fn(f32) -> f32 + Sync) {
    (x, y).into_par_iter().for_each(|(&x, y)| *y = f(x));
}

pub fn mandelbrot(width: usize, height: usize, limit: u32, counts: &mut [u32]) {
    let rows = counts.par_chunks_exact_mut(width).enumerate();
    rows.for_each(|(row, counts)| {
        let cy = -1.0 + 2.0 * (row as f32 + 0.5) / height as f32;
        for (col, out) in counts.iter_mut().enumerate() {
            let cx = -2.0 + 3.0 * (col as f32 + 0.5) / width as f32;
            let (mut x, mut y, mut count) = (0.0f32, 0.0f32, 0);
            while count < limit && x * x + y * y <= 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                count += 1;
            }
            *out = count;
        }
    });
}

/// One element at a time, like the kernel.
pub fn matmul_elements(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let rows = c.par_chunks_exact_mut(n).zip(a.par_chunks_exact(n));
    rows.for_each(|(c, a)| {
        for (col, out) in c.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                sum += a * b[col];
            }
            *out = sum;
        }
    });
}

/// One row at a time, which the compiler vectorises: the usual first optimisation.
pub fn matmul_rows(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let rows = c.par_chunks_exact_mut(n).zip(a.par_chunks_exact(n));
    rows.for_each(|(c, a)| {
        c.fill(0.0);
        for (a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    });
}

pub fn transpose(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    let columns = output.par_chunks_exact_mut(height).enumerate();
    columns.for_each(|(x, column)| {
        for (out, row) in column.iter_mut().zip(input.chunks_exact(width)) {
            *out = row[x];
        }
    });
}

pub fn jacobi(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let rows = new.par_chunks_exact_mut(width).enumerate();
    rows.for_each(|(y, new)| {
        let row = |y: usize| &old[y * width..][..width];
        let here = row(y);
        if y == 0 || y == height - 1 {
            new.copy_from_slice(here);
            return;
        }
        let (above, below) = (row(y - 1), row(y + 1));
        new[0] = here[0];
        new[width - 1] = here[width - 1];
        for x in 1..width - 1 {
            new[x] = 0.5 * here[x] + 0.125 * (here[x - 1] + here[x + 1] + above[x] + below[x]);
        }
    });
}

/// Each task computes the accelerations of [`LANES`] bodies side by side.
pub fn accelerations(bodies: &[f32x4], result: &mut [f32]) {
    assert!(bodies.len().is_multiple_of(LANES), "no lane is empty");
    let tasks = result
        .par_chunks_exact_mut(3 * LANES)
        .zip(bodies.par_chunks_exact(LANES));
    tasks.for_each(|(out, own)| {
        let part = |of: fn(&f32x4) -> f32| std::array::from_fn(|lane| of(&own[lane]));
        let [x, y, z]: [[f32; LANES]; 3] = [part(|b| b.x), part(|b| b.y), part(|b| b.z)];
        let (mut ax, mut ay, mut az) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for other in bodies {
            for l in 0..LANES {
                let (dx, dy, dz) = (other.x - x[l], other.y - y[l], other.z - z[l]);
                let inverse = 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
                let scale = other.w * inverse * inverse * inverse;
                ax[l] += dx * scale;
                ay[l] += dy * scale;
                az[l] += dz * scale;
            }
        }
        for (l, out) in out.chunks_exact_mut(3).enumerate() {
            out.copy_from_slice(&[ax[l], ay[l], az[l]]);
        }
    });
}
