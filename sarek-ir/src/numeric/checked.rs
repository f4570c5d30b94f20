//! Integer methods that report overflow: `checked_add` returns an `Option`, `overflowing_add` a pair.

use super::Body;
use super::Source::{self, For, Text};
use super::body::bound;
use super::integers::{NEXT_MULTIPLE, NEXT_POWER, decimal_logarithm, logarithm};
use crate::Scalar;

composed_methods! {
    "checked_add" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text("x.wrapping_add(y) >= x"), Text("x.wrapping_add(y)"));
    "checked_add" Checked SignedInt (Same) -> Optional(Same) = checked(SUM_FITS, Text("x.wrapping_add(y)"));
    "checked_sub" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text("x >= y"), Text("x - y"));
    "checked_sub" Checked SignedInt (Same) -> Optional(Same) = checked(DIFFERENCE_FITS, Text("x.wrapping_sub(y)"));
    "checked_mul" Checked Int (Same) -> Optional(Same) = checked(For(product_fits), Text("x.wrapping_mul(y)"));
    "checked_div" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text("y != 0"), Text("x.unchecked_div(y)"));
    "checked_div" Checked SignedInt (Same) -> Optional(Same) = checked(QUOTIENT_FITS, Text("x.unchecked_div(y)"));
    "checked_rem" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text("y != 0"), Text("x.unchecked_rem(y)"));
    "checked_rem" Checked SignedInt (Same) -> Optional(Same) = checked(QUOTIENT_FITS, Text("x.unchecked_rem(y)"));
    "checked_div_euclid" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text("y != 0"), Text("x.unchecked_div_euclid(y)"));
    "checked_div_euclid" Checked SignedInt (Same) -> Optional(Same) = checked(QUOTIENT_FITS, Text("x.unchecked_div_euclid(y)"));
    "checked_rem_euclid" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text("y != 0"), Text("x.unchecked_rem_euclid(y)"));
    "checked_rem_euclid" Checked SignedInt (Same) -> Optional(Same) = checked(QUOTIENT_FITS, Text("x.unchecked_rem_euclid(y)"));
    "checked_neg" Checked UnsignedInt () -> Optional(Same) = checked(Text("x == 0"), Text("x.wrapping_neg()"));
    "checked_neg" Checked SignedInt () -> Optional(Same) = checked(Text("x != T::MIN"), Text("x.wrapping_neg()"));
    "checked_abs" Checked SignedInt () -> Optional(Same) = checked(Text("x != T::MIN"), Text("x.wrapping_abs()"));
    "checked_shl" Checked Int (Fixed(U32)) -> Optional(Same) = checked(Text("y < T::BITS"), Text("x.wrapping_shl(y)"));
    "checked_shr" Checked Int (Fixed(U32)) -> Optional(Same) = checked(Text("y < T::BITS"), Text("x.wrapping_shr(y)"));
    "checked_pow" Checked Int (Fixed(U32)) -> Optional(Same) = CHECKED_POWER;
    "checked_isqrt" Checked SignedInt () -> Optional(Same) = checked(Text("x >= 0"), Text("(x as U).isqrt() as T"));
    "checked_next_power_of_two" Checked UnsignedInt () -> Optional(Same) = checked(Text("x.saturating_sub(1).leading_zeros() > 0"), Text(NEXT_POWER));
    "checked_next_multiple_of" Checked UnsignedInt (Same) -> Optional(Same) = checked(Text(NEXT_MULTIPLE_FITS), Text(NEXT_MULTIPLE));
    "checked_ilog" Checked Int (Same) -> Optional(Fixed(U32)) = checked(Text("x > 0 && y > 1"), For(logarithm));
    "checked_ilog2" Checked Int () -> Optional(Fixed(U32)) = checked(Text("x > 0"), Text("T::LAST_BIT - x.leading_zeros()"));
    "checked_ilog10" Checked Int () -> Optional(Fixed(U32)) = checked(Text("x > 0"), For(decimal_logarithm));
    "checked_signed_diff" Checked FixedUnsignedInt (Same) -> Optional(Counterpart) = checked(SIGNED_DIFFERENCE_FITS, Text("x.wrapping_sub(y) as C"));
    "carrying_add" Overflowing UnsignedInt (Same, Fixed(Bool)) -> Overflow(Same) = overflowing(CARRIED_SUM_FITS, "x.wrapping_add(y).wrapping_add(z as T)");
    "overflowing_add" Overflowing UnsignedInt (Same) -> Overflow(Same) = overflowing(Text("x.wrapping_add(y) >= x"), "x.wrapping_add(y)");
    "overflowing_add" Overflowing SignedInt (Same) -> Overflow(Same) = overflowing(SUM_FITS, "x.wrapping_add(y)");
    "overflowing_sub" Overflowing UnsignedInt (Same) -> Overflow(Same) = overflowing(Text("x >= y"), "x.wrapping_sub(y)");
    "overflowing_sub" Overflowing SignedInt (Same) -> Overflow(Same) = overflowing(DIFFERENCE_FITS, "x.wrapping_sub(y)");
    "overflowing_mul" Overflowing Int (Same) -> Overflow(Same) = overflowing(For(product_fits), "x.wrapping_mul(y)");
    "overflowing_div" Overflowing UnsignedInt (Same) -> Overflow(Same) = overflowing(Text("y != 0"), "x.wrapping_div(y)");
    "overflowing_div" Overflowing SignedInt (Same) -> Overflow(Same) = overflowing(QUOTIENT_FITS, "x.wrapping_div(y)");
    "overflowing_rem" Overflowing UnsignedInt (Same) -> Overflow(Same) = overflowing(Text("y != 0"), "x.wrapping_rem(y)");
    "overflowing_rem" Overflowing SignedInt (Same) -> Overflow(Same) = overflowing(QUOTIENT_FITS, "x.wrapping_rem(y)");
    "overflowing_div_euclid" Overflowing UnsignedInt (Same) -> Overflow(Same) = overflowing(Text("y != 0"), "x.wrapping_div_euclid(y)");
    "overflowing_div_euclid" Overflowing SignedInt (Same) -> Overflow(Same) = overflowing(QUOTIENT_FITS, "x.wrapping_div_euclid(y)");
    "overflowing_rem_euclid" Overflowing UnsignedInt (Same) -> Overflow(Same) = overflowing(Text("y != 0"), "x.wrapping_rem_euclid(y)");
    "overflowing_rem_euclid" Overflowing SignedInt (Same) -> Overflow(Same) = overflowing(QUOTIENT_FITS, "x.wrapping_rem_euclid(y)");
    "overflowing_neg" Overflowing UnsignedInt () -> Overflow(Same) = overflowing(Text("x == 0"), "x.wrapping_neg()");
    "overflowing_neg" Overflowing SignedInt () -> Overflow(Same) = overflowing(Text("x != T::MIN"), "x.wrapping_neg()");
    "overflowing_abs" Overflowing SignedInt () -> Overflow(Same) = overflowing(Text("x != T::MIN"), "x.wrapping_abs()");
    "overflowing_shl" Overflowing Int (Fixed(U32)) -> Overflow(Same) = overflowing(Text("y < T::BITS"), "x.wrapping_shl(y)");
    "overflowing_shr" Overflowing Int (Fixed(U32)) -> Overflow(Same) = overflowing(Text("y < T::BITS"), "x.wrapping_shr(y)");
    "overflowing_pow" Overflowing Int (Fixed(U32)) -> Overflow(Same) = bound(OVERFLOWING_POWER);
    "checked_add_signed" Signed FixedUnsignedInt (Counterpart) -> Optional(Same) = checked(SUM_WITH_SIGNED_FITS, Text("x.wrapping_add_signed(y)"));
    "overflowing_add_signed" Signed FixedUnsignedInt (Counterpart) -> Overflow(Same) = overflowing(SUM_WITH_SIGNED_FITS, "x.wrapping_add_signed(y)");
    "checked_sub_signed" Signed FixedUnsignedInt (Counterpart) -> Optional(Same) = checked(DIFFERENCE_WITH_SIGNED_FITS, Text("x.wrapping_sub_signed(y)"));
    "overflowing_sub_signed" Signed FixedUnsignedInt (Counterpart) -> Overflow(Same) = overflowing(DIFFERENCE_WITH_SIGNED_FITS, "x.wrapping_sub_signed(y)");
    "checked_add_unsigned" Unsigned SignedInt (Counterpart) -> Optional(Same) = checked(Text("x.wrapping_add(y as T) >= x"), Text("x.wrapping_add_unsigned(y)"));
    "overflowing_add_unsigned" Unsigned SignedInt (Counterpart) -> Overflow(Same) = overflowing(Text("x.wrapping_add(y as T) >= x"), "x.wrapping_add_unsigned(y)");
    "checked_sub_unsigned" Unsigned SignedInt (Counterpart) -> Optional(Same) = checked(Text("x.wrapping_sub(y as T) <= x"), Text("x.wrapping_sub_unsigned(y)"));
    "overflowing_sub_unsigned" Unsigned SignedInt (Counterpart) -> Overflow(Same) = overflowing(Text("x.wrapping_sub(y as T) <= x"), "x.wrapping_sub_unsigned(y)");
}

const fn checked(fits: Source, value: Source) -> Body {
    let first = None;
    Body::Checked { first, fits, value }
}

const fn overflowing(fits: Source, value: &'static str) -> Body {
    let value = Text(value);
    Body::Overflowing { fits, value }
}

const SUM_FITS: Source = Text(
    "{
    let sum = x.wrapping_add(y);
    ((x ^ sum) & (y ^ sum)) >= 0
}",
);

const DIFFERENCE_FITS: Source = Text(
    "{
    let difference = x.wrapping_sub(y);
    ((x ^ y) & (x ^ difference)) >= 0
}",
);

const QUOTIENT_FITS: Source = Text("y != 0 && (y != -1 || x != T::MIN)");

const SUM_WITH_SIGNED_FITS: Source = Text("(x.wrapping_add(y as T) >= x) == (y >= 0)");

const DIFFERENCE_WITH_SIGNED_FITS: Source = Text("(x.wrapping_sub(y as T) <= x) == (y >= 0)");

/// The difference fits if the sign of the wrapped difference agrees with the order of the numbers.
const SIGNED_DIFFERENCE_FITS: Source = Text("(x.wrapping_sub(y) as C >= 0) == (x >= y)");

const CARRIED_SUM_FITS: Source = Text(
    "{
    let sum = x.wrapping_add(y);
    sum >= x && sum.wrapping_add(z as T) >= sum
}",
);

const NEXT_MULTIPLE_FITS: &str = "y != 0 && {
    let rest = x % y;
    rest == 0 || x.wrapping_add(y - rest) > x
}";

/// The condition that a product fits. Products of 8 and 16 bits are computed in 32 bits, which hold them. A wider product fits
/// if dividing the wrapped product (for signed types, that of the magnitudes) by one factor gives the other.
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

/// Computes the power and its overflow in one loop, by repeated squaring. It skips the last square, which is unused and might overflow.
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
