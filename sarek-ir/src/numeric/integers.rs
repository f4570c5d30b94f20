//! Methods of integers that are made of others.

use super::ArgType::Same;
use super::Body::{Bound, ByLiteral, Divide, Inline};
use super::Group::{Basic, Bits, Multiple, Power};
use super::ResultType::{self, Counterpart, Fixed};
use super::Source::{For, Text};
use super::TypeClass::{FixedUnsignedInt, Int, SignedInt, UnsignedInt};
use super::{ArgType, Method, Panic};
use crate::{DivideOp, Scalar};

const BOOL: ResultType = Fixed(Scalar::Bool);
const COUNT: ResultType = Fixed(Scalar::U32);

pub(super) const ROWS: &[Method] = &[
    Method::new(
        "is_positive",
        (Basic, SignedInt),
        &[],
        BOOL,
        Inline(Text("x > 0")),
    ),
    Method::new(
        "is_negative",
        (Basic, SignedInt),
        &[],
        BOOL,
        Inline(Text("x < 0")),
    ),
    Method::new(
        "midpoint",
        (Basic, UnsignedInt),
        &[Same],
        ResultType::Same,
        Bound(Text(MIDPOINT)),
    ),
    Method::new(
        "midpoint",
        (Basic, SignedInt),
        &[Same],
        ResultType::Same,
        Bound(Text(SIGNED_MIDPOINT)),
    ),
    Method::new(
        "isqrt",
        (Power, UnsignedInt),
        &[],
        ResultType::Same,
        Bound(For(square_root)),
    ),
    Method::new(
        "isqrt",
        (Power, SignedInt),
        &[],
        ResultType::Same,
        Bound(Text("(x as U).isqrt() as T")),
    )
    .panics(&[NOT_NEGATIVE]),
    Method::new("ilog", (Power, Int), &[Same], COUNT, Bound(For(logarithm)))
        .panics(&[BASE, POSITIVE]),
    Method::new(
        "ilog2",
        (Power, Int),
        &[],
        COUNT,
        Bound(Text("T::LAST_BIT.wrapping_sub(x.leading_zeros())")),
    )
    .panics(&[POSITIVE]),
    Method::new(
        "ilog10",
        (Power, Int),
        &[],
        COUNT,
        Bound(For(decimal_logarithm)),
    )
    .panics(&[POSITIVE]),
    Method::new(
        "div_euclid",
        (Power, Int),
        &[Same],
        ResultType::Same,
        Divide(DivideOp::DivEuclid),
    )
    .faults(),
    Method::new(
        "rem_euclid",
        (Power, Int),
        &[Same],
        ResultType::Same,
        Divide(DivideOp::RemEuclid),
    )
    .faults(),
    Method::new(
        "is_power_of_two",
        (Multiple, UnsignedInt),
        &[],
        BOOL,
        Inline(Text("x.count_ones() == 1")),
    ),
    Method::new(
        "next_power_of_two",
        (Multiple, UnsignedInt),
        &[],
        ResultType::Same,
        Bound(Text(NEXT_POWER)),
    )
    .faults(),
    Method::new(
        "is_multiple_of",
        (Multiple, UnsignedInt),
        &[Same],
        BOOL,
        ByLiteral(&BY_LITERAL, &BY_ANY),
    ),
    Method::new(
        "next_multiple_of",
        (Multiple, UnsignedInt),
        &[Same],
        ResultType::Same,
        Bound(Text(NEXT_MULTIPLE)),
    )
    .faults(),
    Method::new(
        "div_ceil",
        (Multiple, UnsignedInt),
        &[Same],
        ResultType::Same,
        Bound(Text("x / y + (x % y != 0) as T")),
    )
    .faults(),
    Method::new(
        "count_zeros",
        (Bits, Int),
        &[],
        COUNT,
        Inline(Text("(!x).count_ones()")),
    ),
    Method::new(
        "leading_ones",
        (Bits, Int),
        &[],
        COUNT,
        Inline(Text("(!x).leading_zeros()")),
    ),
    Method::new(
        "trailing_ones",
        (Bits, Int),
        &[],
        COUNT,
        Inline(Text("(!x).trailing_zeros()")),
    ),
    Method::new(
        "cast_signed",
        (Bits, FixedUnsignedInt),
        &[],
        Counterpart,
        Bound(Text("x as C")),
    ),
    Method::new(
        "cast_unsigned",
        (Bits, SignedInt),
        &[],
        Counterpart,
        Bound(Text("x as C")),
    ),
    Method::new(
        "unbounded_shl",
        (Bits, Int),
        SHIFT,
        ResultType::Same,
        Bound(Text("if y < T::BITS { x.wrapping_shl(y) } else { 0 }")),
    ),
    Method::new(
        "unbounded_shr",
        (Bits, UnsignedInt),
        SHIFT,
        ResultType::Same,
        Bound(Text("if y < T::BITS { x.wrapping_shr(y) } else { 0 }")),
    ),
    Method::new(
        "unbounded_shr",
        (Bits, SignedInt),
        SHIFT,
        ResultType::Same,
        Bound(Text("x.wrapping_shr(y.min(T::LAST_BIT))")),
    ),
];

const SHIFT: &[ArgType] = &[ArgType::Fixed(Scalar::U32)];

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

/// Rounds towards zero, where the bits round down.
const SIGNED_MIDPOINT: &str = "{
    let below = ((x ^ y) >> 1) + (x & y);
    if below < 0 { below + ((x ^ y) & 1) } else { below }
}";

/// The number of divisions by the base. Without a valid base the method has panicked.
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

/// The power is twice that of the highest bit of the number before.
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

const BY_LITERAL: super::Body = Inline(Text("x.unchecked_rem(y) == 0"));

/// The only multiple of 0 is 0.
const BY_ANY: super::Body = Bound(Text("x.unchecked_rem(y.max(1)) == 0 && (y != 0 || x == 0)"));

/// The root of the nearest float, in 64 bits after a step of Newton's, is the exact one or one beside it.
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

/// The number of powers of ten that are at most `x`. For `usize`, powers beyond 32 bits would keep it from being narrow.
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
