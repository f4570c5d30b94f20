//! The signed difference of unsigned integers, if it fits.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new(
        "methods/checked_signed_diff/u8",
        &[Capability::Storage8],
        u8_difference,
    ),
    Case::new(
        "methods/checked_signed_diff/u16",
        &[Capability::Storage16],
        u16_difference,
    ),
    Case::new("methods/checked_signed_diff/u32", &[], u32_difference),
    Case::new(
        "methods/checked_signed_diff/u64",
        &[Capability::I64],
        u64_difference,
    ),
];

/// The output in place of a missing result.
const NONE: u8 = 101;

macro_rules! signed_difference {
    ($($t:ident $signed:ident $case:ident $kernel:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$signed]) {
            let i = global_idx_x();
            let difference = a[i].checked_signed_diff(b[i]);
            out[2 * i] = difference.unwrap_or(NONE as $signed);
            out[2 * i + 1] = difference.is_none() as $signed;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(69, 300);
            let half = $t::MAX / 2;
            let ends = [0, 1, half - 1, half, half + 1, half + 2, $t::MAX - 1, $t::MAX];
            inputs.extend(ends.iter().flat_map(|&x| ends.map(|y| (x, y))));
            binary(
                ["checked_signed_diff", "is_none"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    let expected = x.checked_signed_diff(y);
                    [expected.unwrap_or(NONE as $signed), $signed::from(expected.is_none())].map(Expected::Exactly)
                },
            )
        }
    )*};
}

signed_difference! {
    u8 i8 u8_difference difference_u8;
    u16 i16 u16_difference difference_u16;
    u32 i32 u32_difference difference_u32;
    u64 i64 u64_difference difference_u64;
}
