//! Roots, powers of two, multiples and midpoints of integers, and the fault of a negative root.

use crate::cases::faults::fault_of;
use crate::check::{Check, Expected, binary, ensure, sentinel_filled};
use crate::input::pairs;
use crate::{Capability, Case};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/integers/i8", &[Capability::Storage8], of_i8),
    Case::new("methods/integers/u8", &[Capability::Storage8], of_u8),
    Case::new("methods/integers/i16", &[Capability::Storage16], of_i16),
    Case::new("methods/integers/u16", &[Capability::Storage16], of_u16),
    Case::new("methods/integers/i32", &[], of_i32),
    Case::new("methods/integers/u32", &[], of_u32),
    Case::new("methods/integers/i64", &[Capability::I64], of_i64),
    Case::new("methods/integers/u64", &[Capability::I64], of_u64),
    Case::new("methods/integers/usize", &[Capability::I64], of_usize),
    Case::new("methods/isqrt/negative", &[], negative),
];

macro_rules! signed {
    ($($case:ident $kernel:ident $t:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = (a[i] & $t::MAX).isqrt();
            out[2 * i + 1] = a[i].midpoint(b[i]);
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(51, 300);
            inputs.extend(squares(1 << ($t::BITS / 2 - 1)).map(|n| (n as $t, 0)));
            binary(
                ["isqrt", "midpoint"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| [(a & $t::MAX).isqrt(), a.midpoint(b)].map(Expected::Exactly),
            )
        }
    )*};
}

/// The squares of the largest and of some other roots up to a bound, and their neighbours.
fn squares(bound: u64) -> impl Iterator<Item = u64> {
    let roots = [1, 2, 3, bound / 3, bound / 2, bound - 1, bound];
    roots
        .into_iter()
        .flat_map(|root| [-1, 0, 1].map(|by| (root * root).wrapping_add_signed(by)))
}

signed! {
    of_i8 of_i8_kernel i8;
    of_i16 of_i16_kernel i16;
    of_i32 of_i32_kernel i32;
    of_i64 of_i64_kernel i64;
}

/// Defines the unsigned cases. Up to half of the type's range, the next power of two fits the type.
macro_rules! unsigned {
    ($($case:ident $kernel:ident $t:ident $of:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let (x, y) = (a[i] as $of, b[i] as $of);
            out[5 * i] = x.isqrt() as $t;
            out[5 * i + 1] = x.midpoint(y) as $t;
            out[5 * i + 2] = (x / 2 + 1).next_power_of_two() as $t;
            out[5 * i + 3] = (x / 2).next_multiple_of(y / 2 + 1) as $t;
            out[5 * i + 4] = (x / 4).next_multiple_of(7) as $t;
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = pairs::<$t, $t>(52, 300);
            inputs.extend(squares(1 << ($t::BITS / 2 - 1)).map(|n| (n as $t, 0)));
            inputs.extend(squares((1 << ($t::BITS / 2)) - 1).map(|n| (n as $t, 1)));
            binary(
                ["isqrt", "midpoint", "next_power_of_two", "next_multiple_of", "of 7"],
                &inputs,
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |x, y| {
                    [
                        x.isqrt(),
                        x.midpoint(y),
                        (x / 2 + 1).next_power_of_two(),
                        (x / 2).next_multiple_of(y / 2 + 1),
                        (x / 4).next_multiple_of(7),
                    ]
                    .map(Expected::Exactly)
                },
            )
        }
    )*};
}

unsigned! {
    of_u8 of_u8_kernel u8 u8;
    of_u16 of_u16_kernel u16 u16;
    of_u32 of_u32_kernel u32 u32;
    of_u64 of_u64_kernel u64 u64;
    of_usize of_usize_kernel u64 usize;
}

#[kernel]
fn negative_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = a[i].isqrt();
}

fn negative(device: &Device) -> Check {
    for negative in [-1, i32::MIN] {
        let mut out = sentinel_filled(1);
        let result = negative_kernel(&Vector::from_slice(&[negative]), &mut out)
            .over(1)
            .run_on(device);
        let fault = fault_of(result, &mut out)?;
        let message = "argument of integer square root cannot be negative";
        let is_expected = match &fault.kind {
            // rustc's own `isqrt` panics with this message.
            FaultKind::Assert(found) | FaultKind::Panic(found) => found == message,
            _ => false,
        };
        ensure(is_expected, || format!("{:?} of {negative}", fault.kind))?;
    }
    Ok(())
}
