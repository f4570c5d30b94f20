//! `/` and `%` of integers and their Euclidean forms, for divisors and quotients that are valid.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/divide/i8", &[Capability::Storage8], i8_case),
    Case::new("operators/divide/i16", &[Capability::Storage16], i16_case),
    Case::new("operators/divide/i32", &[], i32_case),
    Case::new("operators/divide/u8", &[Capability::Storage8], u8_case),
    Case::new("operators/divide/u16", &[Capability::Storage16], u16_case),
    Case::new("operators/divide/u32", &[], u32_case),
    Case::new("operators/divide/i64", &[Capability::I64], i64_case),
    Case::new("operators/divide/u64", &[Capability::I64], u64_case),
    Case::new("operators/divide/literals", &[], literals),
];

macro_rules! divide {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[4 * i] = a[i] / b[i];
            out[4 * i + 1] = a[i] % b[i];
            out[4 * i + 2] = a[i].div_euclid(b[i]);
            out[4 * i + 3] = a[i].rem_euclid(b[i]);
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(23, 400);
            inputs.retain(|&(a, b)| b != 0 && $t::try_from(i128::from(a) / i128::from(b)).is_ok());
            binary(
                ["/", "%", "div_euclid", "rem_euclid"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| reference(a.into(), b.into()).map(|r| Expected::Exactly(r as $t)),
            )
        }
    };
}

divide!(i8_case divide_i8 i8);
divide!(i16_case divide_i16 i16);
divide!(i32_case divide_i32 i32);
divide!(u8_case divide_u8 u8);
divide!(u16_case divide_u16 u16);
divide!(u32_case divide_u32 u32);
divide!(i64_case divide_i64 i64);
divide!(u64_case divide_u64 u64);

/// Computes from magnitudes: the quotient rounds towards zero, and the remainder has the dividend's sign.
/// Then follow Euclid's forms, whose remainder is never negative.
fn reference(a: i128, b: i128) -> [i128; 4] {
    let quotient = (a.unsigned_abs() / b.unsigned_abs()) as i128;
    let quotient = if (a < 0) == (b < 0) {
        quotient
    } else {
        -quotient
    };
    let remainder = a - quotient * b;
    let euclid = if remainder < 0 {
        remainder + b.abs()
    } else {
        remainder
    };
    [quotient, remainder, (a - euclid) / b, euclid]
}

/// Constant divisors, which compilers turn into shifts and multiplications, and whose checks they drop.
#[kernel]
fn literals_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[5 * i] = a[i] / 4;
    out[5 * i + 1] = a[i] % 4;
    out[5 * i + 2] = a[i] / -7;
    out[5 * i + 3] = a[i] % 10;
    out[5 * i + 4] = a[i].rem_euclid(8);
}

fn literals(device: &Device) -> Check {
    let inputs = crate::input::values::<i32>(24, 200);
    crate::check::unary(
        ["/ 4", "% 4", "/ -7", "% 10", "rem_euclid(8)"],
        &inputs,
        |a, out, n| literals_kernel(a, out).over(n).run_on(device),
        |a| {
            let by = |b: i128| reference(a.into(), b);
            [by(4)[0], by(4)[1], by(-7)[0], by(10)[1], by(8)[3]]
                .map(|r| Expected::Exactly(r as i32))
        },
    )
}
