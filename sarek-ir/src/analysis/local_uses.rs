//! Reports the locals that a statement declares, writes and reads, with or without its nested statements.

use crate::facts::{Effect, Reads};
use crate::{Argument, CallId, ExprId, Kernel, LocalId, Memory, Root, StmtId};
use crate::{Expr, Stmt}; // OLD

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
    for id in kernel.stmts_in([id]) {
        itself(kernel, id, f);
    }
}

/// Reports the uses of locals in a statement, without its nested statements.
pub fn itself(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    old_check_itself(kernel, id, f); // OLD
    for used in kernel.operands_of(id) {
        expr(kernel, used, f);
    }
    let facts = kernel.stmt(id).facts();
    if let Some(local) = facts.declares {
        f(local, LocalUse::Declare);
    }
    if let Some(local) = facts.assigns {
        f(local, LocalUse::Write);
    }
    match facts.effect {
        Effect::Store(memory) | Effect::Atomic(_, memory) => array(memory, LocalUse::Write, f),
        Effect::Place(place) => match kernel.places[place.index()].root {
            // The rest of the local keeps its value.
            Root::Local(local) => {
                f(local, LocalUse::Read);
                f(local, LocalUse::Write);
            }
            Root::Element { memory, .. } => array(memory, LocalUse::Write, f),
            Root::Param(_) => {}
        },
        Effect::Call(call) => called(kernel, call, f),
        Effect::Native(native) => {
            for local in kernel.named_by_text(native) {
                f(local, LocalUse::Read);
                f(local, LocalUse::Write);
            }
            if let Some(result) = kernel.natives[native.index()].result {
                f(result, LocalUse::Write);
            }
        }
        Effect::None
        | Effect::Print(_)
        | Effect::Fence
        | Effect::Barrier
        | Effect::Subgroup(..) => {}
    }
}
// OLD-BEGIN
fn old_itself(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    for used in kernel.operands_of(id) {
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
// OLD-END

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
    old_check_expr(kernel, id, f); // OLD
    for id in kernel.exprs_in([id]) {
        match kernel.expr(id).facts().reads {
            Reads::Local(local) => f(local, LocalUse::Read),
            Reads::Memory(memory) => array(memory, LocalUse::Read, f),
            Reads::Operands
            | Reads::Constant
            | Reads::Param(_)
            | Reads::Len(_)
            | Reads::Id(_)
            | Reads::Faults => {}
        }
    }
}
// OLD-BEGIN
fn old_expr(kernel: &Kernel, id: ExprId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    for operand in kernel.operands(id) {
        old_expr(kernel, operand, f);
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
// OLD-END

fn array(memory: Memory, touch: LocalUse, f: &mut dyn FnMut(LocalId, LocalUse)) {
    match memory {
        Memory::Local(local) => f(local, touch),
        Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => {}
    }
}

// OLD-BEGIN
thread_local!(static OLD_DEEP: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
fn old_compare(
    f: &mut dyn FnMut(LocalId, LocalUse),
    new: &dyn Fn(&mut dyn FnMut(LocalId, LocalUse)),
    old: &dyn Fn(&mut dyn FnMut(LocalId, LocalUse)),
) {
    let _ = f;
    if OLD_DEEP.get() {
        return;
    }
    OLD_DEEP.set(true);
    let (mut a, mut b) = (vec![], vec![]);
    new(&mut |l, u| a.push((l, u as u8)));
    old(&mut |l, u| b.push((l, u as u8)));
    a.sort();
    b.sort();
    assert_eq!(a, b);
    OLD_DEEP.set(false);
}
fn old_check_itself(kernel: &Kernel, id: StmtId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    old_compare(f, &|g| itself(kernel, id, g), &|g| {
        old_itself(kernel, id, g)
    });
}
fn old_check_expr(kernel: &Kernel, id: ExprId, f: &mut dyn FnMut(LocalId, LocalUse)) {
    old_compare(f, &|g| expr(kernel, id, g), &|g| old_expr(kernel, id, g));
}
// OLD-END
