//! The other operations of integers of 8 and 16 bits, on values, also on devices without buffers of them.

use crate::Case;
use crate::check::{Check, Expected, binary};
use crate::input::{Random, pairs};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("small/bits/i8", &[], i8_bits),
    Case::new("small/bits/u8", &[], u8_bits),
    Case::new("small/bits/i16", &[], i16_bits),
    Case::new("small/bits/u16", &[], u16_bits),
    Case::new("small/signed/i8", &[], i8_signed),
    Case::new("small/signed/i16", &[], i16_signed),
    Case::new("small/unsigned/u8", &[], u8_unsigned),
    Case::new("small/unsigned/u16", &[], u16_unsigned),
    Case::new("small/compound/i8", &[], i8_compound),
    Case::new("small/compound/u8", &[], u8_compound),
    Case::new("small/compound/i16", &[], i16_compound),
    Case::new("small/compound/u16", &[], u16_compound),
];

macro_rules! bits {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
            let i = global_idx_x();
            let x = a[i] as $t;
            let y = b[i] as $t;
            out[11 * i] = x.reverse_bits() as i32;
            out[11 * i + 1] = x.swap_bytes() as i32;
            out[11 * i + 2] = x.rotate_right(b[i] as u32) as i32;
            out[11 * i + 3] = x.count_zeros() as i32;
            out[11 * i + 4] = x.leading_ones() as i32;
            out[11 * i + 5] = x.trailing_ones() as i32;
            out[11 * i + 6] = (x & 7).pow(b[i] as u32 & 1) as i32;
            out[11 * i + 7] = x.max(y) as i32;
            out[11 * i + 8] = (x % (y | 1)) as i32;
            out[11 * i + 9] = (x >= y) as i32 + 2 * (x != y) as i32 + 4 * (x <= y) as i32;
            out[11 * i + 10] = x.wrapping_add(y).wrapping_neg() as i32;
        }

        fn $case(device: &Device) -> Check {
            let names: [&str; 11] = [
                "reverse_bits",
                "swap_bytes",
                "rotate_right",
                "count_zeros",
                "leading_ones",
                "trailing_ones",
                "pow",
                "max",
                "%",
                ">= != <=",
                "wrapping_neg",
            ];
            let mut inputs = pairs::<i32, i32>(96, 300);
            // If the quotient overflows, the remainder is a fault.
            inputs.retain(|(a, b)| *a as $t != $t::MIN || *b as $t != !0);
            binary(
                names,
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (x, y) = (a as $t, b as $t);
                    let width = $t::BITS as usize;
                    let bit = |k: usize| i64::from(x) >> k & 1;
                    let of = |from: &dyn Fn(usize) -> usize| {
                        (0..width).map(|k| bit(from(k)) << k).sum::<i64>() as $t
                    };
                    let by = b.rem_euclid(width as i32) as usize;
                    let ones = |mut at: Box<dyn Iterator<Item = usize>>| {
                        let mut count = 0;
                        while at.next().is_some_and(|k| bit(k) == 1) {
                            count += 1;
                        }
                        count
                    };
                    let low = i32::from(x & 7);
                    [
                        of(&|k| width - 1 - k).into(),
                        of(&|k| width - 8 - k / 8 * 8 + k % 8).into(),
                        of(&|k| (k + by) % width).into(),
                        (0..width).filter(|k| bit(*k) == 0).count() as i32,
                        ones(Box::new((0..width).rev())),
                        ones(Box::new(0..width)),
                        if b % 2 == 0 { 1 } else { low },
                        (if x > y { x } else { y }).into(),
                        i32::from(x) % i32::from(y | 1),
                        i32::from(x >= y) + 2 * i32::from(x != y) + 4 * i32::from(x <= y),
                        ((0 - i64::from(x) - i64::from(y)) as $t).into(),
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    };
}

bits!(i8 i8_bits bits_i8);
bits!(u8 u8_bits bits_u8);
bits!(i16 i16_bits bits_i16);
bits!(u16 u16_bits bits_u16);

macro_rules! signed {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
            let i = global_idx_x();
            let x = a[i] as $t;
            let y = b[i] as $t | 1;
            out[7 * i] = x.wrapping_abs() as i32;
            out[7 * i + 1] = x.unsigned_abs() as i32;
            out[7 * i + 2] = x.signum() as i32;
            out[7 * i + 3] = x.is_negative() as i32 + 2 * x.is_positive() as i32;
            out[7 * i + 4] = (x >> 1).div_euclid(y) as i32;
            out[7 * i + 5] = (x >> 1).rem_euclid(y) as i32;
            out[7 * i + 6] = (x >> 1).abs() as i32 - (-(x >> 1)) as i32;
        }

        fn $case(device: &Device) -> Check {
            binary(
                [
                    "wrapping_abs",
                    "unsigned_abs",
                    "signum",
                    "is_",
                    "div_euclid",
                    "rem_euclid",
                    "abs -",
                ],
                &pairs::<i32, i32>(97, 300),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (x, y) = (i32::from(a as $t), i32::from(b as $t | 1));
                    let size = if x < 0 { -x } else { x };
                    let half = if x < 0 { (x - 1) / 2 } else { x / 2 };
                    let rest = (half % y + y.abs()) % y.abs();
                    [
                        (size as $t).into(),
                        size,
                        i32::from(x > 0) - i32::from(x < 0),
                        i32::from(x < 0) + 2 * i32::from(x > 0),
                        (half - rest) / y,
                        rest,
                        if half < 0 { 0 } else { 2 * half },
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    };
}

signed!(i8 i8_signed signed_i8);
signed!(i16 i16_signed signed_i16);

macro_rules! unsigned {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
            let i = global_idx_x();
            let x = a[i] as $t;
            let y = b[i] as $t;
            out[4 * i] = x.is_power_of_two() as i32;
            out[4 * i + 1] = x.is_multiple_of(y) as i32 + 2 * x.is_multiple_of(3) as i32;
            out[4 * i + 2] = x.div_ceil(y | 1) as i32;
            out[4 * i + 3] = (x / (y | 1)) as i32;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<i32, i32>(98, 300);
            inputs.extend((0..17).flat_map(|k| [(1 << k, 4), ((1 << k) + 1, 5)]));
            binary(
                ["is_power_of_two", "is_multiple_of", "div_ceil", "/"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (x, y) = (i32::from(a as $t), i32::from(b as $t));
                    let of = |n: i32| i32::from(if n == 0 { x == 0 } else { x % n == 0 });
                    let by = y | 1;
                    [
                        i32::from((0..16).any(|k| x == 1 << k)),
                        of(y) + 2 * of(3),
                        (x + by - 1) / by,
                        x / by,
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    };
}

unsigned!(u8 u8_unsigned unsigned_u8);
unsigned!(u16 u16_unsigned unsigned_u16);

/// Compound assignments to locals, elements of arrays and parts of tuples; no value leaves the type.
macro_rules! compound {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
            let i = global_idx_x();
            let mut x = a[i] as $t;
            let y = b[i] as $t;
            let mut all = [x, y, 3];
            let mut pair = (x, true);
            x += y;
            x -= 1;
            x *= 2;
            x /= y;
            all[i % 2] <<= 1;
            all[1] |= 64;
            all[2] ^= x;
            all[0] >>= 1;
            pair.0 %= y;
            pair.0 &= 6;
            pair.1 &= x > 3;
            pair.1 ^= y > 5;
            out[5 * i] = x as i32;
            out[5 * i + 1] = all[0] as i32;
            out[5 * i + 2] = all[1] as i32;
            out[5 * i + 3] = all[2] as i32;
            out[5 * i + 4] = pair.0 as i32 + 100 * pair.1 as i32;
        }

        fn $case(device: &Device) -> Check {
            let mut random = Random::new(99);
            let mut number = |least: i32| least + random.below(30) as i32;
            let inputs: Vec<(i32, i32)> = (0..300).map(|_| (number(0), number(1))).collect();
            let index = std::cell::Cell::new(0);
            binary(
                ["x", "first", "second", "third", "pair"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let i = index.replace(index.get() + 1);
                    let x = (a + b - 1) * 2 / b;
                    let first = if i % 2 == 0 { a } else { a / 2 };
                    let second = if i % 2 == 1 { 2 * b } else { b };
                    let flag = (x > 3) != (b > 5);
                    [
                        x,
                        first,
                        second | 64,
                        3 ^ x,
                        (a % b & 6) + 100 * i32::from(flag),
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    };
}

compound!(i8 i8_compound compound_i8);
compound!(u8 u8_compound compound_u8);
compound!(i16 i16_compound compound_i16);
compound!(u16 u16_compound compound_u16);
