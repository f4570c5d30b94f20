//! Methods of floats that are made of others.

use super::ArgType::Same;
use super::Body::{self, Bound, Inline};
use super::Group::{Angle, Basic, Bits, Power, Rounding};
use super::Source::{For, Text};
use super::TypeClass::{Float, WideFloat};
use super::{Exactness, Method, ResultType, Returns};
use crate::Scalar;

const BOOL: ResultType = ResultType::Fixed(Scalar::Bool);

pub(super) const ROWS: &[Method] = &[
    row("recip", Inline(Text("1.0 / x"))).exactness(Exactness::Rounded),
    Method::new(
        "log",
        (Power, WideFloat),
        &[Same],
        ResultType::Same,
        Inline(Text("x.ln() / y.ln()")),
    )
    .exactness(Exactness::Elementary),
    Method::new(
        "sin_cos",
        (Angle, WideFloat),
        &[],
        ResultType::Same,
        Bound(Text("(x.sin(), x.cos())")),
    )
    .returns(Returns::Pair)
    .exactness(Exactness::Elementary),
    Method::new(
        "to_degrees",
        (Angle, WideFloat),
        &[],
        ResultType::Same,
        Inline(For(to_degrees)),
    )
    .exactness(Exactness::Rounded),
    Method::new(
        "to_radians",
        (Angle, WideFloat),
        &[],
        ResultType::Same,
        Inline(For(to_radians)),
    )
    .exactness(Exactness::Rounded),
    Method::new(
        "round_ties_even",
        (Rounding, WideFloat),
        &[],
        ResultType::Same,
        Bound(Text(ROUND_TIES_EVEN)),
    ),
    Method::new(
        "div_euclid",
        (Rounding, WideFloat),
        &[Same],
        ResultType::Same,
        Bound(Text(DIV_EUCLID)),
    )
    .exactness(Exactness::Rounded),
    Method::new(
        "rem_euclid",
        (Rounding, WideFloat),
        &[Same],
        ResultType::Same,
        Bound(Text(REM_EUCLID)),
    )
    .exactness(Exactness::Rounded),
    Method::new("is_normal", (Bits, Float), &[], BOOL, Bound(For(is_normal))),
    Method::new(
        "is_subnormal",
        (Bits, WideFloat),
        &[],
        BOOL,
        Bound(For(is_subnormal)),
    ),
    Method::new(
        "is_sign_positive",
        (Bits, Float),
        &[],
        BOOL,
        Inline(Text("!x.is_sign_negative()")),
    ),
];

/// A row of `f32` and `f64` with a result of the receiver's type.
const fn row(name: &'static str, body: Body) -> Method {
    Method::new(name, (Basic, WideFloat), &[], ResultType::Same, body)
}

/// The remainder, made positive.
const REM_EUCLID: &str = "{
    let rest = x % y;
    if rest < 0.0 { rest + y.abs() } else { rest }
}";

const DIV_EUCLID: &str = "{
    let whole = (x / y).trunc();
    if x % y < 0.0 {
        if y > 0.0 { whole - 1.0 } else { whole + 1.0 }
    } else {
        whole
    }
}";

/// Where `round` has moved by a half, to an odd number, the even one is on the other side. All of it is exact.
const ROUND_TIES_EVEN: &str = "{
    let nearest = x.round();
    let is_tie = (nearest - x).abs() == 0.5;
    if is_tie && (nearest * 0.5).fract() != 0.0 {
        x.trunc()
    } else {
        nearest
    }
}";

fn to_degrees(on: Scalar) -> String {
    match on {
        Scalar::F32 => format!("x * {:?}f32", 1f32.to_degrees()),
        _ => format!("x * {:?}f64", 1f64.to_degrees()),
    }
}

fn to_radians(on: Scalar) -> String {
    match on {
        Scalar::F32 => format!("x * {:?}f32", 1f32.to_radians()),
        _ => format!("x * {:?}f64", 1f64.to_radians()),
    }
}

fn is_normal(on: Scalar) -> String {
    let (exponent, _) = masks(on);
    format!(
        "{{
            let exponent = x.to_bits() & {exponent}U;
            exponent != 0 && exponent != {exponent}U
        }}"
    )
}

fn is_subnormal(on: Scalar) -> String {
    let (exponent, fraction) = masks(on);
    format!(
        "{{
            let bits = x.to_bits();
            bits & {exponent}U == 0 && bits & {fraction}U != 0
        }}"
    )
}

/// The bits of a float that hold its exponent, and its fraction.
fn masks(on: Scalar) -> (u64, u64) {
    let (fraction_bits, sign) = match on {
        Scalar::F16 => (10, 1u64 << 15),
        Scalar::Bf16 => (7, 1 << 15),
        Scalar::F32 => (23, 1 << 31),
        _ => (52, 1 << 63),
    };
    let fraction = (1 << fraction_bits) - 1;
    ((sign - 1) & !fraction, fraction)
}
