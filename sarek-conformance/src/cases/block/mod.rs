//! Kernels in which the threads of a block work together.

pub(super) mod barriers;
mod branches;
mod composites;
mod control;
mod convolution;
mod histogram;
mod matmul;
mod nbody;
mod records;
mod reduce;
mod rows;
mod scan;
mod shared;
mod sort;
mod stencil;
mod transpose;

use crate::Case;
use crate::check::Check;
use crate::input::block_sizes;
use sarek::prelude::*;

pub const CASES: &[&[Case]] = &[
    reduce::CASES,
    scan::CASES,
    histogram::CASES,
    transpose::CASES,
    matmul::CASES,
    stencil::CASES,
    convolution::CASES,
    sort::CASES,
    nbody::CASES,
    barriers::CASES,
    branches::CASES,
    control::CASES,
    records::CASES,
    rows::CASES,
    shared::CASES,
    composites::CASES,
];

/// Calls `run` with the number of elements, the number of blocks and the block size. The last block has more threads than
/// data, except where the data fits exactly.
fn in_blocks(device: &Device, mut run: impl FnMut(usize, usize, usize) -> Check) -> Check {
    for block in block_sizes(device) {
        for n in [block, 2 * block + 1] {
            run(n, n.div_ceil(block), block)?;
        }
    }
    Ok(())
}

/// Small odd numbers, whose sums and products floats hold exactly.
fn small(seed: u64, n: usize) -> Vec<f32> {
    let mut random = crate::input::Random::new(seed);
    (0..n).map(|_| 2.0 * random.below(4) as f32 - 3.0).collect()
}
