//! `wrapping_pow`, `saturating_pow`, `checked_pow`, `overflowing_pow`, and logarithms of integers to any base.

use crate::cases::faults::fault_of;
use crate::check::{Check, Expected, binary, ensure, sentinel_filled};
use crate::input::{Sample, pairs};
use crate::{Capability, Case};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/powers/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/powers/u8", &[Capability::Storage8], u8_case),
    Case::new("methods/powers/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/powers/u16", &[Capability::Storage16], u16_case),
    Case::new("methods/powers/i32", &[], i32_case),
    Case::new("methods/powers/u32", &[], u32_case),
    Case::new("methods/powers/i64", &[Capability::I64], i64_case),
    Case::new("methods/powers/u64", &[Capability::I64], u64_case),
    Case::new("methods/powers/usize", &[Capability::I64], usize_case),
    Case::new("methods/ilog/i8", &[Capability::Storage8], i8_logarithm),
    Case::new("methods/ilog/u8", &[Capability::Storage8], u8_logarithm),
    Case::new("methods/ilog/i16", &[Capability::Storage16], i16_logarithm),
    Case::new("methods/ilog/u16", &[Capability::Storage16], u16_logarithm),
    Case::new("methods/ilog/i32", &[], i32_logarithm),
    Case::new("methods/ilog/u32", &[], u32_logarithm),
    Case::new("methods/ilog/i64", &[Capability::I64], i64_logarithm),
    Case::new("methods/ilog/u64", &[Capability::I64], u64_logarithm),
    Case::new("methods/ilog/usize", &[Capability::I64], usize_logarithm),
    Case::new("methods/ilog/faults", &[], faults),
];

/// The output in place of a missing result.
const NONE: u8 = 101;

macro_rules! powers {
    ($($t:ident as $of:ident $case:ident $kernel:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, n) = (a[i] as $of, b[i]);
            out[7 * i] = x.wrapping_pow(n) as $t;
            out[7 * i + 1] = x.saturating_pow(n) as $t;
            out[7 * i + 2] = x.checked_pow(n).unwrap_or(NONE as $of) as $t;
            out[7 * i + 3] = x.checked_pow(n).is_some() as $t;
            let (power, overflows) = x.overflowing_pow(n);
            out[7 * i + 4] = power as $t;
            out[7 * i + 5] = overflows as $t;
            out[7 * i + 6] = x.wrapping_pow(3) as $t;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs: Vec<($t, u32)> = pairs::<$t, u32>(61, 200);
            let bases = $t::edges().into_iter().chain((0..14).flat_map(|n| [n, $t::MAX - n, (0 as $t).wrapping_sub(n)]));
            for base in bases {
                inputs.extend((0..10).chain([15, 16, 31, 32, 62, 63, 64]).map(|n| (base, n)));
            }
            binary(
                ["wrapping", "saturating", "checked", "is one", "overflowing", "overflows", "cube"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, n| {
                    [
                        x.wrapping_pow(n),
                        x.saturating_pow(n),
                        x.checked_pow(n).unwrap_or(NONE as $t),
                        $t::from(x.checked_pow(n).is_some()),
                        x.overflowing_pow(n).0,
                        $t::from(x.overflowing_pow(n).1),
                        x.wrapping_pow(3),
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    )*};
}

powers! {
    i8 as i8 i8_case powers_i8;
    u8 as u8 u8_case powers_u8;
    i16 as i16 i16_case powers_i16;
    u16 as u16 u16_case powers_u16;
    i32 as i32 i32_case powers_i32;
    u32 as u32 u32_case powers_u32;
    i64 as i64 i64_case powers_i64;
    u64 as u64 u64_case powers_u64;
    u64 as usize usize_case powers_usize;
}

macro_rules! logarithms {
    ($($t:ident as $of:ident $case:ident $kernel:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            let (x, base) = (a[i] as $of, b[i] as $of);
            let (positive, some_base) = (x.max(1), base.max(2));
            out[5 * i] = positive.ilog10();
            out[5 * i + 1] = positive.ilog(some_base);
            out[5 * i + 2] = x.checked_ilog10().unwrap_or(NONE as u32);
            out[5 * i + 3] = x.checked_ilog(base).unwrap_or(NONE as u32);
            out[5 * i + 4] = positive.ilog(3);
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(62, 300);
            let tens = (0..).map_while(|n| (10 as $t).checked_pow(n));
            inputs.extend(tens.flat_map(|ten| [(ten - 1, 10), (ten, 10), (ten, 9), (ten, 2)]));
            let fives = (0..).map_while(|n| (5 as $t).checked_pow(n));
            inputs.extend(fives.flat_map(|five| [(five - 1, 5), (five, 5)]));
            binary(
                ["ilog10", "ilog", "checked_ilog10", "checked_ilog", "ilog(3)"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, base| {
                    let (positive, some_base) = (x.max(1), base.max(2));
                    [
                        positive.ilog10(),
                        positive.ilog(some_base),
                        x.checked_ilog10().unwrap_or(NONE.into()),
                        x.checked_ilog(base).unwrap_or(NONE.into()),
                        positive.ilog(3),
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    )*};
}

logarithms! {
    i8 as i8 i8_logarithm logarithms_i8;
    u8 as u8 u8_logarithm logarithms_u8;
    i16 as i16 i16_logarithm logarithms_i16;
    u16 as u16 u16_logarithm logarithms_u16;
    i32 as i32 i32_logarithm logarithms_i32;
    u32 as u32 u32_logarithm logarithms_u32;
    i64 as i64 i64_logarithm logarithms_i64;
    u64 as u64 u64_logarithm logarithms_u64;
    u64 as usize usize_logarithm logarithms_usize;
}

#[kernel]
fn faults_kernel(a: &[i32], b: &[i32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = if b[i] == 10 {
        a[i].ilog10()
    } else {
        a[i].ilog(b[i])
    };
}

fn faults(device: &Device) -> Check {
    let positive = "argument of integer logarithm must be positive";
    let base = "base of integer logarithm must be at least 2";
    for (x, by, expected) in [
        (0, 10, positive),
        (i32::MIN, 10, positive),
        (-1, 3, positive),
        (0, 2, positive),
        (5, 1, base),
        (5, 0, base),
        (5, -3, base),
    ] {
        let (a, b) = (Vector::from_slice(&[x]), Vector::from_slice(&[by]));
        let mut out = sentinel_filled(1);
        let result = faults_kernel(&a, &b, &mut out).over(1).run_on(device);
        let fault = fault_of(result, &mut out)?;
        let is_expected = match &fault.kind {
            // rustc's own methods panic with this message.
            FaultKind::Assert(found) | FaultKind::Panic(found) => found == expected,
            _ => false,
        };
        ensure(is_expected, || format!("{:?} of {x} to {by}", fault.kind))?;
    }
    Ok(())
}
