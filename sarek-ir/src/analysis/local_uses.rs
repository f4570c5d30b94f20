//! Reports the locals that a statement declares, writes and reads, with or without its nested statements.

use crate::facts::{Effect, Reads};
use crate::{Argument, CallId, ExprId, Kernel, LocalId, Memory, Root, StmtId};

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

fn array(memory: Memory, touch: LocalUse, f: &mut dyn FnMut(LocalId, LocalUse)) {
    match memory {
        Memory::Local(local) => f(local, touch),
        Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => {}
    }
}
