//! The loops that surely end.
//!
//! A `for` counts to a bound that is evaluated before it. A `while` ends if one part of its condition compares a counter
//! with a fixed bound, and each iteration moves the counter towards that bound without passing it:
//!
//! | condition | step |
//! |---|---|
//! | `i < n` or `i != n` | `i += 1` |
//! | `i < n` with `usize` | `i += c` for a literal `c >= 1`, or for a product of extents |
//! | `i < n` for a literal, an extent or a length `n` | `i *= 2`, `i <<= 1`, if `i` begins with a literal and has no other assignment |
//! | `i > n` or `i != n` | `i -= 1` |
//! | `i > n` for a literal `n >= 0` | `i /= c` for a literal `c >= 2`, `i >>= c` for a literal `c >= 1` |
//!
//! A loop whose body ends with a `break` out of it, and that no `continue` repeats, is a labelled block and has one iteration.
//!
//! The step is the only assignment to the counter, stands at the top of the body, and no `continue` skips it. Every other
//! loop may run forever, as far as this module knows.
//!
//! A sum with a larger step wraps if the bound is among the last values of `usize`, and the loop then never ends. It takes
//! more than 2^30 iterations before. Indices of 32 bits have no such bounds, because all values of such a launch fit.

use super::local_uses::{self, LocalUse};
use super::stepped::stepped_range;
use crate::facts::{Flow, Reads};
use crate::{
    BinaryOp, Block, Builtin, DivideOp, Expr, ExprId, Kernel, LabelId, LocalId, Scalar, Stmt,
    StmtId,
};

/// True if the loop ends, whatever the values of its operands are. Statements without iterations end, too.
pub fn ends(kernel: &Kernel, id: StmtId) -> bool {
    match kernel.stmt(id) {
        Stmt::Loop {
            label,
            cond: Some(cond),
            body,
        } => {
            stepped_range(kernel, cond, body).is_some() || pace(kernel, label, cond, body).is_some()
        }
        Stmt::Loop {
            label,
            cond: None,
            body,
        } => is_block(kernel, label, body),
        stmt => match stmt.facts().flow {
            Flow::Loop(_) => stmt
                .facts()
                .declares
                .is_some_and(|counter| !kernel.locals[counter.index()].mutable),
            Flow::Next
            | Flow::Branch
            | Flow::Break(_)
            | Flow::Continue(_)
            | Flow::Return
            | Flow::Panic => true,
        },
    }
}

/// True for a loop with at most as many iterations as its counter has bits, whatever the values of its operands are.
pub fn ends_soon(kernel: &Kernel, id: StmtId) -> bool {
    let Stmt::Loop { label, cond, body } = kernel.stmt(id) else {
        return false;
    };
    match cond {
        Some(cond) => pace(kernel, label, cond, body) == Some(Pace::Geometric),
        None => is_block(kernel, label, body),
    }
}

/// True if the loop without a condition is a labelled block.
fn is_block(kernel: &Kernel, label: LabelId, body: Block) -> bool {
    let flow = |id: StmtId| kernel.stmt(id).facts().flow;
    kernel.block(body).last().map(flow) == Some(Flow::Break(label)) && !repeats(kernel, label, body)
}

/// True if a `continue` in the body begins the next iteration.
fn repeats(kernel: &Kernel, label: LabelId, body: Block) -> bool {
    let mut stmts = kernel.stmts_in(kernel.block(body));
    stmts.any(|id| kernel.stmt(id).facts().flow == Flow::Continue(label))
}

/// The way in which a counter approaches its bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pace {
    /// By sums.
    Arithmetic,
    /// By products and quotients.
    Geometric,
}

/// The pace of the fastest part of the loop's condition; `None` if no part surely becomes false.
fn pace(kernel: &Kernel, label: LabelId, cond: ExprId, body: Block) -> Option<Pace> {
    let parts = conjuncts(kernel, cond).into_iter();
    parts
        .filter_map(|part| counts(kernel, part, label, body))
        .max()
}

/// The conditions that all hold if `cond` does.
fn conjuncts(kernel: &Kernel, cond: ExprId) -> Vec<ExprId> {
    match kernel.expr(cond) {
        Expr::And { lhs, rhs } => [conjuncts(kernel, lhs), conjuncts(kernel, rhs)].concat(),
        _ => vec![cond],
    }
}

/// The pace at which the comparison becomes false, if it surely does.
fn counts(kernel: &Kernel, cond: ExprId, label: LabelId, body: Block) -> Option<Pace> {
    let Expr::Binary { op, lhs, rhs } = kernel.expr(cond) else {
        return None;
    };
    let flipped = match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        other => other,
    };
    let sides = [(op, lhs, rhs), (flipped, rhs, lhs)];
    sides.into_iter().find_map(|(op, counter, bound)| {
        let Expr::Local(counter) = kernel.expr(counter) else {
            return None;
        };
        if !is_fixed(kernel, bound, body) {
            return None;
        }
        let step = step(kernel, counter, label, body)?;
        approaches(kernel, op, step, counter, bound)
    })
}

/// The value that each iteration assigns to the counter.
fn step(kernel: &Kernel, counter: LocalId, label: LabelId, body: Block) -> Option<ExprId> {
    if repeats(kernel, label, body) {
        return None;
    }
    let mut writes = 0;
    for id in kernel.stmts_in(kernel.block(body)) {
        local_uses::itself(kernel, id, &mut |local, used| {
            writes += u32::from(local == counter && used == LocalUse::Write);
        });
    }
    let mut top = kernel.block(body).map(|id| kernel.stmt(id));
    let value = top.find_map(|stmt| match stmt {
        Stmt::Assign { local, value } if local == counter => Some(value),
        _ => None,
    });
    value.filter(|_| writes == 1)
}

/// The pace of steps from `counter` to `value`, if they make `counter op bound` false and do not wrap before.
fn approaches(
    kernel: &Kernel,
    op: BinaryOp,
    value: ExprId,
    counter: LocalId,
    bound: ExprId,
) -> Option<Pace> {
    let literal = |id: ExprId| kernel.literal(id).and_then(|value| value.as_int());
    let is_below = op == BinaryOp::Lt;
    let is_index = kernel.scalar_of(bound) == Scalar::Usize;
    let (by, lhs, rhs) = match kernel.expr(value) {
        Expr::Binary { op, lhs, rhs } => (Some(op), lhs, rhs),
        Expr::Divide {
            op: DivideOp::Div,
            lhs,
            rhs,
            ..
        } => (None, lhs, rhs),
        _ => return None,
    };
    if kernel.expr(lhs) != Expr::Local(counter) {
        return None;
    }
    let Some(amount) = literal(rhs) else {
        let reaches = by == Some(BinaryOp::Add) && is_below && is_index && is_extent(kernel, rhs);
        return reaches.then_some(Pace::Arithmetic);
    };
    let shrinks = op == BinaryOp::Gt && literal(bound).is_some_and(|bound| bound >= 0);
    let (pace, reaches) = match by {
        Some(BinaryOp::Add) => {
            let reaches = match amount {
                1 => matches!(op, BinaryOp::Lt | BinaryOp::Ne),
                _ => is_below && is_index && (1..=1 << 20).contains(&amount),
            };
            (Pace::Arithmetic, reaches)
        }
        Some(BinaryOp::Sub) => {
            let reaches = amount == 1 && matches!(op, BinaryOp::Gt | BinaryOp::Ne);
            (Pace::Arithmetic, reaches)
        }
        Some(BinaryOp::Mul) => {
            let reaches = amount == 2 && is_below && doubles(kernel, counter, bound);
            (Pace::Geometric, reaches)
        }
        Some(BinaryOp::Shl) => {
            let reaches = amount == 1 && is_below && doubles(kernel, counter, bound);
            (Pace::Geometric, reaches)
        }
        Some(BinaryOp::Shr) => (Pace::Geometric, amount >= 1 && shrinks),
        None => (Pace::Geometric, amount >= 2 && shrinks),
        Some(_) => return None,
    };
    reaches.then_some(pace)
}

/// True if the value is an extent of the launch, or a product of extents, which is not 0.
fn is_extent(kernel: &Kernel, id: ExprId) -> bool {
    match kernel.expr(id) {
        Expr::Builtin(builtin) => is_dim(builtin),
        Expr::Local(local) => init(kernel, local).is_some_and(|init| is_extent(kernel, init)),
        Expr::Binary {
            op: BinaryOp::Mul,
            lhs,
            rhs,
        } => is_extent(kernel, lhs) && is_extent(kernel, rhs),
        _ => false,
    }
}

/// True for the extents of launches and blocks.
fn is_dim(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::GlobalDim(_) | Builtin::BlockDim(_) | Builtin::GridDim(_)
    )
}

/// True if a counter that is doubled while it is below the bound is never 0: it begins with another literal, is not
/// assigned elsewhere, and the bound is less than half of the type's values.
fn doubles(kernel: &Kernel, counter: LocalId, bound: ExprId) -> bool {
    let begins = init(kernel, counter).and_then(|init| kernel.literal(init)?.as_int());
    let mut writes = 0;
    for id in (0..kernel.stmts.len() as u32).map(StmtId) {
        local_uses::itself(kernel, id, &mut |local, used| {
            writes += u32::from(local == counter && used == LocalUse::Write);
        });
    }
    let is_small = match kernel.expr(bound) {
        Expr::Literal(value) => value.as_int().is_some_and(|n| n < 1 << 15),
        Expr::Builtin(builtin) => is_dim(builtin),
        Expr::Len(_) => true,
        _ => false,
    };
    let is_wide = kernel.scalar_of(bound).size() >= 2;
    begins.is_some_and(|n| n > 0) && writes == 1 && is_small && is_wide
}

/// The value with which a local is declared.
fn init(kernel: &Kernel, local: LocalId) -> Option<ExprId> {
    let mut inits = kernel.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Let { local: of, init } if *of == local => Some(*init),
        _ => None,
    });
    let first = inits.next()?;
    first.filter(|_| inits.next().is_none())
}

/// True if the integer has one value throughout the loop.
fn is_fixed(kernel: &Kernel, id: ExprId, body: Block) -> bool {
    let mut assigned = vec![];
    for stmt in kernel.block(body) {
        local_uses::stmt(kernel, stmt, &mut |local, used| {
            if used != LocalUse::Read {
                assigned.push(local);
            }
        });
    }
    kernel.scalar_of(id).is_int()
        && kernel
            .exprs_in([id])
            .all(|e| match kernel.expr(e).facts().reads {
                Reads::Operands
                | Reads::Constant
                | Reads::Param(_)
                | Reads::Len(_)
                | Reads::Id(_) => true,
                Reads::Local(local) => !assigned.contains(&local),
                Reads::Memory(_) | Reads::Faults => false,
            })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{Sketch, SketchExpr, SketchLocal};
    use crate::{Axis, ParamId, Value};

    type Part = for<'s> fn(&'s Sketch, SketchLocal<'s>, ParamId) -> SketchExpr<'s>;

    /// True if `while cond { counter = next; }` ends, with a parameter as the bound.
    fn judge(cond: Part, next: Part) -> bool {
        let s = Sketch::new("kernel");
        let bound = s.scalar("bound", Scalar::U32);
        let i = s.let_mut("i", s.u32(7));
        let cond = cond(&s, i, bound);
        s.while_(cond, |_| s.assign(i.id, next(&s, i, bound)));
        let kernel = s.finish();
        let found = kernel
            .stmts_in(kernel.block(kernel.body))
            .find(|id| matches!(kernel.stmt(*id).facts().flow, Flow::Loop(_)));
        ends(&kernel, found.expect("there is a loop"))
    }

    const UP: Part = |s, i, _| i.get() + s.u32(1);
    const DOWN: Part = |s, i, _| i.get() - s.u32(1);
    const BELOW: Part = |s, i, bound| i.get().lt(s.arg(bound));
    const ABOVE: Part = |s, i, bound| i.get().gt(s.arg(bound));
    const POSITIVE: Part = |s, i, _| i.get().gt(s.u32(0));

    #[test]
    fn counters_that_reach_their_bound_end() {
        assert!(judge(BELOW, UP));
        assert!(judge(|s, i, bound| s.arg(bound).gt(i.get()), UP));
        assert!(judge(|s, i, bound| i.get().ne(s.arg(bound)), UP));
        assert!(judge(ABOVE, DOWN));
        assert!(judge(POSITIVE, |s, i, _| i.get() >> s.u32(1)));
        assert!(judge(POSITIVE, |s, i, _| i.get() / s.u32(2)));
        let and: Part = |s, i, bound| i.get().lt(s.arg(bound)).and(s.lit(Value::Bool(true)));
        assert!(judge(and, UP));
    }

    #[test]
    fn other_loops_may_run_forever() {
        assert!(!judge(BELOW, DOWN));
        assert!(!judge(ABOVE, UP));
        // The counter passes the bound.
        assert!(!judge(BELOW, |s, i, _| i.get() + s.u32(2)));
        assert!(!judge(|s, i, bound| i.get().le(s.arg(bound)), UP));
        assert!(!judge(|s, i, _| i.get().ge(s.u32(0)), DOWN));
        assert!(!judge(POSITIVE, |s, i, _| i.get() / s.u32(1)));
        assert!(!judge(BELOW, |s, i, _| i.get() >> s.u32(1)));
        assert!(!judge(|s, _, _| s.lit(Value::Bool(true)), UP));
        let or: Part = |s, i, bound| i.get().lt(s.arg(bound)).or(s.lit(Value::Bool(true)));
        assert!(!judge(or, UP));
        assert!(!judge(BELOW, |s, _, bound| s.arg(bound) + s.u32(1)));
    }

    #[test]
    fn indices_may_step_further_and_double() {
        type Bound = for<'s> fn(&'s Sketch) -> SketchExpr<'s>;
        type Next = for<'s> fn(&'s Sketch, SketchExpr<'s>) -> SketchExpr<'s>;
        let judge = |bound: Bound, next: Next| {
            let s = Sketch::new("kernel");
            let i = s.let_mut("i", s.n(1));
            s.while_(i.get().lt(bound(&s)), |_| s.assign(i.id, next(&s, i.get())));
            let kernel = s.finish();
            let mut all = kernel.stmts_in(kernel.block(kernel.body));
            all.all(|id| ends(&kernel, id))
        };
        let param: Bound = |s| s.arg(s.scalar("n", Scalar::Usize));
        let block: Bound = |s| s.id(Builtin::BlockDim(Axis::X));
        assert!(judge(param, |s, i| i + s.n(16)));
        assert!(judge(param, |s, i| i + s.id(Builtin::GlobalDim(Axis::X))));
        assert!(judge(block, |s, i| i * s.n(2)));
        assert!(judge(|s| s.n(256), |s, i| i << s.u32(1)));
        // The step may be 0, and the counter may pass the bound and become 0.
        assert!(!judge(param, |s, i| i + s.n(0)));
        assert!(!judge(param, |s, i| i + s.id(Builtin::GlobalIdx(Axis::X))));
        assert!(!judge(param, |s, i| i * s.n(2)));
    }

    #[test]
    fn labelled_blocks_end() {
        let ended = |repeat: bool, leave: bool| {
            let s = Sketch::new("kernel");
            s.loop_(|label| {
                s.if_(s.arg(s.scalar("some", Scalar::Bool)), || match repeat {
                    true => s.continue_(label),
                    false => s.break_(label),
                });
                if leave {
                    s.break_(label);
                }
            });
            let kernel = s.finish();
            let first = kernel.block(kernel.body).next().expect("the loop");
            assert_eq!(ends(&kernel, first), ends_soon(&kernel, first));
            ends(&kernel, first)
        };
        assert!(ended(false, true));
        assert!(!ended(true, true));
        assert!(!ended(false, false));
    }

    #[test]
    fn a_step_that_may_be_skipped_or_undone_does_not_count() {
        let s = Sketch::new("kernel");
        let bound = s.scalar("bound", Scalar::U32);
        let i = s.let_mut("i", s.u32(0));
        s.while_(i.get().lt(s.arg(bound)), |_| {
            s.if_(s.arg(bound).gt(s.u32(3)), || {
                s.assign(i.id, i.get() + s.u32(1))
            });
        });
        s.while_(i.get().lt(s.arg(bound)), |_| {
            s.assign(i.id, i.get() + s.u32(1));
            s.assign(i.id, s.u32(0));
        });
        let end = s.let_mut("end", s.u32(4));
        s.while_(i.get().lt(end.get()), |_| {
            s.assign(i.id, i.get() + s.u32(1));
            s.assign(end.id, i.get() + s.u32(1));
        });
        let kernel = s.finish();
        for id in kernel.stmts_in(kernel.block(kernel.body)) {
            if let Flow::Loop(_) = kernel.stmt(id).facts().flow {
                assert!(!ends(&kernel, id));
            }
        }
    }
}
