//! Launch requirements as equations with slack variables: `k < n` becomes `n = k + 1 + excess`, where `excess`
//! is never negative.
//!
//! Substituting the symbol `n` everywhere makes polynomials comparable that otherwise share no symbol. This is one
//! step of Gaussian elimination for each requirement.

use super::guard::{Comparison, Guard, Relation};
use super::{Poly, Resolver, Symbol};
use crate::{ExprId, Kernel, Precondition};

/// Collects the comparisons that hold if a condition does.
fn comparisons(kernel: &Kernel, cond: ExprId, found: &mut Vec<Comparison>) {
    match Guard::of(kernel, cond, true) {
        Guard::Both { lhs, rhs } => {
            comparisons(kernel, lhs, found);
            comparisons(kernel, rhs, found);
        }
        Guard::Compare(comparison) => found.push(comparison),
        Guard::Either { .. } | Guard::Not(_) | Guard::Local(_) | Guard::Other => {}
    }
}

fn required(kernel: &Kernel) -> Vec<Comparison> {
    let mut found = vec![];
    for (_, cond) in kernel.required() {
        comparisons(kernel, cond, &mut found);
    }
    found
}

/// The preconditions under which the requirements hold for mathematical integers, too: their sides do not
/// overflow.
pub fn relied_on(kernel: &Kernel) -> Vec<Precondition> {
    let resolver = Resolver::new(kernel);
    let sides = required(kernel)
        .into_iter()
        .flat_map(|comparison| [comparison.lhs, comparison.rhs]);
    let integer = |e: ExprId| kernel.type_of(e).as_scalar().is_some_and(|ty| ty.is_int());
    sides
        .filter(|e| integer(*e) && !resolver.is_plain(*e))
        .map(Precondition::NoOverflow)
        .collect()
}

impl Resolver<'_> {
    /// Turns the required comparisons into substitutions, one after the other.
    pub(super) fn take_requirements(&mut self) {
        for (number, required) in required(self.kernel).into_iter().enumerate() {
            let (Some(l), Some(r)) = (self.affine(required.lhs), self.affine(required.rhs)) else {
                continue;
            };
            let (Some(l), Some(r)) = (l.form.uniform(), r.form.uniform()) else {
                continue;
            };
            let excess = Poly::symbol(Symbol::Excess(number as u32));
            let least = |v: i128| excess.plus(&Poly::constant(v));
            match required.relation {
                Relation::Lt => self.take(r, &l.plus(&least(1))),
                Relation::Le => self.take(r, &l.plus(&least(0))),
                Relation::Gt => self.take(l, &r.plus(&least(1))),
                Relation::Ge => self.take(l, &r.plus(&least(0))),
                Relation::Eq => self.take(l, r) || self.take(r, l),
                Relation::Ne => false,
            };
        }
    }

    /// Solves an equation for a symbol on its left, and substitutes that symbol from now on. Returns true if a
    /// symbol qualified.
    fn take(&mut self, left: &Poly, right: &Poly) -> bool {
        let fits = |symbol: &Symbol| {
            let is = right.minus(&left.minus(&Poly::symbol(*symbol)));
            let used = self.is_substituted(*symbol);
            // The substitute is never negative, so that `Poly::is_natural` still holds where it held.
            !used && is.is_natural() && !is.has(*symbol) && replaceable(*symbol)
        };
        let Some(symbol) = left.lone_symbols().find(fits) else {
            return false;
        };
        let is = right.minus(&left.minus(&Poly::symbol(symbol)));
        self.substitute(symbol, is);
        true
    }
}

/// True if only [`Resolver::affine`] makes such symbols, so that every use is substituted.
fn replaceable(symbol: Symbol) -> bool {
    match symbol {
        Symbol::Param(..) | Symbol::Len(_) | Symbol::Link(..) => true,
        Symbol::Extent(..)
        | Symbol::Block(_)
        | Symbol::Local(..)
        | Symbol::Opaque(..)
        | Symbol::Excess(_)
        | Symbol::Term(..) => false,
    }
}
