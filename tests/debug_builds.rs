//! The speed of kernels in debug builds, against plain Rust loops of the same build.
//!
//! `cargo test --test debug_builds -- --ignored --nocapture` prints a table. The kernels ask for the code of debug builds, since
//! `.cargo/config.toml` gives that of release builds to the tests of this workspace.

#![cfg(unix)] // for the clock
// The loops that kernels replace, operation by operation.
#![allow(
    clippy::needless_range_loop,
    clippy::assign_op_pattern,
    clippy::manual_is_multiple_of
)]

use sarek::prelude::*;

/// The number of elements of each array.
const N: usize = 1 << 18;

/// The number of pairs of timings.
const ROUNDS: usize = 15;

#[kernel(__shapes = "debug")]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

fn plain_saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    for i in 0..y.len() {
        y[i] = a * x[i] + y[i];
    }
}

#[kernel(__shapes = "debug")]
fn add(x: &[f32], y: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

fn plain_add(x: &[f32], y: &[f32], out: &mut [f32]) {
    for i in 0..out.len() {
        out[i] = x[i] + y[i];
    }
}

#[kernel(__shapes = "debug")]
fn polynomial(factors: &[f32], x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        let mut sum = 0.0;
        for k in 0..factors.len() {
            sum = sum * x[i] + factors[k];
        }
        out[i] = sum;
    }
}

fn plain_polynomial(factors: &[f32], x: &[f32], out: &mut [f32]) {
    for i in 0..out.len() {
        let mut sum = 0.0;
        for k in 0..factors.len() {
            sum = sum * x[i] + factors[k];
        }
        out[i] = sum;
    }
}

#[kernel(__shapes = "debug")]
fn steps(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        let n = x[i];
        out[i] = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
    }
}

fn plain_steps(x: &[u32], out: &mut [u32]) {
    for i in 0..out.len() {
        let n = x[i];
        out[i] = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
    }
}

/// Seconds of processor time, of all threads.
fn processor_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The time of a call.
fn timed(call: &mut dyn FnMut()) -> f64 {
    let start = processor_time();
    call();
    processor_time() - start
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints a row of the table.
fn row(name: &str, kernel: &mut dyn FnMut(), plain: &mut dyn FnMut()) {
    kernel();
    plain();
    let pairs: Vec<[f64; 2]> = (0..ROUNDS).map(|_| [timed(kernel), timed(plain)]).collect();
    let ns = |of: usize| median(pairs.iter().map(|pair| pair[of]).collect()) * 1e9 / N as f64;
    let mut ratios: Vec<f64> = pairs.iter().map(|[kernel, plain]| kernel / plain).collect();
    ratios.sort_by(f64::total_cmp);
    let [low, middle, high] = [1, 2, 3].map(|quarter| ratios[ROUNDS * quarter / 4]);
    println!(
        "{name:<12} {:>8.2} {:>8.2} {middle:>6.2} {low:>6.2}–{high:.2}",
        ns(0),
        ns(1)
    );
}

#[test]
#[ignore = "a measurement"]
fn against_plain_loops() -> sarek::Result<()> {
    let device = Device::of("native")?;
    let floats: Vec<f32> = (0..N).map(|i| i as f32 * 1e-6).collect();
    let numbers: Vec<u32> = (0..N as u32).map(|i| i * 7 % 1000).collect();
    let factors = [0.5f32, -0.25, 0.125, 1.5, -0.75, 0.3, 0.1, -0.2];
    println!(
        "{:<12} {:>8} {:>8} {:>6} {:>12}",
        "ns per element", "kernel", "plain", "ratio", "quartiles"
    );

    let x = Vector::from_slice(&floats);
    let mut y = Vector::from_slice(&floats);
    let mut plain = floats.clone();
    row(
        "saxpy",
        &mut || {
            saxpy(0.5, &x, &mut y)
                .over(N)
                .run_on(&device)
                .expect("it runs")
        },
        &mut || plain_saxpy(0.5, &floats, &mut plain),
    );
    assert_eq!(y.to_vec()?, plain);
    row(
        "add",
        &mut || {
            add(&x, &x, &mut y)
                .over(N)
                .run_on(&device)
                .expect("it runs")
        },
        &mut || plain_add(&floats, &floats, &mut plain),
    );
    assert_eq!(y.to_vec()?, plain);
    let of = Vector::from_slice(&factors);
    row(
        "polynomial",
        &mut || {
            polynomial(&of, &x, &mut y)
                .over(N)
                .run_on(&device)
                .expect("it runs")
        },
        &mut || plain_polynomial(&factors, &floats, &mut plain),
    );
    assert_eq!(y.to_vec()?, plain);
    let x = Vector::from_slice(&numbers);
    let mut y = Vector::from_vec(vec![0u32; N]);
    let mut plain = vec![0u32; N];
    row(
        "steps",
        &mut || steps(&x, &mut y).over(N).run_on(&device).expect("it runs"),
        &mut || plain_steps(&numbers, &mut plain),
    );
    assert_eq!(y.to_vec()?, plain);
    Ok(())
}
