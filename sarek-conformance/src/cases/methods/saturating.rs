//! `saturating_*`, `min`, `max` and `abs_diff` of integers.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/saturating/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/saturating/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/saturating/i32", &[], i32_case),
    Case::new("methods/saturating/u8", &[Capability::Storage8], u8_case),
    Case::new("methods/saturating/u16", &[Capability::Storage16], u16_case),
    Case::new("methods/saturating/u32", &[], u32_case),
    Case::new("methods/saturating/i64", &[Capability::I64], i64_case),
    Case::new("methods/saturating/u64", &[Capability::I64], u64_case),
    Case::new("methods/abs_diff/i8", &[Capability::Storage8], i8_diff),
    Case::new("methods/abs_diff/i16", &[Capability::Storage16], i16_diff),
    Case::new("methods/abs_diff/i32", &[], i32_diff),
    Case::new("methods/abs_diff/u8", &[Capability::Storage8], u8_diff),
    Case::new("methods/abs_diff/u16", &[Capability::Storage16], u16_diff),
    Case::new("methods/abs_diff/u32", &[], u32_diff),
    Case::new("methods/abs_diff/i64", &[Capability::I64], i64_diff),
    Case::new("methods/abs_diff/u64", &[Capability::I64], u64_diff),
];

macro_rules! saturating {
    ($t:ident $unsigned:ident $case:ident $kernel:ident $diff:ident $diff_kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[5 * i] = a[i].saturating_add(b[i]);
            out[5 * i + 1] = a[i].saturating_sub(b[i]);
            out[5 * i + 2] = a[i].saturating_mul(b[i]);
            out[5 * i + 3] = a[i].min(b[i]);
            out[5 * i + 4] = a[i].max(b[i]);
        }

        fn $case(device: &Device) -> Check {
            binary(
                [
                    "saturating_add",
                    "saturating_sub",
                    "saturating_mul",
                    "min",
                    "max",
                ],
                &pairs::<$t, $t>(47, 400),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (a, b) = (i128::from(a), i128::from(b));
                    let into = |r: i128| r.min($t::MAX.into()).max($t::MIN.into()) as $t;
                    let product = a.saturating_mul(b);
                    let (low, high) = if a < b { (a, b) } else { (b, a) };
                    [a + b, a - b, product, low, high].map(|r| Expected::Exactly(into(r)))
                },
            )
        }

        #[kernel]
        fn $diff_kernel(a: &[$t], b: &[$t], out: &mut [$unsigned]) {
            let i = global_idx_x();
            out[i] = a[i].abs_diff(b[i]);
        }

        fn $diff(device: &Device) -> Check {
            binary(
                ["abs_diff"],
                &pairs::<$t, $t>(48, 200),
                |a, b, out, n| $diff_kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    [Expected::Exactly(
                        (i128::from(a) - i128::from(b)).unsigned_abs() as $unsigned,
                    )]
                },
            )
        }
    };
}

saturating!(i8 u8 i8_case saturating_i8 i8_diff abs_diff_i8);
saturating!(i16 u16 i16_case saturating_i16 i16_diff abs_diff_i16);
saturating!(i32 u32 i32_case saturating_i32 i32_diff abs_diff_i32);
saturating!(u8 u8 u8_case saturating_u8 u8_diff abs_diff_u8);
saturating!(u16 u16 u16_case saturating_u16 u16_diff abs_diff_u16);
saturating!(u32 u32 u32_case saturating_u32 u32_diff abs_diff_u32);
saturating!(i64 u64 i64_case saturating_i64 i64_diff abs_diff_i64);
saturating!(u64 u64 u64_case saturating_u64 u64_diff abs_diff_u64);
