use crate::Case;
use crate::check::{Check, Expected, TAIL, expect_within};
use crate::input::{Random, SIZES, Sample};
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Format, Tolerance};

pub const CASES: &[Case] = &[Case::new("saxpy", &[], run)];

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[i] = a * x[i] + y[i];
    }
}

fn run(device: &Device) -> Check {
    for n in SIZES {
        let mut random = Random::new(n as u64 + 1);
        let x = random.floats(n, -4.0, 4.0);
        let mut y = random.floats(n, -4.0, 4.0);
        let a = 2.625f32;
        let expected: Vec<Expected<f32>> = x
            .iter()
            .zip(&y)
            .map(|(&x, &y)| multiply_add(a, x, y))
            .collect();
        y.extend([f32::SENTINEL; TAIL]);
        let mut y = Vector::from_vec(y);
        saxpy(a, &Vector::from_vec(x), &mut y)
            .over(n)
            .run_on(device)?;
        expect_within(&format!("over({n})"), &y, &expected, &|_| String::new())?;
        if n > 0 {
            twice(device, n)?;
        }
    }
    Ok(())
}

/// Accepts `a * x + y` rounded once or twice.
fn multiply_add(a: f32, x: f32, y: f32) -> Expected<f32> {
    let product = f64::from(a) * f64::from(x);
    let absolute = Format::F32.ulp(product) / 2.0;
    Expected::Near(product + f64::from(y), Tolerance { absolute, ..EXACT })
}

/// A second launch sees the result of the first one.
fn twice(device: &Device, n: usize) -> Check {
    let x = Vector::from_vec(vec![1.0f32; n]);
    let mut data = vec![0.0f32; n];
    data.extend([f32::SENTINEL; TAIL]);
    let mut y = Vector::from_vec(data);
    saxpy(2.0, &x, &mut y).over(n).run_on(device)?;
    saxpy(3.0, &x, &mut y).cover(n).run_on(device)?;
    expect_within("twice", &y, &vec![Expected::Exactly(5.0); n], &|_| {
        String::new()
    })
}
