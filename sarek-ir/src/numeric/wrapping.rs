//! Wrapping and saturating integer methods that are composed of others.

use super::body::bound;

composed_methods! {
    "wrapping_pow" Wrapping Int (Fixed(U32)) -> Value(Same) = bound(WRAPPING_POWER);
    "wrapping_div" Wrapping UnsignedInt (Same) -> Value(Same) = bound("x / y"), faults();
    "wrapping_div" Wrapping SignedInt (Same) -> Value(Same) = bound("if y == -1 { x.wrapping_neg() } else { x / y }"), faults();
    "wrapping_rem" Wrapping UnsignedInt (Same) -> Value(Same) = bound("x % y"), faults();
    "wrapping_rem" Wrapping SignedInt (Same) -> Value(Same) = bound("if y == -1 { 0 } else { x % y }"), faults();
    "wrapping_div_euclid" Wrapping UnsignedInt (Same) -> Value(Same) = bound("x.div_euclid(y)"), faults();
    "wrapping_div_euclid" Wrapping SignedInt (Same) -> Value(Same) = bound("if y == -1 { x.wrapping_neg() } else { x.div_euclid(y) }"), faults();
    "wrapping_rem_euclid" Wrapping UnsignedInt (Same) -> Value(Same) = bound("x.rem_euclid(y)"), faults();
    "wrapping_rem_euclid" Wrapping SignedInt (Same) -> Value(Same) = bound("if y == -1 { 0 } else { x.rem_euclid(y) }"), faults();
    "saturating_pow" Saturating Int (Fixed(U32)) -> Value(Same) = bound(SATURATING_POWER);
    "saturating_div" Saturating UnsignedInt (Same) -> Value(Same) = bound("x / y"), faults();
    "saturating_div" Saturating SignedInt (Same) -> Value(Same) = bound("if y == -1 { x.saturating_neg() } else { x / y }"), faults();
    "saturating_abs" Saturating SignedInt () -> Value(Same) = bound("if x < 0 { (0 as T).saturating_sub(x) } else { x }");
    "saturating_neg" Saturating SignedInt () -> Value(Same) = bound("(0 as T).saturating_sub(x)");
    "wrapping_add_signed" Signed FixedUnsignedInt (Counterpart) -> Value(Same) = bound("x.wrapping_add(y as T)");
    "wrapping_sub_signed" Signed FixedUnsignedInt (Counterpart) -> Value(Same) = bound("x.wrapping_sub(y as T)");
    "saturating_add_signed" Signed FixedUnsignedInt (Counterpart) -> Value(Same) = bound(SATURATING_ADD_SIGNED);
    "saturating_sub_signed" Signed FixedUnsignedInt (Counterpart) -> Value(Same) = bound(SATURATING_SUB_SIGNED);
    "wrapping_add_unsigned" Unsigned SignedInt (Counterpart) -> Value(Same) = bound("x.wrapping_add(y as T)");
    "wrapping_sub_unsigned" Unsigned SignedInt (Counterpart) -> Value(Same) = bound("x.wrapping_sub(y as T)");
    "saturating_add_unsigned" Unsigned SignedInt (Counterpart) -> Value(Same) = bound(SATURATING_ADD_UNSIGNED);
    "saturating_sub_unsigned" Unsigned SignedInt (Counterpart) -> Value(Same) = bound(SATURATING_SUB_UNSIGNED);
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

/// The power by repeated squaring.
const WRAPPING_POWER: &str = power!("wrapping_mul");

/// A saturated product stays at its bound: all later factors are squares, and so are never negative.
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
