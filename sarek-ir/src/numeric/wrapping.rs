//! Methods of integers that wrap, or stop at the bounds of their type, and are made of others.

use super::ArgType::{self, Counterpart, Same};
use super::Body::Bound;
use super::Group::{Saturating, Signed, Unsigned, Wrapping};
use super::Source::Text;
use super::TypeClass::{FixedUnsignedInt, Int, SignedInt, UnsignedInt};
use super::{Group, Method, ResultType, TypeClass};
use crate::Scalar;

pub(super) const ROWS: &[Method] = &[
    row("wrapping_pow", (Wrapping, Int), COUNT, WRAPPING_POWER),
    row("wrapping_div", (Wrapping, UnsignedInt), &[Same], "x / y").faults(),
    row(
        "wrapping_div",
        (Wrapping, SignedInt),
        &[Same],
        "if y == -1 { x.wrapping_neg() } else { x / y }",
    )
    .faults(),
    row("wrapping_rem", (Wrapping, UnsignedInt), &[Same], "x % y").faults(),
    row(
        "wrapping_rem",
        (Wrapping, SignedInt),
        &[Same],
        "if y == -1 { 0 } else { x % y }",
    )
    .faults(),
    row(
        "wrapping_div_euclid",
        (Wrapping, UnsignedInt),
        &[Same],
        "x.div_euclid(y)",
    )
    .faults(),
    row(
        "wrapping_div_euclid",
        (Wrapping, SignedInt),
        &[Same],
        "if y == -1 { x.wrapping_neg() } else { x.div_euclid(y) }",
    )
    .faults(),
    row(
        "wrapping_rem_euclid",
        (Wrapping, UnsignedInt),
        &[Same],
        "x.rem_euclid(y)",
    )
    .faults(),
    row(
        "wrapping_rem_euclid",
        (Wrapping, SignedInt),
        &[Same],
        "if y == -1 { 0 } else { x.rem_euclid(y) }",
    )
    .faults(),
    row("saturating_pow", (Saturating, Int), COUNT, SATURATING_POWER),
    row(
        "saturating_div",
        (Saturating, UnsignedInt),
        &[Same],
        "x / y",
    )
    .faults(),
    row(
        "saturating_div",
        (Saturating, SignedInt),
        &[Same],
        "if y == -1 { x.saturating_neg() } else { x / y }",
    )
    .faults(),
    row(
        "saturating_abs",
        (Saturating, SignedInt),
        &[],
        "if x < 0 { (0 as T).saturating_sub(x) } else { x }",
    ),
    row(
        "saturating_neg",
        (Saturating, SignedInt),
        &[],
        "(0 as T).saturating_sub(x)",
    ),
    row(
        "wrapping_add_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        "x.wrapping_add(y as T)",
    ),
    row(
        "wrapping_sub_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        "x.wrapping_sub(y as T)",
    ),
    row(
        "saturating_add_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        SATURATING_ADD_SIGNED,
    ),
    row(
        "saturating_sub_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        SATURATING_SUB_SIGNED,
    ),
    row(
        "wrapping_add_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        "x.wrapping_add(y as T)",
    ),
    row(
        "wrapping_sub_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        "x.wrapping_sub(y as T)",
    ),
    row(
        "saturating_add_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        SATURATING_ADD_UNSIGNED,
    ),
    row(
        "saturating_sub_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        SATURATING_SUB_UNSIGNED,
    ),
];

const COUNT: &[ArgType] = &[ArgType::Fixed(Scalar::U32)];

/// A row whose result is of the receiver's type.
const fn row(
    name: &'static str,
    kind: (Group, TypeClass),
    args: &'static [ArgType],
    body: &'static str,
) -> Method {
    Method::new(name, kind, args, ResultType::Same, Bound(Text(body)))
}

macro_rules! power {
    ($times:literal) => {
        concat!(
            "{
                let mut square = x;
                let mut left = y;
                let mut power = 1T;
                while left > 0 {
                    if left & 1 == 1 {
                        power = power.",
            $times,
            "(square);
                    }
                    square = square.",
            $times,
            "(square);
                    left >>= 1;
                }
                power
            }"
        )
    };
}

/// A power by squares.
const WRAPPING_POWER: &str = power!("wrapping_mul");

/// A product at a bound stays there, with its sign: only the number itself is negative.
const SATURATING_POWER: &str = power!("saturating_mul");

const SATURATING_ADD_UNSIGNED: &str = "{
    let sum = x.wrapping_add(y as T);
    if sum >= x { sum } else { T::MAX }
}";

const SATURATING_SUB_UNSIGNED: &str = "{
    let difference = x.wrapping_sub(y as T);
    if difference <= x { difference } else { T::MIN }
}";

const SATURATING_ADD_SIGNED: &str = "{
    let sum = x.wrapping_add(y as T);
    if y < 0 {
        if sum < x { sum } else { 0 }
    } else {
        if sum >= x { sum } else { T::MAX }
    }
}";

const SATURATING_SUB_SIGNED: &str = "{
    let difference = x.wrapping_sub(y as T);
    if y < 0 {
        if difference > x { difference } else { T::MAX }
    } else {
        if difference <= x { difference } else { 0 }
    }
}";
