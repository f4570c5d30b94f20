//! Facts of a launch, written into the kernel.

use crate::{Block, ExprId, Kernel, ParamId, Stmt, StmtId, passes};

/// The alignment of aligned slices, in bytes.
pub const ALIGNMENT: u32 = 16;

/// Replaces each branch whose condition is in `conds` by its first block. The conditions hold in every thread of the
/// launch, and their evaluation has no effect.
pub(super) fn fold_branches(kernel: &mut Kernel, conds: &[ExprId]) {
    passes::rewrite(kernel, &mut |kernel, id, out| match kernel.stmt(id) {
        Stmt::If { cond, then, .. } if conds.contains(&cond) && is_flat(kernel, then) => {
            out.extend(kernel.block(then));
        }
        _ => out.push(id),
    });
}

/// True if the block may stand in place of the branch. Locals are declared once, so their names do not clash.
fn is_flat(kernel: &Kernel, block: Block) -> bool {
    let ends = |id: StmtId| {
        matches!(
            kernel.stmt(id),
            Stmt::Return | Stmt::Break { .. } | Stmt::Continue { .. }
        )
    };
    !kernel.block(block).any(ends)
}

/// Tells the writer that a slice begins at a multiple of [`ALIGNMENT`].
pub(super) fn align(kernel: &mut Kernel, param: ParamId) {
    let align = &mut kernel.params.to_mut()[param.index()].align;
    *align = (*align).max(ALIGNMENT);
}
