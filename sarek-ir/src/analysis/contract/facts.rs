//! What callers know of functions, and which calls are refused for it.
//!
//! Of a program, rustc evaluates this: each function has its facts as constants, and each call assertions. Here the same is evaluated
//! where all functions are at hand, for random kernels that no rustc sees.

use std::collections::BTreeSet;

use super::{Contract, is_cooperative, lent_arrays};
use crate::analysis::{barriers, race};
use crate::{CallId, Kernel, Memory, ParamId};

/// What callers have to know of a safe function. Parameters are known by their positions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// Do the threads of a block work together in it?
    pub collective: bool,
    /// The parameters on which barriers depend.
    pub uniform: BTreeSet<u32>,
    /// The parameters on which threads must agree for it to be free of races.
    pub agreed: BTreeSet<u32>,
    /// The slices that may be lent a shared array.
    pub takes: BTreeSet<u32>,
}

/// Why a kernel or function is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Some threads may miss a barrier.
    Barrier,
    /// Two threads may use one element at once, or a function leaves its shared array in use.
    Race,
    /// Some threads may miss a call of a function in which they work together.
    Missed(CallId),
    /// They may differ in an argument on which barriers in the function depend.
    Differs(CallId, u32),
    /// They may differ in an argument on which they must agree for the function to be free of races.
    Disagrees(CallId, u32),
    /// The call lends a shared array that the function may race on.
    Lends(CallId, u32),
}

impl Facts {
    /// Those of a function that calls others, of which these are the facts, in the order of [`Kernel::functions`].
    ///
    /// # Errors
    /// Why the function is refused by itself.
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

/// Why a safe kernel that calls functions with these facts is refused; what a launch must satisfy else.
///
/// # Errors
/// The first reason.
pub fn accepted(kernel: &Kernel, callees: &[Facts]) -> Result<Vec<crate::Precondition>, Refusal> {
    match refused_calls(kernel, false, callees) {
        Some(refusal) => Err(refusal),
        None => race::check(kernel).map_err(|_| Refusal::Race),
    }
}

/// The facts of what a call calls, unless that is something that a function was given.
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
    let lent = lent_arrays(kernel).into_iter();
    let mut racy = lent.filter(|(call, at, _)| of(*call).is_some_and(|f| !f.takes.contains(at)));
    racy.next().map(|(call, at, _)| Refusal::Lends(call, at))
}
