//! Lowers checks on the spine, which fail for all threads of a block together.

use super::fits::fits;
use super::{Pass, facts};
use crate::facts::Check;
use crate::{
    Arithmetic, BinaryOp, Expr, ExprId, Kernel, Loc, Local, Memory, Scalar, Stmt, StmtId, UnaryOp,
    Value,
};

impl Pass<'_> {
    pub(super) fn is_checked(&self, id: ExprId) -> bool {
        facts::can_fault(self.kernel, id)
    }

    /// Makes expressions that cannot fault where they are evaluated next. If one of their checks fails, the code before
    /// them records the fault and returns in all threads.
    pub(super) fn settled<const N: usize>(
        &mut self,
        exprs: [ExprId; N],
        loc: Loc,
        out: &mut Vec<StmtId>,
    ) -> [ExprId; N] {
        if !exprs.iter().any(|e| self.is_checked(*e)) {
            return exprs;
        }
        let kernel = &mut *self.kernel;
        let passes: Vec<ExprId> = exprs.iter().filter_map(|e| passes(kernel, *e)).collect();
        let unchecked = exprs.map(|e| copy(kernel, e));
        let mut stop: Vec<StmtId> = exprs.iter().map(|e| evaluate(kernel, *e, loc)).collect();
        stop.push(kernel.push_stmt(Stmt::Return, loc));
        let all = passes
            .into_iter()
            .reduce(|a, b| binary(kernel, Logic::And, a, b, loc));
        if let Some(all) = all {
            let fails = self.not(all, loc);
            out.push(self.branch(fails, &stop, loc));
        }
        unchecked
    }
}

/// A statement that evaluates an expression only for its faults.
fn evaluate(kernel: &mut Kernel, id: ExprId, loc: Loc) -> StmtId {
    let local = kernel.push_local(Local {
        name: "failing".into(),
        ty: kernel.type_of(id),
        mutable: false,
    });
    let init = Some(id);
    kernel.push_stmt(Stmt::Let { local, init }, loc)
}

#[derive(Clone, Copy)]
pub(super) enum Logic {
    And,
    Or,
}

pub(super) fn binary(kernel: &mut Kernel, op: Logic, lhs: ExprId, rhs: ExprId, loc: Loc) -> ExprId {
    let expr = match op {
        Logic::And => Expr::And { lhs, rhs },
        Logic::Or => Expr::Or { lhs, rhs },
    };
    kernel.push_expr(expr, Scalar::Bool, loc)
}

pub(super) fn compare(
    kernel: &mut Kernel,
    op: BinaryOp,
    lhs: ExprId,
    rhs: ExprId,
    loc: Loc,
) -> ExprId {
    kernel.push_expr(Expr::Binary { op, lhs, rhs }, Scalar::Bool, loc)
}

fn not(kernel: &mut Kernel, arg: ExprId, loc: Loc) -> ExprId {
    let op = UnaryOp::Not;
    kernel.push_expr(Expr::Unary { op, arg }, Scalar::Bool, loc)
}

/// A condition that is true if all checks pass that evaluating the expression performs. `None` without checks.
fn passes(kernel: &mut Kernel, id: ExprId) -> Option<ExprId> {
    let loc = kernel.expr_locs[id.index()];
    if let Expr::And { lhs, rhs } = kernel.expr(id) {
        return short_circuit(kernel, lhs, rhs, true);
    }
    if let Expr::Or { lhs, rhs } = kernel.expr(id) {
        return short_circuit(kernel, lhs, rhs, false);
    }
    let operands = kernel.operands(id);
    let before: Vec<ExprId> = operands.iter().filter_map(|e| passes(kernel, *e)).collect();
    let own = own(kernel, id, loc);
    before
        .into_iter()
        .chain(own)
        .reduce(|a, b| binary(kernel, Logic::And, a, b, loc))
}

/// A condition that is true if the node's own check passes, provided that those of its operands do.
fn own(kernel: &mut Kernel, id: ExprId, loc: Loc) -> Option<ExprId> {
    if kernel.overflow_site(id).is_some() {
        let arithmetic = kernel.arithmetic(id);
        return fits(
            kernel,
            id,
            arithmetic.expect("arithmetic has the site"),
            loc,
        );
    }
    let expr = kernel.expr(id);
    let operands = kernel.operands(id);
    match expr.facts().check {
        Check::Bounds(Some(_)) => {
            let index = copy(kernel, operands[0]);
            let len = if let Expr::Load { memory, .. } = expr {
                length(kernel, memory, kernel.scalar_of(index), loc)
            } else {
                copy(kernel, operands[1])
            };
            Some(compare(kernel, BinaryOp::Lt, index, len, loc))
        }
        Check::Divisor(Some(_)) => Some(divides(kernel, operands[0], operands[1], loc)),
        Check::Bounds(None) | Check::Divisor(None) | Check::None => None,
        Check::Parts | Check::Assertion(_) | Check::Panic(_) => {
            unreachable!("an expression of a linked kernel")
        }
    }
}

fn length(kernel: &mut Kernel, memory: Memory, ty: Scalar, loc: Loc) -> ExprId {
    kernel.push_expr(Expr::Len(memory), ty, loc)
}

/// `rhs != 0 && !(lhs == MIN && rhs == -1)`, the second half only for signed types.
fn divides(kernel: &mut Kernel, lhs: ExprId, rhs: ExprId, loc: Loc) -> ExprId {
    let ty = kernel.scalar_of(lhs);
    let is = |kernel: &mut Kernel, op, of: ExprId, value: i128| {
        let value = Value::int(ty, value).unwrap_or_else(|| unreachable!("{ty} divides"));
        let (of, value) = (copy(kernel, of), kernel.push_literal(value, loc));
        compare(kernel, op, of, value, loc)
    };
    let some = is(kernel, BinaryOp::Ne, rhs, 0);
    if !ty.is_signed() {
        return some;
    }
    let min = -(1i128 << (ty.bits() - 1));
    let not_min = is(kernel, BinaryOp::Ne, lhs, min);
    let not_one = is(kernel, BinaryOp::Ne, rhs, -1);
    let fits = binary(kernel, Logic::Or, not_min, not_one, loc);
    binary(kernel, Logic::And, some, fits, loc)
}

/// The checks of `&&` (if `and`) or `||`: those of the right side count only if the left side doesn't decide the
/// result.
fn short_circuit(kernel: &mut Kernel, lhs: ExprId, rhs: ExprId, and: bool) -> Option<ExprId> {
    let loc = kernel.expr_locs[lhs.index()];
    let left = passes(kernel, lhs);
    let right = passes(kernel, rhs).map(|right| {
        let decided = copy(kernel, lhs);
        let decided = if and {
            not(kernel, decided, loc)
        } else {
            decided
        };
        binary(kernel, Logic::Or, decided, right, loc)
    });
    left.into_iter()
        .chain(right)
        .reduce(|a, b| binary(kernel, Logic::And, a, b, loc))
}

/// A copy of the expression without its checks, except those of powers.
pub(super) fn copy(kernel: &mut Kernel, id: ExprId) -> ExprId {
    let operands = kernel.operands(id);
    let operands: Vec<ExprId> = operands.into_iter().map(|e| copy(kernel, e)).collect();
    let expr = kernel.with_operands(kernel.expr(id).unchecked(), &operands);
    let copied = kernel.push_expr(expr, kernel.type_of(id), kernel.expr_locs[id.index()]);
    if let (Some(site), Some(Arithmetic::Pow)) = (kernel.overflow_site(id), kernel.arithmetic(id)) {
        kernel.overflows.to_mut().push((copied, site));
    }
    copied
}
