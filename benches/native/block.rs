//! Compares kernels with shared memory and barriers with plain Rust ([`plain`]). Where PoCL is
//! installed, also compares them with the same kernels by the backend `opencl` on the same CPU.

mod plain;

use sarek::prelude::*;
use sarek::{Element, Ready};

use crate::common::Fallible;
use crate::common::agree::{Compared, EXACT, ROUNDED, SUMMED, Tolerance};
use crate::common::block::{self, BINS, BLOCK};
use crate::common::input::integers;
use crate::common::runner::{Case, Work};
use crate::{Bench, random};

/// The number of blocks of a histogram.
const COUNTING: usize = 128;

/// A kernel with its sizes.
struct Row<S, T: Element> {
    kernel: &'static str,
    size: String,
    work: Work,
    tolerance: Tolerance,
    /// Makes its vectors, with the same content at each call.
    vectors: fn(usize) -> S,
    n: usize,
    output: fn(&mut S) -> &mut Vector<T>,
}

impl<S, T: Compared> Row<S, T> {
    fn case(&self, against: &'static str) -> Case {
        Case {
            kernel: self.kernel,
            against,
            size: self.size.clone(),
            work: self.work,
        }
    }

    /// Compares the kernel with plain Rust and with PoCL, if the filter selects it.
    fn run(
        self,
        bench: &Bench,
        pocl: Option<&Device>,
        ours: impl for<'a> Fn(&'a mut S) -> Ready<'a> + Copy,
        theirs: impl Fn(&mut S) -> Fallible,
    ) -> Fallible {
        if !bench.runner.wants(self.kernel) {
            return Ok(());
        }
        let mut vectors = (self.vectors)(self.n);
        bench.pair(
            self.case("rayon"),
            self.tolerance,
            &mut vectors,
            self.output,
            ours,
            theirs,
        )?;
        pocl.map_or(Ok(()), |pocl| {
            self.beside(bench, pocl, (self.vectors)(self.n), ours)
        })
    }

    /// Compares the kernel with itself on another device. Each device has its own vectors.
    fn beside(
        &self,
        bench: &Bench,
        other: &Device,
        vectors: S,
        launch: impl for<'a> Fn(&'a mut S) -> Ready<'a>,
    ) -> Fallible {
        let run = |on: &Device, vectors: &mut S, count| -> Fallible {
            for _ in 0..count {
                launch(vectors).run_on(on)?;
            }
            Ok(on.sync()?)
        };
        let mut sides = ((self.vectors)(self.n), vectors);
        let written = |on: &Device, vectors: &mut S| -> Fallible<Vec<T>> {
            (self.output)(vectors).fill(T::default())?;
            run(on, vectors, 1)?;
            Ok((self.output)(vectors).to_vec()?)
        };
        let here = written(&bench.device, &mut sides.0)?;
        let there = written(other, &mut sides.1)?;
        T::agree(&here, &there, self.tolerance)
            .map_err(|why| format!("{} beside PoCL: {why}", self.kernel))?;
        bench.runner.time(
            &self.case("PoCL"),
            &mut sides,
            |sides, count| run(&bench.device, &mut sides.0, count),
            |sides, count| run(other, &mut sides.1, count),
        )
    }
}

/// PoCL's device. If there is none, prints the reason.
fn pocl() -> Option<Device> {
    let found = Device::of("opencl").map_err(|why| why.to_string());
    let on_processor = |device: Device| {
        // Among OpenCL devices, only those on the CPU have a lower priority than native.
        let below = device.priority() < 50;
        below
            .then_some(device)
            .ok_or("the first device is a GPU".into())
    };
    found
        .and_then(on_processor)
        .inspect_err(|why: &String| println!("PoCL: skipped: {why}"))
        .ok()
}

/// The number of bodies for eight blocks per thread of the pool. With fewer, the total time would depend on a single block more or less.
pub fn bodies_for_all() -> usize {
    8 * BLOCK * rayon::current_num_threads()
}

/// Runs all pairs.
pub fn run(bench: &Bench) -> Fallible {
    let pocl = pocl();
    let pocl = pocl.as_ref();
    products(bench, pocl, 512)?;
    sums(bench, pocl, 1 << 22)?;
    transposes(bench, pocl, 4096)?;
    histograms(bench, pocl, 1 << 24)?;
    strided_histograms(bench, pocl, 1 << 24)?;
    bodies(bench, pocl, bodies_for_all())?;
    exponentials(bench, pocl, 1 << 22)
}

fn products(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    let row = Row {
        kernel: "tiled_matmul",
        size: format!("{n}x{n}"),
        work: Work::Operations(2 * n * n * n, "flop"),
        tolerance: SUMMED,
        vectors: |n| (random(n * n), random(n * n), Vector::zeros(n * n)),
        n,
        output: |v| &mut v.2,
    };
    row.run(
        bench,
        pocl,
        |v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
        |v| {
            let (a, b) = (v.0.as_slice()?, v.1.as_slice()?);
            Ok(plain::matmul(n, a, b, v.2.as_mut_slice()?))
        },
    )
}

fn sums(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    let row = Row {
        kernel: "tree_sum",
        size: format!("{n}"),
        work: Work::Bytes(4 * (n + n / BLOCK)),
        tolerance: ROUNDED,
        vectors: |n| (random(n), Vector::zeros(n.div_ceil(BLOCK))),
        n,
        output: |v| &mut v.1,
    };
    row.run(
        bench,
        pocl,
        |v| block::tree_sum(&v.0, &mut v.1).cover(n),
        |v| Ok(plain::sums(v.0.as_slice()?, v.1.as_mut_slice()?)),
    )
}

fn transposes(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    let row = Row {
        kernel: "tiled_transpose",
        size: format!("{n}x{n}"),
        work: Work::Bytes(8 * n * n),
        tolerance: EXACT,
        vectors: |n| (random(n * n), Vector::zeros(n * n)),
        n,
        output: |v| &mut v.1,
    };
    row.run(
        bench,
        pocl,
        |v| block::tiled_transpose(n, n, &v.0, &mut v.1).cover((n, n)),
        |v| Ok(plain::transpose(n, n, v.0.as_slice()?, v.1.as_mut_slice()?)),
    )
}

/// The counts accumulate over all launches, on both sides.
fn histograms(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    counts("histogram", n).run(
        bench,
        pocl,
        |v| block::histogram(&v.0, &mut v.1).cover(COUNTING * BLOCK),
        |v| Ok(plain::histogram(v.0.as_slice()?, v.1.as_mut_slice()?)),
    )
}

fn strided_histograms(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    counts("strided_histogram", n).run(
        bench,
        pocl,
        |v| block::strided_histogram(&v.0, &mut v.1).cover(COUNTING * BLOCK),
        |v| Ok(plain::histogram(v.0.as_slice()?, v.1.as_mut_slice()?)),
    )
}

fn counts(kernel: &'static str, n: usize) -> Row<(Vector<u32>, Vector<u32>), u32> {
    Row {
        kernel,
        size: format!("{n}"),
        work: Work::Bytes(4 * n),
        tolerance: EXACT,
        vectors: |n| (Vector::from_vec(integers(n)), Vector::zeros(BINS)),
        n,
        output: |v| &mut v.1,
    }
}

fn bodies(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    let row = Row {
        kernel: "tiled_nbody",
        size: format!("{n}"),
        work: Work::Operations(n * n, "pair"),
        tolerance: SUMMED,
        vectors: |n| (random(4 * n), Vector::zeros(3 * n)),
        n,
        output: |v| &mut v.1,
    };
    row.run(
        bench,
        pocl,
        |v| block::tiled_accelerations(&v.0, &mut v.1).cover(n),
        |v| Ok(plain::accelerations(v.0.as_slice()?, v.1.as_mut_slice()?)),
    )
}

fn exponentials(bench: &Bench, pocl: Option<&Device>, n: usize) -> Fallible {
    let row = Row {
        kernel: "exp_sum",
        size: format!("{n}"),
        work: Work::Operations(n * block::TERMS as usize, "exp"),
        tolerance: ROUNDED,
        vectors: |n| (random(n), Vector::zeros(n)),
        n,
        output: |v| &mut v.1,
    };
    row.run(
        bench,
        pocl,
        |v| block::exp_sum(&v.0, &mut v.1).over(n),
        |v| Ok(plain::exp_sums(v.0.as_slice()?, v.1.as_mut_slice()?)),
    )
}
