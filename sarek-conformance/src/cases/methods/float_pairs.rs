//! Exact methods of two floats: `min`, `max`, `copysign`.

use crate::check::{Check, Due, binary};
use crate::input::{Sample, pairs};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/min_max/f32", &[], f32_case),
    Case::new("methods/min_max/f64", &[Capability::F64], f64_case),
];

macro_rules! kernels {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[3 * i] = a[i].min(b[i]);
            out[3 * i + 1] = a[i].max(b[i]);
            out[3 * i + 2] = a[i].copysign(b[i]);
        }

        fn $case(device: &Device) -> Check {
            binary(
                ["min", "max", "copysign"],
                &pairs::<$t, $t>(65, 300),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let signed = if b.is_sign_negative() {
                        -a.abs()
                    } else {
                        a.abs()
                    };
                    // The sign of a NaN is not kept by every target.
                    let sign = if b.is_nan() {
                        Due::Anything
                    } else {
                        Due::Exactly(signed)
                    };
                    [chosen(a, b, a < b), chosen(a, b, a > b), sign]
                },
            )
        }
    };
}

kernels!(f32_case min_max_f32 f32);
kernels!(f64_case min_max_f64 f64);

/// The first or the second, but never a NaN unless both are; either of two equal zeros.
fn chosen<T: Sample + PartialOrd>(a: T, b: T, first: bool) -> Due<T> {
    if a == b {
        Due::Equal(a)
    } else if a.partial_cmp(&a).is_none() {
        Due::Exactly(b)
    } else if b.partial_cmp(&b).is_none() || first {
        Due::Exactly(a)
    } else {
        Due::Exactly(b)
    }
}
