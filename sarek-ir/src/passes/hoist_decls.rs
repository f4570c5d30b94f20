use crate::analysis::local_uses;
use crate::facts::Reads;
use crate::{Kernel, LocalId, Memory, Stmt, StmtId};

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
