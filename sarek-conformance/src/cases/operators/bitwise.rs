//! `& | ^ !` of integers, compared with a computation bit by bit.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/bitwise/i8", &[Capability::Storage8], i8_case),
    Case::new("operators/bitwise/i16", &[Capability::Storage16], i16_case),
    Case::new("operators/bitwise/i32", &[], i32_case),
    Case::new("operators/bitwise/u8", &[Capability::Storage8], u8_case),
    Case::new("operators/bitwise/u16", &[Capability::Storage16], u16_case),
    Case::new("operators/bitwise/u32", &[], u32_case),
    Case::new("operators/bitwise/i64", &[Capability::I64], i64_case),
    Case::new("operators/bitwise/u64", &[Capability::I64], u64_case),
];

macro_rules! bitwise {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[4 * i] = a[i] & b[i];
            out[4 * i + 1] = a[i] | b[i];
            out[4 * i + 2] = a[i] ^ b[i];
            out[4 * i + 3] = !a[i];
        }

        fn $case(device: &Device) -> Check {
            binary(
                ["&", "|", "^", "!"],
                &pairs::<$t, $t>(25, 200),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| reference(a as u64, b as u64).map(|r| Expected::Exactly(r as $t)),
            )
        }
    };
}

bitwise!(i8_case bitwise_i8 i8);
bitwise!(i16_case bitwise_i16 i16);
bitwise!(i32_case bitwise_i32 i32);
bitwise!(u8_case bitwise_u8 u8);
bitwise!(u16_case bitwise_u16 u16);
bitwise!(u32_case bitwise_u32 u32);
bitwise!(i64_case bitwise_i64 i64);
bitwise!(u64_case bitwise_u64 u64);

fn reference(a: u64, b: u64) -> [u64; 4] {
    let each = |f: fn(bool, bool) -> bool| {
        (0..64)
            .map(|k| u64::from(f(a >> k & 1 == 1, b >> k & 1 == 1)) << k)
            .sum()
    };
    [
        each(|a, b| a && b),
        each(|a, b| a || b),
        each(|a, b| a != b),
        each(|a, _| !a),
    ]
}
