//! Exact methods of two floats: `min`, `max`, `copysign`, `midpoint`.

use sarek::prelude::*;

use crate::check::{Check, Expected, binary};
use crate::input::{Sample, pairs};
use crate::{Capability, Case};
use sarek::testing::tolerance::{Class, EXACT, Tolerance};

pub const CASES: &[Case] = &[
    Case::new("methods/min_max/f32", &[], f32_case),
    Case::new("methods/min_max/f64", &[Capability::F64], f64_case),
    Case::new("methods/midpoint/f32", &[], f32_midpoint),
    Case::new(
        "methods/midpoint/f64",
        &[Capability::F64, Capability::I64],
        f64_midpoint,
    ),
];

macro_rules! kernels {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[3 * i] = a[i].min(b[i]);
            out[3 * i + 1] = a[i].max(b[i]);
            out[3 * i + 2] = a[i].copysign(b[i]);
        }

        fn $case(device: &Device) -> Check {
            binary(
                ["min", "max", "copysign"],
                &pairs::<$t, $t>(65, 300),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let signed = if b.is_sign_negative() {
                        -a.abs()
                    } else {
                        a.abs()
                    };
                    // Not every target keeps the sign of a NaN.
                    let sign = if b.is_nan() {
                        Expected::Anything
                    } else {
                        Expected::Exactly(signed)
                    };
                    [chosen(a, b, a < b), chosen(a, b, a > b), sign]
                },
            )
        }
    };
}

kernels!(f32_case min_max_f32 f32);
kernels!(f64_case min_max_f64 f64);

/// Expects the chosen number, but a NaN only if both are NaN, and either of two equal zeros.
fn chosen<T: Sample + PartialOrd>(a: T, b: T, first: bool) -> Expected<T> {
    if a == b {
        Expected::Equal(a)
    } else if a.partial_cmp(&a).is_none() {
        Expected::Exactly(b)
    } else if b.partial_cmp(&b).is_none() || first {
        Expected::Exactly(a)
    } else {
        Expected::Exactly(b)
    }
}

macro_rules! midpoint {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].midpoint(b[i]);
            out[2 * i + 1] = (a[i] * 0.5).midpoint(1.0);
        }

        fn $case(device: &Device) -> Check {
            let flush = !Class::of(device).keeps_subnormals();
            let (tiny, large) = ($t::MIN_POSITIVE, $t::MAX);
            let mut ends = vec![
                0.0,
                tiny,
                1.5 * tiny,
                2.0 * tiny,
                3.0 * tiny,
                1.0,
                large / 4.0,
                large / 2.0,
                large,
            ];
            if !flush {
                ends.extend([$t::from_bits(1), $t::from_bits(3), tiny - $t::from_bits(1)]);
            }
            let mut inputs = pairs::<$t, $t>(66, 500);
            for &a in &ends {
                inputs.extend(
                    ends.iter()
                        .flat_map(|&b| [(a, b), (-a, b), (a, -b), (-a, -b)]),
                );
            }
            binary(
                ["midpoint", "with 1"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let tolerance = Tolerance { flush, ..EXACT };
                    [a.midpoint(b), (a * 0.5).midpoint(1.0)]
                        .map(|expected| Expected::Near(expected.into(), tolerance))
                },
            )
        }
    };
}

midpoint!(f32_midpoint midpoint_f32 f32);
midpoint!(f64_midpoint midpoint_f64 f64);
