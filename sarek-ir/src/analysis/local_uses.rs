//! Which locals a statement declares, writes and reads, in all that it holds.

use crate::{Argument, Block, CallId, Expr, ExprId, Kernel, LocalId, Memory, Root, Stmt, StmtId};

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
        Stmt::Update { place, .. } => match kernel.places[place.index()].root {
            // The rest of it stays what it was.
            Root::Local(local) => {
                f(local, Touch::Read);
                f(local, Touch::Write);
            }
            Root::Element { memory, .. } => array(memory, Touch::Write, f),
            Root::Param(_) => {}
        },
        Stmt::Call { call } => called(kernel, call, f),
        Stmt::Native { native } => {
            for local in kernel.named_by_text(native) {
                f(local, Touch::Read);
                f(local, Touch::Write);
            }
            if let Some(result) = kernel.natives[native.index()].result {
                f(result, Touch::Write);
            }
        }
        Stmt::Assert { .. }
        | Stmt::If { .. }
        | Stmt::Loop { .. }
        | Stmt::Break { .. }
        | Stmt::Continue { .. }
        | Stmt::Return
        | Stmt::Barrier
        | Stmt::Fence { .. }
        | Stmt::Panic { .. }
        | Stmt::Print { .. } => {}
    }
}

/// A function may read and write what it is lent.
pub fn called(kernel: &Kernel, id: CallId, f: &mut dyn FnMut(LocalId, Touch)) {
    let call = &kernel.calls[id.index()];
    for arg in call.args.iter() {
        match *arg {
            Argument::Local(local) | Argument::Memory(Memory::Local(local)) => {
                f(local, Touch::Read);
                f(local, Touch::Write);
            }
            Argument::Value(_)
            | Argument::Memory(Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_)) => {}
        }
    }
    if let Some(result) = call.result {
        f(result, Touch::Write);
    }
    for closure in kernel.closures_of(id) {
        for local in closure.params.iter().copied().chain(closure.result) {
            f(local, Touch::Declare);
        }
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
        | Expr::Compound(_)
        | Expr::Faulted => {}
    }
}

fn array(memory: Memory, touch: Touch, f: &mut dyn FnMut(LocalId, Touch)) {
    match memory {
        Memory::Local(local) => f(local, touch),
        Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => {}
    }
}

/// The expressions that a statement evaluates itself, in order.
pub fn operands(kernel: &Kernel, id: StmtId) -> Vec<ExprId> {
    kernel.parts(kernel.stmt(id)).0
}

/// The blocks that a statement holds directly; of a native one, its portable form.
pub fn blocks(kernel: &Kernel, id: StmtId) -> Vec<Block> {
    kernel.parts(kernel.stmt(id)).1
}
