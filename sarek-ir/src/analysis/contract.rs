//! The contract between a collective function and its callers.
//!
//! In a *collective* function, the threads of a block work together. It has barriers, shared arrays or subgroup
//! operations, or calls functions that do. All threads of the block must call it together. If a parameter
//! influences the number of barriers that a thread reaches, all threads must pass the same value for it. The
//! callees of a function are not known here. So each answer refers to the facts of its callees, and rustc
//! combines them.
//!
//! The parameters on which threads must agree for a function to be free of races ([`super::race::function`])
//! propagate through arguments in the same way.

mod facts;

use std::collections::BTreeSet;

pub use facts::{Facts, Refusal, accepted};

use super::uniformity::{Among, Uniformity};
use crate::facts::Effect;
use crate::{Access, Argument, Call, CallId, CallTarget, Kernel, Memory, ParamId, Stmt, StmtId};

/// The points at which threads may diverge. Calls and arguments are errors only if their callees depend on them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contract {
    /// Some threads may miss a barrier.
    pub barrier: bool,
    /// Calls that some threads may miss. Their callees must not be collective.
    pub calls: BTreeSet<CallId>,
    /// Arguments in which threads may differ, by their positions. No barrier and no proof of the callee may
    /// depend on them.
    pub arguments: BTreeSet<(CallId, u32)>,
}

impl Contract {
    /// The contract of a kernel, or of a function that gets the same arguments in all threads of a block.
    pub fn of(kernel: &Kernel, is_function: bool) -> Contract {
        let among = Among {
            function: is_function,
            ..Among::default()
        };
        Contract::among(kernel, &among)
    }

    /// For each parameter of a function: the points at which threads may diverge if they differ in it, but not if
    /// they agree.
    pub fn by_parameter(function: &Kernel) -> Vec<Contract> {
        let always = Contract::of(function, true);
        let params = (0..function.params.len() as u32).map(ParamId);
        let each = params.map(|param| {
            let among = Among {
                function: true,
                params: [param].into(),
                ..Among::default()
            };
            let found = Contract::among(function, &among);
            Contract {
                barrier: found.barrier && !always.barrier,
                calls: &found.calls - &always.calls,
                arguments: &found.arguments - &always.arguments,
            }
        });
        each.collect()
    }

    fn among(kernel: &Kernel, among: &Among) -> Contract {
        let uniformity = Uniformity::among(kernel, among);
        let mut parts = Contract::default();
        for id in kernel.stmts_in(kernel.block(kernel.body)) {
            match kernel.stmt(id).facts().effect {
                Effect::Barrier => parts.barrier |= !uniformity.control(id),
                // A closure is never collective.
                Effect::Call(call) if kernel.calls[call.index()].called.function().is_none() => {}
                Effect::Call(call) => {
                    if !uniformity.control(id) {
                        parts.calls.insert(call);
                    }
                    let args = kernel.calls[call.index()].args.iter();
                    let differ = args.zip(0..).filter(|(arg, _)| !uniformity.argument(**arg));
                    parts.arguments.extend(differ.map(|(_, at)| (call, at)));
                }
                Effect::None
                | Effect::Store(_)
                | Effect::Atomic(..)
                | Effect::Place(_)
                | Effect::Print(_)
                | Effect::Fence
                | Effect::Subgroup(..)
                | Effect::Native(_) => {}
            }
        }
        parts
    }
}

/// The calls that all threads of a block reach together, and whose callees may therefore be collective. Calls
/// that pass closures on are not among them.
pub fn joint_calls(kernel: &Kernel, is_function: bool) -> Vec<(StmtId, CallId)> {
    let apart = Contract::of(kernel, is_function).calls;
    let mut joint = vec![];
    for id in kernel.stmts_in(kernel.block(kernel.body)) {
        if let Stmt::Call { call } = kernel.stmt(id)
            && let Call {
                called: CallTarget::Function(_),
                callable_args,
                ..
            } = &kernel.calls[call.index()]
            && callable_args.is_empty()
            && !apart.contains(&call)
        {
            joint.push((id, call));
        }
    }
    joint
}

/// True if the threads of a block work together in the kernel or function itself, apart from its callees.
pub fn is_cooperative(kernel: &Kernel) -> bool {
    let mut stmts = kernel.stmts.iter();
    !kernel.shared.is_empty() || stmts.any(|stmt| stmt.facts().effect.is_cooperative())
}

/// The plain shared arrays that calls pass as arguments: the call, the argument's position, the array.
pub fn passed_arrays(kernel: &Kernel) -> Vec<(CallId, u32, Memory)> {
    let mut found = vec![];
    for (id, call) in (0..).map(CallId).zip(kernel.calls.iter()) {
        for (at, arg) in (0..).zip(call.args.iter()) {
            if let Argument::Memory(memory @ Memory::Shared(_)) = *arg
                && kernel.access(memory) == Access::Write
            {
                found.push((id, at, memory));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
