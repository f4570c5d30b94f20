//! Estimates the work of a thread.

use sarek_ir::{Block, Kernel, Stmt, StmtId};

/// A rough count of a thread's operations. A loop counts as 32 iterations.
pub fn weight(kernel: &Kernel) -> u32 {
    fn stmts(kernel: &Kernel, block: Block) -> u32 {
        let each = |id: StmtId| match kernel.stmt(id) {
            Stmt::If {
                then, otherwise, ..
            } => stmts(kernel, then)
                .max(stmts(kernel, otherwise))
                .saturating_add(4),
            Stmt::Loop { body, .. } | Stmt::For { body, .. } => {
                stmts(kernel, body).saturating_mul(32)
            }
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Update { .. }
            | Stmt::Assert { .. } => 4,
            Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Native { .. } => 1,
            Stmt::Atomic { .. } | Stmt::Subgroup { .. } | Stmt::Call { .. } => 16,
        };
        kernel.block(block).map(each).fold(1, u32::saturating_add)
    }
    stmts(kernel, kernel.body)
}
