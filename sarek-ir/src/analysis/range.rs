//! Range analysis: finds the checks that cannot fail in one launch, by abstract interpretation with intervals
//! (Cousot and Cousot, 1977).
//!
//! The analysis executes the kernel once for all threads. Every integer is an interval that contains its values
//! in all of them. Lengths, extents and scalar arguments have the launch's values, so that most symbols of the
//! source are numbers here. Branches are joined. Loops run to a fixpoint with widening, and a few rounds more
//! for narrowing. Guards narrow the values that they mention (`refine`). Where intervals do not prove a check,
//! bounds of sums may (`sums`, on [`linear`](super::linear)). Loads, floats and the results of native text can have any value.
//!
//! **After a fault** an accelerator's thread continues with harmless values, and leaves its next unbounded loop
//! whatever the condition says. The first run assumes that no thread has faulted. If it proves every site, then
//! by induction no thread ever faults. Otherwise a second run drops the assumption: after an unbounded loop it
//! knows nothing about the loop's condition. Overflows are taken from the first run: only the proof that threads do not
//! race asks for them, and a launch in which a thread has faulted returns an error in any case.

mod env;
mod eval;
mod exec;
mod growth;
mod refine;
mod sums;

use env::Env;
use sums::Sum;

use super::linear::{Interval, Quotients};
use crate::{
    Axis, ExprId, Kernel, LabelId, Length, LocalId, Memory, ParamId, Precondition, SiteId, Stmt,
    Value,
};

/// The values that one launch fixes.
#[derive(Clone, Copy, Debug)]
pub struct LaunchFacts<'a> {
    /// Blocks along each axis.
    pub grid: [u64; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Threads of the launch along each axis.
    pub extent: [u64; 3],
    /// The arguments, in the order of parameters.
    pub args: &'a [ArgFact],
}

/// The fact that is known about an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgFact {
    /// The length of a slice.
    Len(u64),
    /// A scalar's value.
    Scalar(Value),
}

impl ArgFact {
    /// True for a positive integer, and for a slice that is not empty.
    pub fn is_positive(self) -> bool {
        match self {
            ArgFact::Len(len) => len > 0,
            ArgFact::Scalar(value) => value.as_int().is_some_and(|value| value > 0),
        }
    }
}

/// The facts proved about one launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranges {
    proved: Vec<bool>,
    fits_u32: bool,
    overflow: Vec<bool>,
    /// True for a condition of a branch that some thread may find false.
    may_fail: Vec<bool>,
    wraps: Vec<bool>,
}

impl Ranges {
    /// True if no execution of the site can fail. For an assertion, evaluating its condition cannot fail
    /// either, so that the whole assertion may be left out.
    pub fn proved(&self, site: SiteId) -> bool {
        self.proved[site.index()]
    }

    /// True if all `usize` values of the launch fit in `u32`, and none is computed in a way that depends on the
    /// width. Then 32 bits may represent `usize`.
    pub fn fits_u32(&self) -> bool {
        self.fits_u32
    }

    /// True if no `+`, `-`, `*`, `<<` or integer cast in the expression overflows in any thread. This includes
    /// the initialisers of immutable locals that the expression reads. It holds as long as no thread has faulted. If the
    /// expression itself is a `wrapping_add`, `wrapping_sub` or `wrapping_mul`, its result does not wrap either.
    pub fn no_overflow(&self, expr: ExprId) -> bool {
        !self.overflow[expr.index()] && !self.wraps[expr.index()]
    }

    /// True if the condition of a branch holds in every thread that arrives there. It holds as long as no thread has
    /// faulted.
    pub fn always_holds(&self, cond: ExprId) -> bool {
        !self.may_fail[cond.index()]
    }

    /// True if everything is proved, so that a closer analysis cannot find more.
    fn tell_all(&self, kernel: &Kernel) -> bool {
        let fails = |need: &Precondition| match need {
            Precondition::NoOverflow(expr) => self.wraps[expr.index()],
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
            | Precondition::Holds(_) => false,
        };
        let in_doubt = self.proved.contains(&false) || self.overflow.contains(&true);
        self.fits_u32 && !in_doubt && !kernel.preconditions.iter().any(fails)
    }
}

/// Analyses one launch of a kernel. `facts.args` must fit the kernel's parameters.
pub fn analyse(kernel: &Kernel, facts: &LaunchFacts<'_>) -> Ranges {
    analyse_by(kernel, facts, true)
}

/// Analyses a launch by intervals. If these leave something unproved and `sums` is set, analyses it by sums as
/// well.
fn analyse_by(kernel: &Kernel, facts: &LaunchFacts<'_>, sums: bool) -> Ranges {
    let nothing_fails = Ranges {
        proved: vec![true; kernel.sites.len()],
        fits_u32: true,
        overflow: vec![false; kernel.exprs.len()],
        may_fail: vec![false; kernel.exprs.len()],
        wraps: vec![false; kernel.exprs.len()],
    };
    if facts.extent.contains(&0) {
        return nothing_fails;
    }
    let run = |follow_sums: bool, after_faults: bool| {
        let mut analyser = Analyser {
            kernel,
            args: facts.args,
            env: Env::new(kernel, facts.grid, facts.block, facts.extent),
            defs: vec![None; kernel.locals.len()],
            tainted: vec![false; kernel.locals.len()],
            scope: vec![],
            loops: vec![],
            steps: 0,
            record: true,
            overflowed: false,
            exceeds: false,
            wraps: false,
            refreshing: false,
            doubtful: false,
            after_faults,
            follow_sums,
            shared_lens: vec![],
            globals: [const { None }; 3],
            quotients: Quotients::default(),
            out: nothing_fails.clone(),
        };
        analyser.launch(facts);
        analyser.globals = Axis::ALL.map(|axis| analyser.global_sum(axis));
        analyser.shared_lens = analyser.shared_lens(facts);
        analyser.block(kernel.body);
        analyser.out
    };
    let unbounded = kernel.stmts.iter().any(|s| matches!(s, Stmt::Loop { .. }));
    let prove = |follow_sums: bool| {
        let ranges = run(follow_sums, false);
        if unbounded && ranges.proved.contains(&false) {
            return Ranges {
                overflow: ranges.overflow,
                may_fail: ranges.may_fail,
                wraps: ranges.wraps,
                ..run(follow_sums, true)
            };
        }
        ranges
    };
    // Intervals alone are fast, and prove everything about most kernels.
    let ranges = prove(false);
    if !sums || ranges.tell_all(kernel) {
        return ranges;
    }
    prove(true)
}

struct Analyser<'a> {
    kernel: &'a Kernel,
    args: &'a [ArgFact],
    env: Env,
    /// The initialisers of immutable locals, if their value cannot change while the local is in scope.
    defs: Vec<Option<ExprId>>,
    /// Immutable locals whose initialisers may overflow.
    tainted: Vec<bool>,
    /// The locals in scope that have a definition, outermost first.
    scope: Vec<LocalId>,
    loops: Vec<LoopPaths>,
    /// The number of statements executed so far.
    steps: usize,
    /// True if results are recorded. False on the way to a fixpoint.
    record: bool,
    /// True if anything may overflow in the expression being evaluated.
    overflowed: bool,
    /// True if the last operator may overflow by the rules of a debug build.
    exceeds: bool,
    /// True if the last operation wraps by definition, and may have wrapped.
    wraps: bool,
    /// True while ranges are updated after a guard.
    refreshing: bool,
    /// True if a site in the current statement may fail.
    doubtful: bool,
    /// True if threads may have faulted and continued.
    after_faults: bool,
    /// True if sums of values are tracked.
    follow_sums: bool,
    shared_lens: Vec<i128>,
    /// The global ids as sums of a block part and a thread part, where they are such sums.
    globals: [Option<Sum>; 3],
    /// The quotients that occur as atoms of sums.
    quotients: Quotients<i128>,
    out: Ranges,
}

/// The states at the jumps out of a loop's body.
struct LoopPaths {
    label: LabelId,
    breaks: Option<Env>,
    continues: Option<Env>,
}

impl Analyser<'_> {
    /// Records whether the launch's own values fit in 32 bits.
    fn launch(&mut self, facts: &LaunchFacts<'_>) {
        let most = u128::from(u32::MAX);
        let axes = facts.grid.iter().zip(facts.block);
        let mut fits = axes
            .into_iter()
            .all(|(&g, b)| u128::from(g) * u128::from(b) <= most);
        fits &= facts.extent.iter().all(|&e| u128::from(e) <= most);
        fits &= facts.args.iter().all(|arg| match arg {
            ArgFact::Len(n) | ArgFact::Scalar(Value::Usize(n)) => u128::from(*n) <= most,
            ArgFact::Scalar(_) => true,
        });
        self.out.fits_u32 = fits;
    }

    /// The number of elements of each shared array in this launch.
    fn shared_lens(&mut self, facts: &LaunchFacts<'_>) -> Vec<i128> {
        let kernel = self.kernel;
        for array in kernel.shared.iter() {
            if let Length::Launch(len) = array.len {
                self.eval(len);
            }
        }
        match kernel.shared_lens(facts) {
            Ok(lens) => lens.into_iter().map(i128::from).collect(),
            // Such a launch is refused.
            Err(_) => vec![0; kernel.shared.len()],
        }
    }

    fn len(&self, memory: Memory) -> i128 {
        let param = match memory {
            Memory::Slice(param) => param,
            Memory::Shared(shared) => return self.shared_lens[shared.index()],
            Memory::Table(table) => {
                let values = self.kernel.tables[table.index()].values();
                return values.len() as i128;
            }
            Memory::Local(local) => match self.kernel.array(local) {
                Some((_, Length::Fixed(n))) => return n.into(),
                Some((_, Length::Link(_) | Length::Launch(_))) | None => return 0,
            },
        };
        match self.args.get(param.index()) {
            Some(ArgFact::Len(n)) => i128::from(*n),
            // No access is in bounds of an unknown slice.
            Some(ArgFact::Scalar(_)) | None => 0,
        }
    }

    fn scalar_arg(&self, param: ParamId, full: Interval) -> Interval {
        match self.args.get(param.index()) {
            Some(ArgFact::Scalar(value)) => eval::of_value(*value),
            Some(ArgFact::Len(_)) | None => full,
        }
    }
}

#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
