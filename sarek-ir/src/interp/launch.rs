//! Launch-time expressions: the lengths of shared arrays, and the conditions of `requires(…)`.
//!
//! They consist of scalar arguments, lengths, extents, constants, and locals that the first statements of the
//! kernel set to such values. So all threads compute the same value. The host evaluates these expressions
//! exactly, before any thread runs.

use super::host::{Fault, Halt, Host, Like};
use super::lane::{Common, Lane, Layout, int_of};
use crate::analysis::range::{ArgFact, LaunchFacts};
use crate::nodes::Ids;
use crate::{
    Expr, ExprId, Kernel, Length, LocalId, ParamId, ParamKind, Precondition, SharedArray, SiteId,
    Stmt, Value,
};

impl Kernel {
    /// The conditions of `requires(…)`, each with the site of its assertion.
    pub fn required(&self) -> impl Iterator<Item = (SiteId, ExprId)> {
        let asserted = |wanted| {
            self.stmts.iter().find_map(|stmt| {
                let Stmt::Assert { cond, site } = *stmt else {
                    return None;
                };
                (site == wanted).then_some((site, cond))
            })
        };
        self.preconditions.iter().filter_map(move |p| match p {
            Precondition::Holds(site) => asserted(*site),
            Precondition::SingleThread(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::SubgroupSize(_)
            | Precondition::SubgroupSizeIs(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups
            | Precondition::Positive(_)
            | Precondition::NoOverflow(_) => None,
        })
    }

    /// Returns true if a condition of [`Kernel::required`] holds in a launch of a closed kernel. `facts.args` must
    /// fit the kernel's parameters.
    ///
    /// # Errors
    /// The site at which the evaluation fails: a division by zero.
    pub fn holds(&self, condition: ExprId, facts: &LaunchFacts<'_>) -> Result<bool, Fault> {
        let value = of_launch(self, condition, &first(facts), &mut OfLaunch(facts.args))?;
        Ok(value == Value::Bool(true))
    }

    /// The length of each shared array of a closed kernel in one launch, in the order of [`Kernel::shared`].
    /// `facts.args` must fit the kernel's parameters.
    ///
    /// # Errors
    /// The site at which a length fails: a division by zero.
    pub fn shared_lens(&self, facts: &LaunchFacts<'_>) -> Result<Vec<u64>, Fault> {
        let (ids, mut host) = (first(facts), OfLaunch(facts.args));
        let arrays = self.shared.iter();
        arrays
            .map(|array| shared_len(self, array, &ids, &mut host))
            .collect()
    }

    /// True if a launch-time expression depends on a float argument.
    pub fn asks_float(&self, expr: ExprId) -> bool {
        if let Expr::Param(param) = self.expr(expr)
            && let ParamKind::Scalar(scalar) = self.params[param.index()].kind
        {
            return scalar.is_float();
        }
        if let Expr::Local(local) = self.expr(expr) {
            return self.head(local).is_some_and(|e| self.asks_float(e));
        }
        self.operands(expr).into_iter().any(|e| self.asks_float(e))
    }

    /// True if the length of a shared array depends on a float argument.
    pub fn shared_asks_float(&self) -> bool {
        self.shared.iter().any(|array| match array.len {
            Length::Launch(len) => self.asks_float(len),
            Length::Fixed(_) | Length::Link(_) => false,
        })
    }

    fn locals_of(&self, expr: ExprId, found: &mut Vec<LocalId>) {
        for id in self.exprs_in([expr]) {
            if let Expr::Local(local) = self.expr(id)
                && !found.contains(&local)
            {
                found.push(local);
            }
        }
    }

    /// The value to which the first statements of the kernel set a local.
    fn head(&self, of: LocalId) -> Option<ExprId> {
        self.block(self.body).find_map(|id| {
            let (Stmt::Let {
                local,
                init: Some(value),
            }
            | Stmt::Assign { local, value }) = self.stmt(id)
            else {
                return None;
            };
            (local == of).then_some(value)
        })
    }
}

/// The first thread of a launch.
fn first(facts: &LaunchFacts<'_>) -> Ids {
    Ids {
        thread_idx: [0; 3],
        block_idx: [0; 3],
        block_dim: facts.block.map(u64::from),
        grid_dim: facts.grid,
        global_dim: facts.extent,
    }
}

/// Evaluates the length of a shared array, before shared memory exists.
pub(super) fn shared_len(
    kernel: &Kernel,
    array: &SharedArray,
    ids: &Ids,
    host: &mut impl Host,
) -> Result<u64, Fault> {
    match array.len {
        Length::Fixed(n) => Ok(n),
        Length::Link(_) => unreachable!("a closed kernel has no links"),
        Length::Launch(len) => Ok(int_of(of_launch(kernel, len, ids, host)?) as u64),
    }
}

/// Evaluates a launch-time expression.
fn of_launch(
    kernel: &Kernel,
    expr: ExprId,
    ids: &Ids,
    host: &mut impl Host,
) -> Result<Value, Fault> {
    let mut locals = vec![];
    kernel.locals_of(expr, &mut locals);
    let mut values = vec![];
    for local in &locals {
        let Some(set) = kernel.head(*local) else {
            unreachable!("only locals that the head of a kernel sets are asked for");
        };
        values.push(of_launch(kernel, set, ids, host)?);
    }
    let mut lane = Lane {
        common: &mut Common {
            kernel,
            layout: &Layout::of_scalars(&locals),
            shared: &mut [],
            host,
            like: Like::Host,
            first: &mut None,
            sanitizer: None,
        },
        ids,
        values: &mut values,
        faulted: &mut false,
    };
    match lane.expr(expr) {
        Ok(value) => Ok(value),
        Err(Halt::Fault(fault)) => Err(fault),
        Err(Halt::Found(_)) => unreachable!("there is no sanitizer"),
    }
}

/// The arguments of a launch, as the host of launch-time expressions.
struct OfLaunch<'a>(&'a [ArgFact]);

impl Host for OfLaunch<'_> {
    fn scalar(&self, param: ParamId) -> Value {
        match self.0[param.index()] {
            ArgFact::Scalar(value) => value,
            ArgFact::Len(_) => unreachable!("a validated kernel takes no slice for a value"),
        }
    }

    fn len(&self, slice: ParamId) -> u64 {
        match self.0[slice.index()] {
            ArgFact::Len(len) => len,
            ArgFact::Scalar(_) => unreachable!("a validated kernel takes lengths of slices only"),
        }
    }

    fn load(&mut self, _: ParamId, _: u64) -> Value {
        unreachable!("what the launch decides depends on no element")
    }

    fn store(&mut self, _: ParamId, _: u64, _: Value) {
        unreachable!("expressions store nothing")
    }
}
