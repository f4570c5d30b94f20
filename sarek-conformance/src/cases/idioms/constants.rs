//! Named constants as sizes of tiles, strides, lengths and bounds.

use super::{PLANES, SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/constant_stride", &[], stride),
    Case::new("idioms/constant_chunk", &[], chunk),
    Case::new("idioms/constant_tile", &[], tile),
    Case::new("idioms/constant_border", &[], border),
    Case::new("idioms/constant_bound", &[], bound),
    Case::new("idioms/associated_constant_tile", &[], associated),
    Case::new("idioms/const_generic_stride", &[], generic),
    Case::new("idioms/constant_of_the_standard_library", &[], of_std),
    Case::new("idioms/shifts_by_a_constant", &[], shifts),
];

const THREADS: usize = 32;
const PER_THREAD: usize = 3;
const SIDE: usize = 8;
const BORDER: usize = 2;
const BINS: usize = 4;

/// The first element of a block by the block's width.
#[kernel(block = 32)]
fn stride_kernel(y: &mut [u32]) {
    let i = THREADS * block_idx_x() + thread_idx_x();
    if i < y.len() {
        y[i] += i as u32;
    }
}

/// Adds its index to each element.
fn numbered(y: &mut [u32]) {
    (0..y.len()).for_each(|i| y[i] += i as u32);
}

fn stride(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| stride_kernel(y).grid(n.div_ceil(THREADS)).run_on(device);
        in_place("stride", n, run, numbered)?;
    }
    Ok(())
}

#[kernel]
fn chunk_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    for k in 0..PER_THREAD {
        let at = PER_THREAD * i + k;
        if at < y.len() {
            y[at] += at as u32;
        }
    }
}

fn chunk(device: &Device) -> Check {
    for n in SIZES {
        let threads = n.div_ceil(PER_THREAD);
        let run = |y: &mut Vector<u32>| chunk_kernel(y).over(threads).run_on(device);
        in_place("chunk", n, run, numbered)?;
    }
    Ok(())
}

/// A product of constants is the length, and a constant the stride, of a tile.
#[kernel(block = (8, 8))]
fn tile_kernel(width: usize, height: usize, x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, { SIDE * SIDE }>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (left, top) = (SIDE * block_idx_x(), SIDE * block_idx_y());
    if left + tx < width && top + ty < height {
        tile[ty * SIDE + tx] = x[(top + ty) * width + left + tx];
    }
    barrier();
    if top + tx < height && left + ty < width {
        y[(left + ty) * height + top + tx] = tile[tx * SIDE + ty];
    }
}

fn tile(device: &Device) -> Check {
    for (w, h) in PLANES {
        let x = random(14, w * h);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = tile_kernel(w, h, &x, y);
            launch
                .grid((w.div_ceil(SIDE), h.div_ceil(SIDE)))
                .run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            (0..w * h).for_each(|i| y[i] = x[i % h * w + i / h]);
        })?;
    }
    Ok(())
}

/// The first threads also fill the border on both sides of a line.
#[kernel(block = 32)]
fn border_kernel(x: &[u32], y: &mut [u32]) {
    let line = shared_array::<u32, { THREADS + 2 * BORDER }>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    line[t + BORDER] = if i < x.len() { x[i] } else { 0 };
    if t < BORDER {
        line[t] = if i >= BORDER { x[i - BORDER] } else { 0 };
        let after = i + THREADS;
        line[t + BORDER + THREADS] = if after < x.len() { x[after] } else { 0 };
    }
    barrier();
    if i < y.len() {
        y[i] = line[t] + line[t + 2 * BORDER];
    }
}

fn border(device: &Device) -> Check {
    for n in SIZES {
        let x = random(15, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = border_kernel(&x, y);
            launch.grid(n.div_ceil(THREADS)).run_on(device)
        };
        in_place("border", n, run, |y| {
            let at = |i: Option<usize>| i.and_then(|i| x.get(i)).copied().unwrap_or(0);
            for (i, y) in y.iter_mut().enumerate() {
                *y = at(i.checked_sub(BORDER)) + at(Some(i + BORDER));
            }
        })?;
    }
    Ok(())
}

/// A guard by a constant keeps the bins of threads apart.
#[kernel]
fn bound_kernel(x: &[u32], bins: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        let bin = x[i] as usize % 7;
        if bin < BINS {
            bins[BINS * i + bin] += 1;
        }
    }
}

fn bound(device: &Device) -> Check {
    for n in SIZES {
        let x = random(16, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = bound_kernel(&x, y);
            launch.over(n).run_on(device)
        };
        in_place("bound", BINS * n, run, |y| {
            for (y, x) in y.chunks_mut(BINS).zip(&x) {
                if let Some(y) = y.get_mut(*x as usize % 7) {
                    *y += 1;
                }
            }
        })?;
    }
    Ok(())
}

/// The shape of a tile.
struct Shape;

impl Shape {
    const SIDE: usize = 8;
}

#[kernel(block = (8, 8))]
fn associated_kernel(width: usize, height: usize, y: &mut [u32]) {
    let tile = shared_array::<[u32; Shape::SIDE], { Shape::SIDE }>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let col = Shape::SIDE * block_idx_x() + tx;
    let row = Shape::SIDE * block_idx_y() + ty;
    tile[ty][tx] = 0;
    if col < width && row < height {
        tile[ty][tx] = y[row * width + col];
    }
    barrier();
    if col < width && row < height {
        y[row * width + col] += tile[Shape::SIDE - 1 - ty][Shape::SIDE - 1 - tx];
    }
}

fn associated(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let grid = (w.div_ceil(Shape::SIDE), h.div_ceil(Shape::SIDE));
            associated_kernel(w, h, y).grid(grid).run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            let before = y.to_vec();
            // The place opposite to `k` in its tile.
            let opposite =
                |k: usize| k / Shape::SIDE * Shape::SIDE + Shape::SIDE - 1 - k % Shape::SIDE;
            for (i, y) in y.iter_mut().enumerate() {
                let col = opposite(i % w);
                let row = opposite(i / w);
                if col < w && row < h {
                    *y += before[row * w + col];
                }
            }
        })?;
    }
    Ok(())
}

#[kernel]
fn generic_kernel<const N: usize>(y: &mut [u32]) {
    let i = global_idx_x();
    for k in 0..N {
        let at = i * N + k;
        if at < y.len() {
            y[at] += at as u32;
        }
    }
}

fn generic(device: &Device) -> Check {
    for n in SIZES {
        in_place(
            "chunks of a const generic length",
            n,
            |y| {
                let threads = n.div_ceil(5);
                generic_kernel::<5>(y).over(threads).run_on(device)
            },
            numbered,
        )?;
    }
    Ok(())
}

/// One thread of `u32::BITS` stores a word of the bits of all of them.
#[kernel]
fn std_kernel(x: &[u32], words: &mut [u32]) {
    let i = global_idx_x();
    let first = i * u32::BITS as usize;
    let end = (first + u32::BITS as usize).min(x.len());
    let mut word = 0;
    for at in first..end {
        word = word << 1 | x[at] & 1;
    }
    if i < words.len() {
        words[i] = word;
    }
}

fn of_std(device: &Device) -> Check {
    for n in SIZES {
        let x = random(17, n);
        let words = n.div_ceil(32);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = std_kernel(&x, y);
            launch.over(words).run_on(device)
        };
        in_place("words", words, run, |y| {
            for (y, x) in y.iter_mut().zip(x.chunks(32)) {
                *y = x.iter().fold(0, |word, x| word << 1 | x & 1);
            }
        })?;
    }
    Ok(())
}

const LOG: u32 = 3;

/// Groups of `1 << LOG` elements, turned about.
#[kernel]
fn shifts_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let (group, low) = (i >> LOG, i & ((1 << LOG) - 1));
    if i < y.len() {
        y[(group << LOG) + ((1 << LOG) - 1 - low)] = x[i];
    }
}

fn shifts(device: &Device) -> Check {
    for n in [0, 8, 64, 304] {
        let values = random(21, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            shifts_kernel(&x, y).over(n).run_on(device)
        };
        in_place("shifts", n, run, |y| {
            for (i, value) in values.iter().enumerate() {
                y[i / 8 * 8 + 7 - i % 8] = *value;
            }
        })?;
    }
    Ok(())
}
