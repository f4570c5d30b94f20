//! Rotations by half of the width, which swap both halves, and by counts next to it. Compilers recognise the text of
//! a rotation, and some of them mistake one for another.

use crate::check::{Check, Expected, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/rotations/i8", &[Capability::Storage8], of_i8),
    Case::new("methods/rotations/u8", &[Capability::Storage8], of_u8),
    Case::new("methods/rotations/i16", &[Capability::Storage16], of_i16),
    Case::new("methods/rotations/u16", &[Capability::Storage16], of_u16),
    Case::new("methods/rotations/i32", &[], of_i32),
    Case::new("methods/rotations/u32", &[], of_u32),
    Case::new("methods/rotations/i64", &[Capability::I64], of_i64),
    Case::new("methods/rotations/u64", &[Capability::I64], of_u64),
];

/// Left and right rotations: by half of the width, as a constant, as an argument and as a count that each thread computes;
/// by one more and one less; and by half of the width beyond the whole.
macro_rules! rotations {
    ($($case:ident $kernel:ident $t:ident $half:literal;)*) => {$(
        #[kernel]
        fn $kernel(half: u32, a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let x = a[i];
            let own = half + (i as u32 & 1) * 2 * half;
            out[10 * i] = x.rotate_left($half);
            out[10 * i + 1] = x.rotate_right($half);
            out[10 * i + 2] = x.rotate_left(half);
            out[10 * i + 3] = x.rotate_right(half);
            out[10 * i + 4] = x.rotate_left(own);
            out[10 * i + 5] = x.rotate_right(own);
            out[10 * i + 6] = x.rotate_left($half + 1);
            out[10 * i + 7] = x.rotate_right($half - 1);
            out[10 * i + 8] = x.rotate_left(3 * $half) ^ x.rotate_right(half + 1);
            // A rotation written by hand.
            out[10 * i + 9] = x << $half | (x >> $half) & !(!0 << $half);
        }

        fn $case(device: &Device) -> Check {
            unary(
                [
                    "left", "right", "left by an argument", "right by an argument", "left by its own",
                    "right by its own", "left by more", "right by less", "beyond", "by hand",
                ],
                &values::<$t>(54, 301),
                |a, out, n| $kernel($half, a, out).over(n).run_on(device),
                |x| {
                    // Swaps both halves.
                    let mask = !(!0 << $half);
                    let swapped = x << $half | (x >> $half) & mask;
                    let next = |x: $t| x << 1 | (x >> (2 * $half - 1)) & 1;
                    let last = |x: $t| x << (2 * $half - 1) | (x >> 1) & !(!0 << (2 * $half - 1));
                    [
                        swapped, swapped, swapped, swapped, swapped, swapped, next(swapped),
                        next(swapped), swapped ^ last(swapped), swapped,
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    )*};
}

rotations! {
    of_i8 of_i8_kernel i8 4;
    of_u8 of_u8_kernel u8 4;
    of_i16 of_i16_kernel i16 8;
    of_u16 of_u16_kernel u16 8;
    of_i32 of_i32_kernel i32 16;
    of_u32 of_u32_kernel u32 16;
    of_i64 of_i64_kernel i64 32;
    of_u64 of_u64_kernel u64 32;
}
