//! Saxpy: `y = a x + y` on the best device of the machine.
//!
//! `cargo run --release --example quickstart`

use std::time::Instant;

use sarek::prelude::*;

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best()?;
    println!("device: {} ({})", device.name(), device.backend());

    let n = 1 << 20;
    let xs: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 / 8.0).collect();
    let x = Vector::from_slice(&xs);
    let mut y = Vector::filled(n, 2.0f32);

    println!("y = 3 x + y over {n} elements …");
    let start = Instant::now();
    saxpy(3.0, &x, &mut y).over(n).run_on(&device)?;
    let result = y.to_vec()?;
    println!(
        "done in {:.2?}, compilation and copies included",
        start.elapsed()
    );

    // All values are multiples of 1/8 below 2^21, so `f32` arithmetic is exact.
    let wrong = result
        .iter()
        .zip(&xs)
        .filter(|&(&y, &x)| y != 3.0 * x + 2.0)
        .count();
    if wrong > 0 {
        return Err(format!("{wrong} of {n} elements differ from plain Rust").into());
    }
    println!("y[999] = {}; all elements equal plain Rust's", result[999]);
    Ok(())
}
