use crate::{Block, Kernel, Loc, Stmt};

/// Turns returns into exits from a loop that runs once and contains the body. So the code around the body continues.
///
/// Only for kernels without barriers, whose threads may leave at different places.
pub fn contain_returns(kernel: &mut Kernel) {
    let label = kernel.fresh_label();
    let mut found = false;
    super::rewrite(kernel, &mut |kernel, id, out| {
        if kernel.stmt(id) == Stmt::Return {
            found = true;
            let loc = kernel.stmt_locs[id.index()];
            out.push(kernel.push_stmt(Stmt::Break { label }, loc));
        } else {
            out.push(id);
        }
    });
    if !found {
        return;
    }
    let mut stmts: Vec<_> = kernel.block(kernel.body).collect();
    let leaves = |kernel: &Kernel, block: Block| {
        let last = kernel.block(block).last().map(|id| kernel.stmt(id));
        last == Some(Stmt::Break { label })
    };
    if !leaves(kernel, kernel.body) {
        stmts.push(kernel.push_stmt(Stmt::Break { label }, Loc::default()));
    }
    let body = kernel.push_block(&stmts);
    let once = Stmt::Loop {
        label,
        cond: None,
        body,
    };
    let once = kernel.push_stmt(once, Loc::default());
    kernel.body = kernel.push_block(&[once]);
}
