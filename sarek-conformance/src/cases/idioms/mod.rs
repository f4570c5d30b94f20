//! Forms of indices that users write, in kernels that the proof of races accepts as a safe `fn`.

mod axes;
mod blocks;
mod chunks;
mod constants;
mod cursors;
mod device_index;
mod digits;
mod grid_stride;
mod layouts;
mod loops;
mod planes;
mod runs;
mod single_bits;
mod subgroups;
mod tiles;
mod transforms;

use crate::Case;
use crate::check::{Check, ensure};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[&[Case]] = &[
    grid_stride::CASES,
    chunks::CASES,
    layouts::CASES,
    blocks::CASES,
    transforms::CASES,
    loops::CASES,
    constants::CASES,
    device_index::CASES,
    digits::CASES,
    runs::CASES,
    tiles::CASES,
    cursors::CASES,
    subgroups::CASES,
    axes::CASES,
    single_bits::CASES,
    planes::CASES,
];

/// Lengths that fill no block, one block, and one element more.
const SIZES: [usize; 7] = [0, 1, 5, 63, 64, 65, 301];

/// Widths and heights.
const PLANES: [(usize, usize); 6] = [(0, 3), (1, 1), (1, 37), (17, 1), (16, 32), (33, 19)];

/// `n` random numbers below 1000.
fn random(seed: u64, n: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.below(1000) as u32).collect()
}

/// Runs a kernel on `n` random elements, and compares each with the result of `reference` on the same elements.
fn in_place(
    what: &str,
    n: usize,
    run: impl FnOnce(&mut Vector<u32>) -> sarek::Result<()>,
    reference: impl FnOnce(&mut [u32]),
) -> Check {
    let mut expected = random(n as u64, n);
    let mut y = Vector::from_slice(&expected);
    run(&mut y)?;
    reference(&mut expected);
    let got = y.to_vec()?;
    let first = (0..n).find(|&i| got[i] != expected[i]);
    ensure(first.is_none(), || {
        let i = first.unwrap_or_default();
        let (got, expected) = (got[i], expected[i]);
        format!("{what}, {n} elements: [{i}] is {got} instead of {expected}")
    })
}
