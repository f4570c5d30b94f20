//! Float methods that are composed of others.

use super::Body::{Bound, Inline};
use super::Exactness::{Elementary, Rounded};
use super::Source::For;
use super::body::{bound, inline};
use super::{Bounds, DIVISION, Wgsl};
use crate::Scalar;

composed_methods! {
    "midpoint" Basic WideFloat (Same) -> Value(Same) = Bound(For(midpoint));
    "next_up" Basic WideFloat () -> Value(Same) = Bound(For(next_up)), random("(@.abs() + 0.25).next_up()");
    "next_down" Basic WideFloat () -> Value(Same) = Bound(For(next_down)), random("(@.abs() + 0.25).next_down()");
    "recip" Basic WideFloat () -> Value(Same) = inline("1.0 / x"), exactness(Rounded), ulps(DIVISION);
    "log" Power WideFloat (Same) -> Value(Same) = inline("x.ln() / y.ln()"), exactness(Elementary);
    "sin_cos" Angle WideFloat () -> Pair(Same) = bound("(x.sin(), x.cos())"), exactness(Elementary), on_halves("write `x.to_f32().sin_cos()`, and `T::from_f32` of each");
    "to_degrees" Angle WideFloat () -> Value(Same) = Inline(For(to_degrees)), exactness(Rounded), ulps(ANGLE), random("@.to_degrees()");
    "to_radians" Angle WideFloat () -> Value(Same) = Inline(For(to_radians)), exactness(Rounded), ulps(ANGLE), random("@.to_radians()");
    "round_ties_even" Rounding WideFloat () -> Value(Same) = bound(ROUND_TIES_EVEN);
    "div_euclid" Rounding WideFloat (Same) -> Value(Same) = bound(DIV_EUCLID), exactness(Rounded);
    "rem_euclid" Rounding WideFloat (Same) -> Value(Same) = bound(REM_EUCLID), exactness(Rounded);
    "is_normal" Bits Float () -> Value(Fixed(Bool)) = Bound(For(is_normal)), of_half_crate();
    "is_subnormal" Bits WideFloat () -> Value(Fixed(Bool)) = Bound(For(is_subnormal)), on_halves(CLASS_OF_HALF);
    "is_sign_positive" Bits Float () -> Value(Fixed(Bool)) = inline("!x.is_sign_negative()"), of_half_crate();
}

/// A product with a rounded constant.
const ANGLE: Bounds = Bounds::new(2.0, 2.0, 2.0, Wgsl::Ulps(2.0));

const CLASS_OF_HALF: &str = "write `x.is_finite() && !x.is_normal() && x.to_bits() << 1 != 0`";

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

/// `round` rounds a tie away from zero. If the result is odd, `trunc` gives the even neighbour. All steps are exact.
const ROUND_TIES_EVEN: &str = "{
    let nearest = x.round();
    let is_tie = (nearest - x).abs() == 0.5;
    if is_tie && (nearest * 0.5).fract() != 0.0 {
        x.trunc()
    } else {
        nearest
    }
}";

/// Half of the sum. If the sum overflows, both numbers are so large that each can be halved by lowering its exponent by one. That branch
/// contains no multiplications, since WGSL compilers factor `x * 0.5 + y * 0.5` into half of the sum.
fn midpoint(on: Scalar) -> String {
    let (_, fraction) = masks(on);
    let exponent_unit = fraction + 1;
    format!(
        "{{
            let sum = x + y;
            if sum.is_finite() || !x.is_finite() || !y.is_finite() {{
                sum * 0.5
            }} else {{
                T::from_bits(x.to_bits().wrapping_sub({exponent_unit}U))
                    + T::from_bits(y.to_bits().wrapping_sub({exponent_unit}U))
            }}
        }}"
    )
}

/// The bits of positive numbers are in the order of the numbers, those of negative ones in reverse.
fn next_up(on: Scalar) -> String {
    let (infinity, fraction) = masks(on);
    let magnitude = infinity | fraction;
    format!(
        "{{
            let bits = x.to_bits();
            let magnitude = bits & {magnitude}U;
            let next = if magnitude == 0U {{
                1U
            }} else if bits == magnitude {{
                bits.wrapping_add(1U)
            }} else {{
                bits.wrapping_sub(1U)
            }};
            if x.is_nan() || bits == {infinity}U {{ x }} else {{ T::from_bits(next) }}
        }}"
    )
}

/// The number below is the negative one of that above the negative number.
fn next_down(on: Scalar) -> String {
    let (infinity, fraction) = masks(on);
    let sign = (infinity | fraction) + 1;
    format!(
        "{{
            let negative = T::from_bits(x.to_bits() ^ {sign}U);
            T::from_bits(negative.next_up().to_bits() ^ {sign}U)
        }}"
    )
}

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

/// The masks of a float's exponent and of its fraction.
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
