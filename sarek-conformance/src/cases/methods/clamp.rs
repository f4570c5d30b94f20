//! `clamp` of every number type, with bounds in order.

use crate::check::{Check, Expected, expect_within, sentinel_filled};
use crate::input::{Sample, pairs};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/clamp/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/clamp/i16", &[Capability::Storage16], i16_case),
    Case::new("methods/clamp/i32", &[], i32_case),
    Case::new("methods/clamp/u8", &[Capability::Storage8], u8_case),
    Case::new("methods/clamp/u16", &[Capability::Storage16], u16_case),
    Case::new("methods/clamp/u32", &[], u32_case),
    Case::new("methods/clamp/i64", &[Capability::I64], i64_case),
    Case::new("methods/clamp/u64", &[Capability::I64], u64_case),
    Case::new("methods/clamp/f32", &[], f32_case),
    Case::new("methods/clamp/f64", &[Capability::F64], f64_case),
];

macro_rules! clamp {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(x: &[$t], lo: &[$t], hi: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = x[i].clamp(lo[i], hi[i]);
        }

        fn $case(device: &Device) -> Check {
            let inputs = triples::<$t>();
            let mut out = sentinel_filled::<$t>(inputs.len());
            let column =
                |k: usize| Vector::from_vec(inputs.iter().map(|t| t[k]).collect::<Vec<$t>>());
            $kernel(&column(0), &column(1), &column(2), &mut out)
                .over(inputs.len())
                .run_on(device)?;
            let expected: Vec<Expected<$t>> = inputs
                .iter()
                .map(|&[x, lo, hi]| clamped(x, lo, hi))
                .collect();
            expect_within("clamp", &out, &expected, &|i| {
                format!(" of {:?}", inputs[i])
            })
        }
    };
}

clamp!(i8_case clamp_i8 i8);
clamp!(i16_case clamp_i16 i16);
clamp!(i32_case clamp_i32 i32);
clamp!(u8_case clamp_u8 u8);
clamp!(u16_case clamp_u16 u16);
clamp!(u32_case clamp_u32 u32);
clamp!(i64_case clamp_i64 i64);
clamp!(u64_case clamp_u64 u64);
clamp!(f32_case clamp_f32 f32);
clamp!(f64_case clamp_f64 f64);

/// Every pair of ordered bounds, with some values.
fn triples<T: Sample + PartialOrd>() -> Vec<[T; 3]> {
    let edges = T::edges();
    let bounds = pairs::<T, T>(51, 100);
    let ordered = bounds.into_iter().filter(|(lo, hi)| lo <= hi).enumerate();
    ordered
        .flat_map(|(k, (lo, hi))| {
            let other = edges[k % edges.len()];
            let another = edges[(k / edges.len()) % edges.len()];
            [lo, hi, other, another].map(|x| [x, lo, hi])
        })
        .collect()
}

fn clamped<T: Sample + PartialOrd>(x: T, lo: T, hi: T) -> Expected<T> {
    // Either of two equal zeros may be the result.
    let zero = T::default();
    if x == zero && (lo == zero || hi == zero) {
        return Expected::Equal(zero);
    }
    Expected::Exactly(if x < lo {
        lo
    } else if x > hi {
        hi
    } else {
        x
    })
}
