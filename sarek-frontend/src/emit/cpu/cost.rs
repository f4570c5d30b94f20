//! Estimates the work of a thread.

use sarek_ir::facts::Flow;
use sarek_ir::{Block, Kernel, StmtId};

/// A rough count of a thread's operations. A loop counts as 32 iterations.
pub fn cost(kernel: &Kernel) -> u32 {
    fn stmts(kernel: &Kernel, block: Block) -> u32 {
        let each = |id: StmtId| {
            let facts = kernel.stmt(id).facts();
            let inner = kernel.blocks_of(id).into_iter().map(|b| stmts(kernel, b));
            match facts.flow {
                Flow::Branch => inner.max().unwrap_or(0).saturating_add(facts.cost),
                Flow::Loop(_) => inner.max().unwrap_or(0).saturating_mul(32),
                Flow::Next | Flow::Break(_) | Flow::Continue(_) | Flow::Return | Flow::Panic => {
                    facts.cost
                }
            }
        };
        kernel.block(block).map(each).fold(1, u32::saturating_add)
    }
    stmts(kernel, kernel.body)
}
