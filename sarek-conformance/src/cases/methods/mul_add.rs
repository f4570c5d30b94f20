//! `mul_add`: rounded once, except in WGSL, whose `fma` may round twice.

use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Format, Function, tolerance};

pub const CASES: &[Case] = &[
    Case::new("methods/mul_add/f32", &[], f32_case),
    Case::new("methods/mul_add/f64", &[Capability::F64], f64_case),
];

macro_rules! kernels {
    ($kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = a[i].mul_add(b[i], c[i]);
        }
    };
}

kernels!(mul_add_f32 f32);
kernels!(mul_add_f64 f64);

fn fused() -> Function {
    Function::method("mul_add").expect("the method has bounds")
}

fn f32_case(device: &Device) -> Check {
    let class = Class::of(device);
    let mut random = Random::new(66);
    let mut inputs: Vec<[f32; 3]> = (0..300)
        .map(|_| [(); 3].map(|()| random.between(-8.0, 8.0) as f32))
        .collect();
    // Products that cancel except for their last bits.
    for k in 1..100u32 {
        let a = 1.0 + k as f32 * f32::EPSILON;
        inputs.push([a, a, -(a * a)]);
    }
    let column = |k: usize| Vector::from_vec(inputs.iter().map(|t| t[k]).collect::<Vec<f32>>());
    let mut out = sentinel_filled::<f32>(inputs.len());
    mul_add_f32(&column(0), &column(1), &column(2), &mut out)
        .over(inputs.len())
        .run_on(device)?;
    let expected: Vec<Expected<f32>> = inputs
        .iter()
        .map(|&[a, b, c]| {
            // The product is exact in `f64`; the sum loses only bits far below those of an `f32`.
            let (x, y) = (f64::from(a), f64::from(b));
            let exact = x * y + f64::from(c);
            Expected::Near(exact, tolerance(class, fused(), Format::F32, (x, y), exact))
        })
        .collect();
    expect_within("mul_add", &out, &expected, &|i| {
        format!(" of {:?}", inputs[i])
    })
}

/// Integers below 2^31: `i128` holds product and sum exactly, and the result is right only if it is rounded once.
fn f64_case(device: &Device) -> Check {
    let class = Class::of(device);
    let mut random = Random::new(67);
    let inputs: Vec<[i64; 3]> = (0..300)
        .map(|_| {
            let [a, b] = [(); 2].map(|()| random.below(1 << 31) as i64);
            [
                a,
                b,
                -((a as i128 * b as i128) as f64 as i64) + random.below(64) as i64,
            ]
        })
        .collect();
    let column =
        |k: usize| Vector::from_vec(inputs.iter().map(|t| t[k] as f64).collect::<Vec<f64>>());
    let mut out = sentinel_filled::<f64>(inputs.len());
    mul_add_f64(&column(0), &column(1), &column(2), &mut out)
        .over(inputs.len())
        .run_on(device)?;
    let expected: Vec<Expected<f64>> = inputs
        .iter()
        .map(|&[a, b, c]| {
            let exact = (i128::from(a) * i128::from(b) + c as f64 as i128) as f64;
            let arguments = (a as f64, b as f64);
            Expected::Near(
                exact,
                tolerance(class, fused(), Format::F64, arguments, exact),
            )
        })
        .collect();
    expect_within("mul_add", &out, &expected, &|i| {
        format!(" of {:?}", inputs[i])
    })
}
