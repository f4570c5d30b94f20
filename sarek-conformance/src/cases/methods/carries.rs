//! Additions and subtractions with a carry.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new(
        "methods/carrying_add/u8",
        &[Capability::Storage8],
        carries_u8,
    ),
    Case::new(
        "methods/carrying_add/u16",
        &[Capability::Storage16],
        carries_u16,
    ),
    Case::new("methods/carrying_add/u32", &[], carries_u32),
    Case::new("methods/carrying_add/u64", &[Capability::I64], carries_u64),
    Case::new(
        "methods/carrying_add/usize",
        &[Capability::I64],
        carries_usize,
    ),
];

macro_rules! carries {
    ($($t:ident $of:ident $case:ident $kernel:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, y) = (a[i] as $of, b[i] as $of);
            let (sum, carry) = x.carrying_add(y, x % 2 == 1);
            out[4 * i] = sum as $t;
            out[4 * i + 1] = carry as $t;
            let (next, carry) = y.carrying_add($of::MAX, carry);
            out[4 * i + 2] = next as $t;
            out[4 * i + 3] = carry as $t;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(68, 300);
            let ends = [0, 1, 2, $t::MAX / 2, $t::MAX / 2 + 1, $t::MAX - 1, $t::MAX];
            inputs.extend(ends.iter().flat_map(|&x| ends.map(|y| (x, y))));
            binary(
                ["sum", "carry", "next sum", "next carry"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    let (sum, carry) = x.carrying_add(y, x % 2 == 1);
                    let (next, next_carry) = y.carrying_add($t::MAX, carry);
                    [sum, $t::from(carry), next, $t::from(next_carry)].map(Expected::Exactly)
                },
            )
        }
    )*};
}

carries! {
    u8 u8 carries_u8 carries_u8_kernel;
    u16 u16 carries_u16 carries_u16_kernel;
    u32 u32 carries_u32 carries_u32_kernel;
    u64 u64 carries_u64 carries_u64_kernel;
    u64 usize carries_usize carries_usize_kernel;
}
