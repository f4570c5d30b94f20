//! Arithmetic whose overflow is a fault, as in a debug build of Rust.
//!
//! The frontend lists in [`Kernel::overflows`] the arithmetic that rustc would check. A crate built without debug
//! assertions drops the list when it reads its kernels ([`EncodedKernel::new`](crate::EncodedKernel::new)); later stages then see no
//! overflow checks.

use crate::{ExprId, Kernel, Length, Scalar, Site, SiteId, SiteKind, Value};

/// Arithmetic on integers that rustc checks in a debug build.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Neg,
    /// Overflows if the count is not below the width.
    Shl,
    /// Overflows if the count is not below the width.
    Shr,
    Abs,
    Pow,
}

impl Arithmetic {
    /// The name used in the names of helper functions.
    pub const fn name(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
            Arithmetic::Neg => "neg",
            Arithmetic::Shl => "shl",
            Arithmetic::Shr => "shr",
            Arithmetic::Abs => "abs",
            Arithmetic::Pow => "pow",
        }
    }

    /// The operator or method in Rust.
    pub const fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub | Arithmetic::Neg => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Shl => "<<",
            Arithmetic::Shr => ">>",
            Arithmetic::Abs => "abs",
            Arithmetic::Pow => "pow",
        }
    }

    /// True for a shift.
    pub const fn is_shift(self) -> bool {
        matches!(self, Arithmetic::Shl | Arithmetic::Shr)
    }

    /// True if the result for these integers, the receiver first, does not fit its type.
    pub fn overflows(self, args: &[Value]) -> bool {
        let ty = args[0].scalar();
        let int = |at: usize| match args[at].as_int() {
            Some(v) => v,
            None => unreachable!("only integers overflow"),
        };
        let fits = |exact: Option<i128>| {
            exact.is_some_and(|v| Value::int(ty, v).and_then(Value::as_int) == Some(v))
        };
        let x = int(0);
        !match self {
            Arithmetic::Add => fits(Some(x + int(1))),
            Arithmetic::Sub => fits(Some(x - int(1))),
            Arithmetic::Mul => fits(x.checked_mul(int(1))),
            Arithmetic::Neg => fits(Some(-x)),
            Arithmetic::Abs => fits(Some(x.abs())),
            Arithmetic::Pow => fits(x.checked_pow(int(1) as u32)),
            Arithmetic::Shl | Arithmetic::Shr => (0..i128::from(ty.bits())).contains(&int(1)),
        }
    }
}

impl Kernel {
    /// Makes overflow a fault, as in a debug build of rustc, for all arithmetic that is used and that constants do not
    /// prove safe. The new sites come last, so the numbers of the others do not change.
    pub fn check_overflows(&mut self) {
        let stmts = self.stmts.iter().flat_map(|stmt| self.children(*stmt).0);
        let lengths = self.shared.iter().filter_map(|array| match array.len {
            Length::Launch(len) => Some(len),
            Length::Fixed(_) | Length::Link(_) => None,
        });
        let mut used = vec![false; self.exprs.len()];
        for id in self.exprs_in(stmts.chain(lengths)) {
            used[id.index()] = true;
        }
        for id in (0..used.len() as u32).map(ExprId) {
            let arithmetic = self.arithmetic(id).filter(|_| used[id.index()]);
            if let Some(arithmetic) = arithmetic.filter(|a| !self.plainly_fits(id, *a)) {
                let site = self.push_site(Site {
                    kind: SiteKind::Overflow(arithmetic),
                    loc: self.expr_locs[id.index()],
                    // Native code drops these checks where a launch proves all provable sites.
                    provable: true,
                });
                self.overflows.to_mut().push((id, site));
            }
        }
    }

    /// True if constant operands prove that the result fits.
    fn plainly_fits(&self, id: ExprId, arithmetic: Arithmetic) -> bool {
        let operands = self.operands(id);
        let known = |at: usize| operands.get(at).and_then(|e| self.literal(*e));
        let ty = self.type_of(id).as_scalar();
        // The operand of what is never reached, as in `5 + return`, is of any type.
        let is_int = |value: Value| value.as_int().is_some();
        match (known(0), known(1)) {
            (Some(lhs), Some(rhs)) if is_int(lhs) && is_int(rhs) => {
                !arithmetic.overflows(&[lhs, rhs])
            }
            (_, Some(count)) if arithmetic.is_shift() => {
                let bits = i128::from(ty.map_or(8, Scalar::bits));
                count.as_int().is_some_and(|n| (0..bits).contains(&n))
            }
            (_, _) => false,
        }
    }

    /// Moves the overflow check of `from` to `to`, the expression that a pass puts in its place.
    pub(crate) fn move_overflow(&mut self, from: ExprId, to: ExprId) {
        if let Some(site) = self.overflow_site(from) {
            let overflows = self.overflows.to_mut();
            overflows.retain(|(of, _)| *of != from && *of != to);
            let at = overflows.partition_point(|(of, _)| *of < to);
            overflows.insert(at, (to, site));
        }
    }

    /// The number of sites that are checked unless a launch proves them.
    pub fn checks(&self) -> usize {
        let is_overflow = |site: &&Site| matches!(site.kind, SiteKind::Overflow(_));
        let overflows = self.sites.iter().filter(is_overflow).count();
        self.sites.len() - overflows + self.overflows.len()
    }

    /// The site at which an overflow of this expression faults, if it is checked.
    pub fn overflow_site(&self, id: ExprId) -> Option<SiteId> {
        let found = self.overflows.binary_search_by_key(&id, |(of, _)| *of);
        found.ok().map(|at| self.overflows[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_overflows_as_in_core() {
        let edges = [i8::MIN, i8::MIN + 1, -2, -1, 0, 1, 2, 3, i8::MAX];
        for (a, b) in edges.into_iter().flat_map(|a| edges.map(|b| (a, b))) {
            let told = |op: Arithmetic| op.overflows(&[Value::I8(a), Value::I8(b)]);
            assert_eq!(told(Arithmetic::Add), a.checked_add(b).is_none());
            assert_eq!(told(Arithmetic::Sub), a.checked_sub(b).is_none());
            assert_eq!(told(Arithmetic::Mul), a.checked_mul(b).is_none());
            assert_eq!(told(Arithmetic::Neg), a.checked_neg().is_none());
            assert_eq!(told(Arithmetic::Abs), a.checked_abs().is_none());
            assert_eq!(told(Arithmetic::Shl), a.checked_shl(b as u32).is_none());
            assert_eq!(told(Arithmetic::Shr), a.checked_shr(b as u32).is_none());
            let power = [Value::I8(a), Value::U32(b as u32)];
            let due = a.checked_pow(b as u32).is_none();
            assert_eq!(Arithmetic::Pow.overflows(&power), due, "{a} to the {b}");
        }
        let most = Value::Usize(u64::MAX);
        assert!(Arithmetic::Mul.overflows(&[most, most]));
        assert!(Arithmetic::Add.overflows(&[most, Value::Usize(1)]));
        assert!(!Arithmetic::Sub.overflows(&[most, most]));
        assert!(Arithmetic::Pow.overflows(&[Value::U64(2), Value::U32(u32::MAX)]));
        assert!(!Arithmetic::Pow.overflows(&[Value::I32(-1), Value::U32(u32::MAX)]));
    }
}
