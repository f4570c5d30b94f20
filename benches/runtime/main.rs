//! Measures the overhead of the runtime over the driver alone: launches, transfers, graphs, and the first launch of a process.
//!
//! `cargo bench --bench runtime -- [FILTER] [--quick]`
//!
//! The rows of `native` run everywhere, and those of `cuda` where its driver is installed. First launches are measured for each backend
//! whose devices have their own memory.

// These benchmarks do not use the kernels and comparisons of the others.
#[allow(dead_code)]
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
mod driver;
mod first;

use common::Fallible;
use common::input::floats;
use common::runner::{Case, Runner, Work};
use sarek::Graph;
use sarek::prelude::*;

/// The number of threads of a launch with negligible work.
const SMALL: usize = 64;

/// The number of launches in a graph.
const NODES: usize = 8;

/// `y = a x + y`. `cuda.rs` has a hand-written version with the same parameters.
#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// `y[i] = x[index[i]]`, whose indices cannot be proved in bounds.
#[kernel]
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
fn gather(index: &[u32], x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = x[index[i] as usize];
    }
}

/// Two vectors, and a graph of [`NODES`] launches of `saxpy` on them.
fn graph(device: &Device, n: usize) -> Fallible<(Graph, Vector<f32>, Vector<f32>)> {
    let (x, mut y) = (Vector::from_vec(floats(n, 0.1, 2.0)), Vector::zeros(n));
    let mut recording = device.record_graph();
    for _ in 0..NODES {
        recording.launch(saxpy(0.5, &x, &mut y).over(n))?;
    }
    Ok((recording.finish(), x, y))
}

fn native(runner: &Runner) -> Fallible {
    let device = Device::of("native")?;
    let (graph, x, mut y) = graph(&device, SMALL)?;
    let size = || SMALL.to_string();
    if runner.wants("native launch") {
        let case = Case {
            kernel: "native launch",
            against: "a loop",
            size: size(),
            work: Work::Launch,
        };
        let mut state = (&x, &mut y);
        runner.time(
            &case,
            &mut state,
            |(x, y), count| {
                for _ in 0..count {
                    saxpy(0.5, x, y).over(SMALL).run_on(&device)?;
                }
                Ok(())
            },
            |(x, y), count| {
                for _ in 0..count {
                    let (x, y) = (x.as_slice()?, y.as_mut_slice()?);
                    let both = std::hint::black_box((x, y));
                    both.0.iter().zip(both.1).for_each(|(x, y)| *y += 0.5 * x);
                }
                Ok(())
            },
        )?;
    }
    if runner.wants("native graph") {
        let case = Case {
            kernel: "native graph",
            against: "launches",
            size: format!("{NODES} x {SMALL}"),
            work: Work::Launch,
        };
        let mut state = (&x, &mut y);
        runner.time(
            &case,
            &mut state,
            |(x, y), count| {
                for _ in 0..count {
                    graph.replay((*x, &mut **y))?;
                }
                Ok(())
            },
            |(x, y), count| {
                for _ in 0..count as usize * NODES {
                    saxpy(0.5, x, y).over(SMALL).run_on(&device)?;
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

fn main() -> Fallible {
    if let Some(backend) = first::asked() {
        return first::launch(&backend);
    }
    let runner = Runner::from_args()?;
    native(&runner)?;
    #[cfg(feature = "cuda")]
    match Device::of("cuda") {
        Ok(device) => cuda::run(&runner, &device)?,
        Err(why) => println!("cuda: skipped: {why}"),
    }
    if runner.wants("first") {
        first::run()?;
    }
    Ok(())
}
