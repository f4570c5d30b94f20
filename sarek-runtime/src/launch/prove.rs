//! Proofs about a launch on the host, before it runs: its preconditions hold, some checks cannot
//! fail, and 32 bits hold every index.
//!
//! A proof depends only on the index space, lengths and integer arguments, so launches that agree
//! in these share one. Conditions of `requires(…)` on floats are evaluated for each launch.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use sarek_ir::analysis::range::{self, ArgFact, LaunchFacts, Ranges};
use sarek_ir::{Axis, ExprId, Kernel, Precondition, SiteId, SiteKind, Stmt, Value};

use super::{Arg, Call};
use crate::host::IndexSpace;
use crate::sync::lock;

/// The facts that were proved about a launch.
#[derive(Debug)]
pub(super) struct Proof {
    /// The sites that have to be checked at run time.
    pub(super) checked: BTreeSet<SiteId>,
    /// True if one of them is provable in another launch.
    pub(super) any_provable: bool,
    /// True if 32 bits hold every `usize`.
    pub(super) fits_u32: bool,
    /// The conditions of branches that hold in every thread, if no check can fail.
    pub(super) holds: Vec<ExprId>,
    /// The first precondition that does not hold, in words.
    pub(super) violated_precondition: Option<String>,
}

/// The facts that a proof depends on.
#[derive(PartialEq, Eq)]
struct Facts {
    space: IndexSpace,
    args: Vec<ArgFact>,
}

/// The proofs of a kernel's latest launches.
#[derive(Default)]
pub(super) struct Proofs(Mutex<VecDeque<(Facts, Arc<Proof>)>>);

/// The number of proofs kept for each kernel.
const KEPT: usize = 16;

impl Proofs {
    /// The proof for a launch of `kernel`, whose arguments match.
    pub(super) fn get(
        &self,
        kernel: &Kernel,
        space: IndexSpace,
        args: impl Iterator<Item = ArgFact>,
    ) -> Arc<Proof> {
        let args = args.collect();
        let facts = Facts { space, args };
        if let Some(proof) = self.known(&facts) {
            return proof;
        }
        // Two threads may make the same proof; that is cheaper than one waiting for the other.
        let proof = Arc::new(prove(kernel, &facts));
        let mut kept = lock(&self.0);
        kept.truncate(KEPT - 1);
        kept.push_front((facts, proof.clone()));
        proof
    }

    fn known(&self, facts: &Facts) -> Option<Arc<Proof>> {
        let mut kept = lock(&self.0);
        let position = kept.iter().position(|(known, _)| known == facts)?;
        let found = kept.remove(position)?;
        let proof = found.1.clone();
        kept.push_front(found);
        Some(proof)
    }
}

/// The exact fact about an argument.
pub(super) fn exact_fact(arg: &Arg<'_>) -> ArgFact {
    match arg.scalar() {
        None => ArgFact::Len(arg.units()),
        Some(value) => ArgFact::Scalar(value),
    }
}

/// The fact about an argument that the analysis gets. The analysis ignores floats, so all become 0:
/// a kernel with a time step among its arguments is proved once.
fn fact(arg: &Arg<'_>) -> ArgFact {
    match exact_fact(arg) {
        ArgFact::Scalar(Value::F16(_)) => ArgFact::Scalar(Value::F16(0)),
        ArgFact::Scalar(Value::Bf16(_)) => ArgFact::Scalar(Value::Bf16(0)),
        ArgFact::Scalar(Value::F32(_)) => ArgFact::Scalar(Value::F32(0)),
        ArgFact::Scalar(Value::F64(_)) => ArgFact::Scalar(Value::F64(0)),
        fact => fact,
    }
}

impl Call<'_> {
    /// The facts about arguments that decide how the launch runs: without the values of floats,
    /// unless they size shared arrays.
    pub(super) fn facts(&self) -> impl Iterator<Item = ArgFact> {
        let exact = self.kernel.sized_by_floats;
        let known = move |arg| if exact { exact_fact(arg) } else { fact(arg) };
        self.args.iter().map(known)
    }

    /// The first requirement on floats that the launch does not meet, in words.
    pub(super) fn broken_of_floats(&self, space: IndexSpace) -> Option<String> {
        let required = &self.kernel.required_of_floats;
        if required.is_empty() {
            return None;
        }
        let args: Vec<ArgFact> = self.args.iter().map(exact_fact).collect();
        let (kernel, facts) = (&self.kernel.kernel, facts(space, &args));
        let mut required = required.iter();
        required
            .find_map(|(site, condition)| violated_requirement(kernel, (*site, *condition), &facts))
    }
}

/// A condition of `requires(…)` that does not hold, in words; `None` if it does.
fn violated_requirement(
    kernel: &Kernel,
    (site, condition): (SiteId, ExprId),
    facts: &LaunchFacts<'_>,
) -> Option<String> {
    let asked = words(kernel, Precondition::Holds(site));
    let [x, y, z] = facts.extent;
    match kernel.holds(condition, facts) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{asked}, which does not hold for these arguments and ({x}, {y}, {z}) threads"
        )),
        Err(_) => Some(format!(
            "{asked}, which divides by zero for these arguments and ({x}, {y}, {z}) threads"
        )),
    }
}

/// The facts about a launch, in the form that analyses take.
pub(super) fn facts(space: IndexSpace, args: &[ArgFact]) -> LaunchFacts<'_> {
    let IndexSpace {
        grid,
        block,
        extent,
    } = space;
    LaunchFacts {
        grid,
        block,
        extent,
        args,
    }
}

fn prove(kernel: &Kernel, facts: &Facts) -> Proof {
    let facts = &self::facts(facts.space, &facts.args);
    let ranges = range::analyse(kernel, facts);
    let required: Vec<(SiteId, ExprId)> = kernel.required().collect();
    // Requirements hold wherever the launch runs, because it is refused otherwise.
    let is_required = |site| required.iter().any(|(own, _)| *own == site);
    let sites = (0..kernel.sites.len() as u32).map(SiteId);
    let open = |site: &SiteId| !ranges.proved(*site) && !is_required(*site);
    let checked: BTreeSet<_> = sites.filter(open).collect();
    let mut preconditions = kernel.preconditions.iter();
    let of_launch = |(_, condition): &&(SiteId, ExprId)| !kernel.asks_float(*condition);
    let violated_requirement =
        |condition: &(SiteId, ExprId)| violated_requirement(kernel, *condition, facts);
    Proof {
        any_provable: checked.iter().any(|s| kernel.sites[s.index()].provable),
        fits_u32: ranges.fits_u32(),
        holds: match checked.is_empty() {
            true => always_true(kernel, &ranges),
            false => vec![],
        },
        violated_precondition: preconditions
            .find_map(|p| violated_precondition(kernel, *p, facts, &ranges))
            .or_else(|| {
                required
                    .iter()
                    .filter(of_launch)
                    .find_map(violated_requirement)
            }),
        checked,
    }
}

/// The conditions of branches that hold in every thread.
fn always_true(kernel: &Kernel, ranges: &Ranges) -> Vec<ExprId> {
    let conds = kernel.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::If { cond, .. } => Some(*cond),
        _ => None,
    });
    conds.filter(|cond| ranges.always_holds(*cond)).collect()
}

/// The violated precondition, and the launch's actual value, in words; `None` if it holds. For
/// preconditions that follow from the proof.
fn violated_precondition(
    kernel: &Kernel,
    precondition: Precondition,
    facts: &LaunchFacts<'_>,
    ranges: &Ranges,
) -> Option<String> {
    let extent = facts.extent;
    let asked = words(kernel, precondition);
    let along = |axis: Axis, most: u64| {
        let threads = extent[axis.index()];
        let has = || {
            format!(
                "{asked}, but it has {threads} threads along {}",
                axis.name()
            )
        };
        (threads > most).then(has)
    };
    match precondition {
        Precondition::SingleThread(axis) => along(axis, 1),
        Precondition::ExtentAtMost(axis, most) => along(axis, most),
        Precondition::BlockAtMost(axis, most) => {
            let threads = facts.block[axis.index()];
            let has = || {
                let axis = axis.name();
                format!("{asked}, but its blocks have {threads} threads along {axis}")
            };
            (u64::from(threads) > most).then(has)
        }
        Precondition::Positive(param) => {
            let arg = facts.args[param.index()];
            let zero = || format!("{asked}, but it is not");
            (!arg.is_positive()).then(zero)
        }
        Precondition::GridAtMost(axis, most) => {
            let blocks = facts.grid[axis.index()];
            let has = || format!("{asked}, but it has {blocks} blocks there");
            (blocks > most).then(has)
        }
        Precondition::BlockMultipleOf(number) => {
            let threads = facts.block[0];
            let has = || format!("{asked}, but its blocks have {threads} threads there");
            (facts.grid[0] > 1 && !threads.is_multiple_of(number)).then(has)
        }
        // These are evaluated: see `violated_requirement`.
        Precondition::Holds(_) => None,
        // These depend on the device: see `subgroups`.
        Precondition::SubgroupSize(_)
        | Precondition::SubgroupSizeIs(_)
        | Precondition::EqualSubgroups
        | Precondition::WholeSubgroups
        | Precondition::BlockOfSubgroups => None,
        Precondition::NoOverflow(expr) => {
            let [x, y, z] = extent;
            (!ranges.no_overflow(expr)).then(|| {
                format!("{asked}, which cannot be ruled out for these arguments and ({x}, {y}, {z}) threads")
            })
        }
    }
}

/// A precondition in words.
pub(super) fn words(kernel: &Kernel, precondition: Precondition) -> String {
    match precondition {
        Precondition::SingleThread(axis) => format!(
            "different threads write different elements only if the launch has one thread along {}",
            axis.name()
        ),
        Precondition::ExtentAtMost(axis, most) => format!(
            "different threads write different elements only if the launch has at most {most} threads along {}",
            axis.name()
        ),
        Precondition::BlockAtMost(axis, most) => format!(
            "different threads write different elements only if a block has at most {most} threads along {}",
            axis.name()
        ),
        Precondition::GridAtMost(axis, most) => format!(
            "different threads write different elements only if the launch has at most {most} block{} along {}",
            if most == 1 { "" } else { "s" },
            axis.name()
        ),
        Precondition::BlockMultipleOf(number) => format!(
            "different threads write different elements only if the launch has one block along x, or blocks of a \
             multiple of {number} threads there"
        ),
        Precondition::Holds(site) => match &kernel.sites[site.index()].kind {
            SiteKind::Assert(condition) => condition.to_string(),
            other => unreachable!("a validated kernel requires assertions, not {other:?}"),
        },
        Precondition::Positive(param) => format!(
            "different threads write different elements only if `{}` is positive",
            kernel.size_text(param)
        ),
        Precondition::SubgroupSize(size) => format!(
            "different threads write different elements only if the device's subgroups have {size} threads"
        ),
        Precondition::SubgroupSizeIs(_) => unreachable!("linking gives it a number"),
        Precondition::EqualSubgroups => {
            "different threads write different elements only if all subgroups of the device have one size"
                .to_owned()
        }
        Precondition::WholeSubgroups => {
            "different threads write different elements only if the launch has one block along x, or blocks of whole \
             subgroups there"
                .to_owned()
        }
        Precondition::BlockOfSubgroups => {
            "different threads write different elements only if a block has whole subgroups along x".to_owned()
        }
        Precondition::NoOverflow(expr) => {
            let loc = kernel.expr_locs[expr.index()];
            format!(
                "different threads write different elements only if the index at {}:{}:{} does not overflow",
                kernel.file_of(loc),
                loc.line,
                loc.column
            )
        }
    }
}
