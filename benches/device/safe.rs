//! Compares kernels with bounds checks and their unchecked copies ([`unchecked`]), both by sarek on the device.

use sarek::Ready;
use sarek::prelude::*;

use super::{Baseline, Bench, Sizes, Vectors};
use crate::common::Fallible;
use crate::common::agree::{Compared as _, EXACT};
use crate::common::input::floats;
use crate::common::kernels::SCALE;
use crate::common::runner::{Case, Work};
use crate::common::{block, kernels, unchecked};

/// Launches a kernel on its vectors. It writes the last one.
type Side<const N: usize> = fn(&mut Vectors<N>, usize) -> Ready<'_>;

impl<R: Baseline> Bench<R> {
    /// Runs all pairs.
    pub(super) fn safe(&self, sizes: &Sizes) -> Fallible {
        self.safe_triad(sizes.vector)?;
        self.safe_stencil(sizes.grid)?;
        self.safe_tiled_matmul(sizes.matmul)
    }

    fn safe_triad(&self, n: usize) -> Fallible {
        if !self.runner.wants("safe_triad") {
            return Ok(());
        }
        self.checked_and_not(
            ("safe_triad", format!("{n}"), Work::Bytes(12 * n)),
            (n, [floats(n, 0.1, 2.0), floats(n, 0.2, 2.0), vec![-1.0; n]]),
            |[b, c, a], n| kernels::triad(SCALE, b, c, a).over(n),
            // SAFETY: the launch has as many threads as each vector has elements.
            |[b, c, a], n| unsafe { unchecked::triad(SCALE, b, c, a) }.over(n),
        )
    }

    fn safe_stencil(&self, n: usize) -> Fallible {
        if !self.runner.wants("safe_stencil") {
            return Ok(());
        }
        let size = format!("{n}x{n}");
        self.checked_and_not(
            ("safe_stencil", size, Work::Bytes(8 * n * n)),
            (n, [floats(n * n, 0.0, 1.0), vec![-1.0; n * n]]),
            |[old, new], n| kernels::jacobi(n, n, old, new).over((n, n)),
            // SAFETY: both grids have `n * n` elements.
            |[old, new], n| unsafe { unchecked::jacobi(n, n, old, new) }.over((n, n)),
        )
    }

    fn safe_tiled_matmul(&self, n: usize) -> Fallible {
        if !self.runner.wants("safe_tiled_matmul") {
            return Ok(());
        }
        let size = format!("{n}x{n}");
        let (a, b) = (floats(n * n, -1.0, 1.0), floats(n * n, 0.0, 1.0));
        self.checked_and_not(
            (
                "safe_tiled_matmul",
                size,
                Work::Operations(2 * n * n * n, "flop"),
            ),
            (n, [a, b, vec![-1.0; n * n]]),
            |[a, b, c], n| block::tiled_matmul(n, a, b, c).cover((n, n)),
            // SAFETY: the matrices have `n * n` elements.
            |[a, b, c], n| unsafe { unchecked::tiled_matmul(n, a, b, c) }.cover((n, n)),
        )
    }

    /// Checks that both sides write the same, then times them on the same vectors.
    fn checked_and_not<const N: usize>(
        &self,
        (kernel, size, work): (&'static str, String, Work),
        (n, data): (usize, [Vec<f32>; N]),
        checked: Side<N>,
        unchecked: Side<N>,
    ) -> Fallible {
        let case = Case {
            kernel,
            against: "unchecked",
            size,
            work,
        };
        let before = data[N - 1].clone();
        let mut vectors = data.map(Vector::from_vec);
        let mut results = vec![];
        for side in [checked, unchecked] {
            vectors[N - 1].copy_from_slice(&before)?;
            side(&mut vectors, n).run_on(&self.device)?;
            results.push(vectors[N - 1].to_vec()?);
        }
        f32::agree(&results[0], &results[1], EXACT).map_err(|why| format!("{kernel}: {why}"))?;
        let run = |side: Side<N>| {
            move |vectors: &mut Vectors<N>, count: u32| {
                for _ in 0..count {
                    side(vectors, n).run_on(&self.device)?;
                }
                Ok(self.device.sync()?)
            }
        };
        self.runner
            .time(&case, &mut vectors, run(checked), run(unchecked))
    }
}
