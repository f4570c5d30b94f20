//! The facts that callers need about functions, and the calls that these facts forbid.
//!
//! In a program, rustc evaluates this: each function has its facts as constants, and each call has assertions.
//! This module computes the same where all functions are at hand, for random kernels that rustc never sees.

use std::collections::BTreeSet;

use super::{Contract, is_cooperative, passed_arrays};
use crate::analysis::{barriers, race};
use crate::{CallId, Kernel, Memory, ParamId};

/// The facts about a safe function that its callers need. Parameters are identified by their positions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// True if the threads of a block work together in it.
    pub collective: bool,
    /// The parameters on which barriers depend.
    pub uniform: BTreeSet<u32>,
    /// The parameters on which threads must agree for the function to be free of races.
    pub agreed: BTreeSet<u32>,
    /// The slice parameters for which a caller may pass a shared array.
    pub takes: BTreeSet<u32>,
}

/// The reason why a kernel or function is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Some threads may miss a barrier.
    Barrier,
    /// Two threads may access one element at once, or a function uses its shared array after its last barrier.
    Race,
    /// Some threads may miss a call of a collective function.
    Missed(CallId),
    /// Threads may differ in an argument on which barriers in the callee depend.
    Differs(CallId, u32),
    /// Threads may differ in an argument on which they must agree for the callee to be free of races.
    Disagrees(CallId, u32),
    /// The call passes a shared array on which the callee may race.
    Lends(CallId, u32),
}

impl Facts {
    /// The facts of a function. `callees` are the facts of the functions that it calls, in the order of
    /// [`Kernel::functions`].
    ///
    /// # Errors
    /// The reason why the function itself is refused.
    pub fn of(function: &Kernel, callees: &[Facts]) -> Result<Facts, Refusal> {
        if let Some(refusal) = refused_calls(function, true, callees) {
            return Err(refusal);
        }
        let found = race::function::check(function, &BTreeSet::new());
        if !found.races.is_empty() || !found.open.is_empty() {
            return Err(Refusal::Race);
        }
        let own_agreed = found.agreed.iter().map(|param| param.0);
        let mut facts = Facts {
            collective: is_cooperative(function) || callees.iter().any(|c| c.collective),
            agreed: own_agreed.collect(),
            ..Facts::default()
        };
        let of = |call: CallId| callee(function, call, callees);
        let is_lent_on = |param: u32| {
            let memory = crate::Argument::Memory(Memory::Slice(ParamId(param)));
            let calls = (0..function.calls.len() as u32).map(CallId);
            calls.into_iter().all(|call| {
                let args = function.calls[call.index()].args.iter().zip(0..);
                let mut at = args.filter(|(arg, _)| **arg == memory).map(|(_, at)| at);
                at.all(|at| of(call).is_none_or(|facts| facts.takes.contains(&at)))
            })
        };
        let takes = (0..).zip(&found.takes).filter(|(_, takes)| **takes);
        facts.takes = takes
            .map(|(param, _)| param)
            .filter(|p| is_lent_on(*p))
            .collect();
        for (param, parts) in (0..).zip(Contract::by_parameter(function)) {
            let passed_on = |asks: fn(&Facts) -> &BTreeSet<u32>| {
                let mut arguments = parts.arguments.iter();
                arguments.any(|(call, at)| of(*call).is_some_and(|f| asks(f).contains(at)))
            };
            let misses = |call: &CallId| of(*call).is_some_and(|f| f.collective);
            if parts.barrier || parts.calls.iter().any(misses) || passed_on(|f| &f.uniform) {
                facts.uniform.insert(param);
            }
            if passed_on(|f| &f.agreed) {
                facts.agreed.insert(param);
            }
        }
        Ok(facts)
    }
}

/// Checks a safe kernel that calls functions with these facts, and returns the preconditions of its launches.
///
/// # Errors
/// The first reason why the kernel is refused.
pub fn accepted(kernel: &Kernel, callees: &[Facts]) -> Result<Vec<crate::Precondition>, Refusal> {
    match refused_calls(kernel, false, callees) {
        Some(refusal) => Err(refusal),
        None => race::check(kernel).map_err(|_| Refusal::Race),
    }
}

/// The facts of a call's callee; `None` if the callee is itself an argument of the calling function.
fn callee<'f>(kernel: &Kernel, call: CallId, callees: &'f [Facts]) -> Option<&'f Facts> {
    let function = kernel.calls[call.index()].called.function();
    function.map(|function| &callees[function.index()])
}

fn refused_calls(kernel: &Kernel, is_function: bool, callees: &[Facts]) -> Option<Refusal> {
    if barriers::check(kernel, is_function).is_err() {
        return Some(Refusal::Barrier);
    }
    let of = |call: CallId| callee(kernel, call, callees);
    let parts = Contract::of(kernel, is_function);
    for &call in &parts.calls {
        if of(call).is_some_and(|facts| facts.collective) {
            return Some(Refusal::Missed(call));
        }
    }
    for &(call, at) in &parts.arguments {
        let Some(facts) = of(call) else { continue };
        if facts.uniform.contains(&at) {
            return Some(Refusal::Differs(call, at));
        }
        if facts.agreed.contains(&at) {
            return Some(Refusal::Disagrees(call, at));
        }
    }
    let lent = passed_arrays(kernel).into_iter();
    let mut racy = lent.filter(|(call, at, _)| of(*call).is_some_and(|f| !f.takes.contains(at)));
    racy.next().map(|(call, at, _)| Refusal::Lends(call, at))
}
