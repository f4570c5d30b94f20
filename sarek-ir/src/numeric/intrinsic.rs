//! Methods that are nodes of the IR: those that devices have themselves. Their rows are in `intrinsic_table.rs`.

use std::borrow::Cow;
use std::f64::consts::PI;

use super::Operator::{Binary, Unary};
use super::TypeClass::{Float, Int, Number, UnsignedInt, WideFloat};
use super::Wgsl::{Formula, Ulps};
use super::Widening::{
    CountFromBottom, CountFromTop, Keep, Reverse, Rotate, Saturate, Shift, ZeroExtend,
};
use super::bounds::{SIN_ERROR, exp_ulps, hyperbolic_error, log_error, power_error, ulp, ulp_of};
use super::lowering::{IntrinsicLowering, Spellings};
use super::value::{bf16_of_bits, float_of_bits};
use super::{ArgType, Body, Bounds, Exactness, Group, Method, NumberTrait, ResultType, TypeClass};
use crate::{BinaryOp, Scalar, UnaryOp, Value};

const F32: TypeClass = TypeClass::Only(Scalar::F32);
const U16: TypeClass = TypeClass::Only(Scalar::U16);

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $variant:ident $name:ident $group:ident $class:ident
            ($($arg:ident $(($arg_type:ident))?),*) -> $result:ident $(($type:ident))?,
            $exactness:ident, $of_trait:tt, [$($flag:ident)*] { $($column:ident $value:tt)* }
    )*) => {
        /// A numeric method, named as in Rust.
        ///
        /// The first operand is the receiver. No method has a side effect. A method faults only where the Rust method of the
        /// same name panics; a [`crate::Stmt::Assert`] before the call checks for that case.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Intrinsic {
            $($(#[$doc])* $variant,)*
        }

        impl Intrinsic {
            /// Every intrinsic.
            pub const ALL: &'static [Intrinsic] = &[$(Intrinsic::$variant,)*];
        }

        /// The rows of the table, in the order of the variants.
        pub(super) const ROWS: &[Method] = &[$({
            let kind = (Group::$group, TypeClass::$class);
            let args = &[$(ArgType::$arg $((Scalar::$arg_type))?),*];
            let result = ResultType::$result $((Scalar::$type))?;
            let body = Body::Intrinsic(Intrinsic::$variant);
            Method::new(stringify!($name), kind, args, result, body)
                .exactness(Exactness::$exactness)
                .of_trait(of_trait!($of_trait))
                $(.$flag())*
                .lowering(IntrinsicLowering::new(spellings!($name Number: helper)))
                $(.$column(column!($name $column $value)))*
        },)*];
    };
}

/// A column of a row, as the argument of the builder.
macro_rules! column {
    ($name:ident float ($($function:tt)*)) => { of_floats!($($function)*) };
    ($name:ident int ($($function:tt)*)) => { of_ints!($($function)*) };
    ($name:ident signed ($($function:tt)*)) => { of_signed!($($function)*) };
    ($name:ident c $spelling:tt) => { column!(@$name $spelling) };
    ($name:ident wgsl $spelling:tt) => { column!(@$name $spelling) };
    (@$name:ident ($function:literal)) => { spellings!($name Number: $function) };
    (@$name:ident ($($class:ident: $spelling:tt),*)) => { spellings!($name $($class: $spelling),*) };
    ($name:ident ulps ($($bound:tt)*)) => { Bounds::new($($bound)*) };
    ($name:ident $column:ident ($value:expr)) => { $value };
}

macro_rules! spellings {
    ($name:ident $($class:ident: $spelling:tt),*) => {
        &[$(($class, spelling!($name $spelling))),*]
    };
}

macro_rules! spelling {
    ($name:ident helper) => {
        concat!("srk_", stringify!($name), "_$T")
    };
    ($name:ident $function:literal) => {
        $function
    };
}

macro_rules! of_trait {
    (-) => {
        None
    };
    ($of_trait:ident) => {
        Some(NumberTrait::$of_trait)
    };
}

intrinsic_rows!(define);

impl Intrinsic {
    /// The row of the table.
    pub const fn row(self) -> &'static Method {
        &ROWS[self as usize]
    }

    /// The facts that the interpreter, the passes and the dialects need.
    pub const fn lowering(self) -> &'static IntrinsicLowering {
        match &self.row().lowering {
            Some(lowering) => lowering,
            None => unreachable!(), // `define` gives each row its part
        }
    }

    /// The function for a receiver of type `on`, if there is one.
    pub(crate) fn spelled(self, spellings: Spellings, on: Scalar) -> Option<Cow<'static, str>> {
        if self.lowering().operator.is_some() {
            return None;
        }
        let (_, spelling) = spellings.iter().find(|(class, _)| class.contains(on))?;
        Some(match spelling.contains('$') {
            true => spelling
                .replace("$T", on.name())
                .replace("$R", self.result_type(on).name())
                .into(),
            false => (*spelling).into(),
        })
    }

    /// The Rust name of the method.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The types that have the method.
    pub const fn class(self) -> TypeClass {
        self.row().on
    }

    /// The types of the arguments after the receiver.
    pub const fn args(self) -> &'static [ArgType] {
        self.row().args
    }

    /// The type of the result.
    pub const fn result(self) -> ResultType {
        self.row().result
    }

    /// The exactness on floats.
    pub const fn exactness(self) -> Exactness {
        self.row().exactness
    }

    /// The intrinsic for a method of this name on this type. It includes elementary functions on 16-bit floats, which linked kernels call.
    pub fn method(name: &str, on: Scalar) -> Option<Intrinsic> {
        Intrinsic::ALL
            .iter()
            .copied()
            .find(|i| i.name() == name && i.class().contains(on) && !i.is_from_bits())
    }

    /// True for a transcendental function, or a root that processors lack.
    pub const fn is_elementary(self) -> bool {
        matches!(self.exactness(), Exactness::Elementary)
    }

    /// True if the result follows from the bits of the float alone, without arithmetic.
    pub const fn reads_bits(self) -> bool {
        matches!(self.class(), TypeClass::Float) && !matches!(self.result(), ResultType::Same)
    }

    /// The intrinsic for `from_bits` of a float type.
    pub const fn from_bits(float: Scalar) -> Intrinsic {
        match float {
            Scalar::Bf16 => Intrinsic::Bf16FromBits,
            _ => Intrinsic::FromBits,
        }
    }

    /// True for `from_bits`, which is an associated function and not a method.
    pub const fn is_from_bits(self) -> bool {
        matches!(self, Intrinsic::FromBits | Intrinsic::Bf16FromBits)
    }

    /// True if this type has the method. `from_bits` needs a float of the same width.
    pub const fn stands_on(self, on: Scalar) -> bool {
        let has_float = match self {
            Intrinsic::FromBits => !matches!(on, Scalar::Usize | Scalar::U8),
            Intrinsic::Bf16FromBits => matches!(on, Scalar::U16),
            _ => true,
        };
        self.class().contains(on) && has_float
    }

    /// The type of the result for a receiver of type `on`.
    pub const fn result_type(self, on: Scalar) -> Scalar {
        self.result().of(on)
    }
}
