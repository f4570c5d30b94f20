//! Functions of constants that are infinite or NaN, or yield such a value. Compilers fold these calls, and must agree with the device.
//!
//! Zero times infinity is not among them, since WGSL lets drivers compute zero for it.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("constants/functions", &[], functions)];

macro_rules! functions {
    ($($expression:expr => $expected:expr;)*) => {
        #[kernel]
        fn functions_kernel(out: &mut [f32]) {
            if global_idx_x() == 0 {
                let mut at = 0;
                $(
                    out[at] = $expression;
                    at += 1;
                )*
            }
        }

        const DUE: &[f32] = &[$($expected),*];
    };
}

functions! {
    f32::INFINITY.exp() => f32::INFINITY;
    f32::NEG_INFINITY.exp() => 0.0;
    f32::NAN.exp() => f32::NAN;
    f32::INFINITY.exp2() => f32::INFINITY;
    f32::NEG_INFINITY.exp2() => 0.0;
    f32::INFINITY.exp_m1() => f32::INFINITY;
    f32::NEG_INFINITY.exp_m1() => -1.0;
    f32::INFINITY.ln() => f32::INFINITY;
    0.0f32.ln() => f32::NEG_INFINITY;
    (-1.0f32).ln() => f32::NAN;
    f32::NAN.ln() => f32::NAN;
    f32::INFINITY.ln_1p() => f32::INFINITY;
    f32::INFINITY.log2() => f32::INFINITY;
    0.0f32.log2() => f32::NEG_INFINITY;
    f32::INFINITY.log10() => f32::INFINITY;
    f32::INFINITY.sqrt() => f32::INFINITY;
    (-1.0f32).sqrt() => f32::NAN;
    f32::NEG_INFINITY.cbrt() => f32::NEG_INFINITY;
    f32::INFINITY.sin() => f32::NAN;
    f32::NEG_INFINITY.cos() => f32::NAN;
    f32::INFINITY.tan() => f32::NAN;
    2.0f32.asin() => f32::NAN;
    2.0f32.acos() => f32::NAN;
    f32::NEG_INFINITY.sinh() => f32::NEG_INFINITY;
    f32::NEG_INFINITY.cosh() => f32::INFINITY;
    2.0f32.powf(f32::INFINITY) => f32::INFINITY;
    2.0f32.powf(f32::NEG_INFINITY) => 0.0;
    0.5f32.powf(f32::INFINITY) => 0.0;
    (-2.0f32).powf(f32::INFINITY) => f32::INFINITY;
    f32::INFINITY.powf(-1.0) => 0.0;
    f32::NEG_INFINITY.powf(3.0) => f32::NEG_INFINITY;
    1.0f32.powf(f32::NAN) => 1.0;
    f32::NAN.powf(0.0) => 1.0;
    (-8.0f32).powf(0.5) => f32::NAN;
    f32::INFINITY.hypot(f32::NAN) => f32::INFINITY;
    3.0f32.hypot(f32::NEG_INFINITY) => f32::INFINITY;
    f32::NAN.min(1.0) => 1.0;
    1.0f32.max(f32::NAN) => 1.0;
    f32::NEG_INFINITY.max(-1.0) => -1.0;
    f32::NAN.clamp(0.0, 1.0) => f32::NAN;
    f32::INFINITY.clamp(0.0, 1.0) => 1.0;
    f32::NEG_INFINITY.abs() => f32::INFINITY;
    f32::NEG_INFINITY.signum() => -1.0;
    f32::NAN.signum() => f32::NAN;
    1.0f32.copysign(f32::NEG_INFINITY) => -1.0;
    f32::INFINITY.fract() => f32::NAN;
    f32::INFINITY.mul_add(-2.0, 1.0) => f32::NEG_INFINITY;
    f32::INFINITY % 2.0 => f32::NAN;
    2.0 % f32::NEG_INFINITY => 2.0;
    f32::INFINITY - f32::INFINITY => f32::NAN;
    1.0 / f32::NEG_INFINITY => -0.0;
    f32::INFINITY as i32 as f32 => 2_147_483_648.0;
    f32::NEG_INFINITY as u32 as f32 => 0.0;
    f32::NAN as i32 as f32 => 0.0;
}

fn functions(device: &Device) -> Check {
    let mut out = sentinel_filled(DUE.len());
    functions_kernel(&mut out).over(1).run_on(device)?;
    expect("functions of constants", &out, DUE)
}
