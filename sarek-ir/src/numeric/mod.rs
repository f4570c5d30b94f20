//! The table of numeric methods: every method that a kernel can call on a number, one [`Method`] per row.
//!
//! | File | Rows |
//! |---|---|
//! | `intrinsic_table` | intrinsics: methods that devices have themselves, and nodes of the IR, with their spelling on each target |
//! | `integers` | integer methods made of others |
//! | `wrapping` | integer methods that wrap, or stop at the bounds of their type |
//! | `checked` | integer methods that report overflow |
//! | `floats` | float methods composed of others |
//!
//! A row of the last four has its [`Body`] in the kernel language, so no backend knows such a method. The frontend lowers the
//! body where the method is called.
//!
//! | Reader | What it takes from the rows |
//! |---|---|
//! | the frontend | names, types, bodies, suggestions, and the Rust item of each call |
//! | [`crate::interp`] | [`IntrinsicLowering::on_floats`], [`IntrinsicLowering::on_ints`] |
//! | [`crate::write`] | [`IntrinsicLowering::c`], [`IntrinsicLowering::wgsl`], [`IntrinsicLowering::operator`] |
//! | [`crate::passes::widen_small`] | [`IntrinsicLowering::widening`] |
//! | `sarek-runtime` | the methods of `Int`, `Float`, `Elementary` and SIMD vectors, by `intrinsic_rows!` |
//! | `sarek::testing::tolerance`, `ulp` | [`Method::bounds`] |
//! | `fuzz` | names and types of integer methods, [`Method::random`] |
//! | `book/src/methods.md`, tests of names | names and types |
//!
//! To add a method, add a row and a test of its results in the conformance suite. A name that Rust lacks is a method of
//! `sarek::Float`. Its row has `extension`, and `sarek-runtime/src/types/number.rs` has the method for the host.

/// Defines the rows of composed methods. Each is `name group types (arguments) -> form(result) = body`, followed by other
/// columns of [`Method`].
macro_rules! composed_methods {
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
mod bounds;
mod checked;
mod floats;
mod integers;
mod lowering;
#[macro_use]
mod value;
#[macro_use]
mod intrinsic_table;
mod intrinsic;
mod types;
mod wrapping;

pub use body::{Body, Source};
pub use bounds::{Bounds, DIVISION, REMAINDER, Wgsl, ulp_of};
pub use intrinsic::Intrinsic;
pub use lowering::{IntrinsicLowering, Operator, Spellings, Widening};
pub use types::{ArgType, Exactness, NumberTrait, Owner, ResultType, Returns, TypeClass};
pub use value::Compute;

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
    /// The error bounds on floats, if results are not exact everywhere.
    pub bounds: Option<Bounds>,
    /// A call for random kernels, which store its result: `@` stands for a float up to 128.
    pub random: Option<&'static str>,
    /// The trait by which generic kernels call it.
    pub of_trait: Option<NumberTrait>,
    /// SIMD vectors have the method, too, for each lane.
    pub lanes: bool,
    /// 16-bit floats have the method themselves, by the `half` crate.
    pub of_half_crate: bool,
    /// No type has the method in Rust: it is of `sarek::Float`.
    pub extension: bool,
    /// The suggestion for strict kernels, which have no such method.
    pub in_strict: Option<&'static str>,
    /// The suggestion for 16-bit floats, which have no such method: `T` stands for the type.
    pub on_halves: Option<&'static str>,
    /// The computation of an intrinsic on the host and on targets.
    pub lowering: Option<IntrinsicLowering>,
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
            bounds: None,
            random: None,
            of_trait: None,
            lanes: false,
            of_half_crate: false,
            extension: false,
            in_strict: None,
            on_halves: None,
            lowering: None,
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

    /// The row with error bounds.
    const fn ulps(mut self, bounds: Bounds) -> Method {
        self.bounds = Some(bounds);
        self
    }

    /// The row with a call for random kernels.
    const fn random(mut self, call: &'static str) -> Method {
        self.random = Some(call);
        self
    }

    /// The row of a method of a trait.
    const fn of_trait(mut self, of_trait: Option<NumberTrait>) -> Method {
        self.of_trait = of_trait;
        self
    }

    /// The row of a method that SIMD vectors have, too.
    const fn lanes(mut self) -> Method {
        self.lanes = true;
        self
    }

    /// The row of a method that the `half` crate has.
    const fn of_half_crate(mut self) -> Method {
        self.of_half_crate = true;
        self
    }

    /// The row of a method that no type has in Rust.
    const fn extension(mut self) -> Method {
        self.extension = true;
        self
    }

    /// The row with a suggestion for strict kernels.
    const fn in_strict(mut self, instead: &'static str) -> Method {
        self.in_strict = Some(instead);
        self
    }

    /// The row of an intrinsic.
    const fn lowering(mut self, lowering: IntrinsicLowering) -> Method {
        self.lowering = Some(lowering);
        self
    }

    /// The row with a suggestion for 16-bit floats.
    const fn on_halves(mut self, instead: &'static str) -> Method {
        self.on_halves = Some(instead);
        self
    }

    /// Tells whether kernels have the method on a type. 16-bit floats have no elementary functions.
    pub const fn stands_on(&self, on: Scalar) -> bool {
        let is_method = match self.body {
            Body::Intrinsic(intrinsic) => !intrinsic.is_from_bits(),
            _ => true,
        };
        self.on.contains(on)
            && is_method
            && !(on.is_half() && matches!(self.exactness, Exactness::Elementary))
    }

    /// The Rust item that a call on a receiver of type `on` names.
    pub const fn owner(&self, on: Scalar) -> Owner {
        if self.extension || on.is_half() && !self.of_half_crate {
            return Owner::Float;
        }
        match on.is_int() && matches!(self.on, TypeClass::Number) {
            true => Owner::Ord,
            false => Owner::Type,
        }
    }

    /// The types of the arguments after a receiver of type `on`.
    pub fn arg_types(&self, on: Scalar) -> impl Iterator<Item = Scalar> {
        self.args.iter().map(move |arg| arg.of(on))
    }
}

/// Columns that limit the bounds to some arguments.
macro_rules! limits {
    ($($column:ident)*) => {
        impl Method {$(
            const fn $column(mut self, holds: fn(f64) -> bool) -> Method {
                match &mut self.bounds {
                    Some(bounds) => bounds.$column = holds,
                    None => panic!("bounds come first"),
                }
                self
            }
        )*}
    };
}

limits!(opencl_if wgsl_if);

/// Every row.
pub fn methods() -> impl Iterator<Item = &'static Method> {
    let composed = [integers::ROWS, wrapping::ROWS, checked::ROWS, floats::ROWS];
    intrinsic::ROWS.iter().chain(composed.into_iter().flatten())
}

/// The suggestion for a method of Rust that numbers lack in kernels.
pub fn instead_of(name: &str) -> Option<&'static str> {
    let found = intrinsic_table::ABSENT
        .iter()
        .find(|(absent, _)| *absent == name);
    found.map(|(_, instead)| *instead)
}

/// The row of a method on a type.
pub fn method(name: &str, on: Scalar) -> Option<&'static Method> {
    methods().find(|row| row.name == name && row.stands_on(on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_rounds_has_bounds_and_is_in_random_kernels() {
        for row in methods().filter(|row| row.lowering.is_some()) {
            let rounds = !matches!(row.exactness, Exactness::Exact | Exactness::Zeros);
            assert_eq!(row.bounds.is_some(), rounds, "{}", row.name);
            // The fuzzer has a rule for `mul_add`, whose results decide something.
            let is_random = rounds && row.name != "mul_add";
            assert_eq!(row.random.is_some(), is_random, "{}", row.name);
        }
    }

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
