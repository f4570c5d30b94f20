//! Black–Scholes with branch-free functions, which compilers vectorise. They are those of Cephes, with errors below 2 ULP.

#![allow(clippy::excessive_precision)] // the coefficients as published

use rayon::prelude::*;

use super::{CHUNK, wide};
use crate::common::kernels::{RATE, VOLATILITY};

#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.3, 88.3);
    // Adding this number rounds to an integer, in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let power = rounded.to_bits() << 23;
    let k = rounded - ROUND;
    let r = x - k * 0.693359375 + k * 2.12194440e-4;
    let poly = ((((1.9875691500e-4 * r + 1.3981999507e-3) * r + 8.3334519073e-3) * r
        + 4.1665795894e-2)
        * r
        + 1.6666665459e-1)
        * r
        + 5.0000001201e-1;
    f32::from_bits((poly * r * r + r + 1.0).to_bits().wrapping_add(power))
}

#[inline(always)]
fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // The exponent for which the mantissa is between the roots of 1/2 and 2.
    let e = bits.wrapping_sub(0x3f35_04f3) as i32 >> 23;
    let m = f32::from_bits(bits.wrapping_sub((e << 23) as u32)) - 1.0;
    let e = e as f32;
    let z = m * m;
    let poly = (((((((7.0376836292e-2 * m - 1.1514610310e-1) * m + 1.1676998740e-1) * m
        - 1.2420140846e-1)
        * m
        + 1.4249322787e-1)
        * m
        - 1.6668057665e-1)
        * m
        + 2.0000714765e-1)
        * m
        - 2.4999993993e-1)
        * m
        + 3.3333331174e-1;
    let y = poly * m * z - 2.12194440e-4 * e - 0.5 * z;
    m + y + 0.693359375 * e
}

#[inline(always)]
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let poly =
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)));
    let tail = 0.39894228 * exp(-0.5 * d * d) * k * poly;
    if d > 0.0 { 1.0 - tail } else { tail }
}

wide! {
    fn task(spot: &[f32], strike: &[f32], years: &[f32], call: &mut [f32], put: &mut [f32]) {
        let n = call.len();
        let (spot, strike, years, put) = (&spot[..n], &strike[..n], &years[..n], &mut put[..n]);
        for i in 0..n {
            let (spot, strike, years) = (spot[i], strike[i], years[i]);
            let root = years.sqrt();
            let drift = (RATE + 0.5 * VOLATILITY * VOLATILITY) * years;
            let d1 = (ln(spot / strike) + drift) / (VOLATILITY * root);
            let d2 = d1 - VOLATILITY * root;
            let (n1, n2) = (normal(d1), normal(d2));
            let discounted = strike * exp(-RATE * years);
            call[i] = spot * n1 - discounted * n2;
            put[i] = discounted * (1.0 - n2) - spot * (1.0 - n1);
        }
    }
}

pub fn black_scholes(
    spot: &[f32],
    strike: &[f32],
    years: &[f32],
    call: &mut [f32],
    put: &mut [f32],
) {
    let inputs = spot
        .par_chunks(CHUNK)
        .zip(strike.par_chunks(CHUNK))
        .zip(years.par_chunks(CHUNK));
    let outputs = call.par_chunks_mut(CHUNK).zip(put.par_chunks_mut(CHUNK));
    inputs
        .zip(outputs)
        .for_each(|(((spot, strike), years), (call, put))| task(spot, strike, years, call, put));
}
