//! Comparisons of every type. NaN compares false, except with `!=`.

use std::cmp::Ordering;

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/compare/bool", &[Capability::Storage8], bool_case),
    Case::new("operators/compare/i8", &[Capability::Storage8], i8_case),
    Case::new("operators/compare/i16", &[Capability::Storage16], i16_case),
    Case::new("operators/compare/i32", &[], i32_case),
    Case::new("operators/compare/u8", &[Capability::Storage8], u8_case),
    Case::new("operators/compare/u16", &[Capability::Storage16], u16_case),
    Case::new("operators/compare/u32", &[], u32_case),
    Case::new("operators/compare/i64", &[Capability::I64], i64_case),
    Case::new("operators/compare/u64", &[Capability::I64], u64_case),
    Case::new("operators/compare/f32", &[], f32_case),
    Case::new("operators/compare/f64", &[Capability::F64], f64_case),
];

const NAMES: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

macro_rules! compare {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[6 * i] = (a[i] == b[i]) as u32;
            out[6 * i + 1] = (a[i] != b[i]) as u32;
            out[6 * i + 2] = (a[i] < b[i]) as u32;
            out[6 * i + 3] = (a[i] <= b[i]) as u32;
            out[6 * i + 4] = (a[i] > b[i]) as u32;
            out[6 * i + 5] = (a[i] >= b[i]) as u32;
        }

        fn $case(device: &Device) -> Check {
            binary(
                NAMES,
                &pairs::<$t, $t>(29, 200),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| reference(a.partial_cmp(&b)),
            )
        }
    };
}

compare!(bool_case compare_bool bool);
compare!(i8_case compare_i8 i8);
compare!(i16_case compare_i16 i16);
compare!(i32_case compare_i32 i32);
compare!(u8_case compare_u8 u8);
compare!(u16_case compare_u16 u16);
compare!(u32_case compare_u32 u32);
compare!(i64_case compare_i64 i64);
compare!(u64_case compare_u64 u64);
compare!(f32_case compare_f32 f32);
compare!(f64_case compare_f64 f64);

fn reference(order: Option<Ordering>) -> [Expected<u32>; 6] {
    let holds = match order {
        Some(Ordering::Less) => [false, true, true, true, false, false],
        Some(Ordering::Equal) => [true, false, false, true, false, true],
        Some(Ordering::Greater) => [false, true, false, false, true, true],
        None => [false, true, false, false, false, false],
    };
    holds.map(|h| Expected::Exactly(h.into()))
}
