//! Which locals a statement declares, writes and reads, in all that it holds.

use crate::{Block, Expr, ExprId, Kernel, LocalId, Memory, Piece, Stmt, StmtId};

/// What is done to a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// A value is used, or an element of an array is.
    Read,
    /// A value is assigned, or an element of an array is.
    Write,
    /// It is declared by a `let`, or as the counter of a loop.
    Declare,
}

/// Tells what a statement, with those inside of it, does to locals.
pub fn stmt(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, Touch)) {
    itself(kernel, id, f);
    for block in blocks(kernel, id) {
        for inner in kernel.block(block) {
            stmt(kernel, inner, f);
        }
    }
}

/// Tells what a statement does to locals, without those inside of it.
pub fn itself(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, Touch)) {
    for used in operands(kernel, id) {
        expr(kernel, used, f);
    }
    match kernel.stmt(id) {
        Stmt::Let { local, .. } | Stmt::For { local, .. } => f(local, Touch::Declare),
        Stmt::Assign { local, .. } | Stmt::Subgroup { result: local, .. } => f(local, Touch::Write),
        Stmt::Store { memory, .. } => array(memory, Touch::Write, f),
        Stmt::Atomic { memory, result, .. } => {
            array(memory, Touch::Write, f);
            if let Some(result) = result {
                f(result, Touch::Write);
            }
        }
        Stmt::Native { native } => {
            let texts = kernel.natives[native.index()].texts.iter();
            for piece in texts.flat_map(|t| t.pieces.iter()) {
                if let Piece::Local(local) = piece {
                    f(*local, Touch::Read);
                    f(*local, Touch::Write);
                }
            }
        }
        Stmt::Assert { .. }
        | Stmt::If { .. }
        | Stmt::Loop { .. }
        | Stmt::Break { .. }
        | Stmt::Continue { .. }
        | Stmt::Return
        | Stmt::Barrier
        | Stmt::Fence { .. } => {}
    }
}

/// Tells which locals an expression reads.
pub fn expr(kernel: &Kernel, id: ExprId, f: &mut dyn FnMut(LocalId, Touch)) {
    for operand in kernel.operands(id) {
        expr(kernel, operand, f);
    }
    match kernel.expr(id) {
        Expr::Local(local) => f(local, Touch::Read),
        Expr::Load { memory, .. } => array(memory, Touch::Read, f),
        Expr::Literal(_)
        | Expr::Link(_)
        | Expr::Param(_)
        | Expr::Len(_)
        | Expr::Builtin(_)
        | Expr::Bounded { .. }
        | Expr::Unary { .. }
        | Expr::Binary { .. }
        | Expr::Divide { .. }
        | Expr::And { .. }
        | Expr::Or { .. }
        | Expr::Cast { .. }
        | Expr::Call { .. }
        | Expr::Faulted => {}
    }
}

fn array(memory: Memory, touch: Touch, f: &mut dyn FnMut(LocalId, Touch)) {
    match memory {
        Memory::Local(local) => f(local, touch),
        Memory::Slice(_) | Memory::Shared(_) => {}
    }
}

/// The expressions that a statement evaluates itself, in order.
pub fn operands(kernel: &Kernel, id: StmtId) -> Vec<ExprId> {
    match kernel.stmt(id) {
        Stmt::Let { init, .. } => init.into_iter().collect(),
        Stmt::Assign { value, .. } => vec![value],
        Stmt::Store { index, value, .. } => vec![value, index],
        Stmt::Assert { cond, .. } | Stmt::If { cond, .. } => vec![cond],
        Stmt::Loop { cond, .. } => cond.into_iter().collect(),
        Stmt::For { start, end, .. } => vec![start, end],
        Stmt::Atomic { index, args, .. } => kernel.list(args).chain([index]).collect(),
        Stmt::Subgroup { args, .. } => kernel.list(args).collect(),
        Stmt::Break { .. }
        | Stmt::Continue { .. }
        | Stmt::Return
        | Stmt::Barrier
        | Stmt::Fence { .. }
        | Stmt::Native { .. } => vec![],
    }
}

/// The blocks that a statement holds directly; of a native one, its portable form.
pub fn blocks(kernel: &Kernel, id: StmtId) -> Vec<Block> {
    match kernel.stmt(id) {
        Stmt::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        Stmt::Loop { body, .. } | Stmt::For { body, .. } => vec![body],
        Stmt::Native { native } => {
            let fallback = kernel.natives[native.index()].fallback;
            fallback.into_iter().collect()
        }
        Stmt::Let { .. }
        | Stmt::Assign { .. }
        | Stmt::Store { .. }
        | Stmt::Assert { .. }
        | Stmt::Break { .. }
        | Stmt::Continue { .. }
        | Stmt::Return
        | Stmt::Barrier
        | Stmt::Fence { .. }
        | Stmt::Atomic { .. }
        | Stmt::Subgroup { .. } => vec![],
    }
}
