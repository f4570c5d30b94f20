//! Matrix multiplication, one thread for each element of the product.
//!
//! `cargo run --release --example matmul [-- SIZE]`

use std::time::{Duration, Instant};

use sarek::prelude::*;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// `c = a b` for square matrices of `n` rows.
#[kernel]
fn matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if row < n && col < n {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + col];
        }
        c[row * n + col] = sum;
    }
}

/// Compares some rows of the product with an `f64` computation, and returns the largest relative error.
fn check(n: usize, a: &[f32], b: &[f32], c: &[f32]) -> Fallible<f64> {
    let mut worst = 0.0f64;
    let rows = (0..n).step_by((n / 16).max(1));
    for row in rows {
        for col in 0..n {
            let terms = (0..n).map(|k| f64::from(a[row * n + k]) * f64::from(b[k * n + col]));
            let magnitude: f64 = terms.clone().map(f64::abs).sum();
            let error = (f64::from(c[row * n + col]) - terms.sum::<f64>()).abs();
            // The bound for a sum of n terms in f32, in any order, with or without fused multiply-add.
            let allowed = (n + 1) as f64 * f64::from(f32::EPSILON) * magnitude;
            if error > allowed || error.is_nan() {
                return Err(
                    format!("c[{row}, {col}] = {} is off by {error}", c[row * n + col]).into(),
                );
            }
            worst = worst.max(error / magnitude.max(f64::MIN_POSITIVE));
        }
    }
    Ok(worst)
}

fn main() -> Fallible<()> {
    let n: usize = std::env::args().nth(1).map_or(Ok(512), |n| n.parse())?;
    let device = Device::best()?;
    println!("device: {} ({})", device.name(), device.backend());

    let wave = |scale: f32| {
        (0..n * n)
            .map(move |i| (i as f32 * scale).sin())
            .collect::<Vec<f32>>()
    };
    let (a, b) = (wave(0.37), wave(0.73));
    let (va, vb) = (Vector::from_slice(&a), Vector::from_slice(&b));
    let mut vc = Vector::zeros(n * n);

    println!("{n} x {n} times {n} x {n} …");
    let start = Instant::now();
    matmul(n, &va, &vb, &mut vc).over((n, n)).run_on(&device)?;
    device.sync()?;
    println!(
        "first run {:.2?}, compilation and copies included",
        start.elapsed()
    );

    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        matmul(n, &va, &vb, &mut vc).over((n, n)).run_on(&device)?;
        device.sync()?;
        best = best.min(start.elapsed());
    }
    let operations = 2.0 * (n as f64).powi(3);
    println!(
        "best of five {best:.2?}: {:.2} GFLOP/s",
        operations / best.as_secs_f64() / 1e9
    );

    println!("comparing rows with plain Rust …");
    let worst = check(n, &a, &b, &vc.to_vec()?)?;
    println!("largest error {worst:.2e} of the terms' sum: within the bound of an f32 sum");
    Ok(())
}
