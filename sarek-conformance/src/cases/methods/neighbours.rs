//! The next numbers of floats: `next_up`, `next_down`.

use crate::check::{Check, Expected, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/next/f32", &[], f32_case),
    Case::new(
        "methods/next/f64",
        &[Capability::F64, Capability::I64],
        f64_case,
    ),
];

macro_rules! kernels {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].next_up();
            out[2 * i + 1] = a[i].next_down();
        }

        fn $case(device: &Device) -> Check {
            let mut inputs = values::<$t>(74, 400);
            let least = $t::from_bits(1);
            let ends = [
                0.0,
                least,
                $t::MIN_POSITIVE,
                1.0,
                2.0,
                $t::MAX,
                $t::INFINITY,
            ];
            inputs.extend(ends.iter().flat_map(|end| [*end, -end]));
            inputs.extend(
                ends.iter()
                    .flat_map(|end| [end.next_down(), -end.next_down()]),
            );
            unary(
                ["next_up", "next_down"],
                &inputs,
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| [a.next_up(), a.next_down()].map(Expected::Exactly),
            )
        }
    };
}

kernels!(f32_case next_f32 f32);
kernels!(f64_case next_f64 f64);
