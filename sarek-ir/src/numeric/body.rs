//! Bodies of methods: how the value of a method is computed, mostly as an expression of the kernel language.

use std::borrow::Cow;

use super::{ResultType, TypeClass};
use crate::{DivideOp, Intrinsic, Scalar};

/// The computation of a method.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A node of the IR, which each target has or implements by a helper function.
    Intrinsic(Intrinsic),
    /// An integer division, which faults where Rust's division panics.
    Divide(DivideOp),
    /// An expression that contains each operand once, in order. The operands are substituted as they are.
    Inline(Source),
    /// An expression. Operands that are not variables or constants are bound to variables before it.
    Bound(Source),
    /// Two bodies: one for an argument that is an integer literal above 0, and one for all arguments.
    ByLiteral(&'static Body, &'static Body),
    /// `Some(value)` if `fits` is true, else `None`. Both may read `z`, the value of `first`.
    Checked {
        /// An expression that is computed first.
        first: Option<Source>,
        /// The condition.
        fits: Source,
        /// The result, which is computed only if it fits.
        value: Source,
    },
    /// `(value, !fits)`
    Overflowing {
        /// The condition.
        fits: Source,
        /// The wrapped result.
        value: Source,
    },
}

/// An expression of the kernel language over the operands `x` (the receiver) and `y`.
///
/// | | |
/// |---|---|
/// | `T` | the receiver's type, also as a suffix of a literal: `1T` |
/// | `U`, `C` | the unsigned integer of its width; the integer of its width with the other signedness |
/// | `T::MIN`, `T::MAX` | its bounds, as literals |
/// | `T::BITS`, `T::LAST_BIT` | its width and one less, as `u32` literals |
/// | `unchecked_div`, `unchecked_rem` and so on | divisions whose divisor is known to be valid |
///
/// The expression may call methods of the table.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// One text for all types.
    Text(&'static str),
    /// A text that depends on the type in other ways than by these names.
    For(fn(Scalar) -> String),
}

impl Source {
    /// The expression for a receiver of type `on`, with these names replaced.
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

/// Replaces a word that is the name of a type, and the suffix of a literal.
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

/// A body that contains each operand once, in order.
pub(super) const fn inline(text: &'static str) -> Body {
    Body::Inline(Source::Text(text))
}

/// A body whose operands are bound to variables.
pub(super) const fn bound(text: &'static str) -> Body {
    Body::Bound(Source::Text(text))
}

/// The named constants of an integer type, as literals.
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

/// Splits a text into words and the texts between them.
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
