//! The pairs of kernels with shared memory and barriers. Both sides use the same tiles and blocks.

use sarek::Ready;
use sarek::prelude::*;

use super::Value::{Buffer, U32};
use super::{BLOCK_1D, Baseline, Bench, Output, Sizes, Vectors};
use crate::common::Fallible;
use crate::common::agree::{EXACT, ROUNDED, SUMMED};
use crate::common::block::{self, BINS, BLOCK};
use crate::common::input::{floats, integers};
use crate::common::runner::Work;

/// The block size of tiled kernels.
const TILE: [u32; 2] = [block::TILE as u32; 2];

impl<R: Baseline> Bench<R> {
    /// Runs all pairs.
    pub(super) fn blocks(&self, sizes: &Sizes) -> Fallible {
        self.tiled_matmul(sizes.matmul)?;
        self.tree_sum(sizes.elements)?;
        self.tiled_transpose(sizes.grid)?;
        let (n, threads) = (sizes.elements, sizes.counting * BLOCK);
        self.counts("histogram", n, threads, |[x, bins]| {
            block::histogram(x, bins).cover(threads)
        })?;
        self.counts("strided_histogram", n, threads, |[x, bins]| {
            block::strided_histogram(x, bins).cover(threads)
        })?;
        self.tiled_nbody(sizes.bodies)?;
        self.exp_sum(sizes.elements)
    }

    fn tiled_matmul(&self, n: usize) -> Fallible {
        if !self.runner.wants("tiled_matmul") {
            return Ok(());
        }
        let (a, b) = (floats(n * n, -1.0, 1.0), floats(n * n, 0.0, 1.0));
        let before = vec![-1.0; n * n];
        let (ba, bb) = (self.baseline.upload(&a)?, self.baseline.upload(&b)?);
        let bc = self.baseline.upload(&before)?;
        let args = [U32(n as u32), Buffer(&ba), Buffer(&bb), Buffer(&bc)];
        let mut v: Vectors<3> = [a, b, vec![0.0; n * n]].map(Vector::from_vec);
        let work = Work::Operations(2 * n * n * n, "flop");
        self.pair(
            self.case("tiled_matmul", format!("{n}x{n}"), work),
            Output {
                buffer: &bc,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut v, |v| &mut v[2]),
            |[a, b, c]| block::tiled_matmul(n, a, b, c).cover((n, n)),
            self.baseline.prepare("tiled_matmul", [n, n], TILE, &args)?,
        )
    }

    fn tree_sum(&self, n: usize) -> Fallible {
        if !self.runner.wants("tree_sum") {
            return Ok(());
        }
        let (x, before) = (floats(n, 0.1, 2.0), vec![-1.0; n.div_ceil(BLOCK)]);
        let (from, to) = (self.baseline.upload(&x)?, self.baseline.upload(&before)?);
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        let mut v: Vectors<2> = [Vector::from_vec(x), Vector::zeros(before.len())];
        let work = Work::Bytes(4 * (n + before.len()));
        self.pair(
            self.case("tree_sum", format!("{n}"), work),
            Output {
                buffer: &to,
                before: &before,
                tolerance: EXACT,
            },
            (&mut v, |v| &mut v[1]),
            |[x, sums]| block::tree_sum(x, sums).cover(n),
            self.baseline.prepare("tree_sum", [n, 1], BLOCK_1D, &args)?,
        )
    }

    fn tiled_transpose(&self, n: usize) -> Fallible {
        if !self.runner.wants("tiled_transpose") {
            return Ok(());
        }
        let (input, before) = (floats(n * n, 0.0, 1.0), vec![-1.0; n * n]);
        let (from, to) = (
            self.baseline.upload(&input)?,
            self.baseline.upload(&before)?,
        );
        let side = || U32(n as u32);
        let args = [side(), side(), Buffer(&from), Buffer(&to)];
        let mut v: Vectors<2> = [Vector::from_vec(input), Vector::zeros(n * n)];
        self.pair(
            self.case(
                "tiled_transpose",
                format!("{n}x{n}"),
                Work::Bytes(8 * n * n),
            ),
            Output {
                buffer: &to,
                before: &before,
                tolerance: EXACT,
            },
            (&mut v, |v| &mut v[1]),
            |[from, to]| block::tiled_transpose(n, n, from, to).cover((n, n)),
            self.baseline
                .prepare("tiled_transpose", [n, n], TILE, &args)?,
        )
    }

    /// The counts accumulate over all launches, on both sides.
    fn counts(
        &self,
        kernel: &'static str,
        n: usize,
        threads: usize,
        ours: impl for<'a> Fn(&'a mut [Vector<u32>; 2]) -> Ready<'a>,
    ) -> Fallible {
        if !self.runner.wants(kernel) {
            return Ok(());
        }
        let (x, before) = (integers(n), vec![5u32; BINS]);
        let (from, to) = (self.baseline.upload(&x)?, self.baseline.upload(&before)?);
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        self.pair(
            self.case(kernel, format!("{n}"), Work::Bytes(4 * n)),
            Output {
                buffer: &to,
                before: &before,
                tolerance: EXACT,
            },
            (&mut [Vector::from_vec(x), Vector::zeros(BINS)], |v| {
                &mut v[1]
            }),
            ours,
            self.baseline
                .prepare(kernel, [threads, 1], BLOCK_1D, &args)?,
        )
    }

    fn tiled_nbody(&self, n: usize) -> Fallible {
        if !self.runner.wants("tiled_nbody") {
            return Ok(());
        }
        let (bodies, before) = (floats(4 * n, 0.1, 2.0), vec![0.0; 3 * n]);
        let (from, to) = (
            self.baseline.upload(&bodies)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        let mut v: Vectors<2> = [Vector::from_vec(bodies), Vector::zeros(3 * n)];
        let kernel = "tiled_accelerations";
        self.pair(
            self.case(
                "tiled_nbody",
                format!("{n}"),
                Work::Operations(n * n, "pair"),
            ),
            Output {
                buffer: &to,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut v, |v| &mut v[1]),
            |[bodies, result]| block::tiled_accelerations(bodies, result).cover(n),
            self.baseline.prepare(kernel, [n, 1], BLOCK_1D, &args)?,
        )
    }

    fn exp_sum(&self, n: usize) -> Fallible {
        if !self.runner.wants("exp_sum") {
            return Ok(());
        }
        let (x, before) = (floats(n, 0.1, 2.0), vec![-1.0; n]);
        let (from, to) = (self.baseline.upload(&x)?, self.baseline.upload(&before)?);
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        let mut v: Vectors<2> = [Vector::from_vec(x), Vector::zeros(n)];
        let work = Work::Operations(n * block::TERMS as usize, "exp");
        self.pair(
            self.case("exp_sum", format!("{n}"), work),
            Output {
                buffer: &to,
                before: &before,
                tolerance: ROUNDED,
            },
            (&mut v, |v| &mut v[1]),
            |[x, y]| block::exp_sum(x, y).over(n),
            self.baseline.prepare("exp_sum", [n, 1], BLOCK_1D, &args)?,
        )
    }
}
