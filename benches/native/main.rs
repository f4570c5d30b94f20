//! Compares the backend `native` with plain Rust and rayon ([`plain`]), and with code by hand for the processor's instruction set ([`hand`]).
//!
//! `cargo bench --bench native [-- FILTER] [-- --quick]`
//!
//! Both sides of a pair alternate on the same memory.

#![allow(clippy::unit_arg)] // one side of a pair returns a result, the other nothing

mod block;
// These benchmarks do not time queueing.
#[allow(dead_code)]
#[path = "../common/mod.rs"]
mod common;
mod hand;
mod plain;
mod safe;
mod sums;
mod tuned;

use common::Fallible;
use common::agree::{COUNTED, Compared, EXACT, ROUNDED, SUMMED, Tolerance};
use common::input::{floats, fours};
use common::kernels::{self, LIMIT, SCALE};
use common::runner::{Case, Runner, Work};
use sarek::Ready;
use sarek::prelude::*;

/// The number of elements of the large vectors: 64 MiB each, larger than all caches.
const LARGE: usize = 1 << 24;

/// Computes only an exponential.
#[kernel]
fn exponentials(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i].exp();
}

/// Computes only a sine.
#[kernel]
fn sines(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i].sin();
}

struct Bench {
    runner: Runner,
    device: Device,
}

/// A vector of random numbers.
fn random(n: usize) -> Vector<f32> {
    Vector::from_vec(floats(n, 0.1, 2.0))
}

fn case(kernel: &'static str, against: &'static str, size: String, work: Work) -> Case {
    Case {
        kernel,
        against,
        size,
        work,
    }
}

impl Bench {
    /// Checks that both sides write the same to `output`, then times them.
    fn pair<S, T: Compared>(
        &self,
        case: Case,
        tolerance: Tolerance,
        state: &mut S,
        output: fn(&mut S) -> &mut Vector<T>,
        ours: impl for<'a> Fn(&'a mut S) -> Ready<'a>,
        theirs: impl Fn(&mut S) -> Fallible,
    ) -> Fallible {
        let ours = |state: &mut S| -> Fallible { Ok(ours(state).run_on(&self.device)?) };
        // A kernel may read its output, so both sides start from the same values.
        output(state).fill(T::default())?;
        ours(state)?;
        let first = output(state).to_vec()?;
        output(state).fill(T::default())?;
        theirs(state)?;
        T::agree(&first, output(state).as_slice()?, tolerance)
            .map_err(|why| format!("{}: {why}", case.kernel))?;
        let times = |side: &dyn Fn(&mut S) -> Fallible, state: &mut S, count| {
            (0..count).try_for_each(|_| side(state))
        };
        self.runner.time(
            &case,
            state,
            |state, count| times(&ours, state, count),
            |state, count| times(&theirs, state, count),
        )
    }

    fn one_input(&self, n: usize) -> Fallible {
        let mut v = (random(n), Vector::zeros(n));
        let size = || format!("{n}");
        if self.runner.wants("copy") {
            self.pair(
                case("copy", "rayon", size(), Work::Bytes(8 * n)),
                EXACT,
                &mut v,
                |v| &mut v.1,
                |v| kernels::copy(&v.0, &mut v.1).over(n),
                |v| Ok(plain::copy(v.0.as_slice()?, v.1.as_mut_slice()?)),
            )?;
        }
        if self.runner.wants("mul") {
            self.pair(
                case("mul", "rayon", size(), Work::Bytes(8 * n)),
                EXACT,
                &mut v,
                |v| &mut v.1,
                |v| kernels::mul(SCALE, &v.0, &mut v.1).over(n),
                |v| Ok(plain::mul(SCALE, v.0.as_slice()?, v.1.as_mut_slice()?)),
            )?;
        }
        if self.runner.wants("saxpy") {
            self.pair(
                case("saxpy", "rayon", size(), Work::Bytes(12 * n)),
                ROUNDED,
                &mut v,
                |v| &mut v.1,
                |v| kernels::saxpy(SCALE, &v.0, &mut v.1).over(n),
                |v| Ok(plain::saxpy(SCALE, v.0.as_slice()?, v.1.as_mut_slice()?)),
            )?;
        }
        Ok(())
    }

    fn two_inputs(&self, n: usize) -> Fallible {
        let mut v = (random(n), random(n), Vector::zeros(n));
        let row = |kernel| case(kernel, "rayon", format!("{n}"), Work::Bytes(12 * n));
        if self.runner.wants("add") {
            self.pair(
                row("add"),
                EXACT,
                &mut v,
                |v| &mut v.2,
                |v| kernels::add(&v.0, &v.1, &mut v.2).over(n),
                |v| {
                    Ok(plain::add(
                        v.0.as_slice()?,
                        v.1.as_slice()?,
                        v.2.as_mut_slice()?,
                    ))
                },
            )?;
        }
        if self.runner.wants("vector_add") {
            self.pair(
                row("vector_add"),
                EXACT,
                &mut v,
                |v| &mut v.2,
                |v| kernels::vector_add(&v.0, &v.1, &mut v.2).over(n),
                |v| {
                    Ok(plain::add(
                        v.0.as_slice()?,
                        v.1.as_slice()?,
                        v.2.as_mut_slice()?,
                    ))
                },
            )?;
        }
        Ok(())
    }

    /// Compares triad with a plain Rust function.
    fn triad(
        &self,
        against: &'static str,
        n: usize,
        work: Work,
        theirs: fn(f32, &[f32], &[f32], &mut [f32]),
    ) -> Fallible {
        if !self.runner.wants("triad") {
            return Ok(());
        }
        self.pair(
            case("triad", against, format!("{n}"), work),
            ROUNDED,
            &mut (random(n), random(n), Vector::zeros(n)),
            |v| &mut v.2,
            |v| kernels::triad(SCALE, &v.0, &v.1, &mut v.2).over(n),
            |v| {
                theirs(SCALE, v.0.as_slice()?, v.1.as_slice()?, v.2.as_mut_slice()?);
                Ok(())
            },
        )
    }

    /// Triad on `n` vectors of four floats.
    fn triad4(&self, n: usize) -> Fallible {
        if !self.runner.wants("triad4") {
            return Ok(());
        }
        let fours = || Vector::from_vec(fours(n, 0.1, 2.0));
        self.pair(
            case("triad4", "rayon", format!("{n}"), Work::Bytes(48 * n)),
            ROUNDED,
            &mut (fours(), fours(), Vector::filled(n, f32x4::ZERO)),
            |v| &mut v.2,
            |v| kernels::triad4(SCALE, &v.0, &v.1, &mut v.2).over(n),
            |v| {
                plain::triad4(SCALE, v.0.as_slice()?, v.1.as_slice()?, v.2.as_mut_slice()?);
                Ok(())
            },
        )
    }

    fn black_scholes(&self, n: usize) -> Fallible {
        if !self.runner.wants("black_scholes") {
            return Ok(());
        }
        let input = |lo, hi| Vector::from_vec(floats(n, lo, hi));
        let inputs = [input(20.0, 60.0), input(20.0, 60.0), input(0.5, 5.0)];
        self.pair(
            case(
                "black_scholes",
                "rayon",
                format!("{n}"),
                Work::Operations(n, "opt"),
            ),
            SUMMED,
            &mut (inputs, Vector::zeros(n), Vector::zeros(n)),
            |v| &mut v.1,
            |([s, k, t], call, put)| kernels::black_scholes(s, k, t, call, put).over(n),
            |([s, k, t], call, put)| {
                let (s, k, t) = (s.as_slice()?, k.as_slice()?, t.as_slice()?);
                Ok(plain::black_scholes(
                    s,
                    k,
                    t,
                    call.as_mut_slice()?,
                    put.as_mut_slice()?,
                ))
            },
        )
    }

    /// One function for each element, on a vector that fits in the caches.
    fn functions(&self, n: usize) -> Fallible {
        let mut v = (random(n), Vector::zeros(n));
        let row = |kernel| case(kernel, "rayon", format!("{n}"), Work::Bytes(8 * n));
        if self.runner.wants("exp") {
            self.pair(
                row("exp"),
                ROUNDED,
                &mut v,
                |v| &mut v.1,
                |v| exponentials(&v.0, &mut v.1).over(n),
                |v| Ok(plain::map(v.0.as_slice()?, v.1.as_mut_slice()?, f32::exp)),
            )?;
        }
        if self.runner.wants("sin") {
            self.pair(
                row("sin"),
                ROUNDED,
                &mut v,
                |v| &mut v.1,
                |v| sines(&v.0, &mut v.1).over(n),
                |v| Ok(plain::map(v.0.as_slice()?, v.1.as_mut_slice()?, f32::sin)),
            )?;
        }
        Ok(())
    }

    fn mandelbrot(&self, n: usize) -> Fallible {
        if !self.runner.wants("mandelbrot") {
            return Ok(());
        }
        self.pair(
            case(
                "mandelbrot",
                "rayon",
                format!("{n}x{n}"),
                Work::Operations(n * n, "pix"),
            ),
            COUNTED,
            &mut Vector::zeros(n * n),
            |counts| counts,
            |counts| kernels::mandelbrot(n, n, LIMIT, counts).over((n, n)),
            |counts| Ok(plain::mandelbrot(n, n, LIMIT, counts.as_mut_slice()?)),
        )?;
        self.pair(
            case(
                "mandelbrot, loop in a function",
                "rayon",
                format!("{n}x{n}"),
                Work::Operations(n * n, "pix"),
            ),
            COUNTED,
            &mut Vector::zeros(n * n),
            |counts| counts,
            |counts| kernels::mandelbrot_called(n, n, LIMIT, counts).over((n, n)),
            |counts| Ok(plain::mandelbrot(n, n, LIMIT, counts.as_mut_slice()?)),
        )
    }

    fn matmul(
        &self,
        against: &'static str,
        n: usize,
        theirs: fn(usize, &[f32], &[f32], &mut [f32]),
    ) -> Fallible {
        if !self.runner.wants("matmul") {
            return Ok(());
        }
        let flops = 2 * n * n * n;
        self.pair(
            case(
                "matmul",
                against,
                format!("{n}x{n}"),
                Work::Operations(flops, "flop"),
            ),
            SUMMED,
            &mut (random(n * n), random(n * n), Vector::zeros(n * n)),
            |v| &mut v.2,
            |v| kernels::matmul(n, &v.0, &v.1, &mut v.2).over((n, n)),
            |v| {
                theirs(n, v.0.as_slice()?, v.1.as_slice()?, v.2.as_mut_slice()?);
                Ok(())
            },
        )
    }

    fn grids(&self, n: usize) -> Fallible {
        let mut v = (random(n * n), Vector::zeros(n * n));
        let row = |kernel| case(kernel, "rayon", format!("{n}x{n}"), Work::Bytes(8 * n * n));
        if self.runner.wants("transpose") {
            self.pair(
                row("transpose"),
                EXACT,
                &mut v,
                |v| &mut v.1,
                |v| kernels::transpose(n, n, &v.0, &mut v.1).over((n, n)),
                |v| Ok(plain::transpose(n, n, v.0.as_slice()?, v.1.as_mut_slice()?)),
            )?;
        }
        if self.runner.wants("stencil") {
            self.pair(
                row("stencil"),
                ROUNDED,
                &mut v,
                |v| &mut v.1,
                |v| kernels::jacobi(n, n, &v.0, &mut v.1).over((n, n)),
                |v| Ok(plain::jacobi(n, n, v.0.as_slice()?, v.1.as_mut_slice()?)),
            )?;
        }
        Ok(())
    }

    fn nbody(&self, n: usize) -> Fallible {
        if !self.runner.wants("nbody") {
            return Ok(());
        }
        self.pair(
            case(
                "nbody",
                "rayon",
                format!("{n}"),
                Work::Operations(n * n, "pair"),
            ),
            SUMMED,
            &mut (Vector::from_vec(fours(n, 0.1, 2.0)), Vector::zeros(3 * n)),
            |v| &mut v.1,
            |v| kernels::accelerations(&v.0, &mut v.1).over(n),
            |v| Ok(plain::accelerations(v.0.as_slice()?, v.1.as_mut_slice()?)),
        )
    }
}

fn main() -> Fallible {
    let device = Device::of("native")?;
    let runner = Runner::from_args()?;
    runner.on_device("native", device.name())?;
    let bench = Bench { runner, device };
    bench.one_input(LARGE)?;
    bench.two_inputs(LARGE)?;
    bench.triad("rayon", LARGE, Work::Bytes(12 * LARGE), plain::triad)?;
    bench.triad4(LARGE / 4)?;
    bench.black_scholes(1 << 22)?;
    bench.functions(1 << 18)?;
    bench.mandelbrot(1024)?;
    bench.matmul("rayon", 512, plain::matmul_elements)?;
    bench.matmul("rayon, rows", 512, plain::matmul_rows)?;
    bench.grids(4096)?;
    bench.nbody(block::bodies_for_all())?;
    for n in [64, 4096] {
        bench.triad("serial loop", n, Work::Launch, plain::triad_serial)?;
        bench.triad("rayon", n, Work::Launch, plain::triad)?;
    }
    hand::rows::run(&bench)?;
    safe::run(&bench)?;
    tuned::run(&bench)?;
    // Last, since PoCL starts threads of its own.
    block::run(&bench)
}
