//! Gathers along columns, stencils of three dimensions and structs in their plain form, beside kernels that were tuned by
//! hand (`tuned.cu`, `shapes.cu`).

use sarek::prelude::*;

use crate::common::Fallible;
use crate::common::agree::{self, Compared, EXACT, ROUNDED, Tolerance};
use crate::common::input::floats;
use crate::common::runner::{Case, Work};
use crate::device::Value::{Buffer, U32};
use crate::device::{Baseline, Bench, Output, Sizes};
use crate::raw::Cuda;

/// Each row of the result is a column of the input.
#[kernel]
fn gather(n: usize, input: &[f32], output: &mut [f32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    if x < n && y < n {
        output[y * n + x] = input[x * n + y];
    }
}

/// A step on the inner points of a cube. Its sides are copied.
#[kernel]
fn seven_points(n: usize, old: &[f32], new: &mut [f32]) {
    let (x, y, z) = (global_idx_x(), global_idx_y(), global_idx_z());
    if x >= n || y >= n || z >= n {
        return;
    }
    let at = (z * n + y) * n + x;
    let inner = x > 0 && x + 1 < n && y > 0 && y + 1 < n && z > 0 && z + 1 < n;
    new[at] = if inner {
        let row = old[at - 1] + old[at + 1] + old[at - n] + old[at + n];
        0.4 * old[at] + 0.1 * (row + old[at - n * n] + old[at + n * n])
    } else {
        old[at]
    };
}

/// Eight words.
#[derive(Clone, Copy, Default, KernelType)]
#[repr(C)]
struct Eight {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
    e: f32,
    f: f32,
    g: f32,
    h: f32,
}

impl Eight {
    fn words(self) -> [f32; 8] {
        let Eight {
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
        } = self;
        [a, b, c, d, e, f, g, h]
    }

    fn of([a, b, c, d, e, f, g, h]: [f32; 8]) -> Eight {
        Eight {
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
        }
    }
}

impl Compared for Eight {
    fn agree(ours: &[Eight], theirs: &[Eight], tolerance: Tolerance) -> Fallible {
        let [ours, theirs] =
            [ours, theirs].map(|all| all.iter().flat_map(|v| v.words()).collect::<Vec<f32>>());
        agree::agree(&ours, &theirs, tolerance)
    }
}

/// Scales each element to length 1.
#[kernel]
fn unit(input: &[Eight], output: &mut [Eight]) {
    let i = global_idx_x();
    let v = input[i];
    let first = v.a * v.a + v.b * v.b + v.c * v.c + v.d * v.d;
    let all = first + v.e * v.e + v.f * v.f + v.g * v.g + v.h * v.h;
    let s = (all + 1e-12).rsqrt();
    output[i] = Eight {
        a: v.a * s,
        b: v.b * s,
        c: v.c * s,
        d: v.d * s,
        e: v.e * s,
        f: v.f * s,
        g: v.g * s,
        h: v.h * s,
    };
}

impl Bench<Cuda> {
    /// Runs all pairs.
    pub fn layouts(&self, sizes: &Sizes) -> Fallible {
        self.gather(sizes.grid)?;
        self.seven_points(sizes.grid / 16)?;
        self.structs(sizes.vector / 4)
    }

    fn gather(&self, n: usize) -> Fallible {
        if !self.runner.wants("tuned_gather") {
            return Ok(());
        }
        let (input, before) = (floats(n * n, 0.0, 1.0), vec![-1.0; n * n]);
        let (from, to) = (
            self.baseline.upload(&input)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        self.pair(
            Case {
                kernel: "tuned_gather",
                against: "tuned",
                size: format!("{n}x{n}"),
                work: Work::Bytes(8 * n * n),
            },
            Output {
                buffer: &to,
                before: &before,
                tolerance: EXACT,
            },
            (&mut [input, vec![0.0; n * n]].map(Vector::from_vec), |v| {
                &mut v[1]
            }),
            |[from, to]| gather(n, from, to).over((n, n)),
            self.baseline
                .prepare("tuned_transpose", [n, n / 4], [32, 8], &args)?,
        )
    }

    fn seven_points(&self, n: usize) -> Fallible {
        if !self.runner.wants("tuned_stencil3d") {
            return Ok(());
        }
        let all = n * n * n;
        let (input, before) = (floats(all, 0.0, 1.0), vec![-1.0; all]);
        let (from, to) = (
            self.baseline.upload(&input)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        self.pair(
            Case {
                kernel: "tuned_stencil3d",
                against: "tuned",
                size: format!("{n}x{n}x{n}"),
                work: Work::Bytes(8 * all),
            },
            Output {
                buffer: &to,
                before: &before,
                tolerance: ROUNDED,
            },
            (&mut [input, vec![0.0; all]].map(Vector::from_vec), |v| {
                &mut v[1]
            }),
            |[from, to]| seven_points(n, from, to).over((n, n, n)),
            self.baseline
                .prepare("tuned_stencil3d", [n / 4, n * n / 64], [32, 8], &args)?,
        )
    }

    fn structs(&self, n: usize) -> Fallible {
        if !self.runner.wants("tuned_structs") {
            return Ok(());
        }
        let words = floats(8 * n, 0.1, 1.0);
        let words = words.chunks_exact(8);
        let input: Vec<Eight> = words
            .map(|w| Eight::of(std::array::from_fn(|k| w[k])))
            .collect();
        let before = vec![Eight::default(); n];
        let (from, to) = (
            self.baseline.upload(&input)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        self.pair(
            Case {
                kernel: "tuned_structs",
                against: "tuned",
                size: format!("{n}"),
                work: Work::Bytes(64 * n),
            },
            Output {
                buffer: &to,
                before: &before,
                tolerance: ROUNDED,
            },
            (&mut [input, before.clone()].map(Vector::from_vec), |v| {
                &mut v[1]
            }),
            |[from, to]| unit(from, to).over(n),
            self.baseline
                .prepare("tuned_structs", [n, 1], [256, 1], &args)?,
        )
    }
}
