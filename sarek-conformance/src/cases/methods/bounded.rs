//! Divisions, magnitudes and shifts of integers at the bounds of their types, and the fault of a division by zero.

use crate::cases::faults::fault_of;
use crate::check::{Check, Expected, binary, ensure, sentinel_filled, unary};
use crate::input::{pairs, values};
use crate::{Capability, Case};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/quotients/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/quotients/u8", &[Capability::Storage8], u8_case),
    Case::new("methods/quotients/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/quotients/u16", &[Capability::Storage16], u16_case),
    Case::new("methods/quotients/i32", &[], i32_case),
    Case::new("methods/quotients/u32", &[], u32_case),
    Case::new("methods/quotients/i64", &[Capability::I64], i64_case),
    Case::new("methods/quotients/u64", &[Capability::I64], u64_case),
    Case::new("methods/quotients/usize", &[Capability::I64], usize_case),
    Case::new("methods/quotients/zero", &[], zero),
    Case::new(
        "methods/magnitudes/i8",
        &[Capability::Storage8],
        i8_magnitude,
    ),
    Case::new(
        "methods/magnitudes/i16",
        &[Capability::Storage16],
        i16_magnitude,
    ),
    Case::new("methods/magnitudes/i32", &[], i32_magnitude),
    Case::new("methods/magnitudes/i64", &[Capability::I64], i64_magnitude),
    Case::new("methods/unbounded/i8", &[Capability::Storage8], i8_shift),
    Case::new("methods/unbounded/u8", &[Capability::Storage8], u8_shift),
    Case::new("methods/unbounded/i16", &[Capability::Storage16], i16_shift),
    Case::new("methods/unbounded/u16", &[Capability::Storage16], u16_shift),
    Case::new("methods/unbounded/i32", &[], i32_shift),
    Case::new("methods/unbounded/u32", &[], u32_shift),
    Case::new("methods/unbounded/i64", &[Capability::I64], i64_shift),
    Case::new("methods/unbounded/u64", &[Capability::I64], u64_shift),
    Case::new("methods/unbounded/usize", &[Capability::I64], usize_shift),
];

macro_rules! bounded {
    ($($t:ident as $of:ident $case:ident $kernel:ident $shift:ident $shift_kernel:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, y) = (a[i] as $of, b[i] as $of);
            out[13 * i] = x.wrapping_div(y) as $t;
            out[13 * i + 1] = x.wrapping_rem(y) as $t;
            out[13 * i + 2] = x.wrapping_div_euclid(y) as $t;
            out[13 * i + 3] = x.wrapping_rem_euclid(y) as $t;
            out[13 * i + 4] = x.saturating_div(y) as $t;
            let (quotient, overflows) = x.overflowing_div(y);
            out[13 * i + 5] = quotient as $t;
            out[13 * i + 6] = overflows as $t;
            let (rest, overflows) = x.overflowing_rem(y);
            out[13 * i + 7] = rest as $t;
            out[13 * i + 8] = overflows as $t;
            let (quotient, overflows) = x.overflowing_div_euclid(y);
            out[13 * i + 9] = quotient as $t;
            out[13 * i + 10] = overflows as $t;
            let (rest, overflows) = x.overflowing_rem_euclid(y);
            out[13 * i + 11] = rest as $t;
            out[13 * i + 12] = overflows as $t;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(63, 300);
            inputs.extend([($t::MIN, !0), ($t::MAX, !0), (0, !0), ($t::MIN, $t::MIN), ($t::MIN, 1)]);
            inputs.retain(|(_, y)| *y != 0);
            let names: [&str; 13] = std::array::from_fn(|_| "a division");
            binary(
                names,
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    let pairs = [
                        x.overflowing_div(y),
                        x.overflowing_rem(y),
                        x.overflowing_div_euclid(y),
                        x.overflowing_rem_euclid(y),
                    ];
                    let mut expected = [0; 13];
                    expected[..5].copy_from_slice(&[
                        x.wrapping_div(y),
                        x.wrapping_rem(y),
                        x.wrapping_div_euclid(y),
                        x.wrapping_rem_euclid(y),
                        x.saturating_div(y),
                    ]);
                    let pairs = pairs.map(|(result, overflows)| [result, $t::from(overflows)]);
                    expected[5..].copy_from_slice(pairs.as_flattened());
                    expected.map(Expected::Exactly)
                },
            )
        }

        #[kernel]
        fn $shift_kernel(a: &[$t], b: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            let x = a[i] as $of;
            out[2 * i] = x.unbounded_shl(b[i]) as $t;
            out[2 * i + 1] = x.unbounded_shr(b[i]) as $t;
        }

        fn $shift(device: &Device) -> Check {
            let mut inputs = pairs::<$t, u32>(64, 100);
            inputs.extend(pairs::<$t, u32>(65, 200).into_iter().map(|(x, n)| (x, n % 80)));
            inputs.extend([7, 8, 15, 16, 31, 32, 33, 63, 64, 65].map(|n| (!0, n)));
            binary(
                ["unbounded_shl", "unbounded_shr"],
                &inputs,
                |a, b, out, n| $shift_kernel(a, b, out).over(n).run_on(device),
                |x, n| [x.unbounded_shl(n), x.unbounded_shr(n)].map(Expected::Exactly),
            )
        }
    )*};
}

bounded! {
    i8 as i8 i8_case quotients_i8 i8_shift unbounded_i8;
    u8 as u8 u8_case quotients_u8 u8_shift unbounded_u8;
    i16 as i16 i16_case quotients_i16 i16_shift unbounded_i16;
    u16 as u16 u16_case quotients_u16 u16_shift unbounded_u16;
    i32 as i32 i32_case quotients_i32 i32_shift unbounded_i32;
    u32 as u32 u32_case quotients_u32 u32_shift unbounded_u32;
    i64 as i64 i64_case quotients_i64 i64_shift unbounded_i64;
    u64 as u64 u64_case quotients_u64 u64_shift unbounded_u64;
    u64 as usize usize_case quotients_usize usize_shift unbounded_usize;
}

macro_rules! magnitudes {
    ($($t:ident $case:ident $kernel:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let x = a[i];
            out[4 * i] = x.saturating_abs();
            out[4 * i + 1] = x.saturating_neg();
            let (magnitude, overflows) = x.overflowing_abs();
            out[4 * i + 2] = magnitude;
            out[4 * i + 3] = overflows as $t;
        }

        fn $case(device: &Device) -> Check {
            unary(
                ["saturating_abs", "saturating_neg", "overflowing_abs", "overflows"],
                &values::<$t>(66, 200),
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |x| {
                    let (magnitude, overflows) = x.overflowing_abs();
                    [
                        x.saturating_abs(),
                        x.saturating_neg(),
                        magnitude,
                        $t::from(overflows),
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    )*};
}

magnitudes! {
    i8 i8_magnitude magnitudes_i8;
    i16 i16_magnitude magnitudes_i16;
    i32 i32_magnitude magnitudes_i32;
    i64 i64_magnitude magnitudes_i64;
}

#[kernel]
fn zero_kernel(a: &[i32], b: &[i32], which: u32, out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = match which {
        0 => a[i].wrapping_div(b[i]),
        1 => a[i].wrapping_rem(b[i]),
        2 => a[i].wrapping_div_euclid(b[i]),
        3 => a[i].wrapping_rem_euclid(b[i]),
        4 => a[i].saturating_div(b[i]),
        _ => a[i].overflowing_div(b[i]).0,
    };
}

fn zero(device: &Device) -> Check {
    for which in 0..6 {
        let (a, b) = (Vector::from_slice(&[7]), Vector::from_slice(&[0]));
        let mut out = sentinel_filled(1);
        let result = zero_kernel(&a, &b, which, &mut out).over(1).run_on(device);
        let fault = fault_of(result, &mut out)?;
        // The reference panics inside the method.
        let is_expected = match &fault.kind {
            FaultKind::DivisionByZero => true,
            FaultKind::Panic(message) => {
                device.backend() == "reference" && message.contains("zero")
            }
            _ => false,
        };
        ensure(is_expected, || {
            format!("{:?} of method {which}", fault.kind)
        })?;
    }
    Ok(())
}
