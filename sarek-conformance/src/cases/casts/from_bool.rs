//! Conversion of `bool` to each integer type.

use crate::check::{Check, Expected, unary};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("casts/bool/i32", &[], i32_case),
    Case::new("casts/bool/u32", &[], u32_case),
    Case::new("casts/bool/i64", &[Capability::I64], i64_case),
    Case::new("casts/bool/u64", &[Capability::I64], u64_case),
];

macro_rules! from_bool {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[u32], out: &mut [$t]) {
            let i = global_idx_x();
            out[3 * i] = (a[i] > 5) as $t;
            out[3 * i + 1] = true as $t;
            out[3 * i + 2] = -((a[i] <= 5) as i32) as $t;
        }

        fn $case(device: &Device) -> Check {
            unary(
                ["comparison", "true", "negated"],
                &[0, 5, 6, u32::MAX],
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| if a > 5 { [1, 1, 0] } else { [0, 1, !0] }.map(Expected::Exactly),
            )
        }
    };
}

from_bool!(i32_case from_bool_i32 i32);
from_bool!(u32_case from_bool_u32 u32);
from_bool!(i64_case from_bool_i64 i64);
from_bool!(u64_case from_bool_u64 u64);
