//! `+ - * / %` and negation of floats, each rounded once.

use crate::check::{Check, Expected, binary};
use crate::input::{Sample, pairs};
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, EXACT, Format, Function, Tolerance, tolerance};

pub const CASES: &[Case] = &[
    Case::new("operators/float/f32", &[], f32_case),
    Case::new("operators/float/f64", &[Capability::F64], f64_case),
    Case::new("operators/float/subnormal", &[], subnormal),
    Case::new("operators/float/rem_euclid_f32", &[], rest_f32),
    Case::new(
        "operators/float/rem_euclid_f64",
        &[Capability::F64],
        rest_f64,
    ),
];

const NAMES: [&str; 6] = ["+", "-", "*", "/", "%", "neg"];

macro_rules! float {
    ($kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[6 * i] = a[i] + b[i];
            out[6 * i + 1] = a[i] - b[i];
            out[6 * i + 2] = a[i] * b[i];
            out[6 * i + 3] = a[i] / b[i];
            out[6 * i + 4] = a[i] % b[i];
            out[6 * i + 5] = -a[i];
        }
    };
}

float!(float_f32 f32);
float!(float_f64 f64);

/// Expected results from those of a wider type or of the same one, as exact as the class promises.
fn reference<T: Sample + Into<f64>>(
    class: Class,
    format: Format,
    (a, b): (T, T),
    results: [T; 6],
) -> [Expected<T>; 6] {
    let (x, y): (f64, f64) = (a.into(), b.into());
    let exact = |value: T| rounded(class, value);
    let quotient = tolerance(class, Function::DIV, format, (x, y), results[3].into());
    let divide = match (class, format) {
        (Class::Wgsl, _) if !class.promises(Function::DIV, y) => Expected::Anything,
        // The quotient of two `f32` in `f64` is exact enough for ulps of `f32`.
        (Class::OpenCl | Class::Wgsl, Format::F32) if y.is_normal() => {
            Expected::Near(x / y, quotient)
        }
        _ => exact(results[3]),
    };
    let [sum, difference, product, _, remainder, negated] = results;
    [
        exact(sum),
        exact(difference),
        exact(product),
        divide,
        exact(remainder),
        Expected::Exactly(negated),
    ]
}

/// Expects exactly this value, or zero for a subnormal that the class may flush.
fn rounded<T: Sample + Into<f64>>(class: Class, value: T) -> Expected<T> {
    let subnormal = value.into() != 0.0 && value.into().abs() < f32::MIN_POSITIVE.into();
    if subnormal && !class.keeps_subnormals() {
        Expected::Near(
            value.into(),
            Tolerance {
                flush: true,
                ..EXACT
            },
        )
    } else {
        Expected::Exactly(value)
    }
}

fn f32_case(device: &Device) -> Check {
    let class = Class::of(device);
    binary(
        NAMES,
        &pairs::<f32, f32>(31, 500),
        |a, b, out, n| float_f32(a, b, out).over(n).run_on(device),
        |a, b| {
            // Sum, product and quotient of two `f32` round the same through `f64`, and so does an exact
            // remainder.
            let (x, y) = (f64::from(a), f64::from(b));
            let results = [x + y, x - y, x * y, x / y, x % y, -x].map(|r| r as f32);
            reference(class, Format::F32, (a, b), results)
        },
    )
}

fn f64_case(device: &Device) -> Check {
    let class = Class::of(device);
    binary(
        NAMES,
        &pairs::<f64, f64>(32, 500),
        |a, b, out, n| float_f64(a, b, out).over(n).run_on(device),
        |a, b| {
            reference(
                class,
                Format::F64,
                (a, b),
                [a + b, a - b, a * b, a / b, a % b, -a],
            )
        },
    )
}

/// Subnormal operands and results, on devices that keep subnormals.
fn subnormal(device: &Device) -> Check {
    let class = Class::of(device);
    let tiny = [1, 2, 0x40_0000, 0x7f_ffff, 0x80_0000, 0x80_0001].map(f32::from_bits);
    let others = [1.0, 2.0, 0.5, 1e10];
    let mut inputs = vec![];
    for a in tiny {
        inputs.extend(
            tiny.iter()
                .chain(&others)
                .flat_map(|&b| [(a, b), (-a, b), (b, a)]),
        );
    }
    binary(
        NAMES,
        &inputs,
        |a, b, out, n| float_f32(a, b, out).over(n).run_on(device),
        |a, b| {
            if !class.keeps_subnormals() {
                return [Expected::Anything; 6];
            }
            let (x, y) = (f64::from(a), f64::from(b));
            [x + y, x - y, x * y, x / y, x % y, -x].map(|r| Expected::Exactly(r as f32))
        },
    )
}

macro_rules! rest {
    ($case:ident $kernel:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[2 * i] = a[i].rem_euclid(b[i]);
            out[2 * i + 1] = a[i].rem_euclid(-0.75);
        }

        fn $case(device: &Device) -> Check {
            let class = Class::of(device);
            binary(
                ["of another", "of -0.75"],
                &pairs::<$t, $t>(53, 500),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| [a.rem_euclid(b), a.rem_euclid(-0.75)].map(|rest| rounded(class, rest)),
            )
        }
    };
}

rest!(rest_f32 rest_f32_kernel f32);
rest!(rest_f64 rest_f64_kernel f64);
