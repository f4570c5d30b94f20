//! A picture in eight colours, found by k-means (Lloyd, 1982). A pixel is three bytes of a word.

use sarek::prelude::*;

use crate::{Pixels, colour};

const COLOURS: usize = 8;

/// A channel of a packed pixel.
#[device]
fn channel(pixel: u32, which: u32) -> i32 {
    ((pixel >> (8 * which)) & 255) as i32
}

/// Finds the nearest centre of each pixel.
#[kernel]
fn assign(n: usize, pixels: &[u32], centres: &[u32], nearest: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        let mut best = 0;
        let mut least = i32::MAX;
        for k in 0..COLOURS {
            let mut distance = 0;
            for c in 0..3 {
                let d = channel(pixels[i], c) - channel(centres[k], c);
                distance += d * d;
            }
            if distance < least {
                least = distance;
                best = k as u32;
            }
        }
        nearest[i] = best;
    }
}

/// Adds up the pixels of each centre: three channels and their number.
#[kernel]
fn gather(n: usize, pixels: &[u32], nearest: &[u32], sums: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < n {
        let first = 4 * (nearest[i] as usize % COLOURS);
        for c in 0..3 {
            sums[first + c as usize].fetch_add(channel(pixels[i], c) as u32);
        }
        sums[first + 3].fetch_add(1);
    }
}

pub fn draw(device: &Device, width: usize, height: usize, steps: usize) -> sarek::Result<Pixels> {
    let n = width * height;
    let pack = |[r, g, b]: [u8; 3]| u32::from(r) | u32::from(g) << 8 | u32::from(b) << 16;
    let picture: Vec<[u8; 3]> = (0..n)
        .map(|at| colour::meadow(at % width, at / width, width, height))
        .collect();
    let pixels = Vector::from_vec(picture.iter().copied().map(pack).collect());
    let mut centres: Vec<u32> = (0..COLOURS)
        .map(|k| pack(picture[colour::hash(k as u32) as usize % n]))
        .collect();
    let mut nearest = Vector::zeros(n);
    for _ in 0..steps {
        assign(n, &pixels, &Vector::from_slice(&centres), &mut nearest)
            .over(n)
            .run_on(device)?;
        let mut sums = Vector::<u32>::zeros(4 * COLOURS);
        gather(n, &pixels, &nearest, &mut sums)
            .over(n)
            .run_on(device)?;
        for (centre, sum) in centres.iter_mut().zip(sums.to_vec()?.chunks_exact(4)) {
            if sum[3] > 0 {
                *centre = pack([0, 1, 2].map(|c| (sum[c] / sum[3]) as u8));
            }
        }
    }
    let unpack = |word: u32| [0, 8, 16].map(|shift| (word >> shift) as u8);
    Ok(nearest
        .into_vec()?
        .iter()
        .map(|&k| unpack(centres[k as usize]))
        .collect())
}
