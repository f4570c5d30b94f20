//! `checked_…` and `overflowing_…` of integers: the result, and whether it fits the type.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/checked/i8", &[Capability::Storage8], checked_i8),
    Case::new("methods/checked/u8", &[Capability::Storage8], checked_u8),
    Case::new("methods/checked/i16", &[Capability::Storage16], checked_i16),
    Case::new("methods/checked/u16", &[Capability::Storage16], checked_u16),
    Case::new("methods/checked/i32", &[], checked_i32),
    Case::new("methods/checked/u32", &[], checked_u32),
    Case::new("methods/checked/i64", &[Capability::I64], checked_i64),
    Case::new("methods/checked/u64", &[Capability::I64], checked_u64),
    Case::new("methods/checked/usize", &[Capability::I64], wide),
    Case::new("methods/checked/usize/small", &[], small),
];

/// The output in place of a missing result; a second output tells whether there is one.
const NONE: u8 = 101;

/// Tests each method on two numbers, on a number and a count of bits, or on one number.
macro_rules! checked {
    ($case:ident $kernel:ident $t:ident, $each:literal
        [$($b:literal $by:ident),*] [$($s:literal $shift:ident),*] [$($u:literal $of:ident),*]
        [$($o:literal $over:ident),*]
    ) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, y) = (a[i], b[i]);
            let count = y as u32 % 80;
            $(
                let result = x.$by(y);
                out[$each * i + $b] = match result {
                    Some(result) => result,
                    None => NONE as $t,
                };
                out[$each * i + $b + 1] = matches!(result, Some(_)) as $t;
            )*
            $(
                let result = x.$shift(count);
                out[$each * i + $s] = if let Some(result) = result { result } else { NONE as $t };
                out[$each * i + $s + 1] = matches!(result, Some(_)) as $t;
            )*
            $(
                out[$each * i + $u] = match x.$of() {
                    Some(result) => result as $t,
                    None => NONE as $t,
                };
                out[$each * i + $u + 1] = matches!(x.$of(), Some(_)) as $t;
            )*
            $(
                let (result, overflows) = x.$over(y);
                out[$each * i + $o] = result;
                out[$each * i + $o + 1] = overflows as $t;
            )*
        }

        fn $case(device: &Device) -> Check {
            let names: [&str; $each] = std::array::from_fn(|_| "a method");
            let mut inputs = pairs::<$t, $t>(48, 300);
            let root = $t::MAX.isqrt();
            inputs.extend([(root, root), (root + 1, root), (root + 1, root + 1)]);
            binary(
                names,
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    let mut expected = [0; $each];
                    let count = y as u32 % 80;
                    let none = NONE as $t;
                    $(
                        expected[$b] = x.$by(y).unwrap_or(none);
                        expected[$b + 1] = $t::from(x.$by(y).is_some());
                    )*
                    $(
                        expected[$s] = x.$shift(count).unwrap_or(none);
                        expected[$s + 1] = $t::from(x.$shift(count).is_some());
                    )*
                    $(
                        expected[$u] = x.$of().map_or(none, |result| result as $t);
                        expected[$u + 1] = $t::from(x.$of().is_some());
                    )*
                    $(
                        expected[$o] = x.$over(y).0;
                        expected[$o + 1] = $t::from(x.$over(y).1);
                    )*
                    expected.map(Expected::Exactly)
                },
            )
        }
    };
}

macro_rules! of_each {
    ($($of_signed:ident $signed_kernel:ident $signed:ident
        $of_unsigned:ident $unsigned_kernel:ident $unsigned:ident;)*) => {$(
        checked! {
            $of_signed $signed_kernel $signed, 32
            [0 checked_add, 2 checked_sub, 4 checked_mul, 6 checked_div, 8 checked_rem, 10 checked_div_euclid,
             12 checked_rem_euclid]
            [14 checked_shl, 16 checked_shr]
            [18 checked_neg, 20 checked_abs, 22 checked_ilog2, 24 checked_isqrt]
            [26 overflowing_add, 28 overflowing_sub, 30 overflowing_mul]
        }
        checked! {
            $of_unsigned $unsigned_kernel $unsigned, 30
            [0 checked_add, 2 checked_sub, 4 checked_mul, 6 checked_div, 8 checked_rem, 10 checked_div_euclid,
             12 checked_rem_euclid]
            [14 checked_shl, 16 checked_shr]
            [18 checked_neg, 20 checked_next_power_of_two, 22 checked_ilog2]
            [24 overflowing_add, 26 overflowing_sub, 28 overflowing_mul]
        }
    )*};
}

of_each! {
    checked_i8 checked_i8_kernel i8 checked_u8 checked_u8_kernel u8;
    checked_i16 checked_i16_kernel i16 checked_u16 checked_u16_kernel u16;
    checked_i32 checked_i32_kernel i32 checked_u32 checked_u32_kernel u32;
    checked_i64 checked_i64_kernel i64 checked_u64 checked_u64_kernel u64;
}

#[kernel]
fn wide_kernel(a: &[u64], b: &[u64], out: &mut [u64]) {
    let i = global_idx_x();
    let (x, y) = (a[i] as usize, b[i] as usize);
    out[6 * i] = or_seven(x.checked_add(y));
    out[6 * i + 1] = or_seven(x.checked_sub(y));
    out[6 * i + 2] = or_seven(x.checked_mul(y));
    out[6 * i + 3] = or_seven(x.checked_next_power_of_two());
    out[6 * i + 4] = or_seven(x.checked_rem(y));
    out[6 * i + 5] = x.overflowing_add(y).1 as u64;
}

#[device]
fn or_seven(result: Option<usize>) -> u64 {
    result.unwrap_or(7) as u64
}

fn wide(device: &Device) -> Check {
    let names: [&str; 6] = std::array::from_fn(|_| "a method");
    binary(
        names,
        &pairs::<u64, u64>(49, 300),
        |a, b, out, n| wide_kernel(a, b, out).over(n).run_on(device),
        |x, y| {
            [
                x.checked_add(y).unwrap_or(7),
                x.checked_sub(y).unwrap_or(7),
                x.checked_mul(y).unwrap_or(7),
                x.checked_next_power_of_two().unwrap_or(7),
                x.checked_rem(y).unwrap_or(7),
                u64::from(x.overflowing_add(y).1),
            ]
            .map(Expected::Exactly)
        },
    )
}

/// `usize` values that all fit 32 bits.
#[kernel]
fn small_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let (x, y) = ((a[i] % 1000) as usize, (b[i] % 1000) as usize);
    let before = if let Some(before) = i.checked_sub(1) {
        before
    } else {
        i
    };
    out[5 * i] = a[before];
    out[5 * i + 1] = matches!(x.checked_sub(y), Some(1..)) as u32;
    out[5 * i + 2] = match x.checked_mul(y) {
        Some(product) => product as u32,
        None => 0,
    };
    out[5 * i + 3] = x.next_power_of_two() as u32;
    let Some(rest) = x.checked_rem(y) else {
        out[5 * i + 4] = 1 << 20;
        return;
    };
    out[5 * i + 4] = rest as u32 + y.next_multiple_of(7) as u32;
}

fn small(device: &Device) -> Check {
    let inputs = pairs::<u32, u32>(50, 300);
    let first = std::cell::Cell::new(None);
    let names: [&str; 5] = std::array::from_fn(|_| "a method");
    binary(
        names,
        &inputs,
        |a, b, out, n| small_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let before = first.replace(Some(a)).unwrap_or(a);
            let (x, y) = (a % 1000, b % 1000);
            let rest = x.checked_rem(y).map(|rest| rest + y.next_multiple_of(7));
            [
                before,
                u32::from(x > y),
                x * y,
                x.next_power_of_two(),
                rest.unwrap_or(1 << 20),
            ]
            .map(Expected::Exactly)
        },
    )
}
