//! `ilog2` of integers, and the fault for numbers that have no logarithm.

use crate::cases::faults::fault_of;
use crate::check::{Check, Expected, ensure, sentinel_filled, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/ilog2/u8", &[Capability::Storage8], log_u8),
    Case::new("methods/ilog2/i16", &[Capability::Storage16], log_i16),
    Case::new("methods/ilog2/u32", &[], log_u32),
    Case::new("methods/ilog2/i32", &[], log_i32),
    Case::new("methods/ilog2/u64", &[Capability::I64], log_u64),
    Case::new("methods/ilog2/i64", &[Capability::I64], log_i64),
    Case::new("methods/ilog2/none", &[], none),
];

macro_rules! ilog2 {
    ($($case:ident $kernel:ident $t:ident;)*) => {$(
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [u32]) {
            let i = global_idx_x();
            out[2 * i] = a[i].ilog2();
            out[2 * i + 1] = (a[i] as u32 as usize | 1).ilog2();
        }

        fn $case(device: &Device) -> Check {
            let inputs: Vec<$t> = values::<$t>(47, 300).into_iter().filter(|a| *a > 0).collect();
            unary(
                ["itself", "as a usize"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| [a.ilog2(), (a as u32 | 1).ilog2()].map(Expected::Exactly),
            )
        }
    )*};
}

ilog2! {
    log_u8 log_u8_kernel u8;
    log_i16 log_i16_kernel i16;
    log_u32 log_u32_kernel u32;
    log_i32 log_i32_kernel i32;
    log_u64 log_u64_kernel u64;
    log_i64 log_i64_kernel i64;
}

fn none(device: &Device) -> Check {
    for none in [0, -1, i32::MIN] {
        let mut out = sentinel_filled(2);
        let result = log_i32_kernel(&Vector::from_slice(&[none]), &mut out)
            .over(1)
            .run_on(device);
        let fault = fault_of(result, &mut out)?;
        let message = "argument of integer logarithm must be positive";
        let is_expected = match &fault.kind {
            // rustc's own `ilog2` panics with this message.
            FaultKind::Assert(found) | FaultKind::Panic(found) => found == message,
            _ => false,
        };
        ensure(is_expected, || format!("{:?} of {none}", fault.kind))?;
    }
    Ok(())
}
