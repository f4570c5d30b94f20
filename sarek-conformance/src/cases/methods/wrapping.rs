//! `wrapping_*`: these wrap in every build.

use crate::check::{Check, Expected, binary, unary};
use crate::input::{pairs, values};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/wrapping/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/wrapping/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/wrapping/i32", &[], i32_case),
    Case::new("methods/wrapping/u8", &[Capability::Storage8], u8_case),
    Case::new("methods/wrapping/u16", &[Capability::Storage16], u16_case),
    Case::new("methods/wrapping/u32", &[], u32_case),
    Case::new("methods/wrapping/i64", &[Capability::I64], i64_case),
    Case::new("methods/wrapping/u64", &[Capability::I64], u64_case),
    Case::new(
        "methods/wrapping_shift/i8",
        &[Capability::Storage8],
        i8_shift,
    ),
    Case::new(
        "methods/wrapping_shift/i16",
        &[Capability::Storage16],
        i16_shift,
    ),
    Case::new("methods/wrapping_shift/i32", &[], i32_shift),
    Case::new(
        "methods/wrapping_shift/u8",
        &[Capability::Storage8],
        u8_shift,
    ),
    Case::new(
        "methods/wrapping_shift/u16",
        &[Capability::Storage16],
        u16_shift,
    ),
    Case::new("methods/wrapping_shift/u32", &[], u32_shift),
    Case::new("methods/wrapping_shift/i64", &[Capability::I64], i64_shift),
    Case::new("methods/wrapping_shift/u64", &[Capability::I64], u64_shift),
    Case::new("methods/wrapping_abs/i8", &[Capability::Storage8], i8_abs),
    Case::new(
        "methods/wrapping_abs/i16",
        &[Capability::Storage16],
        i16_abs,
    ),
    Case::new("methods/wrapping_abs/i32", &[], i32_abs),
    Case::new("methods/wrapping_abs/i64", &[Capability::I64], i64_abs),
];

macro_rules! wrapping {
    ($t:ident $case:ident $kernel:ident $shift:ident $shift_kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[4 * i] = a[i].wrapping_add(b[i]);
            out[4 * i + 1] = a[i].wrapping_sub(b[i]);
            out[4 * i + 2] = a[i].wrapping_mul(b[i]);
            out[4 * i + 3] = a[i].wrapping_neg();
        }

        fn $case(device: &Device) -> Check {
            binary(
                [
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "wrapping_neg",
                ],
                &pairs::<$t, $t>(44, 400),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (a, b) = (i128::from(a), i128::from(b));
                    [a + b, a - b, a.wrapping_mul(b), -a].map(|r| Expected::Exactly(r as $t))
                },
            )
        }

        #[kernel]
        fn $shift_kernel(a: &[$t], b: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].wrapping_shl(b[i]);
            out[2 * i + 1] = a[i].wrapping_shr(b[i]);
        }

        fn $shift(device: &Device) -> Check {
            binary(
                ["wrapping_shl", "wrapping_shr"],
                &pairs::<$t, u32>(45, 400),
                |a, b, out, n| $shift_kernel(a, b, out).over(n).run_on(device),
                |a, count| {
                    let power = 1i128 << (count % $t::BITS);
                    let a = i128::from(a);
                    [a.wrapping_mul(power), a.div_euclid(power)].map(|r| Expected::Exactly(r as $t))
                },
            )
        }
    };
}

wrapping!(i8 i8_case wrapping_i8 i8_shift wrapping_shift_i8);
wrapping!(i16 i16_case wrapping_i16 i16_shift wrapping_shift_i16);
wrapping!(i32 i32_case wrapping_i32 i32_shift wrapping_shift_i32);
wrapping!(u8 u8_case wrapping_u8 u8_shift wrapping_shift_u8);
wrapping!(u16 u16_case wrapping_u16 u16_shift wrapping_shift_u16);
wrapping!(u32 u32_case wrapping_u32 u32_shift wrapping_shift_u32);
wrapping!(i64 i64_case wrapping_i64 i64_shift wrapping_shift_i64);
wrapping!(u64 u64_case wrapping_u64 u64_shift wrapping_shift_u64);

macro_rules! absolute {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = a[i].wrapping_abs();
        }

        fn $case(device: &Device) -> Check {
            unary(
                ["wrapping_abs"],
                &values::<$t>(46, 200),
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| [Expected::Exactly(i128::from(a).abs() as $t)],
            )
        }
    };
}

absolute!(i8_abs wrapping_abs_i8 i8);
absolute!(i16_abs wrapping_abs_i16 i16);
absolute!(i32_abs wrapping_abs_i32 i32);
absolute!(i64_abs wrapping_abs_i64 i64);
