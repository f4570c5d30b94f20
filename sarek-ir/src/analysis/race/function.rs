//! Race check of functions that the threads of a block call together.
//!
//! While a function runs, no other code uses its shared arrays, nor an array that it receives as `&mut [T]`. So
//! their accesses are checked like those of kernels, with one addition: the next call may begin at once. A
//! function must therefore *end with a barrier*: a barrier follows the last use of such an array, and no `return`
//! precedes that barrier. For an array that was passed as an argument, the barrier must be at the top level of
//! the function's body. Then every call reaches it.
//!
//! Callers treat a call as an access of the whole array, followed by a barrier
//! ([`fn@super::super::access::barrier_intervals`]).
//!
//! Threads may pass different values for a parameter. If the proof holds only if the threads of a block agree
//! on some parameters, [`FunctionRaces::agreed`] lists them. An assertion at each call checks this, as for barriers
//! ([`crate::analysis::contract`]). The referent of a `&mut`, and the contents of a slice that the function may
//! write, are never assumed to agree.

mod rows;

use std::collections::BTreeSet;

use super::super::access::lent;
use super::meet::{ConstantBound, Constants};
use super::{Needs, Race, shared};
use crate::analysis::uniformity::Among;
use crate::facts::Effect;
use crate::{
    Access, Argument, Expr, Kernel, Length, Memory, ParamId, ParamKind, Precondition, Root,
    SharedArray, SharedId, Stmt, StmtId,
};

/// The results about a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionRaces {
    /// The preconditions of a launch.
    pub needs: Vec<Precondition>,
    /// Bounds of named constants, which rustc has to check.
    pub constants: Vec<ConstantBound>,
    /// Races on its own shared arrays.
    pub races: Vec<Race>,
    /// Its own shared arrays that are used after the last barrier.
    pub open: Vec<SharedId>,
    /// For each parameter: true if a caller may pass a shared array.
    pub takes: Vec<bool>,
    /// The parameters on which the threads of a block must agree for all this to hold.
    pub agreed: BTreeSet<ParamId>,
}

/// Checks a function. `views` are the parameters that are slices of strided views.
///
/// Each slice is checked by itself, because a nested call is known to end with a barrier only for the arrays that
/// it is passed.
pub fn check(function: &Kernel, views: &BTreeSet<ParamId>) -> FunctionRaces {
    let mut found = FunctionRaces {
        takes: vec![false; function.params.len()],
        ..FunctionRaces::default()
    };
    let mut constants = Constants::of(function);
    match proof(function, &mut constants) {
        Ok((needs, agreed)) => {
            (found.needs, found.agreed) = (needs, agreed);
            found.constants = constants.used;
        }
        Err(races) => found.races = super::with_counterexamples(function, races),
    }
    for param in lendable(function).filter(|param| !views.contains(param)) {
        let (mut kernel, shared) = with_shared(function, param);
        let parts = rows::by_elements(&mut kernel, shared);
        if ends_by_barrier(&kernel, Memory::Shared(shared))
            && let Ok((needs, agreed)) = proof(&kernel, &mut Constants::none())
        {
            found.takes[param.index()] = true;
            found.agreed.extend(agreed);
            let needs = needs.into_iter();
            let needs = needs
                .flat_map(|need| rows::of_parts(need, &parts))
                .collect();
            super::add(&mut found.needs, needs);
        }
    }
    let own = (0..function.shared.len() as u32).map(SharedId);
    let stmts: Vec<StmtId> = function.block(function.body).collect();
    let is_open = |id: &SharedId| {
        let memory = Memory::Shared(*id);
        function.access(memory) == Access::Write && !is_closed(function, &stmts, memory)
    };
    found.open = own.filter(is_open).collect();
    found
}

/// The preconditions under which the function uses its shared arrays without races, and the parameters on which
/// a block's threads must agree. The set of parameters is minimal: without any of them, the proof would fail or
/// need more preconditions.
fn proof(
    function: &Kernel,
    constants: &mut Constants,
) -> Result<(Needs, BTreeSet<ParamId>), Vec<Race>> {
    let params = || (0..function.params.len() as u32).map(ParamId);
    let mut if_agreed = |agreed: &BTreeSet<ParamId>| {
        let among = Among {
            params: params().filter(|param| !agreed.contains(param)).collect(),
            function: true,
            ..Among::default()
        };
        shared::check(function, &among, constants)
    };
    let mut agreed: BTreeSet<ParamId> = params().filter(|p| is_fixed(function, *p)).collect();
    let mut needs = if_agreed(&agreed)?;
    for param in agreed.clone() {
        let others = &agreed - &BTreeSet::from([param]);
        if let Ok(found) = if_agreed(&others)
            && found.iter().all(|need| needs.contains(need))
        {
            (needs, agreed) = (found, others);
        }
    }
    Ok((needs, agreed))
}

/// True if the value of a parameter, or the contents of a slice, cannot change while the function runs.
fn is_fixed(function: &Kernel, param: ParamId) -> bool {
    match function.params[param.index()].kind {
        ParamKind::Scalar(_) | ParamKind::Value(_) => true,
        ParamKind::Reference(_) => false,
        ParamKind::Slice { access, .. } => access == Access::Read,
    }
}

/// The slices that the function may write.
fn lendable(function: &Kernel) -> impl Iterator<Item = ParamId> + '_ {
    let params = (0..).map(ParamId).zip(function.params.iter());
    let written = params.filter(|(_, param)| match param.kind {
        ParamKind::Slice { access, .. } => access == Access::Write,
        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => false,
    });
    written.map(|(id, _)| id)
}

/// The function with a shared array in place of a slice, and that array.
fn with_shared(function: &Kernel, lent: ParamId) -> (Kernel, SharedId) {
    let mut kernel = function.clone();
    let param = &function.params[lent.index()];
    let ParamKind::Slice { elem, .. } = param.kind else {
        unreachable!("it is a slice")
    };
    let id = SharedId(kernel.shared.len() as u32);
    let shared = Memory::Shared(id);
    kernel.shared.to_mut().push(SharedArray {
        name: param.name.clone(),
        elem,
        len: Length::Fixed(u64::from(u32::MAX)),
        atomic: false,
    });
    let swap = |memory: &mut Memory| {
        if *memory == Memory::Slice(lent) {
            *memory = shared;
        }
    };
    for expr in kernel.exprs.to_mut() {
        // `Len` keeps naming the slice: all threads agree on its length.
        if let Expr::Load { memory, .. } = expr {
            swap(memory);
        }
    }
    for stmt in kernel.stmts.to_mut() {
        if let Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } = stmt {
            swap(memory);
        }
    }
    for place in kernel.places.to_mut() {
        if let Root::Element { memory, .. } = &mut place.root {
            swap(memory);
        }
    }
    for call in kernel.calls.to_mut() {
        for arg in call.args.to_mut() {
            if let Argument::Memory(memory) = arg {
                swap(memory);
            }
        }
    }
    (kernel, id)
}

/// True if a barrier at the top level of the function's body follows the last use of a shared array, and every
/// thread reaches it.
fn ends_by_barrier(kernel: &Kernel, memory: Memory) -> bool {
    let stmts: Vec<StmtId> = kernel.block(kernel.body).collect();
    let Some(last) = stmts.iter().rposition(|id| closes(kernel, *id)) else {
        return false;
    };
    let is_used = |id: &StmtId| any(kernel, *id, &|id| uses(kernel, id, memory));
    !stmts[..last].iter().any(|id| returns(kernel, *id)) && !stmts[last + 1..].iter().any(is_used)
}

/// True if a barrier follows every use in these statements, possibly the barrier at the end of a loop's body.
fn is_closed(kernel: &Kernel, stmts: &[StmtId], memory: Memory) -> bool {
    for (at, &id) in stmts.iter().enumerate().rev() {
        if closes(kernel, id) {
            return !stmts[..at].iter().any(|id| returns(kernel, *id));
        }
        if !any(kernel, id, &|id| uses(kernel, id, memory)) {
            continue;
        }
        let [body] = kernel.blocks_of(id)[..] else {
            return false;
        };
        let is_loop = matches!(kernel.stmt(id), Stmt::For { .. } | Stmt::Loop { .. });
        let jumps = |id| matches!(kernel.stmt(id), Stmt::Break { .. } | Stmt::Continue { .. });
        let inner: Vec<StmtId> = kernel.block(body).collect();
        return is_loop
            && !any(kernel, id, &jumps)
            && !stmts[..=at].iter().any(|id| returns(kernel, *id))
            && is_closed(kernel, &inner, memory);
    }
    true
}

/// True if a barrier interval ends with the statement.
fn closes(kernel: &Kernel, id: StmtId) -> bool {
    let stmt = kernel.stmt(id);
    stmt == Stmt::Barrier || matches!(stmt, Stmt::Call { call } if !lent(kernel, call).is_empty())
}

fn returns(kernel: &Kernel, id: StmtId) -> bool {
    any(kernel, id, &|id| kernel.stmt(id) == Stmt::Return)
}

/// True if the predicate holds for a statement, or for one inside of it.
fn any(kernel: &Kernel, id: StmtId, holds: &dyn Fn(StmtId) -> bool) -> bool {
    kernel.stmts_in([id]).any(holds)
}

/// True if the statement itself uses the memory.
fn uses(kernel: &Kernel, id: StmtId, of: Memory) -> bool {
    let used = match kernel.stmt(id).facts().effect {
        Effect::Store(memory) | Effect::Atomic(_, memory) => memory == of,
        Effect::Place(place) => match kernel.places[place.index()].root {
            Root::Element { memory, .. } => memory == of,
            Root::Local(_) | Root::Param(_) => false,
        },
        Effect::Call(call) => lent(kernel, call).contains(&of),
        Effect::None
        | Effect::Print(_)
        | Effect::Fence
        | Effect::Barrier
        | Effect::Subgroup(..)
        | Effect::Native(_) => false,
    };
    let mut operands = kernel.operands_of(id).into_iter();
    used || operands.any(|operand| kernel.loads(operand, of))
}

#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
