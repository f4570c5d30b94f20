//! Loops over ranges with `.step_by(n)`, in the form that the frontend gives them.
//!
//! Their counters wrap where the range ends at the last value of the type, so that plain arithmetic says nothing about
//! them. The form itself shows that no value in the body has wrapped:
//!
//! ```text
//! let mut next = start;
//! let mut more = start < end;
//! while more {
//!     let i = next;
//!     more = i.abs_diff(end) as usize > step;
//!     next = i.wrapping_add(step);
//!     …
//! }
//! ```
//!
//! Here `i = start + step · turns`, and `i < end`.

use super::local_uses::{self, LocalUse};
use super::shape::same;
use crate::{BinaryOp, Block, Expr, ExprId, Intrinsic, Kernel, LocalId, ParamKind, Stmt, StmtId};

/// A loop over a stepped range.
pub struct Stepped {
    /// The expression that reads the current value.
    pub here: ExprId,
    /// The local that carries the current value from turn to turn.
    pub next: LocalId,
    /// The first value.
    pub start: ExprId,
    /// The end of the range.
    pub end: ExprId,
    /// True if the range has its end.
    pub inclusive: bool,
    /// The step; none if it is 1.
    pub step: Option<ExprId>,
}

/// Recognises a loop over a stepped range by its condition and its body.
pub fn stepped_range(kernel: &Kernel, cond: ExprId, body: Block) -> Option<Stepped> {
    let Expr::Local(more) = kernel.expr(cond) else {
        return None;
    };
    let mut stmts = kernel.block(body).map(|id| kernel.stmt(id));
    let Stmt::Let { local: here, init } = stmts.next()? else {
        return None;
    };
    let (
        Stmt::Assign { local, value: left },
        Stmt::Assign {
            local: next,
            value: sum,
        },
    ) = (stmts.next()?, stmts.next()?)
    else {
        return None;
    };
    let is = |e: ExprId, of: LocalId| kernel.expr(e) == Expr::Local(of);
    let declared = |of: LocalId| {
        let mut inits = kernel.stmts.iter().filter_map(|stmt| match stmt {
            Stmt::Let { local, init } if *local == of => *init,
            _ => None,
        });
        inits.next().filter(|_| inits.next().is_none())
    };
    let assigned = |of: LocalId| {
        let mut writes = 0;
        for id in (0..kernel.stmts.len() as u32).map(StmtId) {
            local_uses::itself(kernel, id, &mut |local, used| {
                writes += u32::from(local == of && used == LocalUse::Write);
            });
        }
        writes
    };
    if local != more || !is(init?, next) || assigned(more) != 1 || assigned(next) != 1 {
        return None;
    }
    let args = |e: ExprId, wanted: Intrinsic| match kernel.expr(e) {
        Expr::Call { intrinsic, args } if intrinsic == wanted => {
            let mut args = kernel.list(args);
            Some([args.next()?, args.next()?])
        }
        _ => None,
    };
    let [from, by] = args(sum, Intrinsic::WrappingAdd)?;
    let uncast = |e: ExprId| match kernel.expr(e) {
        Expr::Cast { arg } => arg,
        _ => e,
    };
    let Expr::Binary { op, lhs, rhs } = kernel.expr(left) else {
        return None;
    };
    let (
        first,
        Expr::Binary {
            op: begins,
            lhs: start,
            rhs: end,
        },
    ) = (declared(next)?, kernel.expr(declared(more)?))
    else {
        return None;
    };
    let fixed = [start, end].iter().all(|e| is_leaf(kernel, *e));
    if !is(from, here) || !fixed || !same(kernel, first, start) {
        return None;
    }
    let (step, limit, inclusive) = match op {
        BinaryOp::Ne if is(lhs, here) => {
            let one = |e: ExprId| match kernel.expr(e) {
                Expr::Literal(value) => value.as_int() == Some(1),
                _ => false,
            };
            (None, Some(rhs).filter(|_| one(by))?, true)
        }
        BinaryOp::Gt | BinaryOp::Ge => {
            let Expr::Cast { arg } = kernel.expr(lhs) else {
                return None;
            };
            let [a, limit] = args(arg, Intrinsic::AbsDiff)?;
            let step = Some(uncast(by)).filter(|step| same(kernel, *step, rhs))?;
            let usable = is(a, here) && is_leaf(kernel, step);
            (
                Some(step),
                Some(limit).filter(|_| usable)?,
                op == BinaryOp::Ge,
            )
        }
        _ => return None,
    };
    let begins_so = match begins {
        BinaryOp::Lt => !inclusive,
        BinaryOp::Le => inclusive,
        _ => false,
    };
    (begins_so && same(kernel, limit, end)).then_some(Stepped {
        here: init?,
        next,
        start,
        end,
        inclusive,
        step,
    })
}

/// True if the expression is a leaf whose value cannot change.
fn is_leaf(kernel: &Kernel, id: ExprId) -> bool {
    match kernel.expr(id) {
        Expr::Literal(_) | Expr::Link(_) | Expr::Len(_) | Expr::Builtin(_) => true,
        Expr::Param(param) => matches!(kernel.params[param.index()].kind, ParamKind::Scalar(_)),
        Expr::Local(local) => !kernel.locals[local.index()].mutable,
        Expr::Load { .. }
        | Expr::Bounded { .. }
        | Expr::Unary { .. }
        | Expr::Binary { .. }
        | Expr::Divide { .. }
        | Expr::And { .. }
        | Expr::Or { .. }
        | Expr::Cast { .. }
        | Expr::Call { .. }
        | Expr::Compound(_)
        | Expr::Faulted => false,
    }
}
