//! Inverse hyperbolic functions, within [`sarek::testing::tolerance`].

use crate::check::{Check, Expected, unary};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Format, Function, Tolerance, tolerance};

pub const CASES: &[Case] = &[
    Case::new("methods/asinh/f32", &[], f32_case),
    Case::new(
        "methods/asinh/f64",
        &[Capability::F64, Capability::F64Math],
        f64_case,
    ),
    Case::new("methods/asinh/f16", &[], f16_case),
    Case::new("methods/asinh/bf16", &[], bf16_case),
];

/// Numbers of all magnitudes at which `x²` fits `f32`, and ends.
fn inputs() -> Vec<f64> {
    let mut random = Random::new(75);
    let mut inputs = vec![0.0, 1e-30, -1e-30, 1.0, -1.0, 50.0, -50.0, 1e18, -1e18];
    inputs.extend((0..300).map(|_| random.between(-50.0, 50.0)));
    inputs.extend((0..200).map(|_| random.between(-1.0, 1.0)));
    inputs.extend((0..100).map(|_| random.between(-40.0, 40.0).exp()));
    inputs
}

/// The result for an argument, and its tolerance, if there is a bound.
fn near(device: &Device, format: Format, x: f64) -> Option<(f64, Tolerance)> {
    let (class, exact) = (Class::of(device), x.asinh());
    let asinh = Function::method("asinh").expect("the method has bounds");
    let tolerance = tolerance(class, asinh, format, (x, 0.0), exact);
    class.promises(asinh, x).then_some((exact, tolerance))
}

macro_rules! kernels {
    ($t:ident $format:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = a[i].asinh();
        }

        fn $case(device: &Device) -> Check {
            let inputs: Vec<$t> = inputs().into_iter().map(|x| x as $t).collect();
            unary(
                ["asinh"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| {
                    let expected = near(device, Format::$format, a.into());
                    [expected.map_or(Expected::Anything, |(exact, near)| {
                        Expected::Near(exact, near)
                    })]
                },
            )
        }
    };
}

kernels!(f32 F32 f32_case asinh_f32);
kernels!(f64 F64 f64_case asinh_f64);

#[kernel]
fn asinh_of<T: Float>(a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = T::from_f32(a[i]).asinh().to_f32();
}

/// The result is rounded to so many digits.
fn of_half<T: Float>(device: &Device, digits: i32) -> Check {
    let small = inputs().into_iter().filter(|x| x.abs() <= 50.0);
    let inputs: Vec<f32> = small.map(|x| T::from_f32(x as f32).to_f32()).collect();
    unary(
        ["asinh"],
        &inputs,
        |a, out, n| asinh_of::<T>(a, out).over(n).run_on(device),
        |a| {
            let expected = near(device, Format::F32, a.into());
            [expected.map_or(Expected::Anything, |(exact, near)| {
                // Subnormal numbers of `f16` have fewer digits.
                let rounding = 1.1 * 2f64.powi(-digits) * exact.abs() + 1e-7;
                let absolute = near.absolute + rounding;
                Expected::Near(exact, Tolerance { absolute, ..near })
            })]
        },
    )
}

fn f16_case(device: &Device) -> Check {
    of_half::<f16>(device, 11)
}

fn bf16_case(device: &Device) -> Check {
    of_half::<bf16>(device, 8)
}
