use crate::analysis::local_uses;
use crate::facts::Reads;
use crate::{Expr, ExprId};
use crate::{Kernel, LocalId, Memory, Stmt, StmtId}; // OLD

/// Hoists a declaration out of a guard. If `later` statements, outside the guard, mention a local that the statement
/// declares, the declaration goes to `out`. Returns the statement that stays under the guard, at most an assignment
/// then.
pub(super) fn hoist(
    kernel: &mut Kernel,
    id: StmtId,
    later: &[StmtId],
    out: &mut Vec<StmtId>,
) -> Option<StmtId> {
    let Stmt::Let { local, init } = kernel.stmt(id) else {
        return Some(id);
    };
    debug_assert_eq!(
        mentions(kernel, later, local),
        old_mentions(kernel, later, local)
    ); // OLD
    if !mentions(kernel, later, local) {
        return Some(id);
    }
    let loc = kernel.stmt_locs[id.index()];
    let declare = Stmt::Let { local, init: None };
    out.push(kernel.push_stmt(declare, loc));
    let value = init?;
    kernel.locals.to_mut()[local.index()].mutable = true;
    Some(kernel.push_stmt(Stmt::Assign { local, value }, loc))
}

/// True if any of the statements uses the local, or names its length.
fn mentions(kernel: &Kernel, stmts: &[StmtId], local: LocalId) -> bool {
    let length = Reads::Len(Memory::Local(local));
    kernel.stmts_in(stmts.iter().copied()).any(|id| {
        let mut used = false;
        local_uses::itself(kernel, id, &mut |of, _| used |= of == local);
        let mut exprs = kernel.exprs_in(kernel.operands_of(id));
        used || exprs.any(|e| kernel.expr(e).facts().reads == length)
    })
}
// OLD-BEGIN
fn old_mentions(kernel: &Kernel, stmts: &[StmtId], local: LocalId) -> bool {
    let memory = |m: Memory| m == Memory::Local(local);
    stmts.iter().any(|&id| {
        let stmt = kernel.stmt(id);
        let own = match stmt {
            Stmt::Let { local: l, .. } | Stmt::Assign { local: l, .. } => l == local,
            Stmt::Store { memory: m, .. } => memory(m),
            Stmt::Atomic {
                memory: m, result, ..
            } => memory(m) || result == Some(local),
            Stmt::Subgroup { result, .. } => result == local,
            Stmt::Native { native } => {
                kernel.named_by_text(native).contains(&local)
                    || kernel.natives[native.index()].result == Some(local)
            }
            Stmt::Assert { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::For { .. }
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Update { .. }
            | Stmt::Call { .. } => false,
        };
        let (exprs, blocks) = kernel.children(stmt);
        own || exprs.into_iter().any(|e| old_reads(kernel, e, local))
            || blocks.into_iter().any(|b| {
                let stmts: Vec<StmtId> = kernel.block(b).collect();
                old_mentions(kernel, &stmts, local)
            })
    })
}
// OLD-END

// OLD-BEGIN
fn old_reads(kernel: &Kernel, id: ExprId, local: LocalId) -> bool {
    let own = match kernel.expr(id) {
        Expr::Local(l) => l == local,
        Expr::Load { memory, .. } | Expr::Len(memory) => memory == Memory::Local(local),
        Expr::Literal(_)
        | Expr::Link(_)
        | Expr::Param(_)
        | Expr::Builtin(_)
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
    };
    own || kernel
        .operands(id)
        .into_iter()
        .any(|e| old_reads(kernel, e, local))
}
// OLD-END
