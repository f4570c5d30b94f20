//! `pow` of integers, and its overflow.

use crate::check::{Check, Expected, binary, reports_overflow};
use crate::input::{Random, Sample};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/pow/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/pow/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/pow/i32", &[], i32_case),
    Case::new("methods/pow/u8", &[Capability::Storage8], u8_case),
    Case::new("methods/pow/u16", &[Capability::Storage16], u16_case),
    Case::new("methods/pow/u32", &[], u32_case),
    Case::new("methods/pow/i64", &[Capability::I64], i64_case),
    Case::new("methods/pow/u64", &[Capability::I64], u64_case),
];

macro_rules! pow {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].pow(b[i]);
            out[2 * i + 1] = (b[i] as $t).pow(3);
        }

        fn $case(device: &Device) -> Check {
            let mut random = Random::new(52);
            let mut inputs: Vec<($t, u32)> = vec![];
            for base in $t::edges() {
                inputs.extend([0, 1, 2, 3, 5, 31, 64].map(|exponent| (base, exponent)));
            }
            for _ in 0..200 {
                inputs.push((random.below(200) as $t, random.below(40) as u32));
            }
            if reports_overflow() {
                let fits = |base: $t, exponent| base.checked_pow(exponent).is_some();
                inputs.retain(|&(a, b)| fits(a, b) && fits(b as $t, 3));
            }
            binary(
                ["pow", "pow(3)"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let times = |x: i128, y: i128| i128::from(x.wrapping_mul(y) as $t);
                    let power = (0..b).fold(1, |power, _| times(power, a.into()));
                    [power as $t, i128::from(b).pow(3) as $t].map(Expected::Exactly)
                },
            )
        }
    };
}

pow!(i8_case pow_i8 i8);
pow!(i16_case pow_i16 i16);
pow!(i32_case pow_i32 i32);
pow!(u8_case pow_u8 u8);
pow!(u16_case pow_u16 u16);
pow!(u32_case pow_u32 u32);
pow!(i64_case pow_i64 i64);
pow!(u64_case pow_u64 u64);
