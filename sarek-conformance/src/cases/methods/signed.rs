//! Methods that only signed integers have.

use crate::check::{Check, Expected, reports_overflow, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/signed/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/signed/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/signed/i32", &[], i32_case),
    Case::new("methods/signed/i64", &[Capability::I64], i64_case),
    Case::new(
        "methods/unsigned_abs/i8",
        &[Capability::Storage8],
        i8_unsigned,
    ),
    Case::new(
        "methods/unsigned_abs/i16",
        &[Capability::Storage16],
        i16_unsigned,
    ),
    Case::new("methods/unsigned_abs/i32", &[], i32_unsigned),
    Case::new("methods/unsigned_abs/i64", &[Capability::I64], i64_unsigned),
];

macro_rules! signed {
    ($t:ident $u:ident $case:ident $kernel:ident $unsigned:ident $unsigned_kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[4 * i] = a[i].abs();
            out[4 * i + 1] = a[i].signum();
            out[4 * i + 2] = a[i].is_positive() as $t;
            out[4 * i + 3] = a[i].is_negative() as $t;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = values::<$t>(49, 200);
            inputs.retain(|&a| a != $t::MIN || !reports_overflow());
            unary(
                ["abs", "signum", "is_positive", "is_negative"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| {
                    let (positive, negative) = ((a > 0) as i128, (a < 0) as i128);
                    let sign = positive - negative;
                    let magnitude = i128::from(a) * (positive - negative);
                    [magnitude, sign, positive, negative].map(|r| Expected::Exactly(r as $t))
                },
            )
        }

        #[kernel]
        fn $unsigned_kernel(a: &[$t], out: &mut [$u]) {
            let i = global_idx_x();
            out[i] = a[i].unsigned_abs();
        }

        fn $unsigned(device: &Device) -> Check {
            unary(
                ["unsigned_abs"],
                &values::<$t>(50, 200),
                |a, out, n| $unsigned_kernel(a, out).over(n).run_on(device),
                |a| [Expected::Exactly(i128::from(a).unsigned_abs() as $u)],
            )
        }
    };
}

signed!(i8 u8 i8_case signed_i8 i8_unsigned unsigned_abs_i8);
signed!(i16 u16 i16_case signed_i16 i16_unsigned unsigned_abs_i16);
signed!(i32 u32 i32_case signed_i32 i32_unsigned unsigned_abs_i32);
signed!(i64 u64 i64_case signed_i64 i64_unsigned unsigned_abs_i64);
