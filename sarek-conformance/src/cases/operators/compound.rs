//! `+= -= *= /= %= &= |= ^= <<= >>=` on locals and on elements.

use crate::check::{Check, Expected, binary};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/compound/i32", &[], i32_case),
    Case::new("operators/compound/u32", &[], u32_case),
    Case::new("operators/compound/i64", &[Capability::I64], i64_case),
    Case::new("operators/compound/u64", &[Capability::I64], u64_case),
    Case::new("operators/compound/f32", &[], f32_case),
    Case::new("operators/compound/f64", &[Capability::F64], f64_case),
];

macro_rules! integer {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let x = a[i];
            let y = b[i];
            out[11 * i] = x;
            out[11 * i] += y;
            out[11 * i + 1] = x;
            out[11 * i + 1] -= y;
            out[11 * i + 2] = x;
            out[11 * i + 2] *= y;
            out[11 * i + 3] = x;
            out[11 * i + 3] /= y;
            out[11 * i + 4] = x;
            out[11 * i + 4] %= y;
            out[11 * i + 5] = x;
            out[11 * i + 5] &= y;
            out[11 * i + 6] = x;
            out[11 * i + 6] |= y;
            out[11 * i + 7] = x;
            out[11 * i + 7] ^= y;
            out[11 * i + 8] = x;
            out[11 * i + 8] <<= 3;
            out[11 * i + 9] = x;
            out[11 * i + 9] >>= 3;
            let mut local = x;
            local += 5;
            local -= y;
            local *= 3;
            local /= y;
            local ^= x;
            local <<= 2u32;
            local |= 1;
            local >>= 1i32;
            local &= 0xffff;
            local %= 1000;
            out[11 * i + 10] = local;
        }

        fn $case(device: &Device) -> Check {
            let mut random = Random::new(33);
            let inputs: Vec<($t, $t)> = (0..300)
                .map(|_| {
                    (
                        (500 + random.below(1000)) as $t,
                        (1 + random.below(400)) as $t,
                    )
                })
                .collect();
            binary(
                [
                    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "local",
                ],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    let shifted = (3 * (x + 5 - y) / y ^ x) * 4;
                    let local = ((shifted + 1 - shifted % 2) / 2 % 65_536) % 1000;
                    let (and, or) = (x & y, x | y);
                    [
                        x + y,
                        x - y,
                        x * y,
                        x / y,
                        x - x / y * y,
                        and,
                        or,
                        or - and,
                        x * 8,
                        x / 8,
                        local,
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    };
}

integer!(i32_case compound_i32 i32);
integer!(u32_case compound_u32 u32);
integer!(i64_case compound_i64 i64);
integer!(u64_case compound_u64 u64);

macro_rules! float {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[5 * i] = a[i];
            out[5 * i] += b[i];
            out[5 * i + 1] = a[i];
            out[5 * i + 1] -= b[i];
            out[5 * i + 2] = a[i];
            out[5 * i + 2] *= b[i];
            out[5 * i + 3] = a[i];
            out[5 * i + 3] /= 0.25;
            let mut local = a[i];
            local %= 8.0;
            out[5 * i + 4] = local;
        }

        fn $case(device: &Device) -> Check {
            let mut random = Random::new(34);
            // Multiples of 1/8 below 1000: every result is exact in every format.
            let mut eighths = || (random.below(16_000) as $t - 8000.0) / 8.0;
            let inputs: Vec<($t, $t)> = (0..300).map(|_| (eighths(), eighths())).collect();
            binary(
                ["+=", "-=", "*=", "/=", "%="],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let eights = (a.abs() / 8.0).floor() * 8.0;
                    let remainder = (a.abs() - eights).copysign(a);
                    [a + b, a - b, a * b, a * 4.0, remainder].map(Expected::Exactly)
                },
            )
        }
    };
}

float!(f32_case compound_f32 f32);
float!(f64_case compound_f64 f64);
