//! Reports the locals that a statement declares, writes and reads, with or without its nested statements.

use crate::{Argument, Block, CallId, Expr, ExprId, Kernel, LocalId, Memory, Root, Stmt, StmtId};

/// A kind of use of a local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalUse {
    /// The value, or an element of the array, is read.
    Read,
    /// The value, or an element of the array, is assigned.
    Write,
    /// The local is declared by a `let`, or as the counter of a loop.
    Declare,
}

/// Reports the uses of locals in a statement and its nested statements.
pub fn stmt(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    itself(kernel, id, f);
    for block in blocks(kernel, id) {
        for inner in kernel.block(block) {
            stmt(kernel, inner, f);
        }
    }
}

/// Reports the uses of locals in a statement, without its nested statements.
pub fn itself(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    for used in operands(kernel, id) {
        expr(kernel, used, f);
    }
    match kernel.stmt(id) {
        Stmt::Let { local, .. } | Stmt::For { local, .. } => f(local, LocalUse::Declare),
        Stmt::Assign { local, .. } | Stmt::Subgroup { result: local, .. } => {
            f(local, LocalUse::Write)
        }
        Stmt::Store { memory, .. } => array(memory, LocalUse::Write, f),
        Stmt::Atomic { memory, result, .. } => {
            array(memory, LocalUse::Write, f);
            if let Some(result) = result {
                f(result, LocalUse::Write);
            }
        }
        Stmt::Update { place, .. } => match kernel.places[place.index()].root {
            // The rest of the local keeps its value.
            Root::Local(local) => {
                f(local, LocalUse::Read);
                f(local, LocalUse::Write);
            }
            Root::Element { memory, .. } => array(memory, LocalUse::Write, f),
            Root::Param(_) => {}
        },
        Stmt::Call { call } => called(kernel, call, f),
        Stmt::Native { native } => {
            for local in kernel.named_by_text(native) {
                f(local, LocalUse::Read);
                f(local, LocalUse::Write);
            }
            if let Some(result) = kernel.natives[native.index()].result {
                f(result, LocalUse::Write);
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

/// Reports the uses of locals by a call. The callee may read and write the locals that it receives by
/// reference.
pub fn called(kernel: &Kernel, id: CallId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    let call = &kernel.calls[id.index()];
    for arg in call.args.iter() {
        match *arg {
            Argument::Local(local) | Argument::Memory(Memory::Local(local)) => {
                f(local, LocalUse::Read);
                f(local, LocalUse::Write);
            }
            Argument::Value(_)
            | Argument::Memory(Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_)) => {}
        }
    }
    if let Some(result) = call.result {
        f(result, LocalUse::Write);
    }
    for closure in kernel.closures_of(id) {
        for local in closure.params.iter().copied().chain(closure.result) {
            f(local, LocalUse::Declare);
        }
    }
}

/// Reports the locals that an expression reads.
pub fn expr(kernel: &Kernel, id: ExprId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    for operand in kernel.operands(id) {
        expr(kernel, operand, f);
    }
    match kernel.expr(id) {
        Expr::Local(local) => f(local, LocalUse::Read),
        Expr::Load { memory, .. } => array(memory, LocalUse::Read, f),
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

fn array(memory: Memory, touch: LocalUse, f: &mut dyn FnMut(LocalId, LocalUse)) {
    match memory {
        Memory::Local(local) => f(local, touch),
        Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => {}
    }
}

/// The expressions that a statement itself evaluates, in order.
pub fn operands(kernel: &Kernel, id: StmtId) -> Vec<ExprId> {
    kernel.children(kernel.stmt(id)).0
}

/// The blocks directly inside of a statement; for a native statement, its fallback.
pub fn blocks(kernel: &Kernel, id: StmtId) -> Vec<Block> {
    kernel.children(kernel.stmt(id)).1
}
