//! Methods of integers that report overflow: `checked_add` yields an `Option`, `overflowing_add` a pair.

use super::ArgType::{self, Counterpart, Same};
use super::Body;
use super::Group::{Checked, Overflowing, Signed, Unsigned};
use super::Source::{self, For, Text};
use super::TypeClass::{FixedUnsignedInt, Int, SignedInt, UnsignedInt};
use super::integers::{NEXT_MULTIPLE, NEXT_POWER, decimal_logarithm, logarithm};
use super::{Group, Method, ResultType, Returns, TypeClass};
use crate::Scalar;

pub(super) const ROWS: &[Method] = &[
    checked(
        "checked_add",
        (Checked, UnsignedInt),
        &[Same],
        Text("x.wrapping_add(y) >= x"),
        Text("x.wrapping_add(y)"),
    ),
    checked(
        "checked_add",
        (Checked, SignedInt),
        &[Same],
        Text(SUM_FITS),
        Text("x.wrapping_add(y)"),
    ),
    checked(
        "checked_sub",
        (Checked, UnsignedInt),
        &[Same],
        Text("x >= y"),
        Text("x - y"),
    ),
    checked(
        "checked_sub",
        (Checked, SignedInt),
        &[Same],
        Text(DIFFERENCE_FITS),
        Text("x.wrapping_sub(y)"),
    ),
    checked(
        "checked_mul",
        (Checked, Int),
        &[Same],
        For(product_fits),
        Text("x.wrapping_mul(y)"),
    ),
    checked(
        "checked_div",
        (Checked, UnsignedInt),
        &[Same],
        Text("y != 0"),
        Text("x.unchecked_div(y)"),
    ),
    checked(
        "checked_div",
        (Checked, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        Text("x.unchecked_div(y)"),
    ),
    checked(
        "checked_rem",
        (Checked, UnsignedInt),
        &[Same],
        Text("y != 0"),
        Text("x.unchecked_rem(y)"),
    ),
    checked(
        "checked_rem",
        (Checked, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        Text("x.unchecked_rem(y)"),
    ),
    checked(
        "checked_div_euclid",
        (Checked, UnsignedInt),
        &[Same],
        Text("y != 0"),
        Text("x.unchecked_div_euclid(y)"),
    ),
    checked(
        "checked_div_euclid",
        (Checked, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        Text("x.unchecked_div_euclid(y)"),
    ),
    checked(
        "checked_rem_euclid",
        (Checked, UnsignedInt),
        &[Same],
        Text("y != 0"),
        Text("x.unchecked_rem_euclid(y)"),
    ),
    checked(
        "checked_rem_euclid",
        (Checked, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        Text("x.unchecked_rem_euclid(y)"),
    ),
    checked(
        "checked_neg",
        (Checked, UnsignedInt),
        &[],
        Text("x == 0"),
        Text("x.wrapping_neg()"),
    ),
    checked(
        "checked_neg",
        (Checked, SignedInt),
        &[],
        Text("x != T::MIN"),
        Text("x.wrapping_neg()"),
    ),
    checked(
        "checked_abs",
        (Checked, SignedInt),
        &[],
        Text("x != T::MIN"),
        Text("x.wrapping_abs()"),
    ),
    checked(
        "checked_shl",
        (Checked, Int),
        COUNT,
        Text("y < T::BITS"),
        Text("x.wrapping_shl(y)"),
    ),
    checked(
        "checked_shr",
        (Checked, Int),
        COUNT,
        Text("y < T::BITS"),
        Text("x.wrapping_shr(y)"),
    ),
    Method::new(
        "checked_pow",
        (Checked, Int),
        COUNT,
        ResultType::Same,
        CHECKED_POWER,
    )
    .returns(Returns::Option),
    checked(
        "checked_isqrt",
        (Checked, SignedInt),
        &[],
        Text("x >= 0"),
        Text("(x as U).isqrt() as T"),
    ),
    checked(
        "checked_next_power_of_two",
        (Checked, UnsignedInt),
        &[],
        Text("x.saturating_sub(1).leading_zeros() > 0"),
        Text(NEXT_POWER),
    ),
    checked(
        "checked_next_multiple_of",
        (Checked, UnsignedInt),
        &[Same],
        Text(NEXT_MULTIPLE_FITS),
        Text(NEXT_MULTIPLE),
    ),
    logarithm_row(
        "checked_ilog",
        &[Same],
        Text("x > 0 && y > 1"),
        For(logarithm),
    ),
    logarithm_row(
        "checked_ilog2",
        &[],
        Text("x > 0"),
        Text("T::LAST_BIT - x.leading_zeros()"),
    ),
    logarithm_row("checked_ilog10", &[], Text("x > 0"), For(decimal_logarithm)),
    overflowing(
        "overflowing_add",
        (Overflowing, UnsignedInt),
        &[Same],
        Text("x.wrapping_add(y) >= x"),
        "x.wrapping_add(y)",
    ),
    overflowing(
        "overflowing_add",
        (Overflowing, SignedInt),
        &[Same],
        Text(SUM_FITS),
        "x.wrapping_add(y)",
    ),
    overflowing(
        "overflowing_sub",
        (Overflowing, UnsignedInt),
        &[Same],
        Text("x >= y"),
        "x.wrapping_sub(y)",
    ),
    overflowing(
        "overflowing_sub",
        (Overflowing, SignedInt),
        &[Same],
        Text(DIFFERENCE_FITS),
        "x.wrapping_sub(y)",
    ),
    overflowing(
        "overflowing_mul",
        (Overflowing, Int),
        &[Same],
        For(product_fits),
        "x.wrapping_mul(y)",
    ),
    overflowing(
        "overflowing_div",
        (Overflowing, UnsignedInt),
        &[Same],
        Text("y != 0"),
        "x.wrapping_div(y)",
    ),
    overflowing(
        "overflowing_div",
        (Overflowing, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        "x.wrapping_div(y)",
    ),
    overflowing(
        "overflowing_rem",
        (Overflowing, UnsignedInt),
        &[Same],
        Text("y != 0"),
        "x.wrapping_rem(y)",
    ),
    overflowing(
        "overflowing_rem",
        (Overflowing, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        "x.wrapping_rem(y)",
    ),
    overflowing(
        "overflowing_div_euclid",
        (Overflowing, UnsignedInt),
        &[Same],
        Text("y != 0"),
        "x.wrapping_div_euclid(y)",
    ),
    overflowing(
        "overflowing_div_euclid",
        (Overflowing, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        "x.wrapping_div_euclid(y)",
    ),
    overflowing(
        "overflowing_rem_euclid",
        (Overflowing, UnsignedInt),
        &[Same],
        Text("y != 0"),
        "x.wrapping_rem_euclid(y)",
    ),
    overflowing(
        "overflowing_rem_euclid",
        (Overflowing, SignedInt),
        &[Same],
        Text(QUOTIENT_FITS),
        "x.wrapping_rem_euclid(y)",
    ),
    overflowing(
        "overflowing_neg",
        (Overflowing, UnsignedInt),
        &[],
        Text("x == 0"),
        "x.wrapping_neg()",
    ),
    overflowing(
        "overflowing_neg",
        (Overflowing, SignedInt),
        &[],
        Text("x != T::MIN"),
        "x.wrapping_neg()",
    ),
    overflowing(
        "overflowing_abs",
        (Overflowing, SignedInt),
        &[],
        Text("x != T::MIN"),
        "x.wrapping_abs()",
    ),
    overflowing(
        "overflowing_shl",
        (Overflowing, Int),
        COUNT,
        Text("y < T::BITS"),
        "x.wrapping_shl(y)",
    ),
    overflowing(
        "overflowing_shr",
        (Overflowing, Int),
        COUNT,
        Text("y < T::BITS"),
        "x.wrapping_shr(y)",
    ),
    Method::new(
        "overflowing_pow",
        (Overflowing, Int),
        COUNT,
        ResultType::Same,
        Body::Bound(Text(OVERFLOWING_POWER)),
    )
    .returns(Returns::Overflow),
    checked(
        "checked_add_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        Text("(x.wrapping_add(y as T) >= x) == (y >= 0)"),
        Text("x.wrapping_add_signed(y)"),
    ),
    overflowing(
        "overflowing_add_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        Text("(x.wrapping_add(y as T) >= x) == (y >= 0)"),
        "x.wrapping_add_signed(y)",
    ),
    checked(
        "checked_sub_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        Text("(x.wrapping_sub(y as T) <= x) == (y >= 0)"),
        Text("x.wrapping_sub_signed(y)"),
    ),
    overflowing(
        "overflowing_sub_signed",
        (Signed, FixedUnsignedInt),
        &[Counterpart],
        Text("(x.wrapping_sub(y as T) <= x) == (y >= 0)"),
        "x.wrapping_sub_signed(y)",
    ),
    checked(
        "checked_add_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        Text("x.wrapping_add(y as T) >= x"),
        Text("x.wrapping_add_unsigned(y)"),
    ),
    overflowing(
        "overflowing_add_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        Text("x.wrapping_add(y as T) >= x"),
        "x.wrapping_add_unsigned(y)",
    ),
    checked(
        "checked_sub_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        Text("x.wrapping_sub(y as T) <= x"),
        Text("x.wrapping_sub_unsigned(y)"),
    ),
    overflowing(
        "overflowing_sub_unsigned",
        (Unsigned, SignedInt),
        &[Counterpart],
        Text("x.wrapping_sub(y as T) <= x"),
        "x.wrapping_sub_unsigned(y)",
    ),
];

const COUNT: &[ArgType] = &[ArgType::Fixed(Scalar::U32)];

const fn checked(
    name: &'static str,
    kind: (Group, TypeClass),
    args: &'static [ArgType],
    fits: Source,
    value: Source,
) -> Method {
    let first = None;
    let body = Body::Checked { first, fits, value };
    Method::new(name, kind, args, ResultType::Same, body).returns(Returns::Option)
}

const fn logarithm_row(
    name: &'static str,
    args: &'static [ArgType],
    fits: Source,
    value: Source,
) -> Method {
    let mut row = checked(name, (Checked, Int), args, fits, value);
    row.result = ResultType::Fixed(Scalar::U32);
    row
}

const fn overflowing(
    name: &'static str,
    kind: (Group, TypeClass),
    args: &'static [ArgType],
    fits: Source,
    value: &'static str,
) -> Method {
    let value = Text(value);
    let body = Body::Overflowing { fits, value };
    Method::new(name, kind, args, ResultType::Same, body).returns(Returns::Overflow)
}

const SUM_FITS: &str = "{
    let sum = x.wrapping_add(y);
    ((x ^ sum) & (y ^ sum)) >= 0
}";

const DIFFERENCE_FITS: &str = "{
    let difference = x.wrapping_sub(y);
    ((x ^ y) & (x ^ difference)) >= 0
}";

const QUOTIENT_FITS: &str = "y != 0 && (y != -1 || x != T::MIN)";

const NEXT_MULTIPLE_FITS: &str = "y != 0 && {
    let rest = x % y;
    rest == 0 || x.wrapping_add(y - rest) > x
}";

/// Two integers of a width have a product of twice that. Of the widest, the division by one of them tells whether it fits.
fn product_fits(on: Scalar) -> String {
    let text = match (on.bits(), on.is_signed()) {
        (8 | 16, true) => "{ let product = x as i32 * y as i32; product as T as i32 == product }",
        (8 | 16, false) => "{ let product = x as u32 * y as u32; product as T as u32 == product }",
        (_, false) => {
            "{
                let t = x.wrapping_mul(y).unchecked_div(y.max(1));
                y == 0 || x == t
            }"
        }
        (_, true) => {
            "{
                let a = x.unsigned_abs();
                let b = y.unsigned_abs();
                let quotient = a.wrapping_mul(b).unchecked_div(b.max(1));
                let magnitude_fits = b == 0 || a == quotient;
                let is_negative = (x ^ y) < 0;
                magnitude_fits && a.wrapping_mul(b) <= T::MIN.unsigned_abs() - 1 + is_negative as U
            }"
        }
    };
    text.to_owned()
}

/// The power and whether it fits come of one loop. A last square that is not needed may overflow.
const OVERFLOWING_POWER: &str = "{
    let mut square = x;
    let mut left = y;
    let mut power = 1T;
    let mut overflows = false;
    while left > 0 {
        if left & 1 == 1 {
            let (next, too_much) = power.overflowing_mul(square);
            power = next;
            overflows |= too_much;
        }
        left >>= 1;
        if left > 0 {
            let (next, too_much) = square.overflowing_mul(square);
            square = next;
            overflows |= too_much;
        }
    }
    (power, overflows)
}";

const CHECKED_POWER: Body = Body::Checked {
    first: Some(Text(OVERFLOWING_POWER)),
    fits: Text("!z.1"),
    value: Text("z.0"),
};
