//! The table of numeric methods: every method that a kernel can call on a number, one [`Method`] per row.
//!
//! | File | Rows |
//! |---|---|
//! | [`intrinsic`](Intrinsic) | methods that are nodes of the IR: each dialect spells them, [`crate::interp`] computes them |
//! | `integers` | integer methods composed of others |
//! | `wrapping` | wrapping and saturating integer methods composed of others |
//! | `checked` | integer methods that report overflow |
//! | `floats` | float methods composed of others |
//!
//! A row of the last four files has its [`Body`] in the kernel language, so no backend knows such a method. The frontend lowers the
//! body in place of each call. The rows are also the source of suggestions, `docs/methods.md`, the random kernels and the tests of names.
//!
//! To add a method that others can express, add a row, and a test of its results in the conformance suite.

/// Defines rows. Each is `name group types (arguments) -> form(result) = body`, followed by other columns of [`Method`].
macro_rules! rows {
    ($(
        $name:literal $group:ident $class:ident ($($arg:ident $(($arg_type:ident))?),*)
            -> $returns:ident($result:ident $(($type:ident))?)
            = $body:expr $(, $column:ident($($value:expr)?))*;
    )*) => {
        pub(super) const ROWS: &[$crate::numeric::Method] = {
            use $crate::numeric::{ArgType, Group, Method, ResultType, Returns, TypeClass};
            &[$({
                let kind = (Group::$group, TypeClass::$class);
                let args = &[$(ArgType::$arg $(($crate::Scalar::$arg_type))?),*];
                let result = ResultType::$result $(($crate::Scalar::$type))?;
                let row = Method::new($name, kind, args, result, $body);
                row.returns(Returns::$returns)$(.$column($($value)?))*
            }),*]
        };
    };
}

mod body;
mod checked;
mod floats;
mod integers;
mod intrinsic;
mod types;
mod wrapping;

pub use body::{Body, Source};
pub use intrinsic::Intrinsic;
pub(crate) use intrinsic::of_floats;
pub use types::{ArgType, Exactness, ResultType, Returns, TypeClass};

use crate::Scalar;

/// A row of the table.
///
/// One name may have several rows for disjoint classes of types.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The name in Rust.
    pub name: &'static str,
    /// The group of methods under which documentation lists it.
    pub group: Group,
    /// The types that have the method.
    pub on: TypeClass,
    /// The types of the arguments after the receiver.
    pub args: &'static [ArgType],
    /// The type of the result, or of the value that a compound result contains.
    pub result: ResultType,
    /// The form of the result.
    pub returns: Returns,
    /// The exactness on floats.
    pub exactness: Exactness,
    /// Conditions that the operands must meet; otherwise the method panics.
    pub panics: &'static [Panic],
    /// True if the method faults for some arguments, for which it panics in Rust.
    pub faults: bool,
    /// The computation.
    pub body: Body,
}

/// A condition on the operands of a method.
#[derive(Clone, Copy, Debug)]
pub struct Panic {
    /// The condition, which holds for valid operands.
    pub unless: &'static str,
    /// The message of Rust's own method.
    pub message: &'static str,
}

/// Methods that documentation lists together, in its order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// Signs, bounds and distances.
    Basic,
    /// Powers, roots and logarithms.
    Power,
    /// Powers of two and multiples of other numbers.
    Multiple,
    /// Rounding, and division that rounds to an integer.
    Rounding,
    /// Trigonometric and hyperbolic functions.
    Angle,
    /// Bits, and properties that follow from them.
    Bits,
    /// `wrapping_…`
    Wrapping,
    /// `saturating_…`
    Saturating,
    /// `checked_…`
    Checked,
    /// `overflowing_…`
    Overflowing,
    /// `…_signed`: methods of unsigned integers with a signed argument.
    Signed,
    /// `…_unsigned`: methods of signed integers with an unsigned argument.
    Unsigned,
}

impl Method {
    /// A row with a plain result, which is exact and never faults.
    const fn new(
        name: &'static str,
        (group, on): (Group, TypeClass),
        args: &'static [ArgType],
        result: ResultType,
        body: Body,
    ) -> Method {
        Method {
            name,
            group,
            on,
            args,
            result,
            returns: Returns::Value,
            exactness: Exactness::Exact,
            panics: &[],
            faults: false,
            body,
        }
    }

    /// The row with a result of another form.
    const fn returns(mut self, returns: Returns) -> Method {
        self.returns = returns;
        self
    }

    /// The row with another exactness.
    const fn exactness(mut self, exactness: Exactness) -> Method {
        self.exactness = exactness;
        self
    }

    /// The row of a method that faults for some arguments.
    const fn faults(mut self) -> Method {
        self.faults = true;
        self
    }

    /// The row of a method that panics unless conditions hold.
    const fn panics(mut self, panics: &'static [Panic]) -> Method {
        self.panics = panics;
        self.faults()
    }

    /// True if kernels have the method on a type. 16-bit floats have no elementary functions.
    pub const fn stands_on(&self, on: Scalar) -> bool {
        let is_method = match self.body {
            Body::Intrinsic(intrinsic) => !intrinsic.is_from_bits(),
            _ => true,
        };
        self.on.contains(on)
            && is_method
            && !(on.is_half() && matches!(self.exactness, Exactness::Elementary))
    }

    /// The types of the arguments after a receiver of type `on`.
    pub fn arg_types(&self, on: Scalar) -> impl Iterator<Item = Scalar> {
        self.args.iter().map(move |arg| arg.of(on))
    }
}

/// Every row.
pub fn methods() -> impl Iterator<Item = &'static Method> {
    let composed = [integers::ROWS, wrapping::ROWS, checked::ROWS, floats::ROWS];
    intrinsic::ROWS.iter().chain(composed.into_iter().flatten())
}

/// The row of a method on a type.
pub fn method(name: &str, on: Scalar) -> Option<&'static Method> {
    methods().find(|row| row.name == name && row.stands_on(on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_row_for_each_type() {
        for on in Scalar::ALL {
            let mut names: Vec<_> = methods()
                .filter(|m| m.stands_on(on))
                .map(|m| m.name)
                .collect();
            names.sort_unstable();
            let repeated = names.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(repeated, None, "{on}");
        }
    }
}
