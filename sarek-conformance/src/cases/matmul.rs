use crate::Case;
use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Tolerance};

pub const CASES: &[Case] = &[Case::new("matmul", &[], run)];

/// Computes `c = a b` for an `m` × `k` matrix `a` and a `k` × `n` matrix `b`, stored row by row.
#[kernel]
fn matmul(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if row < m && col < n {
        let mut sum = 0.0;
        for i in 0..k {
            sum += a[row * k + i] * b[i * n + col];
        }
        c[row * n + col] = sum;
    }
}

/// The elements of the product, each with the error bound of a sum of `k` terms in any order.
fn reference(m: usize, n: usize, k: usize, a: &[f32], b: &[f32]) -> Vec<Expected<f32>> {
    let mut expected = vec![];
    for row in 0..m {
        for col in 0..n {
            let terms = (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + col]));
            let magnitude: f64 = terms.clone().map(f64::abs).sum();
            let absolute = (k + 1) as f64 * f64::from(f32::EPSILON) * magnitude;
            expected.push(Expected::Near(terms.sum(), Tolerance { absolute, ..EXACT }));
        }
    }
    expected
}

fn run(device: &Device) -> Check {
    for (m, n, k) in [
        (1, 1, 1),
        (3, 5, 7),
        (33, 32, 31),
        (17, 64, 0),
        (0, 4, 4),
        (64, 48, 40),
    ] {
        let mut random = Random::new((m * 10_000 + n * 100 + k) as u64);
        let a = random.floats(m * k, -1.0, 1.0);
        let b = random.floats(k * n, -1.0, 1.0);
        let expected = reference(m, n, k, &a, &b);
        let (a, b) = (Vector::from_vec(a), Vector::from_vec(b));
        let mut c = sentinel_filled(m * n);
        matmul(m, n, k, &a, &b, &mut c)
            .over((n, m))
            .run_on(device)?;
        expect_within(&format!("{m}x{k} by {k}x{n}"), &c, &expected, &|_| {
            String::new()
        })?;

        let mut c = sentinel_filled(m * n);
        let grid = (n / 8 + 1, m / 4 + 1);
        matmul(m, n, k, &a, &b, &mut c)
            .grid(grid)
            .block((8, 4))
            .run_on(device)?;
        expect_within(
            &format!("{m}x{k} by {k}x{n} in blocks"),
            &c,
            &expected,
            &|_| String::new(),
        )?;
    }
    Ok(())
}
