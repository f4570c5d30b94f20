//! Plain kernels beside kernels that were tuned by hand (`tuned.cu`), and beside cuBLAS.

use sarek::prelude::*;

use crate::common::Fallible;
use crate::common::agree::{EXACT, ROUNDED, SUMMED};
use crate::common::input::{floats, fours};
use crate::common::kernels::{self, SCALE};
use crate::common::runner::{Case, Work};
use crate::device::Value::{Buffer, F32, U32};
use crate::device::{Baseline, Bench, Output, Sizes};
use crate::raw::Cuda;

#[kernel]
fn copy_u8(x: &[u8], y: &mut [u8]) {
    let i = global_idx_x();
    y[i] = x[i];
}

#[kernel]
fn copy_u16(x: &[u16], y: &mut [u16]) {
    let i = global_idx_x();
    y[i] = x[i];
}

/// `y = m x` for a matrix of rows of `n` elements, with one thread for each row.
#[kernel]
fn matrix_vector(n: usize, m: &[f32], x: &[f32], y: &mut [f32]) {
    let row = global_idx_x();
    let mut sum = 0.0;
    for k in 0..n {
        sum += m[row * n + k] * x[k];
    }
    y[row] = sum;
}

fn case(kernel: &'static str, against: &'static str, size: String, work: Work) -> Case {
    Case {
        kernel,
        against,
        size,
        work,
    }
}

impl Bench<Cuda> {
    /// Runs all pairs.
    pub fn tuned(&self, sizes: &Sizes) -> Fallible {
        self.copies(sizes.vector)?;
        self.tuned_triad(sizes.vector)?;
        self.tuned_grids(sizes.grid)?;
        self.tuned_nbody(sizes.bodies)?;
        for n in [1024, 2048, 4096, 1000] {
            self.product(n)?;
        }
        self.product_with_vector(1 << 18, 1024)
    }

    /// Copies of `4 * n` bytes.
    fn copies(&self, n: usize) -> Fallible {
        let words = |bytes: usize| U32((bytes / 16) as u32);
        macro_rules! row {
            ($name:literal $kernel:path, $t:ty) => {
                if self.runner.wants($name) {
                    let n = 4 * n / size_of::<$t>();
                    let x: Vec<$t> = (0..n).map(|i| (i % 251) as $t).collect();
                    let before = vec![0 as $t; n];
                    let (bx, by) = (self.baseline.upload(&x)?, self.baseline.upload(&before)?);
                    let bytes = size_of_val(&*x);
                    let args = [words(bytes), Buffer(&bx), Buffer(&by)];
                    self.pair(
                        case($name, "tuned", format!("{n}"), Work::Bytes(2 * bytes)),
                        Output {
                            buffer: &by,
                            before: &before,
                            tolerance: EXACT,
                        },
                        (&mut (Vector::from_vec(x), Vector::zeros(n)), |v| &mut v.1),
                        |(x, y)| $kernel(x, y).over(n),
                        self.baseline
                            .prepare("tuned_copy", [bytes / 16, 1], [256, 1], &args)?,
                    )?;
                }
            };
        }
        row!("tuned_copy f32" kernels::copy, f32);
        row!("tuned_copy u16" copy_u16, u16);
        row!("tuned_copy u8" copy_u8, u8);
        Ok(())
    }

    fn tuned_triad(&self, n: usize) -> Fallible {
        if !self.runner.wants("tuned_triad") {
            return Ok(());
        }
        let (b, c, before) = (floats(n, 0.1, 2.0), floats(n, 0.2, 2.0), vec![-1.0; n]);
        let (bb, bc) = (self.baseline.upload(&b)?, self.baseline.upload(&c)?);
        let ba = self.baseline.upload(&before)?;
        let buffers = [&bb, &bc, &ba].map(Buffer);
        let args: Vec<_> = [U32(n as u32 / 4), F32(SCALE)]
            .into_iter()
            .chain(buffers)
            .collect();
        self.pair(
            case("tuned_triad", "tuned", format!("{n}"), Work::Bytes(12 * n)),
            Output {
                buffer: &ba,
                before: &before,
                tolerance: ROUNDED,
            },
            (&mut [b, c, vec![0.0; n]].map(Vector::from_vec), |v| {
                &mut v[2]
            }),
            |[b, c, a]| kernels::triad(SCALE, b, c, a).over(n),
            self.baseline
                .prepare("tuned_triad", [n / 4, 1], [256, 1], &args)?,
        )
    }

    fn tuned_grids(&self, n: usize) -> Fallible {
        let (input, before) = (floats(n * n, 0.0, 1.0), vec![-1.0; n * n]);
        let (from, to) = (
            self.baseline.upload(&input)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        let mut v = [Vector::from_vec(input), Vector::zeros(n * n)];
        let row = |kernel| case(kernel, "tuned", format!("{n}x{n}"), Work::Bytes(8 * n * n));
        if self.runner.wants("tuned_stencil") {
            self.pair(
                row("tuned_stencil"),
                Output {
                    buffer: &to,
                    before: &before,
                    tolerance: ROUNDED,
                },
                (&mut v, |v| &mut v[1]),
                |[from, to]| kernels::jacobi(n, n, from, to).over((n, n)),
                self.baseline
                    .prepare("tuned_stencil", [n, n / 16], [256, 1], &args)?,
            )?;
        }
        if self.runner.wants("tuned_transpose") {
            self.pair(
                row("tuned_transpose"),
                Output {
                    buffer: &to,
                    before: &before,
                    tolerance: EXACT,
                },
                (&mut v, |v| &mut v[1]),
                |[from, to]| kernels::transpose(n, n, from, to).over((n, n)),
                self.baseline
                    .prepare("tuned_transpose", [n, n / 4], [32, 8], &args)?,
            )?;
        }
        Ok(())
    }

    fn tuned_nbody(&self, n: usize) -> Fallible {
        if !self.runner.wants("tuned_nbody") {
            return Ok(());
        }
        let (bodies, before) = (fours(n, 0.1, 2.0), vec![0.0; 3 * n]);
        let (from, to) = (
            self.baseline.upload(&bodies)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        self.pair(
            case(
                "tuned_nbody",
                "tuned",
                format!("{n}"),
                Work::Operations(n * n, "pair"),
            ),
            Output {
                buffer: &to,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut (Vector::from_vec(bodies), Vector::zeros(3 * n)), |v| {
                &mut v.1
            }),
            |(bodies, result)| kernels::accelerations(bodies, result).over(n),
            self.baseline
                .prepare("tuned_accelerations", [n / 2, 1], [256, 1], &args)?,
        )
    }

    /// The product of square matrices, beside cuBLAS.
    fn product(&self, n: usize) -> Fallible {
        if !self.runner.wants("blas_matmul") {
            return Ok(());
        }
        let (a, b) = (floats(n * n, -1.0, 1.0), floats(n * n, 0.0, 1.0));
        let before = vec![0.0; n * n];
        let (ba, bb) = (self.baseline.upload(&a)?, self.baseline.upload(&b)?);
        let bc = self.baseline.upload(&before)?;
        let theirs = self.baseline.sgemm(n, [&ba, &bb, &bc])?;
        let work = Work::Operations(2 * n * n * n, "flop");
        self.pair(
            case("blas_matmul", "cuBLAS", format!("{n}x{n}"), work),
            Output {
                buffer: &bc,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut [a, b, vec![0.0; n * n]].map(Vector::from_vec), |v| {
                &mut v[2]
            }),
            |[a, b, c]| kernels::matmul(n, a, b, c).over((n, n)),
            theirs,
        )
    }

    /// A matrix times a vector, beside cuBLAS.
    fn product_with_vector(&self, rows: usize, n: usize) -> Fallible {
        if !self.runner.wants("blas_matrix_vector") {
            return Ok(());
        }
        let (m, x) = (floats(rows * n, -1.0, 1.0), floats(n, 0.0, 1.0));
        let before = vec![0.0; rows];
        let (bm, bx) = (self.baseline.upload(&m)?, self.baseline.upload(&x)?);
        let by = self.baseline.upload(&before)?;
        let theirs = self.baseline.sgemv(rows, n, [&bm, &bx, &by])?;
        self.pair(
            case(
                "blas_matrix_vector",
                "cuBLAS",
                format!("{rows}x{n}"),
                Work::Bytes(4 * rows * n),
            ),
            Output {
                buffer: &by,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut [m, x, vec![0.0; rows]].map(Vector::from_vec), |v| {
                &mut v[2]
            }),
            |[m, x, y]| matrix_vector(n, m, x, y).over(rows),
            theirs,
        )
    }
}
