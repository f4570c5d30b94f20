//! Compares kernels with bounds checks and their unchecked copies ([`unchecked`]).

use sarek::prelude::*;

use super::common::agree::EXACT;
use super::common::runner::Work;
use super::common::{block, kernels, unchecked};
use super::{Bench, Fallible, LARGE, case, random};
use kernels::SCALE;

/// Runs all pairs; the rows are named `safe_…`.
pub fn run(bench: &Bench) -> Fallible {
    let row = |kernel, n: usize, work| case(kernel, "unchecked", format!("{n}"), work);
    if bench.runner.wants("safe_triad") {
        let n = LARGE;
        let mut v = (random(n), random(n), Vector::zeros(n));
        bench.pair(
            row("safe_triad", n, Work::Bytes(12 * n)),
            EXACT,
            &mut v,
            |v| &mut v.2,
            |v| kernels::triad(SCALE, &v.0, &v.1, &mut v.2).over(n),
            |v| {
                // SAFETY: the launch has as many threads as each vector has elements.
                Ok(unsafe { unchecked::triad(SCALE, &v.0, &v.1, &mut v.2) }
                    .over(n)
                    .run_on(&bench.device)?)
            },
        )?;
    }
    if bench.runner.wants("safe_stencil") {
        let n = 4096;
        let mut v = (random(n * n), Vector::zeros(n * n));
        bench.pair(
            row("safe_stencil", n, Work::Bytes(8 * n * n)),
            EXACT,
            &mut v,
            |v| &mut v.1,
            |v| kernels::jacobi(n, n, &v.0, &mut v.1).over((n, n)),
            |v| {
                // SAFETY: the vectors have `n * n` elements.
                Ok(unsafe { unchecked::jacobi(n, n, &v.0, &mut v.1) }
                    .over((n, n))
                    .run_on(&bench.device)?)
            },
        )?;
    }
    if bench.runner.wants("safe_tiled_matmul") {
        let n = 512;
        let mut v = (random(n * n), random(n * n), Vector::zeros(n * n));
        bench.pair(
            row(
                "safe_tiled_matmul",
                n,
                Work::Operations(2 * n * n * n, "flop"),
            ),
            EXACT,
            &mut v,
            |v| &mut v.2,
            |v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
            |v| {
                // SAFETY: the matrices have `n * n` elements.
                Ok(unsafe { unchecked::tiled_matmul(n, &v.0, &v.1, &mut v.2) }
                    .cover((n, n))
                    .run_on(&bench.device)?)
            },
        )?;
    }
    Ok(())
}
