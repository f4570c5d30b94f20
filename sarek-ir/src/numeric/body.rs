//! Bodies of methods.

use std::borrow::Cow;

use super::{ResultType, TypeClass};
use crate::{DivideOp, Intrinsic, Scalar};

/// The computation of a method.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A node of the IR that each target has, or spells by a helper.
    Intrinsic(Intrinsic),
    /// An integer division, which faults as Rust's panics.
    Divide(DivideOp),
    /// An expression with each operand once, in their order. Operands stand in it as they are.
    Inline(Source),
    /// An expression. Operands that are no variables or constants are bound to variables before it.
    Bound(Source),
    /// Two bodies: one for an argument that is an integer literal above 0, and one for all arguments.
    ByLiteral(&'static Body, &'static Body),
    /// `Some(value)` if `fits` is true, else `None`. Both may read `z`, which is `first`.
    Checked {
        /// A value that is computed before.
        first: Option<Source>,
        /// The condition.
        fits: Source,
        /// The result, computed where it fits.
        value: Source,
    },
    /// `(value, !fits)`
    Overflowing {
        /// The condition.
        fits: Source,
        /// The result, which wraps.
        value: Source,
    },
}

/// An expression of the kernel language over the operands `x` (the receiver) and `y`.
///
/// | | |
/// |---|---|
/// | `T` | the receiver's type, also as a suffix of a literal: `1T` |
/// | `U`, `C` | the unsigned integer of its width; the integer of the other signedness |
/// | `T::MIN`, `T::MAX` | its bounds, as literals |
/// | `T::BITS`, `T::LAST_BIT` | its width and one less, as `u32` literals |
/// | `unchecked_div`, `unchecked_rem` and so on | divisions whose divisor is known to be valid |
///
/// Methods of the table may be called in it.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// One text for all types.
    Text(&'static str),
    /// A text that depends on more than the names above.
    For(fn(Scalar) -> String),
}

impl Source {
    /// The expression for a receiver of type `on`, without the names above.
    pub fn text(self, on: Scalar) -> String {
        let text = match self {
            Source::Text(text) => Cow::Borrowed(text),
            Source::For(text) => Cow::Owned(text(on)),
        };
        let mut text = text.into_owned();
        for (name, value) in constants(on) {
            text = text.replace(name, &value);
        }
        words(&text).map(|word| filled(word, on)).collect()
    }
}

/// A word with the names of types filled in, suffixes of literals included.
fn filled(word: &str, on: Scalar) -> String {
    let digits = word.trim_end_matches(['T', 'U', 'C']);
    let name = match &word[digits.len()..] {
        "T" => on.name(),
        "U" => ResultType::Unsigned.of(on).name(),
        "C" => ResultType::Counterpart.of(on).name(),
        _ => return word.to_owned(),
    };
    match digits.bytes().all(|b| b.is_ascii_digit()) {
        true => format!("{digits}{name}"),
        false => word.to_owned(),
    }
}

/// An expression with each operand once.
pub(super) const fn inline(text: &'static str) -> Body {
    Body::Inline(Source::Text(text))
}

/// An expression of operands that are bound to variables.
pub(super) const fn bound(text: &'static str) -> Body {
    Body::Bound(Source::Text(text))
}

/// Constants of an integer type, as literals.
fn constants(on: Scalar) -> Vec<(&'static str, String)> {
    if !TypeClass::Int.contains(on) {
        return vec![];
    }
    let (last, unsigned_max) = (on.bits() - 1, u64::MAX >> (64 - on.bits()));
    let (min, max) = match on.is_signed() {
        true => (format!("(-{}{on})", 1u64 << last), unsigned_max >> 1),
        false => (format!("0{on}"), unsigned_max),
    };
    vec![
        ("T::MIN", min),
        ("T::MAX", format!("{max}{on}")),
        ("T::BITS", format!("{}u32", on.bits())),
        ("T::LAST_BIT", format!("{last}u32")),
    ]
}

/// Splits a text into words and what stands between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_word(c) != is_word(first));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_types_are_filled_in() {
        let text = |on| Source::Text("x as U + 1T + 2U + T::MIN + fT(T::LAST_BIT)").text(on);
        assert_eq!(
            text(Scalar::I8),
            "x as u8 + 1i8 + 2u8 + (-128i8) + fT(7u32)"
        );
        assert_eq!(
            text(Scalar::U64),
            "x as u64 + 1u64 + 2u64 + 0u64 + fT(63u32)"
        );
    }
}
