//! What the runtime costs beside the driver alone: launches, transfers, graphs, the first launch of a process.
//!
//! `cargo bench --bench runtime -- [FILTER] [--quick]`
//!
//! The rows of `native` run everywhere, those of `cuda` where its driver is, those of first launches on each backend that has a
//! device with memory of its own.

// The kernels of the others and how they are compared are not needed here.
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

/// Threads of a launch whose own work is next to nothing.
const SMALL: usize = 64;

/// Launches of a graph.
const NODES: usize = 8;

/// `y = a x + y`, also by hand in `cuda.rs`, with the same arguments.
#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// `y[i] = x[index[i]]`, whose index only the vector knows.
#[kernel]
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
fn gather(index: &[u32], x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = x[index[i] as usize];
    }
}

/// Two vectors, and a graph of as many launches of `saxpy` on them.
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
