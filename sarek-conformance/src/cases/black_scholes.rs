//! European option prices; the normal distribution by formula 26.2.17 of Abramowitz and Stegun.

use crate::Case;
use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;
use sarek::testing::tolerance::{EXACT, Tolerance};

pub const CASES: &[Case] = &[Case::new("black_scholes", &[], run)];

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

/// Absolute error. Prices are below 100; the formula itself is good to 1e-5 of that, and so are the functions.
const ERROR: f64 = 2e-3;

#[kernel]
fn black_scholes(spot: &[f32], strike: &[f32], years: &[f32], call: &mut [f32], put: &mut [f32]) {
    let i = global_idx_x();
    if i < spot.len() {
        let root = years[i].sqrt();
        let drift = (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i];
        let d1 = ((spot[i] / strike[i]).ln() + drift) / (VOLATILITY * root);
        let d2 = d1 - VOLATILITY * root;

        let k = 1.0 / (1.0 + 0.2316419 * d1.abs());
        let tail = 0.39894228
            * (-0.5 * d1 * d1).exp()
            * k
            * (0.31938153
                + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
        let n1 = if d1 > 0.0 { 1.0 - tail } else { tail };

        let k = 1.0 / (1.0 + 0.2316419 * d2.abs());
        let tail = 0.39894228
            * (-0.5 * d2 * d2).exp()
            * k
            * (0.31938153
                + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
        let n2 = if d2 > 0.0 { 1.0 - tail } else { tail };

        let discounted = strike[i] * (-RATE * years[i]).exp();
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0 - n2) - spot[i] * (1.0 - n1);
    }
}

fn normal(d: f64) -> f64 {
    // Integrates from 0 to d by the Taylor series, independently of the kernel's formula.
    let (mut sum, mut term) = (d, d);
    for n in 1..200 {
        term *= -d * d / (2.0 * f64::from(n));
        sum += term / f64::from(2 * n + 1);
    }
    0.5 + sum / (2.0 * std::f64::consts::PI).sqrt()
}

fn reference(spot: f32, strike: f32, years: f32) -> (f64, f64) {
    let [s, k, t] = [spot, strike, years].map(f64::from);
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let spread = volatility * t.sqrt();
    let d1 = ((s / k).ln() + (rate + volatility * volatility / 2.0) * t) / spread;
    let discounted = k * (-rate * t).exp();
    let call = s * normal(d1) - discounted * normal(d1 - spread);
    (call, call + discounted - s)
}

fn run(device: &Device) -> Check {
    for n in [1, 33, 256, 1000] {
        let mut random = Random::new(n as u64);
        let spot = random.floats(n, 20.0, 60.0);
        let strike = random.floats(n, 20.0, 60.0);
        let years = random.floats(n, 0.5, 5.0);
        let tolerance = Tolerance {
            absolute: ERROR,
            ..EXACT
        };
        let mut expected = (vec![], vec![]);
        for i in 0..n {
            let (call, put) = reference(spot[i], strike[i], years[i]);
            expected.0.push(Expected::Near(call, tolerance));
            expected.1.push(Expected::Near(put, tolerance));
        }
        let (mut call, mut put) = (sentinel_filled::<f32>(n), sentinel_filled::<f32>(n));
        let [spot, strike, years] = [spot, strike, years].map(Vector::from_vec);
        black_scholes(&spot, &strike, &years, &mut call, &mut put)
            .over(n)
            .run_on(device)?;
        expect_within("call", &call, &expected.0, &|_| String::new())?;
        expect_within("put", &put, &expected.1, &|_| String::new())?;
    }
    Ok(())
}
