//! Methods of one float that are exact: rounding, signs, classes, bits.

use crate::check::{Check, Expected, unary};
use crate::input::{Random, Sample, values};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/round/f32", &[], f32_round),
    Case::new("methods/round/f64", &[Capability::F64], f64_round),
    Case::new("methods/classes/f32", &[], f32_classes),
    Case::new("methods/classes/f64", &[Capability::F64], f64_classes),
    Case::new("methods/to_bits/f32", &[], f32_bits),
    Case::new(
        "methods/to_bits/f64",
        &[Capability::F64, Capability::I64],
        f64_bits,
    ),
    Case::new("methods/from_bits/f32", &[], f32_from_bits),
    Case::new(
        "methods/from_bits/f64",
        &[Capability::F64, Capability::I64],
        f64_from_bits,
    ),
];

macro_rules! kernels {
    (
        $t:ident $bits:ident $round:ident $round_kernel:ident $classes:ident $classes_kernel:ident
        $to_bits:ident $to_bits_kernel:ident $from_bits:ident $from_bits_kernel:ident
    ) => {
        #[kernel]
        fn $round_kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[7 * i] = a[i].floor();
            out[7 * i + 1] = a[i].ceil();
            out[7 * i + 2] = a[i].round();
            out[7 * i + 3] = a[i].trunc();
            out[7 * i + 4] = a[i].fract();
            out[7 * i + 5] = a[i].abs();
            out[7 * i + 6] = a[i].signum();
        }

        fn $round(device: &Device) -> Check {
            let mut inputs = values::<$t>(61, 300);
            inputs.extend((-40..40).map(|k| k as $t / 4.0));
            let steps = [1 as $t / $t::EPSILON, 0.5 / $t::EPSILON, 0.25 / $t::EPSILON];
            inputs.extend(
                steps
                    .iter()
                    .flat_map(|s| [s - 0.5, s + 0.5, -s - 0.5, s + 1.0]),
            );
            unary(
                ["floor", "ceil", "round", "trunc", "fract", "abs", "signum"],
                &inputs,
                |a, out, n| $round_kernel(a, out).over(n).run_on(device),
                |a| {
                    let whole = integer_part(a.into()) as $t;
                    let rest = a - whole;
                    let up = if rest > 0.0 { 1.0 } else { 0.0 };
                    let down = if rest < 0.0 { 1.0 } else { 0.0 };
                    let nearest = if rest.abs() >= 0.5 {
                        (1.0 as $t).copysign(a)
                    } else {
                        0.0
                    };
                    let magnitude = $t::from_bits(a.to_bits() & ($bits::MAX >> 1));
                    let sign = if a.is_nan() {
                        a
                    } else {
                        (1.0 as $t).copysign(a)
                    };
                    [
                        Expected::Exactly((whole - down).copysign(a)),
                        Expected::Exactly((whole + up).copysign(a)),
                        Expected::Exactly((whole + nearest).copysign(a)),
                        Expected::Exactly(whole),
                        // Infinity minus itself is NaN.
                        if !a.is_finite() {
                            Expected::Exactly($t::NAN)
                        } else {
                            Expected::Equal(rest)
                        },
                        Expected::Exactly(magnitude),
                        Expected::Exactly(sign),
                    ]
                },
            )
        }

        #[kernel]
        fn $classes_kernel(a: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[4 * i] = a[i].is_nan() as u32;
            out[4 * i + 1] = a[i].is_infinite() as u32;
            out[4 * i + 2] = a[i].is_finite() as u32;
            out[4 * i + 3] = a[i].is_sign_negative() as u32;
        }

        fn $classes(device: &Device) -> Check {
            unary(
                ["is_nan", "is_infinite", "is_finite", "is_sign_negative"],
                &values::<$t>(62, 200),
                |a, out, n| $classes_kernel(a, out).over(n).run_on(device),
                |a| {
                    let magnitude = a.to_bits() & ($bits::MAX >> 1);
                    let infinity = $t::INFINITY.to_bits();
                    let negative = a.to_bits() > $bits::MAX >> 1;
                    let [nan, infinite, finite, negative] = [
                        magnitude > infinity,
                        magnitude == infinity,
                        magnitude < infinity,
                        negative,
                    ]
                    .map(|holds| Expected::Exactly(u32::from(holds)));
                    // Not every target keeps the sign of a NaN.
                    [
                        nan,
                        infinite,
                        finite,
                        if a.is_nan() {
                            Expected::Anything
                        } else {
                            negative
                        },
                    ]
                },
            )
        }

        #[kernel]
        fn $to_bits_kernel(a: &[$t], out: &mut [$bits]) {
            let i = global_idx_x();
            out[i] = a[i].to_bits();
        }

        fn $to_bits(device: &Device) -> Check {
            let mut inputs = values::<$t>(63, 200);
            inputs.retain(|a| !a.is_nan());
            unary(
                ["to_bits"],
                &inputs,
                |a, out, n| $to_bits_kernel(a, out).over(n).run_on(device),
                |a| [Expected::Exactly($bits::from_ne_bytes(a.to_ne_bytes()))],
            )
        }

        #[kernel]
        fn $from_bits_kernel(a: &[$bits], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = $t::from_bits(a[i]);
        }

        fn $from_bits(device: &Device) -> Check {
            let mut random = Random::new(64);
            let mut inputs: Vec<$bits> = $t::edges().into_iter().map($t::to_bits).collect();
            inputs.extend((0..200).map(|_| $t::random(&mut random).to_bits()));
            unary(
                ["from_bits"],
                &inputs,
                |a, out, n| $from_bits_kernel(a, out).over(n).run_on(device),
                |a| [Expected::Exactly($t::from_ne_bytes(a.to_ne_bytes()))],
            )
        }
    };
}

kernels!(
    f32 u32 f32_round round_f32 f32_classes classes_f32 f32_bits to_bits_f32 f32_from_bits
    from_bits_f32
);
kernels!(
    f64 u64 f64_round round_f64 f64_classes classes_f64 f64_bits to_bits_f64 f64_from_bits
    from_bits_f64
);

/// Truncates towards zero, and keeps the sign.
fn integer_part(x: f64) -> f64 {
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    match exponent {
        52.. => x,
        0..52 => f64::from_bits(x.to_bits() & (!0 << (52 - exponent))),
        _ => 0f64.copysign(x),
    }
}
