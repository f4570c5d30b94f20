//! The same work in plain Rust with rayon, written with some care for a CPU: it uses caches and SIMD lanes,
//! and has no blocks of threads. Sizes must be multiples of the tiles.

use rayon::prelude::*;

use crate::common::block::{BINS, BLOCK, TERMS};
use crate::common::kernels::SOFTENING;

/// The number of values computed side by side, so the compiler vectorises the code.
const LANES: usize = 16;
/// The number of rows in a task: rows of a product, or columns of the matrix to transpose.
const ROWS: usize = 16;
/// The number of elements that a task counts.
const CHUNK: usize = 1 << 14;

/// A product by rows. Four rows of the right factor at a time stay in the cache for all rows of a task.
pub fn matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    assert!(n.is_multiple_of(4), "rows are taken four at a time");
    let tasks = c.par_chunks_mut(ROWS * n).zip(a.par_chunks(ROWS * n));
    tasks.for_each(|(c, a)| {
        c.fill(0.0);
        for (k, b) in (0..n).step_by(4).zip(b.chunks_exact(4 * n)) {
            let (b0, b) = b.split_at(n);
            let (b1, b) = b.split_at(n);
            let (b2, b3) = b.split_at(n);
            for (c, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(n)) {
                let a = &a[k..k + 4];
                for ((((c, b0), b1), b2), b3) in c.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
                    *c += a[0] * b0 + a[1] * b1 + a[2] * b2 + a[3] * b3;
                }
            }
        }
    });
}

/// The sum of each block's elements, in SIMD lanes.
pub fn sums(x: &[f32], sums: &mut [f32]) {
    let each = |(sum, x): (&mut f32, &[f32])| {
        let mut lanes = [0.0; LANES];
        for x in x.chunks(LANES) {
            lanes.iter_mut().zip(x).for_each(|(lane, x)| *lane += x);
        }
        *sum = lanes.iter().sum();
    };
    sums.par_chunks_mut(ROWS)
        .zip(x.par_chunks(ROWS * BLOCK))
        .for_each(|(sums, x)| sums.iter_mut().zip(x.chunks(BLOCK)).for_each(each));
}

/// A transposition by square tiles, so each cache line is fully used before it is evicted.
pub fn transpose(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    assert!(height.is_multiple_of(ROWS), "a tile has as many rows");
    let columns = output.par_chunks_mut(ROWS * height).enumerate();
    columns.for_each(|(task, columns)| {
        for y in (0..height).step_by(ROWS) {
            for (x, column) in columns.chunks_exact_mut(height).enumerate() {
                for (dy, out) in column[y..y + ROWS].iter_mut().enumerate() {
                    *out = input[(y + dy) * width + task * ROWS + x];
                }
            }
        }
    });
}

/// A histogram. Each task has its own counters, which are added at the end.
pub fn histogram(x: &[u32], bins: &mut [u32]) {
    let add = |mut bins: [u32; BINS], more: [u32; BINS]| {
        let pairs = bins.iter_mut().zip(more);
        pairs.for_each(|(bin, more)| *bin = bin.wrapping_add(more));
        bins
    };
    let count = |mut bins: [u32; BINS], x: &[u32]| {
        x.iter().for_each(|x| bins[*x as usize % BINS] += 1);
        bins
    };
    let counts = x
        .par_chunks(CHUNK)
        .fold(|| [0; BINS], count)
        .reduce(|| [0; BINS], add);
    let pairs = bins.iter_mut().zip(counts);
    pairs.for_each(|(bin, count)| *bin = bin.wrapping_add(count));
}

/// Accelerations. Each task computes those of [`LANES`] bodies side by side.
pub fn accelerations(bodies: &[f32], result: &mut [f32]) {
    assert!(bodies.len().is_multiple_of(4 * LANES), "no lane is empty");
    let tasks = result
        .par_chunks_exact_mut(3 * LANES)
        .zip(bodies.par_chunks_exact(4 * LANES));
    tasks.for_each(|(out, own)| {
        let part = |part: usize| std::array::from_fn(|lane| own[4 * lane + part]);
        let (x, y, z): ([f32; LANES], [f32; LANES], [f32; LANES]) = (part(0), part(1), part(2));
        let (mut ax, mut ay, mut az) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for other in bodies.chunks_exact(4) {
            for l in 0..LANES {
                let (dx, dy, dz) = (other[0] - x[l], other[1] - y[l], other[2] - z[l]);
                let inverse = 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
                let scale = other[3] * inverse * inverse * inverse;
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

/// A sum of exponentials for each element.
pub fn exp_sums(x: &[f32], y: &mut [f32]) {
    (x, y).into_par_iter().for_each(|(x, y)| {
        let terms = (0..TERMS).map(|k| (-x * k as f32).exp());
        *y = terms.sum();
    });
}
