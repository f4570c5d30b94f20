//! Shifts: the count is masked, `>>` of a signed number is arithmetic, and both sides may have
//! different types.

use crate::check::{Check, Expected, binary, reports_overflow, unary};
use crate::input::{pairs, values};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/shift/i8", &[Capability::Storage8], i8_case),
    Case::new("operators/shift/i16", &[Capability::Storage16], i16_case),
    Case::new("operators/shift/i32", &[], i32_case),
    Case::new("operators/shift/u8", &[Capability::Storage8], u8_case),
    Case::new("operators/shift/u16", &[Capability::Storage16], u16_case),
    Case::new("operators/shift/u32", &[], u32_case),
    Case::new("operators/shift/i64", &[Capability::I64], i64_case),
    Case::new("operators/shift/u64", &[Capability::I64], u64_case),
    Case::new("operators/shift/counts", &[Capability::I64], counts),
    Case::new("operators/shift/literals", &[], literals),
];

macro_rules! shift {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            out[4 * i] = a[i] << b[i];
            out[4 * i + 1] = a[i] >> b[i];
            // A signed count: -1 is masked to the width minus one.
            out[4 * i + 2] = a[i] << b[i] as i32;
            out[4 * i + 3] = a[i] >> b[i] as i32;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, u32>(26, 200);
            for count in 0..$t::BITS {
                inputs.push((0x1234_5679_i64 as $t, count));
                inputs.push(($t::MAX - 6, count));
                inputs.push(($t::MIN + 5, count));
            }
            inputs.retain(|&(_, count)| count < $t::BITS || !reports_overflow());
            binary(
                ["<<", ">>", "<< i32", ">> i32"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, count| {
                    let power = 1i128 << (count % $t::BITS);
                    let left = i128::from(a).wrapping_mul(power) as $t;
                    let right = i128::from(a).div_euclid(power) as $t;
                    [left, right, left, right].map(Expected::Exactly)
                },
            )
        }
    };
}

shift!(i8_case shift_i8 i8);
shift!(i16_case shift_i16 i16);
shift!(i32_case shift_i32 i32);
shift!(u8_case shift_u8 u8);
shift!(u16_case shift_u16 u16);
shift!(u32_case shift_u32 u32);
shift!(i64_case shift_i64 i64);
shift!(u64_case shift_u64 u64);

/// A wide count on a narrow number is masked to the narrow width.
#[kernel]
fn counts_kernel(a: &[i32], b: &[i64], out: &mut [i32]) {
    let i = global_idx_x();
    out[4 * i] = a[i] << b[i];
    out[4 * i + 1] = a[i] >> b[i];
    out[4 * i + 2] = a[i] << b[i] as u64;
    out[4 * i + 3] = a[i] >> b[i] as usize;
}

fn counts(device: &Device) -> Check {
    let mut inputs = pairs::<i32, i64>(27, 200);
    inputs.extend((0..32).map(|count| (-0x0123_4567, count)));
    inputs.retain(|&(_, count)| (0..32).contains(&count) || !reports_overflow());
    binary(
        ["<< i64", ">> i64", "<< u64", ">> usize"],
        &inputs,
        |a, b, out, n| counts_kernel(a, b, out).over(n).run_on(device),
        |a, count| {
            let power = 1i128 << count.rem_euclid(32);
            let left = (i128::from(a) * power) as i32;
            let right = i128::from(a).div_euclid(power) as i32;
            [left, right, left, right].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn literals_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[4 * i] = a[i] << 31;
    out[4 * i + 1] = a[i] >> 31;
    out[4 * i + 2] = (a[i] as u32 >> 1) as i32;
    out[4 * i + 3] = 1 << (a[i] & 31);
}

fn literals(device: &Device) -> Check {
    unary(
        ["<< 31", ">> 31", "as u32 >> 1", "1 <<"],
        &values::<i32>(28, 200),
        |a, out, n| literals_kernel(a, out).over(n).run_on(device),
        |a| {
            let odd = if a % 2 == 0 { 0 } else { i32::MIN };
            let sign = if a < 0 { -1 } else { 0 };
            let halved = ((i64::from(a) + if a < 0 { 1 << 32 } else { 0 }) / 2) as i32;
            let power = 2u32.pow(i64::from(a).rem_euclid(32) as u32) as i32;
            [odd, sign, halved, power].map(Expected::Exactly)
        },
    )
}
