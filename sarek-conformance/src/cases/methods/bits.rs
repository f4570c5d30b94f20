//! Counting, rotating and reversing bits.

use crate::check::{Check, Expected, binary, unary};
use crate::input::{Sample, pairs, values};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/count/i8", &[Capability::Storage8], count_i8),
    Case::new("methods/count/i16", &[Capability::Storage16], count_i16),
    Case::new("methods/count/i32", &[], count_i32),
    Case::new("methods/count/u8", &[Capability::Storage8], count_u8),
    Case::new("methods/count/u16", &[Capability::Storage16], count_u16),
    Case::new("methods/count/u32", &[], count_u32),
    Case::new("methods/count/i64", &[Capability::I64], count_i64),
    Case::new("methods/count/u64", &[Capability::I64], count_u64),
    Case::new("methods/rotate/i8", &[Capability::Storage8], rotate_i8),
    Case::new("methods/rotate/i16", &[Capability::Storage16], rotate_i16),
    Case::new("methods/rotate/i32", &[], rotate_i32),
    Case::new("methods/rotate/u8", &[Capability::Storage8], rotate_u8),
    Case::new("methods/rotate/u16", &[Capability::Storage16], rotate_u16),
    Case::new("methods/rotate/u32", &[], rotate_u32),
    Case::new("methods/rotate/i64", &[Capability::I64], rotate_i64),
    Case::new("methods/rotate/u64", &[Capability::I64], rotate_u64),
    Case::new(
        "methods/is_power_of_two/u8",
        &[Capability::Storage8],
        power_u8,
    ),
    Case::new(
        "methods/is_power_of_two/u16",
        &[Capability::Storage16],
        power_u16,
    ),
    Case::new("methods/is_power_of_two/u32", &[], power_u32),
    Case::new("methods/is_power_of_two/u64", &[Capability::I64], power_u64),
];

/// Conversion of an integer to and from its bits, lowest bit first.
trait Bits: Sample {
    fn bits(self) -> Vec<bool>;
    fn of_bits(bits: impl Iterator<Item = bool>) -> Self;
}

macro_rules! kernels {
    ($t:ident $count:ident $count_kernel:ident $rotate:ident $rotate_kernel:ident) => {
        impl Bits for $t {
            fn bits(self) -> Vec<bool> {
                (0..$t::BITS).map(|k| self & (1 << k) != 0).collect()
            }

            fn of_bits(bits: impl Iterator<Item = bool>) -> $t {
                bits.enumerate()
                    .filter(|b| b.1)
                    .fold(0, |all, (k, _)| all | 1 << k)
            }
        }

        #[kernel]
        fn $count_kernel(a: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[6 * i] = a[i].count_ones();
            out[6 * i + 1] = a[i].count_zeros();
            out[6 * i + 2] = a[i].leading_zeros();
            out[6 * i + 3] = a[i].leading_ones();
            out[6 * i + 4] = a[i].trailing_zeros();
            out[6 * i + 5] = a[i].trailing_ones();
        }

        fn $count(device: &Device) -> Check {
            let mut inputs = values::<$t>(41, 200);
            inputs.extend((0..$t::BITS).flat_map(|k| [1 << k, !(1 << k), ($t::MAX) >> k]));
            unary(
                [
                    "count_ones",
                    "count_zeros",
                    "leading_zeros",
                    "leading_ones",
                    "trailing_zeros",
                    "trailing_ones",
                ],
                &inputs,
                |a, out, n| $count_kernel(a, out).over(n).run_on(device),
                |a| counts(&a.bits()),
            )
        }

        #[kernel]
        fn $rotate_kernel(a: &[$t], b: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            out[4 * i] = a[i].rotate_left(b[i]);
            out[4 * i + 1] = a[i].rotate_right(b[i]);
            out[4 * i + 2] = a[i].reverse_bits();
            out[4 * i + 3] = a[i].swap_bytes();
        }

        fn $rotate(device: &Device) -> Check {
            let mut inputs = pairs::<$t, u32>(42, 200);
            inputs.extend((0..=2 * $t::BITS).map(|k| (0x1234_5677_i64 as $t, k)));
            binary(
                ["rotate_left", "rotate_right", "reverse_bits", "swap_bytes"],
                &inputs,
                |a, b, out, n| $rotate_kernel(a, b, out).over(n).run_on(device),
                |a, count| moved(a, count as usize),
            )
        }
    };
}

kernels!(i8 count_i8 count_i8_kernel rotate_i8 rotate_i8_kernel);
kernels!(i16 count_i16 count_i16_kernel rotate_i16 rotate_i16_kernel);
kernels!(i32 count_i32 count_i32_kernel rotate_i32 rotate_i32_kernel);
kernels!(u8 count_u8 count_u8_kernel rotate_u8 rotate_u8_kernel);
kernels!(u16 count_u16 count_u16_kernel rotate_u16 rotate_u16_kernel);
kernels!(u32 count_u32 count_u32_kernel rotate_u32 rotate_u32_kernel);
kernels!(i64 count_i64 count_i64_kernel rotate_i64 rotate_i64_kernel);
kernels!(u64 count_u64 count_u64_kernel rotate_u64 rotate_u64_kernel);

fn counts(bits: &[bool]) -> [Expected<u32>; 6] {
    let total = |want: bool| bits.iter().filter(|&&b| b == want).count();
    let high = |want: bool| bits.iter().rev().take_while(|&&b| b == want).count();
    let low = |want: bool| bits.iter().take_while(|&&b| b == want).count();
    [
        total(true),
        total(false),
        high(false),
        high(true),
        low(false),
        low(true),
    ]
    .map(|n| Expected::Exactly(n as u32))
}

fn moved<T: Bits>(a: T, count: usize) -> [Expected<T>; 4] {
    let bits = a.bits();
    let width = bits.len();
    let count = count % width;
    let pick = |from: &dyn Fn(usize) -> usize| T::of_bits((0..width).map(|k| bits[from(k)]));
    [
        pick(&|k| (k + width - count) % width),
        pick(&|k| (k + count) % width),
        pick(&|k| width - 1 - k),
        pick(&|k| width - 8 - k / 8 * 8 + k % 8),
    ]
    .map(Expected::Exactly)
}

macro_rules! power_of_two {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[i] = a[i].is_power_of_two() as u32;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = values::<$t>(43, 200);
            inputs.extend((0..$t::BITS).flat_map(|k| [1 << k, (1 << k) + 1]));
            unary(
                ["is_power_of_two"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| {
                    [Expected::Exactly(u32::from(
                        a.bits().iter().filter(|b| **b).count() == 1,
                    ))]
                },
            )
        }
    };
}

power_of_two!(power_u8 power_u8_kernel u8);
power_of_two!(power_u16 power_u16_kernel u16);
power_of_two!(power_u32 power_u32_kernel u32);
power_of_two!(power_u64 power_u64_kernel u64);
