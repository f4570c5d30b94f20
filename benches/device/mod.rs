//! The pairs for devices with their own memory. They compare sarek with a [`Baseline`]: the
//! same kernels, written by hand in the device's language and launched through its driver.
//!
//! Vectors stay on the device between launches, so neither side copies data while it is timed.
//! A sample ends when the device has finished, so launch overhead shows only if the device finishes launches faster
//! than they are queued.

mod block;
mod safe;

use sarek::prelude::*;
use sarek::{Element, Ready};

use crate::common::Fallible;
use crate::common::agree::{COUNTED, Compared, EXACT, ROUNDED, SUMMED, Tolerance};
use crate::common::input::{floats, fours};
use crate::common::kernels::{self, LIMIT, SCALE};
use crate::common::runner::{Case, Runner, Work};

/// Hand-written kernels on a device.
pub trait Baseline {
    /// Device memory.
    type Buffer;
    /// A kernel with its arguments and its number of threads.
    type Launch;

    /// The language of the kernels.
    const LANGUAGE: &'static str;

    /// Copies to new device memory.
    fn upload<T: Element>(&self, data: &[T]) -> Fallible<Self::Buffer>;

    /// Copies from device memory.
    fn download<T: Element + Default>(&self, buffer: &Self::Buffer, len: usize)
    -> Fallible<Vec<T>>;

    /// Prepares a launch of `kernel` over at least `threads`, in blocks of `block`.
    fn prepare(
        &self,
        kernel: &str,
        threads: [usize; 2],
        block: [u32; 2],
        args: &[Value<'_, Self::Buffer>],
    ) -> Fallible<Self::Launch>;

    /// Queues a launch.
    fn queue(&self, launch: &mut Self::Launch) -> Fallible;

    /// Waits for all launches.
    fn sync(&self) -> Fallible;
}

/// An argument of a hand-written kernel.
pub enum Value<'a, B> {
    /// Device memory.
    Buffer(&'a B),
    /// An `unsigned int`.
    U32(u32),
    /// A `float`.
    F32(f32),
}

use Value::{Buffer, F32, U32};

/// The problem sizes.
pub struct Sizes {
    /// The elements of a vector.
    pub vector: usize,
    /// The options to price.
    pub options: usize,
    /// The rows of the matrices to multiply.
    pub matmul: usize,
    /// The rows of the grids to transpose and to smooth, and of the picture.
    pub grid: usize,
    /// The bodies of the n-body problem.
    pub bodies: usize,
    /// The elements of sums, histograms and exponentials.
    pub elements: usize,
    /// The blocks of a histogram.
    pub counting: usize,
}

/// The sizes for a GPU: vectors of 256 MiB, larger than its caches.
const GPU: Sizes = Sizes {
    vector: 1 << 26,
    options: 1 << 24,
    matmul: 2048,
    grid: 8192,
    bodies: 1 << 16,
    elements: 1 << 24,
    counting: 1024,
};

/// The sizes for a driver that runs on the CPU.
const SOFTWARE: Sizes = Sizes {
    vector: 1 << 23,
    options: 1 << 20,
    matmul: 384,
    grid: 1024,
    bodies: 2048,
    elements: 1 << 22,
    counting: 64,
};

impl Sizes {
    /// The sizes for a device.
    pub fn of(device: &Device) -> &'static Sizes {
        // Drivers that run on the CPU have a lower priority than native.
        if device.priority() < 50 {
            &SOFTWARE
        } else {
            &GPU
        }
    }
}

/// The block sizes that sarek chooses, used by the baseline too.
const BLOCK_1D: [u32; 2] = [256, 1];
const BLOCK_2D: [u32; 2] = [32, 8];

/// A benchmark of sarek's device and the baseline.
pub struct Bench<R> {
    pub runner: Runner,
    pub device: Device,
    pub baseline: R,
}

/// Vectors of the same length; the last is the output.
type Vectors<const N: usize> = [Vector<f32>; N];

/// The output of a pair, to compare.
pub struct Output<'a, B, T> {
    /// The baseline's output.
    pub buffer: &'a B,
    /// The initial content of both outputs.
    pub before: &'a [T],
    pub tolerance: Tolerance,
}

impl<R: Baseline> Bench<R> {
    /// Runs all pairs.
    pub fn run(&self, sizes: &Sizes) -> Fallible {
        self.stream(sizes.vector)?;
        self.stream_by_four(sizes.vector / 4)?;
        self.saxpy(sizes.vector)?;
        self.black_scholes(sizes.options)?;
        self.mandelbrot(sizes.grid.min(4096))?;
        self.matmul(sizes.matmul)?;
        self.grids(sizes.grid)?;
        self.nbody(sizes.bodies)?;
        self.blocks(sizes)?;
        self.safe(sizes)?;
        self.launches(256)
    }

    /// Checks that both sides write the same, then times them.
    pub fn pair<S, T: Compared>(
        &self,
        case: Case,
        output: Output<'_, R::Buffer, T>,
        (state, written): (&mut S, fn(&mut S) -> &mut Vector<T>),
        ours: impl for<'a> Fn(&'a mut S) -> Ready<'a>,
        mut theirs: R::Launch,
    ) -> Fallible {
        written(state).copy_from_slice(output.before)?;
        ours(state).run_on(&self.device)?;
        self.baseline.queue(&mut theirs)?;
        self.baseline.sync()?;
        let there = self.baseline.download(output.buffer, output.before.len())?;
        T::agree(written(state).as_slice()?, &there, output.tolerance)
            .map_err(|why| format!("{}: {why}", case.kernel))?;
        let ours = |state: &mut S, count| {
            (0..count).try_for_each(|_| Ok(ours(state).run_on(&self.device)?))
        };
        let mut theirs =
            |_: &mut S, count| (0..count).try_for_each(|_| self.baseline.queue(&mut theirs));
        match case.work {
            Work::Launch => self.runner.time_queuing(&case, state, ours, theirs, |_| {
                self.device.sync()?;
                self.baseline.sync()
            }),
            Work::Bytes(_) | Work::Operations(..) => self.runner.time(
                &case,
                state,
                |state, count| {
                    ours(state, count)?;
                    Ok(self.device.sync()?)
                },
                |state, count| {
                    theirs(state, count)?;
                    self.baseline.sync()
                },
            ),
        }
    }

    fn case(&self, kernel: &'static str, size: String, work: Work) -> Case {
        Case {
            kernel,
            against: R::LANGUAGE,
            size,
            work,
        }
    }

    fn stream(&self, n: usize) -> Fallible {
        let wanted = ["copy", "mul", "add", "triad", "vector_add"];
        if !wanted.iter().any(|kernel| self.runner.wants(kernel)) {
            return Ok(());
        }
        let (x, y, before) = (floats(n, 0.1, 2.0), floats(n, 0.2, 2.0), vec![-1.0; n]);
        let (bx, by) = (self.baseline.upload(&x)?, self.baseline.upload(&y)?);
        let bz = self.baseline.upload(&before)?;
        let (px, py, pz) = (|| Buffer(&bx), || Buffer(&by), || Buffer(&bz));
        let len = || U32(n as u32);
        let mut v: Vectors<3> = [x, y, vec![0.0; n]].map(Vector::from_vec);
        let mut row =
            |kernel, vectors: usize, ours: fn(&mut Vectors<3>) -> Ready<'_>, args: &[_]| {
                if !self.runner.wants(kernel) {
                    return Ok(());
                }
                self.pair(
                    self.case(kernel, format!("{n}"), Work::Bytes(4 * vectors * n)),
                    Output {
                        buffer: &bz,
                        before: &before,
                        tolerance: ROUNDED,
                    },
                    (&mut v, |v| &mut v[2]),
                    ours,
                    self.baseline.prepare(kernel, [n, 1], BLOCK_1D, args)?,
                )
            };
        let ours: fn(&mut Vectors<3>) -> Ready<'_> = |[x, _, z]| {
            let n = z.len();
            kernels::copy(x, z).over(n)
        };
        row("copy", 2, ours, &[len(), px(), pz()])?;
        let ours: fn(&mut Vectors<3>) -> Ready<'_> = |[x, _, z]| {
            let n = z.len();
            kernels::mul(SCALE, x, z).over(n)
        };
        row("mul", 2, ours, &[len(), F32(SCALE), px(), pz()])?;
        let ours: fn(&mut Vectors<3>) -> Ready<'_> = |[x, y, z]| {
            let n = z.len();
            kernels::add(x, y, z).over(n)
        };
        row("add", 3, ours, &[len(), px(), py(), pz()])?;
        let ours: fn(&mut Vectors<3>) -> Ready<'_> = |[x, y, z]| {
            let n = z.len();
            kernels::vector_add(x, y, z).over(n)
        };
        row("vector_add", 3, ours, &[len(), px(), py(), pz()])?;
        let ours: fn(&mut Vectors<3>) -> Ready<'_> = |[x, y, z]| {
            let n = z.len();
            kernels::triad(SCALE, x, y, z).over(n)
        };
        row("triad", 3, ours, &[len(), F32(SCALE), px(), py(), pz()])
    }

    /// Triad on `n` vectors of 16 bytes.
    fn stream_by_four(&self, n: usize) -> Fallible {
        if !self.runner.wants("triad4") {
            return Ok(());
        }
        let (x, y) = (fours(n, 0.1, 2.0), fours(n, 0.2, 2.0));
        let before = vec![-f32x4::ONE; n];
        let (bx, by) = (self.baseline.upload(&x)?, self.baseline.upload(&y)?);
        let bz = self.baseline.upload(&before)?;
        let (px, py, pz) = (|| Buffer(&bx), || Buffer(&by), || Buffer(&bz));
        let len = || U32(n as u32);
        let mut v = [x, y, vec![f32x4::ZERO; n]].map(Vector::from_vec);
        let theirs = [len(), F32(SCALE), px(), py(), pz()];
        self.pair(
            self.case("triad4", format!("{n}"), Work::Bytes(48 * n)),
            Output {
                buffer: &bz,
                before: &before,
                tolerance: ROUNDED,
            },
            (&mut v, |v| &mut v[2]),
            |[x, y, z]| kernels::triad4(SCALE, x, y, z).over(n),
            self.baseline.prepare("triad4", [n, 1], BLOCK_1D, &theirs)?,
        )
    }

    fn saxpy(&self, n: usize) -> Fallible {
        if !self.runner.wants("saxpy") {
            return Ok(());
        }
        let (x, y) = (floats(n, 0.1, 2.0), floats(n, 0.2, 2.0));
        let (bx, by) = (self.baseline.upload(&x)?, self.baseline.upload(&y)?);
        let args = [U32(n as u32), F32(SCALE), Buffer(&bx), Buffer(&by)];
        let mut v: Vectors<2> = [Vector::from_vec(x), Vector::zeros(n)];
        self.pair(
            self.case("saxpy", format!("{n}"), Work::Bytes(12 * n)),
            Output {
                buffer: &by,
                before: &y,
                tolerance: ROUNDED,
            },
            (&mut v, |v| &mut v[1]),
            |[x, y]| kernels::saxpy(SCALE, x, y).over(n),
            self.baseline.prepare("saxpy", [n, 1], BLOCK_1D, &args)?,
        )
    }

    fn black_scholes(&self, n: usize) -> Fallible {
        if !self.runner.wants("black_scholes") {
            return Ok(());
        }
        let inputs = [(20.0, 60.0), (20.0, 60.0), (0.5, 5.0)].map(|(lo, hi)| floats(n, lo, hi));
        let before = vec![-1.0; n];
        let [spot, strike, years] = &inputs;
        let (s, k) = (self.baseline.upload(spot)?, self.baseline.upload(strike)?);
        let t = self.baseline.upload(years)?;
        let (call, put) = (
            self.baseline.upload(&before)?,
            self.baseline.upload(&before)?,
        );
        let buffers = [&s, &k, &t, &call, &put].map(Buffer);
        let args: Vec<_> = [U32(n as u32)].into_iter().chain(buffers).collect();
        let outputs = [Vector::zeros(n), Vector::zeros(n)];
        self.pair(
            self.case("black_scholes", format!("{n}"), Work::Operations(n, "opt")),
            Output {
                buffer: &call,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut (inputs.map(Vector::from_vec), outputs), |v| {
                &mut v.1[0]
            }),
            |([s, k, t], [call, put])| kernels::black_scholes(s, k, t, call, put).over(n),
            self.baseline
                .prepare("black_scholes", [n, 1], BLOCK_1D, &args)?,
        )
    }

    fn mandelbrot(&self, n: usize) -> Fallible {
        if !self.runner.wants("mandelbrot") {
            return Ok(());
        }
        let before = vec![u32::MAX; n * n];
        let counts = self.baseline.upload(&before)?;
        let side = || U32(n as u32);
        let args = [side(), side(), U32(LIMIT), Buffer(&counts)];
        self.pair(
            self.case(
                "mandelbrot",
                format!("{n}x{n}"),
                Work::Operations(n * n, "pix"),
            ),
            Output {
                buffer: &counts,
                before: &before,
                tolerance: COUNTED,
            },
            (&mut Vector::zeros(n * n), |counts| counts),
            |counts| kernels::mandelbrot(n, n, LIMIT, counts).over((n, n)),
            self.baseline
                .prepare("mandelbrot", [n, n], BLOCK_2D, &args)?,
        )
    }

    fn matmul(&self, n: usize) -> Fallible {
        if !self.runner.wants("matmul") {
            return Ok(());
        }
        let (a, b, before) = (
            floats(n * n, -1.0, 1.0),
            floats(n * n, 0.0, 1.0),
            vec![0.0; n * n],
        );
        let (ba, bb) = (self.baseline.upload(&a)?, self.baseline.upload(&b)?);
        let bc = self.baseline.upload(&before)?;
        let args = [U32(n as u32), Buffer(&ba), Buffer(&bb), Buffer(&bc)];
        let mut v: Vectors<3> = [a, b, vec![0.0; n * n]].map(Vector::from_vec);
        self.pair(
            self.case(
                "matmul",
                format!("{n}x{n}"),
                Work::Operations(2 * n * n * n, "flop"),
            ),
            Output {
                buffer: &bc,
                before: &before,
                tolerance: SUMMED,
            },
            (&mut v, |v| &mut v[2]),
            |[a, b, c]| kernels::matmul(n, a, b, c).over((n, n)),
            self.baseline.prepare("matmul", [n, n], BLOCK_2D, &args)?,
        )
    }

    fn grids(&self, n: usize) -> Fallible {
        let (input, before) = (floats(n * n, 0.0, 1.0), vec![-1.0; n * n]);
        let (from, to) = (
            self.baseline.upload(&input)?,
            self.baseline.upload(&before)?,
        );
        let side = || U32(n as u32);
        let args = [side(), side(), Buffer(&from), Buffer(&to)];
        let mut v: Vectors<2> = [Vector::from_vec(input), Vector::zeros(n * n)];
        let row = |kernel| self.case(kernel, format!("{n}x{n}"), Work::Bytes(8 * n * n));
        if self.runner.wants("transpose") {
            self.pair(
                row("transpose"),
                Output {
                    buffer: &to,
                    before: &before,
                    tolerance: EXACT,
                },
                (&mut v, |v| &mut v[1]),
                |[from, to]| kernels::transpose(n, n, from, to).over((n, n)),
                self.baseline
                    .prepare("transpose", [n, n], BLOCK_2D, &args)?,
            )?;
        }
        if self.runner.wants("stencil") {
            self.pair(
                row("stencil"),
                Output {
                    buffer: &to,
                    before: &before,
                    tolerance: ROUNDED,
                },
                (&mut v, |v| &mut v[1]),
                |[from, to]| kernels::jacobi(n, n, from, to).over((n, n)),
                self.baseline.prepare("jacobi", [n, n], BLOCK_2D, &args)?,
            )?;
        }
        Ok(())
    }

    fn nbody(&self, n: usize) -> Fallible {
        if !self.runner.wants("nbody") {
            return Ok(());
        }
        let (bodies, before) = (fours(n, 0.1, 2.0), vec![0.0; 3 * n]);
        let (from, to) = (
            self.baseline.upload(&bodies)?,
            self.baseline.upload(&before)?,
        );
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        self.pair(
            self.case("nbody", format!("{n}"), Work::Operations(n * n, "pair")),
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
                .prepare("accelerations", [n, 1], BLOCK_1D, &args)?,
        )
    }

    /// Launches with negligible work, queued back to back.
    fn launches(&self, n: usize) -> Fallible {
        if !self.runner.wants("launch") {
            return Ok(());
        }
        let (x, before) = (floats(n, 0.1, 2.0), vec![-1.0; n]);
        let (from, to) = (self.baseline.upload(&x)?, self.baseline.upload(&before)?);
        let args = [U32(n as u32), Buffer(&from), Buffer(&to)];
        let mut v: Vectors<2> = [Vector::from_vec(x), Vector::zeros(n)];
        self.pair(
            self.case("launch", format!("{n}"), Work::Launch),
            Output {
                buffer: &to,
                before: &before,
                tolerance: EXACT,
            },
            (&mut v, |v| &mut v[1]),
            |[x, y]| kernels::copy(x, y).over(n),
            self.baseline.prepare("copy", [n, 1], BLOCK_1D, &args)?,
        )
    }
}
