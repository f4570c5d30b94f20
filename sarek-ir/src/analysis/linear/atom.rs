//! The variables of forms.

use super::symbol::is_unsigned;
use crate::{Builtin, Kernel, LocalId, ParamId, ParamKind};

/// A value that varies from thread to thread, or from one point of the code to another: a variable of forms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// An id.
    Id(Builtin),
    /// A local whose value has no form: a loop counter or a loaded value. In the analysis of a launch it may
    /// also be a mutable local, and stands for its current value.
    Local(LocalId),
    /// A scalar parameter of a function, for which threads may pass different values.
    Param(ParamId),
    /// An id XORed with a mask that is the same for all threads, `id ^ mask`. The number identifies the mask.
    Exchange(Builtin, u32),
    /// A quotient by a constant, rounded down. The number identifies dividend and divisor, see
    /// [`Quotients`](super::Quotients).
    Quotient(u32),
    /// A value with a definition, see [`Terms`](super::Terms). The flag is true if its type is unsigned. Only the
    /// [resolver of values](super::Resolver::of_values) has such atoms.
    Term(u32, bool),
}

impl Atom {
    /// True if it is a value of an unsigned type, of which nothing else is known.
    pub fn is_unsigned_value(self, kernel: &Kernel) -> bool {
        let ty = match self {
            Atom::Local(local) => kernel.locals[local.index()].ty.as_scalar(),
            Atom::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(ty) => Some(ty),
                ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => None,
            },
            Atom::Term(_, unsigned) => return unsigned,
            Atom::Id(_) | Atom::Exchange(..) | Atom::Quotient(_) => None,
        };
        ty.is_some_and(is_unsigned)
    }
}
