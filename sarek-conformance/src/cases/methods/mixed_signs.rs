//! Sums and differences of a signed and an unsigned integer, and casts between them.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/mixed_signs/i8", &[Capability::Storage8], i8_case),
    Case::new("methods/mixed_signs/u8", &[Capability::Storage8], u8_case),
    Case::new(
        "methods/mixed_signs/i16",
        &[Capability::Storage16],
        i16_case,
    ),
    Case::new(
        "methods/mixed_signs/u16",
        &[Capability::Storage16],
        u16_case,
    ),
    Case::new("methods/mixed_signs/i32", &[], i32_case),
    Case::new("methods/mixed_signs/u32", &[], u32_case),
    Case::new("methods/mixed_signs/i64", &[Capability::I64], i64_case),
    Case::new("methods/mixed_signs/u64", &[Capability::I64], u64_case),
];

/// The output in place of a missing result.
const NONE: u8 = 101;

macro_rules! mixed_signs {
    ($($t:ident $other:ident $case:ident $kernel:ident $cast:ident
        [$($at:literal $wrapping:ident $saturating:ident $checked:ident $overflowing:ident),*];)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$other], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, y) = (a[i], b[i]);
            out[13 * i] = x.$cast() as $t / 2;
            $(
                out[13 * i + $at] = x.$wrapping(y);
                out[13 * i + $at + 1] = x.$saturating(y);
                out[13 * i + $at + 2] = x.$checked(y).unwrap_or(NONE as $t);
                out[13 * i + $at + 3] = x.$checked(y).is_none() as $t;
                let (result, overflows) = x.$overflowing(y);
                out[13 * i + $at + 4] = result;
                out[13 * i + $at + 5] = overflows as $t;
            )*
        }

        fn $case(device: &Device) -> Check {
            let names: [&str; 13] = std::array::from_fn(|_| "a method");
            let mut inputs = pairs::<$t, $other>(67, 300);
            for x in [$t::MIN, $t::MIN + 1, 0, 1, $t::MAX - 1, $t::MAX] {
                let ends = [$other::MIN, $other::MIN + 1, 0, 1, !0, $other::MAX - 1, $other::MAX];
                inputs.extend(ends.map(|y| (x, y)));
            }
            binary(
                names,
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    let mut expected = [x.$cast() as $t / 2; 13];
                    $(
                        expected[$at] = x.$wrapping(y);
                        expected[$at + 1] = x.$saturating(y);
                        expected[$at + 2] = x.$checked(y).unwrap_or(NONE as $t);
                        expected[$at + 3] = $t::from(x.$checked(y).is_none());
                        expected[$at + 4] = x.$overflowing(y).0;
                        expected[$at + 5] = $t::from(x.$overflowing(y).1);
                    )*
                    expected.map(Expected::Exactly)
                },
            )
        }
    )*};
}

macro_rules! of_each {
    ($($signed:ident $of_signed:ident $signed_kernel:ident $unsigned:ident $of_unsigned:ident $unsigned_kernel:ident;)*) => {
        mixed_signs! {$(
            $signed $unsigned $of_signed $signed_kernel cast_unsigned [
                1 wrapping_add_unsigned saturating_add_unsigned checked_add_unsigned overflowing_add_unsigned,
                7 wrapping_sub_unsigned saturating_sub_unsigned checked_sub_unsigned overflowing_sub_unsigned
            ];
            $unsigned $signed $of_unsigned $unsigned_kernel cast_signed [
                1 wrapping_add_signed saturating_add_signed checked_add_signed overflowing_add_signed,
                7 wrapping_sub_signed saturating_sub_signed checked_sub_signed overflowing_sub_signed
            ];
        )*}
    };
}

of_each! {
    i8 i8_case mixed_i8 u8 u8_case mixed_u8;
    i16 i16_case mixed_i16 u16 u16_case mixed_u16;
    i32 i32_case mixed_i32 u32 u32_case mixed_u32;
    i64 i64_case mixed_i64 u64 u64_case mixed_u64;
}
