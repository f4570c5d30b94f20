//! What the launch is required to satisfy, as equations: `k < n` says that `n` is `k + 1 + excess`, for an excess that is not negative.
//!
//! A symbol that is so replaced wherever it stands lets polynomials be compared that tell nothing of each other otherwise.

use super::affine::Resolver;
use super::{Poly, Symbol};
use crate::{BinaryOp, Expr, ExprId, Kernel, Precondition};

/// The comparisons that hold if a condition does.
fn comparisons(kernel: &Kernel, cond: ExprId, found: &mut Vec<(BinaryOp, ExprId, ExprId)>) {
    match kernel.expr(cond) {
        Expr::And { lhs, rhs } => {
            comparisons(kernel, lhs, found);
            comparisons(kernel, rhs, found);
        }
        Expr::Binary { op, lhs, rhs } if op.is_comparison() => found.push((op, lhs, rhs)),
        Expr::Binary { .. }
        | Expr::Or { .. }
        | Expr::Literal(_)
        | Expr::Link(_)
        | Expr::Local(_)
        | Expr::Param(_)
        | Expr::Len(_)
        | Expr::Builtin(_)
        | Expr::Load { .. }
        | Expr::Bounded { .. }
        | Expr::Unary { .. }
        | Expr::Divide { .. }
        | Expr::Cast { .. }
        | Expr::Call { .. }
        | Expr::Compound(_)
        | Expr::Faulted => {}
    }
}

fn required(kernel: &Kernel) -> Vec<(BinaryOp, ExprId, ExprId)> {
    let mut found = vec![];
    for (_, cond) in kernel.required() {
        comparisons(kernel, cond, &mut found);
    }
    found
}

/// What has to hold for the requirements to say of integers what they say of the machine's: their sides do not overflow.
pub fn relied_on(kernel: &Kernel) -> Vec<Precondition> {
    let resolver = Resolver::new(kernel);
    let sides = required(kernel)
        .into_iter()
        .flat_map(|(_, lhs, rhs)| [lhs, rhs]);
    let integer = |e: ExprId| kernel.type_of(e).as_scalar().is_some_and(|ty| ty.is_int());
    sides
        .filter(|e| integer(*e) && !resolver.is_plain(*e))
        .map(Precondition::NoOverflow)
        .collect()
}

impl Resolver<'_> {
    /// Takes up what is required, one comparison after the other.
    pub(super) fn take_requirements(&mut self) {
        for (number, (op, lhs, rhs)) in required(self.kernel).into_iter().enumerate() {
            let (Some(l), Some(r)) = (self.affine(lhs), self.affine(rhs)) else {
                continue;
            };
            let (Some(l), Some(r)) = (l.uniform(), r.uniform()) else {
                continue;
            };
            let excess = Poly::symbol(Symbol::Excess(number as u32));
            let least = |v: i128| excess.plus(&Poly::constant(v));
            match op {
                BinaryOp::Lt => self.take(r, &l.plus(&least(1))),
                BinaryOp::Le => self.take(r, &l.plus(&least(0))),
                BinaryOp::Gt => self.take(l, &r.plus(&least(1))),
                BinaryOp::Ge => self.take(l, &r.plus(&least(0))),
                BinaryOp::Eq => self.take(l, r) || self.take(r, l),
                BinaryOp::Ne
                | BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shl
                | BinaryOp::Shr => false,
            };
        }
    }

    /// Takes a symbol on the left of an equation for what is on the right; tells if there is one that will do.
    fn take(&mut self, left: &Poly, right: &Poly) -> bool {
        let fits = |symbol: &Symbol| {
            let is = right.minus(&left.minus(&Poly::symbol(*symbol)));
            let used = self
                .given
                .iter()
                .any(|(of, by)| of == symbol || by.has(*symbol));
            // What is not negative stays so.
            !used && is.is_natural() && !is.has(*symbol) && replaceable(*symbol)
        };
        let Some(symbol) = left.lone_symbols().find(fits) else {
            return false;
        };
        let is = right.minus(&left.minus(&Poly::symbol(symbol)));
        self.given.push((symbol, is));
        true
    }
}

/// Is it always spelled by way of [`Resolver::affine`]?
fn replaceable(symbol: Symbol) -> bool {
    match symbol {
        Symbol::Param(..) | Symbol::Len(_) | Symbol::Link(..) => true,
        Symbol::Extent(..)
        | Symbol::Block(_)
        | Symbol::Local(..)
        | Symbol::Opaque(..)
        | Symbol::Excess(_) => false,
    }
}
