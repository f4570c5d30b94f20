//! Times CubeCL's wgpu runtime with the programs and the sizes of `cargo bench --bench cuda -- --on wgpu`.
//!
//! `cargo run --release [--features spirv] [-- FILTER]`. Run both on one device, one after the other.

mod kernels;

use std::time::{Duration, Instant};

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;

/// What a launch does: bytes moved, or operations with their unit.
enum Work {
    Bytes(usize),
    Operations(usize, &'static str),
    Launch,
}

struct Bench {
    client: Client,
    filter: Option<String>,
}

/// A buffer and its number of elements.
#[derive(Clone)]
struct Buffer(Handle, usize);

impl Buffer {
    fn arg(&self) -> BufferArg {
        // SAFETY: the buffer has that many elements.
        unsafe { BufferArg::from_raw_parts(self.0.clone(), self.1) }
    }
}

/// `n` numbers in `lo..hi`, as Sarek's benchmarks make them (SplitMix64).
fn numbers(n: usize) -> impl Iterator<Item = u64> {
    let mut state = n as u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
    .take(n)
}

fn floats(n: usize, lo: f32, hi: f32) -> Vec<f32> {
    numbers(n)
        .map(|z| lo + (hi - lo) * ((z >> 40) as f32 / (1u32 << 24) as f32))
        .collect()
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| name.contains(filter.as_str()))
    }

    fn floats(&self, n: usize, lo: f32, hi: f32) -> Buffer {
        Buffer(
            self.client
                .create_from_slice(f32::as_bytes(&floats(n, lo, hi))),
            n,
        )
    }

    fn sync(&self) {
        cubecl::future::block_on(self.client.sync()).expect("the device works");
    }

    /// The first floats of a buffer, for checks.
    fn read(&self, buffer: &Buffer) -> Vec<f32> {
        f32::from_bytes(
            &self
                .client
                .read_one(buffer.0.clone())
                .expect("a readable buffer"),
        )
        .to_vec()
    }

    /// Prints the median of 11 samples, each a batch of launches that takes 5 ms or more.
    fn time(&self, name: &str, work: Work, launch: impl Fn(&Client)) {
        if !self.wants(name) {
            return;
        }
        let sample = |count: u32| {
            let start = Instant::now();
            (0..count).for_each(|_| launch(&self.client));
            self.sync();
            start.elapsed()
        };
        sample(3);
        let mut count = if matches!(work, Work::Launch) { 256 } else { 1 };
        while !matches!(work, Work::Launch) && sample(count) < Duration::from_millis(5) {
            count *= 2;
        }
        let mut times: Vec<f64> = (0..11)
            .map(|_| sample(count).as_secs_f64() / f64::from(count))
            .collect();
        times.sort_by(f64::total_cmp);
        let time = times[5];
        let rate = match work {
            Work::Bytes(bytes) => format!("{:10.1} GB/s", bytes as f64 / time / 1e9),
            Work::Operations(count, unit) => {
                format!("{:10.2} G{unit}/s", count as f64 / time / 1e9)
            }
            Work::Launch => String::new(),
        };
        println!("{name:<17} {:12.2} us {rate}", time * 1e6);
    }

    fn streams(&self) {
        let n = 1 << 26;
        if !["copy", "triad", "tuned_triad"]
            .iter()
            .any(|name| self.wants(name))
        {
            return;
        }
        let (x, y) = (self.floats(n, 0.1, 2.0), self.floats(n, 0.2, 2.0));
        let z = Buffer(self.client.empty(4 * n), n);
        let block = CubeDim::new_1d(kernels::BLOCK);
        self.time("copy", Work::Bytes(8 * n), |client| unsafe {
            kernels::copy::launch_unchecked(client, folded(n / 256), block, x.arg(), z.arg())
        });
        self.time("triad", Work::Bytes(12 * n), |client| unsafe {
            kernels::triad::launch_unchecked(
                client,
                folded(n / 256),
                block,
                x.arg(),
                y.arg(),
                z.arg(),
                0.4,
            )
        });
        self.time("tuned_triad", Work::Bytes(12 * n), |client| unsafe {
            kernels::tuned_triad::launch_unchecked(
                client,
                folded(n / 1024),
                block,
                4,
                x.arg(),
                y.arg(),
                z.arg(),
                0.4,
            )
        });
        let (a, x, y) = (self.read(&z), self.read(&x), self.read(&y));
        if self.filter.is_none() {
            assert!(
                (0..n)
                    .step_by(997)
                    .all(|i| (a[i] - (x[i] + 0.4 * y[i])).abs() < 1e-5),
                "triad"
            );
        }
    }

    fn black_scholes(&self) {
        let n = 1 << 24;
        let inputs =
            [(20.0, 60.0), (20.0, 60.0), (0.5, 5.0)].map(|(lo, hi)| self.floats(n, lo, hi));
        let outputs = [(); 2].map(|()| Buffer(self.client.empty(4 * n), n));
        self.time(
            "black_scholes",
            Work::Operations(n, "opt"),
            |client| unsafe {
                let [spot, strike, years] = inputs.each_ref().map(Buffer::arg);
                let [call, put] = outputs.each_ref().map(Buffer::arg);
                kernels::black_scholes::launch_unchecked(
                    client,
                    folded(n / 256),
                    CubeDim::new_1d(256),
                    spot,
                    strike,
                    years,
                    call,
                    put,
                )
            },
        );
    }

    fn mandelbrot(&self) {
        let n = 4096;
        let counts = Buffer(self.client.empty(4 * n * n), n * n);
        let side = n as u32;
        self.time(
            "mandelbrot",
            Work::Operations(n * n, "pix"),
            |client| unsafe {
                kernels::mandelbrot::launch_unchecked(
                    client,
                    CubeCount::Static(side / 32, side / 8, 1),
                    CubeDim::new_2d(32, 8),
                    counts.arg(),
                    side,
                    side,
                    256,
                )
            },
        );
    }

    fn matmul(&self) {
        let n = 2048;
        let side = n as u32;
        let (a, b) = (self.floats(n * n, -1.0, 1.0), self.floats(n * n, 0.0, 1.0));
        let c = Buffer(self.client.empty(4 * n * n), n * n);
        let work = || Work::Operations(2 * n * n * n, "flop");
        let check = |name: &str| {
            if !self.wants(name) {
                return;
            }
            let (a, b, c) = (self.read(&a), self.read(&b), self.read(&c));
            for (row, col) in [(0, 0), (3, 77), (1029, 2047), (2047, 1500)] {
                let wanted: f32 = (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum();
                assert!(
                    (c[row * n + col] - wanted).abs() < 0.05,
                    "{name}: {} is not {wanted}",
                    c[row * n + col]
                );
            }
        };
        self.time("matmul", work(), |client| unsafe {
            kernels::matmul::launch_unchecked(
                client,
                CubeCount::Static(side / 32, side / 8, 1),
                CubeDim::new_2d(32, 8),
                a.arg(),
                b.arg(),
                c.arg(),
                side,
            )
        });
        check("matmul");
        self.time("tiled_matmul", work(), |client| unsafe {
            kernels::tiled_matmul::launch_unchecked(
                client,
                CubeCount::Static(side / 16, side / 16, 1),
                CubeDim::new_2d(16, 16),
                a.arg(),
                b.arg(),
                c.arg(),
                side,
            )
        });
        check("tiled_matmul");
        self.time("tuned_matmul", work(), |client| unsafe {
            kernels::tuned_matmul::launch_unchecked(
                client,
                CubeCount::Static(side / 128, side / 128, 1),
                CubeDim::new_1d(256),
                4,
                a.arg(),
                b.arg(),
                c.arg(),
                side,
            )
        });
        check("tuned_matmul");
    }

    fn grids(&self) {
        let n = 8192;
        let side = n as u32;
        let from = self.floats(n * n, 0.0, 1.0);
        let to = Buffer(self.client.empty(4 * n * n), n * n);
        let bytes = || Work::Bytes(8 * n * n);
        let grid = || CubeCount::Static(side / 32, side / 8, 1);
        self.time("transpose", bytes(), |client| unsafe {
            kernels::transpose::launch_unchecked(
                client,
                grid(),
                CubeDim::new_2d(32, 8),
                from.arg(),
                to.arg(),
                side,
            )
        });
        self.time("tuned_transpose", bytes(), |client| unsafe {
            kernels::tuned_transpose::launch_unchecked(
                client,
                CubeCount::Static(side / 32, side / 32, 1),
                CubeDim::new_2d(32, 8),
                from.arg(),
                to.arg(),
                side,
            )
        });
        if self.wants("tuned_transpose") {
            let (from, to) = (self.read(&from), self.read(&to));
            assert!(
                (0..n * n)
                    .step_by(997)
                    .all(|i| to[i] == from[i % n * n + i / n]),
                "transposed"
            );
        }
        self.time("stencil", bytes(), |client| unsafe {
            kernels::stencil::launch_unchecked(
                client,
                grid(),
                CubeDim::new_2d(32, 8),
                from.arg(),
                to.arg(),
                side,
                side,
            )
        });
    }

    fn bodies(&self) {
        let n = 1 << 16;
        let bodies = Buffer(self.floats(4 * n, -1.0, 1.0).0, 4 * n);
        let result = Buffer(self.client.empty(12 * n), 3 * n);
        self.time(
            "nbody",
            Work::Operations(20 * n * n, "flop"),
            |client| unsafe {
                kernels::accelerations::launch_unchecked(
                    client,
                    folded(n / 256),
                    CubeDim::new_1d(256),
                    4,
                    bodies.arg(),
                    result.arg(),
                )
            },
        );
    }

    fn blocks(&self) {
        let n = 1 << 24;
        let x = self.floats(n, 0.0, 1.0);
        let sums = Buffer(self.client.empty(4 * n / 256), n / 256);
        self.time("tree_sum", Work::Bytes(4 * n), |client| unsafe {
            kernels::tree_sum::launch_unchecked(
                client,
                folded(n / 256),
                CubeDim::new_1d(256),
                x.arg(),
                sums.arg(),
            )
        });
        let values: Vec<u32> = numbers(n).map(|z| (z >> 32) as u32).collect();
        let values = Buffer(self.client.create_from_slice(u32::as_bytes(&values)), n);
        let bins = Buffer(self.client.create_from_slice(u32::as_bytes(&[0; 256])), 256);
        self.time("histogram", Work::Bytes(4 * n), |client| unsafe {
            kernels::histogram::launch_unchecked(
                client,
                CubeCount::Static(1024, 1, 1),
                CubeDim::new_1d(256),
                values.arg(),
                bins.arg(),
            )
        });
    }

    fn launches(&self) {
        let n = 256;
        let (x, z) = (
            self.floats(n, 0.1, 2.0),
            Buffer(self.client.empty(4 * n), n),
        );
        self.time("launch", Work::Launch, |client| unsafe {
            kernels::copy::launch_unchecked(
                client,
                folded(1),
                CubeDim::new_1d(256),
                x.arg(),
                z.arg(),
            )
        });
    }
}

/// A grid of `cubes`, two-dimensional where one dimension has too few.
fn folded(cubes: usize) -> CubeCount {
    let width = cubes.min(32768);
    CubeCount::Static(width as u32, cubes.div_ceil(width) as u32, 1)
}

fn main() {
    let client = cubecl::Device::default().client();
    println!("CubeCL 0.11.3, {}", client.name());
    let bench = Bench {
        client,
        filter: std::env::args().nth(1),
    };
    bench.streams();
    bench.black_scholes();
    bench.mandelbrot();
    bench.matmul();
    bench.grids();
    bench.bodies();
    bench.blocks();
    bench.launches();
}
