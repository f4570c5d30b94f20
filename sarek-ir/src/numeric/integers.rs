//! Integer methods that are composed of others.

use super::Body::{self, Bound, ByLiteral, Divide};
use super::Panic;
use super::Source::For;
use super::body::{bound, inline};
use crate::{DivideOp, Scalar};

composed_methods! {
    "is_positive" Basic SignedInt () -> Value(Fixed(Bool)) = inline("x > 0");
    "is_negative" Basic SignedInt () -> Value(Fixed(Bool)) = inline("x < 0");
    "midpoint" Basic UnsignedInt (Same) -> Value(Same) = bound(MIDPOINT);
    "midpoint" Basic SignedInt (Same) -> Value(Same) = bound(SIGNED_MIDPOINT);
    "isqrt" Power UnsignedInt () -> Value(Same) = Bound(For(square_root));
    "isqrt" Power SignedInt () -> Value(Same) = bound("(x as U).isqrt() as T"), panics(&[NOT_NEGATIVE]);
    "ilog" Power Int (Same) -> Value(Fixed(U32)) = Bound(For(logarithm)), panics(&[BASE, POSITIVE]);
    "ilog2" Power Int () -> Value(Fixed(U32)) = bound("T::LAST_BIT.wrapping_sub(x.leading_zeros())"), panics(&[POSITIVE]);
    "ilog10" Power Int () -> Value(Fixed(U32)) = Bound(For(decimal_logarithm)), panics(&[POSITIVE]);
    "div_euclid" Power Int (Same) -> Value(Same) = Divide(DivideOp::DivEuclid), faults();
    "rem_euclid" Power Int (Same) -> Value(Same) = Divide(DivideOp::RemEuclid), faults();
    "is_power_of_two" Multiple UnsignedInt () -> Value(Fixed(Bool)) = inline("x.count_ones() == 1");
    "next_power_of_two" Multiple UnsignedInt () -> Value(Same) = bound(NEXT_POWER), faults();
    "is_multiple_of" Multiple UnsignedInt (Same) -> Value(Fixed(Bool)) = ByLiteral(&BY_LITERAL, &BY_ANY);
    "next_multiple_of" Multiple UnsignedInt (Same) -> Value(Same) = bound(NEXT_MULTIPLE), faults();
    "div_ceil" Multiple UnsignedInt (Same) -> Value(Same) = bound("x / y + (x % y != 0) as T"), faults();
    "count_zeros" Bits Int () -> Value(Fixed(U32)) = inline("(!x).count_ones()");
    "leading_ones" Bits Int () -> Value(Fixed(U32)) = inline("(!x).leading_zeros()");
    "trailing_ones" Bits Int () -> Value(Fixed(U32)) = inline("(!x).trailing_zeros()");
    "cast_signed" Bits FixedUnsignedInt () -> Value(Counterpart) = bound("x as C");
    "cast_unsigned" Bits SignedInt () -> Value(Counterpart) = bound("x as C");
    "unbounded_shl" Bits Int (Fixed(U32)) -> Value(Same) = bound("if y < T::BITS { x.wrapping_shl(y) } else { 0 }");
    "unbounded_shr" Bits UnsignedInt (Fixed(U32)) -> Value(Same) = bound("if y < T::BITS { x.wrapping_shr(y) } else { 0 }");
    "unbounded_shr" Bits SignedInt (Fixed(U32)) -> Value(Same) = bound("x.wrapping_shr(y.min(T::LAST_BIT))");
}

const POSITIVE: Panic = Panic {
    unless: "x > 0",
    message: "argument of integer logarithm must be positive",
};

const BASE: Panic = Panic {
    unless: "y >= 2",
    message: "base of integer logarithm must be at least 2",
};

const NOT_NEGATIVE: Panic = Panic {
    unless: "x >= 0",
    message: "argument of integer square root cannot be negative",
};

const MIDPOINT: &str = "((x ^ y) >> 1) + (x & y)";

/// Rounds towards zero: the bitwise formula rounds down, so a negative result is corrected.
const SIGNED_MIDPOINT: &str = "{
    let below = ((x ^ y) >> 1) + (x & y);
    if below < 0 { below + ((x ^ y) & 1) } else { below }
}";

/// Counts the divisions by the base. With an invalid base, the method has already panicked.
pub(super) fn logarithm(_: Scalar) -> String {
    divisions_by("y")
}

fn divisions_by(base: &str) -> String {
    format!(
        "{{
            let base = {base}.max(2);
            let mut left = x;
            let mut times = 0u32;
            while left >= base {{
                left /= base;
                times += 1;
            }}
            times
        }}"
    )
}

/// The power is twice the highest bit of `x - 1`.
pub(super) const NEXT_POWER: &str = "if x <= 1 {
    1
} else {
    let half = 1T << (T::LAST_BIT - (x - 1).leading_zeros());
    half + half
}";

pub(super) const NEXT_MULTIPLE: &str = "{
    let rest = x % y;
    if rest == 0 { x } else { x + (y - rest) }
}";

const BY_LITERAL: Body = inline("x.unchecked_rem(y) == 0");

/// The only multiple of 0 is 0.
const BY_ANY: Body = bound("x.unchecked_rem(y.max(1)) == 0 && (y != 0 || x == 0)");

/// Computes the root in `f32`, and corrects it: the estimate is off by at most one. For 64 bits, a step of Newton's method comes first.
fn square_root(on: Scalar) -> String {
    let greatest = (1u64 << (on.bits().max(32) / 2)) - 1;
    match on.bits() {
        64 => format!(
            "{{
                let about = (x as f32).sqrt() as T;
                let root = ((about + x / about.max(1)) >> 1).min({greatest});
                let root = root - (root * root > x) as T;
                root + (x - root * root > root + root) as T
            }}"
        ),
        _ => format!(
            "{{
                let x = x as u32;
                let root = ((x as f32).sqrt() as u32).min({greatest});
                let root = root - (root * root > x) as u32;
                (root + (x - root * root > root + root) as u32) as T
            }}"
        ),
    }
}

/// Counts the powers of ten up to `x`. For `usize`, it counts divisions instead, since constants beyond 32 bits would prevent computing
/// in 32 bits.
pub(super) fn decimal_logarithm(on: Scalar) -> String {
    if on == Scalar::Usize {
        return divisions_by("10usize");
    }
    let most = u64::MAX >> (64 - on.bits() + u32::from(on.is_signed()));
    let powers = std::iter::successors(Some(10u64), |power| power.checked_mul(10));
    let powers = powers.take_while(|power| *power <= most);
    let terms: Vec<String> = powers
        .map(|power| format!("(x >= {power}) as u32"))
        .collect();
    terms.join(" + ")
}
