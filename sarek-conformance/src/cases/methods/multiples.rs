//! `is_multiple_of` and `div_ceil` of unsigned integers.

use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new(
        "methods/is_multiple_of/u8",
        &[Capability::Storage8],
        multiple_u8,
    ),
    Case::new("methods/is_multiple_of/u32", &[], multiple_u32),
    Case::new("methods/div_ceil/u8", &[Capability::Storage8], ceil_u8),
    Case::new("methods/div_ceil/u32", &[], ceil_u32),
    Case::new("methods/div_ceil/u64", &[Capability::I64], ceil_u64),
    Case::new(
        "methods/is_multiple_of/u64",
        &[Capability::I64],
        multiple_u64,
    ),
];

macro_rules! multiple_of {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[4 * i] = a[i].is_multiple_of(b[i]) as u32;
            out[4 * i + 1] = a[i].is_multiple_of(b[i] % 4) as u32;
            out[4 * i + 2] = a[i].is_multiple_of(3) as u32;
            out[4 * i + 3] = ((a[i] as usize).is_multiple_of(5) || a[i].is_multiple_of(0)) as u32;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(45, 200);
            inputs.extend([(0, 0), (7, 0), (0, 7), (21, 7), (22, 7), ($t::MAX, 1)]);
            binary(
                ["of another", "of less than 4", "of 3", "of 5 or 0"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let of = |by: $t| if by == 0 { a == 0 } else { a % by == 0 };
                    [of(b), of(b % 4), of(3), of(5) || of(0)]
                        .map(|is| Expected::Exactly(u32::from(is)))
                },
            )
        }
    };
}

multiple_of!(multiple_u8 multiple_u8_kernel u8);
multiple_of!(multiple_u32 multiple_u32_kernel u32);
multiple_of!(multiple_u64 multiple_u64_kernel u64);

macro_rules! div_ceil {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[3 * i] = a[i].div_ceil(b[i] | 1);
            out[3 * i + 1] = a[i].div_ceil(7);
            out[3 * i + 2] = (b[i] / 2 + 5).div_ceil(a[i] / 2 + 1);
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(46, 200);
            inputs.extend([(0, 0), (7, 0), (0, 7), (21, 7), (22, 7), ($t::MAX, 1)]);
            binary(
                ["by another", "by 7", "of another"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let up = |a: $t, b: $t| Expected::Exactly(a / b + $t::from(a % b != 0));
                    [up(a, b | 1), up(a, 7), up(b / 2 + 5, a / 2 + 1)]
                },
            )
        }
    };
}

div_ceil!(ceil_u8 ceil_u8_kernel u8);
div_ceil!(ceil_u32 ceil_u32_kernel u32);
div_ceil!(ceil_u64 ceil_u64_kernel u64);
