//! Float methods composed of others: `round_ties_even`, `div_euclid`, `is_normal`, `is_subnormal`, `sin_cos`.

use crate::check::{Check, Expected, binary, unary};
use crate::input::{Sample, pairs, values};
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Format, Function, Tolerance, tolerance};

pub const CASES: &[Case] = &[
    Case::new("methods/round_ties_even/f32", &[], f32_round),
    Case::new("methods/round_ties_even/f64", &[Capability::F64], f64_round),
    Case::new("methods/div_euclid/f32", &[], f32_quotient),
    Case::new("methods/div_euclid/f64", &[Capability::F64], f64_quotient),
    Case::new("methods/is_normal/f32", &[], f32_classes),
    Case::new(
        "methods/is_normal/f64",
        &[Capability::F64, Capability::I64],
        f64_classes,
    ),
    Case::new("methods/is_normal/f16", &[Capability::F16], f16_classes),
    Case::new("methods/sin_cos/f32", &[], f32_angles),
    Case::new(
        "methods/sin_cos/f64",
        &[Capability::F64, Capability::F64Math],
        f64_angles,
    ),
];

macro_rules! kernels {
    ($t:ident $format:ident $round:ident $round_kernel:ident $quotient:ident $quotient_kernel:ident
        $classes:ident $classes_kernel:ident $angles:ident $angles_kernel:ident) => {
        #[kernel]
        fn $round_kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = a[i].round_ties_even();
        }

        fn $round(device: &Device) -> Check {
            let mut inputs = values::<$t>(71, 300);
            inputs.extend((-40..40).map(|k| k as $t / 4.0));
            let steps = [1 as $t / $t::EPSILON, 0.5 / $t::EPSILON, 0.25 / $t::EPSILON];
            inputs.extend(steps.iter().flat_map(|s| {
                [s - 0.5, s + 0.5, 0.5 - s, -s - 0.5, s + 1.0, s + 1.5, s - 1.5]
            }));
            unary(
                ["round_ties_even"],
                &inputs,
                |a, out, n| $round_kernel(a, out).over(n).run_on(device),
                |a| [Expected::Exactly(a.round_ties_even())],
            )
        }

        #[kernel]
        fn $quotient_kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = a[i].div_euclid(b[i]);
        }

        /// An inexact quotient allows an integer part that is off by one.
        fn $quotient(device: &Device) -> Check {
            let class = Class::of(device);
            let mut inputs = pairs::<$t, $t>(72, 500);
            let small = |k: i32| (k as $t / 2.0 + 0.25);
            inputs.extend((-12..12).flat_map(|k| [(small(k), 2.0), (small(k), -3.0)]));
            binary(
                ["div_euclid"],
                &inputs,
                |a, b, out, n| $quotient_kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (expected, (x, y)) = (a.div_euclid(b), (f64::from(a), f64::from(b)));
                    let is_tiny = |v: $t| v != 0.0 && v.abs() < 1.0e-30;
                    let of_quotient = tolerance(class, Function::DIV, Format::$format, (x, y), f64::from(a / b));
                    match of_quotient.ulps <= 0.5 {
                        true => [Expected::Exactly(expected)],
                        false if is_tiny(a) || is_tiny(b) || a.abs().max(b.abs()) > 1.0e30 => [Expected::Anything],
                        false => {
                            let absolute = of_quotient.absolute + 1.0;
                            let near = Tolerance { absolute, ..of_quotient };
                            [Expected::Near(expected.into(), near)]
                        }
                    }
                },
            )
        }

        classes!($t $classes $classes_kernel);

        #[kernel]
        fn $angles_kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let (sin, cos) = a[i].sin_cos();
            out[2 * i] = sin;
            out[2 * i + 1] = cos;
        }

        fn $angles(device: &Device) -> Check {
            let class = Class::of(device);
            let inputs: Vec<$t> = (-60..60).map(|k| k as $t / 20.0).collect();
            unary(
                ["sin", "cos"],
                &inputs,
                |a, out, n| $angles_kernel(a, out).over(n).run_on(device),
                |a| {
                    let x = f64::from(a);
                    let expected = |method, exact| {
                        let function = Function::method(method).expect("the method has bounds");
                        Expected::Near(exact, tolerance(class, function, Format::$format, (x, 0.0), exact))
                    };
                    [expected("sin", x.sin()), expected("cos", x.cos())]
                },
            )
        }
    };
}

macro_rules! classes {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[2 * i] = a[i].is_normal() as u32;
            out[2 * i + 1] = a[i].is_subnormal() as u32;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = values::<$t>(73, 200);
            inputs.extend([1, 2, $t::MIN_POSITIVE.to_bits() - 1].map($t::from_bits));
            inputs.extend([
                $t::MIN_POSITIVE,
                -$t::MIN_POSITIVE,
                -$t::from_bits(1),
                0.0,
                -0.0,
            ]);
            inputs.extend([$t::NAN, $t::INFINITY, $t::NEG_INFINITY, $t::MAX, $t::MIN]);
            unary(
                ["is_normal", "is_subnormal"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| [a.is_normal(), a.is_subnormal()].map(|is| Expected::Exactly(u32::from(is))),
            )
        }
    };
}

kernels!(f32 F32 f32_round round_f32 f32_quotient quotient_f32 f32_classes classes_f32 f32_angles angles_f32);
kernels!(f64 F64 f64_round round_f64 f64_quotient quotient_f64 f64_classes classes_f64 f64_angles angles_f64);

#[kernel]
fn classes_f16(a: &[f16], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = a[i].is_normal() as u32;
}

fn f16_classes(device: &Device) -> Check {
    let mut inputs = f16::edges();
    inputs.extend((0..=u16::MAX).step_by(97).map(f16::from_bits));
    unary(
        ["is_normal"],
        &inputs,
        |a, out, n| classes_f16(a, out).over(n).run_on(device),
        |a| [Expected::Exactly(u32::from(a.is_normal()))],
    )
}
