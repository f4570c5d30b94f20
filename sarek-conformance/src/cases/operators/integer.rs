//! `+ - *` and negation of integers, and their overflow.

use crate::check::{Check, Expected, binary, reports_overflow, unary};
use crate::input::{pairs, values};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/integer/i8", &[Capability::Storage8], i8_case),
    Case::new("operators/integer/i16", &[Capability::Storage16], i16_case),
    Case::new("operators/integer/i32", &[], i32_case),
    Case::new("operators/integer/u8", &[Capability::Storage8], u8_case),
    Case::new("operators/integer/u16", &[Capability::Storage16], u16_case),
    Case::new("operators/integer/u32", &[], u32_case),
    Case::new("operators/integer/i64", &[Capability::I64], i64_case),
    Case::new("operators/integer/u64", &[Capability::I64], u64_case),
    Case::new("operators/negate/i8", &[Capability::Storage8], i8_negate),
    Case::new("operators/negate/i16", &[Capability::Storage16], i16_negate),
    Case::new("operators/negate/i32", &[], i32_negate),
    Case::new("operators/negate/i64", &[Capability::I64], i64_negate),
];

macro_rules! arithmetic {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[3 * i] = a[i] + b[i];
            out[3 * i + 1] = a[i] - b[i];
            out[3 * i + 2] = a[i] * b[i];
        }

        fn $case(device: &Device) -> Check {
            let exact = |a: $t, b: $t| {
                let (a, b) = (i128::from(a), i128::from(b));
                [a + b, a - b, a.wrapping_mul(b)]
            };
            let mut inputs = pairs::<$t, $t>(21, 400);
            if reports_overflow() {
                inputs.retain(|&(a, b)| exact(a, b).iter().all(|&r| $t::try_from(r).is_ok()));
            }
            binary(
                ["+", "-", "*"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| exact(a, b).map(|r| Expected::Exactly(r as $t)),
            )
        }
    };
}

arithmetic!(i8_case arithmetic_i8 i8);
arithmetic!(i16_case arithmetic_i16 i16);
arithmetic!(i32_case arithmetic_i32 i32);
arithmetic!(u8_case arithmetic_u8 u8);
arithmetic!(u16_case arithmetic_u16 u16);
arithmetic!(u32_case arithmetic_u32 u32);
arithmetic!(i64_case arithmetic_i64 i64);
arithmetic!(u64_case arithmetic_u64 u64);

macro_rules! negate {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = -a[i];
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = values::<$t>(22, 100);
            inputs.retain(|&a| a != $t::MIN || !reports_overflow());
            unary(
                ["-"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| [Expected::Exactly((0 - i128::from(a)) as $t)],
            )
        }
    };
}

negate!(i8_negate negate_i8 i8);
negate!(i16_negate negate_i16 i16);
negate!(i32_negate negate_i32 i32);
negate!(i64_negate negate_i64 i64);
