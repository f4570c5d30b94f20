//! Histograms, box filters and convolutions in their plain form, beside kernels that were tuned by hand (`shapes.cu`).

use sarek::prelude::*;

use crate::common::Fallible;
use crate::common::agree::{EXACT, SUMMED};
use crate::common::input::{floats, integers};
use crate::common::runner::{Case, Work};
use crate::device::Value::{Buffer, U32};
use crate::device::{Baseline, Bench, Output, Sizes};
use crate::raw::Cuda;

#[kernel]
fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[(x[i] % 256) as usize].fetch_add(1);
    }
}

/// The mean of the box of `side * side` elements around each inner element.
#[kernel]
fn mean(n: usize, side: usize, old: &[f32], new: &mut [f32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    let half = side / 2;
    if x >= half && x + half < n && y >= half && y + half < n {
        let mut sum = 0.0;
        for dy in 0..side {
            for dx in 0..side {
                sum += old[(y + dy - half) * n + x + dx - half];
            }
        }
        new[y * n + x] = sum / (side * side) as f32;
    }
}

#[kernel]
fn convolution(weights: &[f32], x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let mut sum = 0.0;
        for t in 0..weights.len() {
            sum += weights[t] * x[i + t];
        }
        y[i] = sum;
    }
}

impl Bench<Cuda> {
    /// Runs all pairs.
    pub fn shapes(&self, sizes: &Sizes) -> Fallible {
        self.histogram(sizes.vector / 2)?;
        self.means(sizes.grid)?;
        for (taps, hand) in [(17, "tuned_convolution17"), (65, "tuned_convolution65")] {
            self.convolution(sizes.vector / 2, taps, hand)?;
        }
        Ok(())
    }

    fn case_of(&self, kernel: &'static str, size: String, work: Work) -> Case {
        Case {
            kernel,
            against: "tuned",
            size,
            work,
        }
    }

    fn histogram(&self, n: usize) -> Fallible {
        if !self.runner.wants("tuned_histogram") {
            return Ok(());
        }
        let (x, before) = (integers(n), vec![0u32; 256]);
        let (bx, bins) = (self.baseline.upload(&x)?, self.baseline.upload(&before)?);
        let args = [U32(n as u32 / 4), Buffer(&bx), Buffer(&bins)];
        self.pair(
            self.case_of("tuned_histogram", format!("{n}"), Work::Bytes(4 * n)),
            Output {
                buffer: &bins,
                before: &before,
                tolerance: EXACT,
            },
            (&mut [x, before.clone()].map(Vector::from_vec), |v| {
                &mut v[1]
            }),
            |[x, bins]| histogram(x, bins).over(n),
            self.baseline
                .prepare("tuned_histogram", [1024 * 256, 1], [256, 1], &args)?,
        )
    }

    fn means(&self, n: usize) -> Fallible {
        for (side, hand) in [(3, "tuned_box3"), (7, "tuned_box7")] {
            if !self.runner.wants(hand) {
                continue;
            }
            let (input, before) = (floats(n * n, 0.0, 1.0), vec![-1.0; n * n]);
            let (from, to) = (
                self.baseline.upload(&input)?,
                self.baseline.upload(&before)?,
            );
            let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
            self.pair(
                self.case_of(hand, format!("{n}x{n}"), Work::Bytes(8 * n * n)),
                Output {
                    buffer: &to,
                    before: &before,
                    tolerance: SUMMED,
                },
                (&mut [input, vec![0.0; n * n]].map(Vector::from_vec), |v| {
                    &mut v[1]
                }),
                |[from, to]| mean(n, side, from, to).over((n, n)),
                self.baseline
                    .prepare(hand, [n / 4, n / 16], [32, 8], &args)?,
            )?;
        }
        Ok(())
    }

    fn convolution(&self, n: usize, taps: usize, hand: &'static str) -> Fallible {
        if !self.runner.wants(hand) {
            return Ok(());
        }
        let (x, weights) = (floats(n + taps - 1, -1.0, 1.0), floats(taps, 0.0, 1.0));
        let before = vec![0.0; n];
        let (bx, bw) = (self.baseline.upload(&x)?, self.baseline.upload(&weights)?);
        let by = self.baseline.upload(&before)?;
        let args = [U32(n as u32), Buffer(&bx), Buffer(&bw), Buffer(&by)];
        let work = Work::Operations(2 * n * taps, "flop");
        self.pair(
            self.case_of(hand, format!("{n}"), work),
            Output {
                buffer: &by,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut [weights, x, vec![0.0; n]].map(Vector::from_vec), |v| {
                &mut v[2]
            }),
            |[weights, x, y]| convolution(weights, x, y).over(n),
            self.baseline.prepare(hand, [n / 8, 1], [256, 1], &args)?,
        )
    }
}
