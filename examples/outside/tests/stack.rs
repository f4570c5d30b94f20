//! Tests of `stack`, whose execution model is `Custom`, through sarek's public interface.

use std::sync::OnceLock;

use sarek::prelude::*;
use sarek::{Error, Result};
use sarek_outside::stack;

fn device() -> Device {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    REGISTERED.get_or_init(|| stack::register().expect("no other code registers it"));
    Device::of("stack").expect("it is registered")
}

/// The value of a polynomial, within limits.
#[kernel]
fn polynomial(limit: f32, coefficients: &[f32], x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i >= x.len() || i >= y.len() {
        return;
    }
    let mut sum = 0.0f32;
    for k in 0..coefficients.len() {
        sum = sum * x[i] + coefficients[k];
    }
    y[i] = if sum > limit || -sum > limit {
        limit
    } else {
        sum
    };
}

/// Small numbers, in two dimensions.
#[kernel]
fn remainders(by: u8, x: &[i16], y: &mut [i64]) {
    let at = global_idx_y() * global_dim_x() + global_idx_x();
    y[at] = (x[at] as i64 * 3 - 5) % (by as i64);
}

fn polynomials(device: &Device) -> Result<Vec<f32>> {
    let coefficients = Vector::from_vec(vec![0.5, -1.0, 2.0, 0.25]);
    let x: Vector<f32> = (0..50u8).map(|i| f32::from(i) / 8.0 - 3.0).collect();
    let mut y = Vector::filled(50, -77.0);
    polynomial(6.0, &coefficients, &x, &mut y)
        .over(60)
        .run_on(device)?;
    y.to_vec()
}

#[test]
fn kernels_are_translated_to_a_machine_code() -> Result<()> {
    let device = device();
    let found = polynomials(&device)?;
    let due = |i: usize| {
        let x = i as f32 / 8.0 - 3.0;
        let sum = [0.5, -1.0, 2.0, 0.25]
            .iter()
            .fold(0.0, |sum, c| sum * x + c);
        if sum > 6.0 || -sum > 6.0 { 6.0 } else { sum }
    };
    assert_eq!(found, (0..50).map(due).collect::<Vec<f32>>());
    assert!(found.contains(&6.0) && found.iter().any(|y| *y < 0.0));
    assert_eq!(found, polynomials(&Device::of("native")?)?);

    let x: Vector<i16> = (0..12).map(|i| i * 100 - 600).collect();
    let mut y = Vector::zeros(12);
    remainders(7, &x, &mut y).over((4, 3)).run_on(&device)?;
    let due = |i: i64| ((i * 100 - 600) * 3 - 5) % 7;
    assert_eq!(y.to_vec()?, (0..12).map(due).collect::<Vec<i64>>());
    Ok(())
}

#[test]
fn the_program_is_neither_text_nor_rust() -> Result<()> {
    let device = device();
    let (x, mut y) = (Vector::filled(4, 1i16), Vector::filled(4, 0i64));
    let program = remainders(7, &x, &mut y).over(4).specialize(&device)?;
    let code = device.compile(&program.expect("it has threads"))?;
    assert_eq!((&*code.target, &*code.log), ("stack", ""));
    assert_eq!(code.entries, ["remainders"]);
    // People see the IR.
    assert_eq!(code.text, remainders::ir().to_string());
    let shown = device.debug_info();
    let program = shown
        .values()
        .find(|value| value.contains("for remainders"));
    assert!(program.is_some_and(|p| p.contains("in stack")), "{shown:?}");
    Ok(())
}

#[kernel]
fn picked(from: &[u32], x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x[from[i] as usize] / from[i];
}

#[test]
fn checks_of_the_kernel_are_made() -> Result<()> {
    let device = device();
    let x = Vector::from_vec(vec![10, 20, 30, 40]);
    let run = |from: Vec<u32>| {
        let (from, mut y) = (Vector::from_vec(from), Vector::zeros(4));
        picked(&from, &x, &mut y).over(4).run_on(&device)?;
        y.to_vec()
    };
    assert_eq!(run(vec![3, 2, 1, 2])?, [13, 15, 20, 15]);
    for (from, problem) in [
        (vec![1, 2, 4, 9], "index 4"),
        (vec![1, 0, 4, 9], "division"),
    ] {
        let fault = run(from).expect_err("a check fails");
        assert!(matches!(fault, Error::Fault { .. }), "{fault:?}");
        let text = fault.to_string();
        assert!(
            text.contains("picked") && text.contains("stack.rs"),
            "{text}"
        );
        assert!(text.contains(problem), "{text}");
    }
    Ok(())
}

#[kernel]
fn reversed(y: &mut [u32]) {
    let tile = shared_array::<u32, 4>();
    tile[thread_idx_x()] = y[global_idx_x()];
    barrier();
    y[global_idx_x()] = tile[3 - thread_idx_x()];
}

#[test]
fn a_kernel_that_it_cannot_translate_is_an_error_that_says_why() -> Result<()> {
    let mut y = Vector::zeros(4);
    let refused = reversed(&mut y).grid(1).block(4).run_on(&device());
    let refused = refused.expect_err("it has no blocks");
    assert!(refused.to_string().contains("stack"), "{refused}");
    // Elsewhere the same call runs.
    reversed(&mut y).grid(1).block(4).run()
}
