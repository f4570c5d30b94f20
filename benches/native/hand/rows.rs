//! Compares kernels with the same work by hand ([`super`]); the rows are named by the kernel, against `hand`.

use sarek::Ready;
use sarek::prelude::*;

use super::{lanes, options};
use crate::common::Fallible;
use crate::common::agree::{COUNTED, Compared, EXACT, ROUNDED, SUMMED, Tolerance};
use crate::common::block::{self, BLOCK};
use crate::common::input::{floats, fours};
use crate::common::kernels::{self, LIMIT, SCALE};
use crate::common::runner::Work;
use crate::sums::{self, PARTS};
use crate::{Bench, LARGE, case, hand, random};

/// For sums of parts that the two sides divide in other ways.
const DIVIDED: Tolerance = Tolerance {
    relative: 2e-2,
    ..EXACT
};

/// Runs all pairs.
pub fn run(bench: &Bench) -> Fallible {
    streams(bench, LARGE)?;
    options(bench, 1 << 22)?;
    points(bench, 1024)?;
    grids(bench, 4096)?;
    bodies(bench, block::BLOCK * 8 * rayon::current_num_threads())?;
    blocks(bench, 1 << 22)?;
    for n in [512, 1024, 2048] {
        products(bench, n)?;
    }
    Ok(())
}

/// Times a kernel from two inputs of the same size beside a function of these.
fn two_inputs(
    bench: &Bench,
    (kernel, against): (&'static str, &'static str),
    (n, size, work): (usize, String, Work),
    (results, tolerance): (usize, Tolerance),
    ours: impl for<'a> Fn(&'a mut (Vector<f32>, Vector<f32>, Vector<f32>)) -> Ready<'a>,
    theirs: fn(&[f32], &[f32], &mut [f32]),
) -> Fallible {
    if !bench.runner.wants(kernel) {
        return Ok(());
    }
    bench.pair(
        case(kernel, against, size, work),
        tolerance,
        &mut (random(n), random(n), Vector::zeros(results)),
        |v| &mut v.2,
        ours,
        |v| {
            theirs(v.0.as_slice()?, v.1.as_slice()?, v.2.as_mut_slice()?);
            Ok(())
        },
    )
}

/// Times a kernel from one input beside a function of it.
fn one_input<T: Compared>(
    bench: &Bench,
    (kernel, size, work): (&'static str, String, Work),
    (input, results, tolerance): (Vector<T>, usize, Tolerance),
    ours: impl for<'a> Fn(&'a mut (Vector<T>, Vector<f32>)) -> Ready<'a>,
    theirs: impl Fn(&[T], &mut [f32]),
) -> Fallible {
    if !bench.runner.wants(kernel) {
        return Ok(());
    }
    bench.pair(
        case(kernel, "hand", size, work),
        tolerance,
        &mut (input, Vector::zeros(results)),
        |v| &mut v.1,
        ours,
        |v| {
            theirs(v.0.as_slice()?, v.1.as_mut_slice()?);
            Ok(())
        },
    )
}

fn streams(bench: &Bench, n: usize) -> Fallible {
    two_inputs(
        bench,
        ("triad", "hand"),
        (n, format!("{n}"), Work::Bytes(12 * n)),
        (n, ROUNDED),
        |v| kernels::triad(SCALE, &v.0, &v.1, &mut v.2).over(n),
        |b, c, a| hand::triad(SCALE, b, c, a),
    )?;
    two_inputs(
        bench,
        ("dot", "hand"),
        (n, format!("{n}"), Work::Bytes(8 * n)),
        (PARTS, DIVIDED),
        |v| sums::dot(&v.0, &v.1, &mut v.2).cover(PARTS * BLOCK),
        hand::dots,
    )?;
    one_input(
        bench,
        ("reduce", format!("{n}"), Work::Bytes(4 * n)),
        (random(n), PARTS, SUMMED),
        |v| sums::reduce(&v.0, &mut v.1).cover(PARTS * BLOCK),
        hand::totals,
    )
}

fn options(bench: &Bench, n: usize) -> Fallible {
    if !bench.runner.wants("black_scholes") {
        return Ok(());
    }
    let input = |lo, hi| Vector::from_vec(floats(n, lo, hi));
    let inputs = [input(20.0, 60.0), input(20.0, 60.0), input(0.5, 5.0)];
    bench.pair(
        case(
            "black_scholes",
            "hand",
            format!("{n}"),
            Work::Operations(n, "opt"),
        ),
        SUMMED,
        &mut (inputs, Vector::zeros(n), Vector::zeros(n)),
        |v| &mut v.1,
        |([s, k, t], call, put)| kernels::black_scholes(s, k, t, call, put).over(n),
        |([s, k, t], call, put)| {
            let (s, k, t) = (s.as_slice()?, k.as_slice()?, t.as_slice()?);
            options::black_scholes(s, k, t, call.as_mut_slice()?, put.as_mut_slice()?);
            Ok(())
        },
    )
}

fn points(bench: &Bench, n: usize) -> Fallible {
    if !bench.runner.wants("mandelbrot") {
        return Ok(());
    }
    bench.pair(
        case(
            "mandelbrot",
            "hand",
            format!("{n}x{n}"),
            Work::Operations(n * n, "pix"),
        ),
        COUNTED,
        &mut Vector::zeros(n * n),
        |counts| counts,
        |counts| kernels::mandelbrot(n, n, LIMIT, counts).over((n, n)),
        |counts| Ok(lanes::mandelbrot(n, n, LIMIT, counts.as_mut_slice()?)),
    )
}

fn grids(bench: &Bench, n: usize) -> Fallible {
    let size = || format!("{n}x{n}");
    one_input(
        bench,
        ("transpose", size(), Work::Bytes(8 * n * n)),
        (random(n * n), n * n, EXACT),
        |v| kernels::transpose(n, n, &v.0, &mut v.1).over((n, n)),
        |x, y| hand::transpose(n, n, x, y),
    )?;
    one_input(
        bench,
        ("stencil", size(), Work::Bytes(8 * n * n)),
        (random(n * n), n * n, ROUNDED),
        |v| kernels::jacobi(n, n, &v.0, &mut v.1).over((n, n)),
        |x, y| hand::jacobi(n, n, x, y),
    )
}

fn bodies(bench: &Bench, n: usize) -> Fallible {
    one_input(
        bench,
        ("nbody", format!("{n}"), Work::Operations(n * n, "pair")),
        (Vector::from_vec(fours(n, 0.1, 2.0)), 3 * n, SUMMED),
        |v| kernels::accelerations(&v.0, &mut v.1).over(n),
        hand::accelerations,
    )
}

/// Sums, and prefix sums of each block.
fn blocks(bench: &Bench, n: usize) -> Fallible {
    let size = || format!("{n}");
    one_input(
        bench,
        ("tree_sum", size(), Work::Bytes(4 * n)),
        (random(n), n / BLOCK, ROUNDED),
        |v| block::tree_sum(&v.0, &mut v.1).cover(n),
        hand::block_sums,
    )?;
    one_input(
        bench,
        ("scan", size(), Work::Bytes(8 * n)),
        (random(n), n, SUMMED),
        |v| sums::scan(&v.0, &mut v.1).cover(n),
        lanes::prefix_sums,
    )?;
    one_input(
        bench,
        ("scan_in_place", size(), Work::Bytes(8 * n)),
        (random(n), n, SUMMED),
        |v| sums::scan_in_place(&v.0, &mut v.1).cover(n),
        lanes::prefix_sums,
    )?;
    one_input(
        bench,
        ("scan_by_tree", size(), Work::Bytes(8 * n)),
        (random(n), n, SUMMED),
        |v| sums::scan_by_tree(&v.0, &mut v.1).cover(n),
        lanes::prefix_sums,
    )
}

fn products(bench: &Bench, n: usize) -> Fallible {
    let problem = || {
        (
            n * n,
            format!("{n}x{n}"),
            Work::Operations(2 * n * n * n, "flop"),
        )
    };
    // These functions of slices take no size.
    fn size(c: &[f32]) -> usize {
        c.len().isqrt()
    }
    if n == 512 {
        two_inputs(
            bench,
            ("tiled_matmul", "hand"),
            problem(),
            (n * n, SUMMED),
            |v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
            |a, b, c| hand::matmul(size(c), a, b, c),
        )?;
        two_inputs(
            bench,
            ("matmul", "hand"),
            problem(),
            (n * n, SUMMED),
            |v| kernels::matmul(n, &v.0, &v.1, &mut v.2).over((n, n)),
            |a, b, c| hand::matmul(size(c), a, b, c),
        )?;
    }
    two_inputs(
        bench,
        ("matmul", "gemm"),
        problem(),
        (n * n, SUMMED),
        |v| kernels::matmul(n, &v.0, &v.1, &mut v.2).over((n, n)),
        |a, b, c| hand::gemm(size(c), a, b, c),
    )
}
