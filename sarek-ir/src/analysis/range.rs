//! Which checks cannot fail in one launch: abstract interpretation with intervals.
//!
//! The kernel is executed once for all threads, every integer being an interval that holds its
//! values in all of them. Lengths, extents and scalar arguments are the launch's own, so that most
//! of what is symbolic in the source is a number here. Branches are joined; loops run to a fixpoint
//! with widening, and once or twice more to narrow it; guards narrow what they speak of
//! (`refine`), and where intervals do not prove a check, sums that guards bound may (`sums`).
//! Loads, floats and native text can be anything.
//!
//! **After a fault** an accelerator's thread goes on with harmless values and leaves its next
//! unbounded loop whatever the condition says. A first run supposes that no thread has faulted; if
//! it proves every site, then by induction none ever does. Otherwise a second run drops that
//! supposition: what follows an unbounded loop then knows nothing of the loop's condition.

mod env;
mod eval;
mod exec;
mod interval;
mod refine;
mod sum;
mod sums;

use env::Env;
use interval::Interval;
use sum::Sum;
use sums::Quotient;

use crate::{Axis, ExprId, Kernel, LabelId, Length, LocalId, Memory, ParamId, SiteId, Stmt, Value};

/// What one launch fixes.
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

/// What is known of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgFact {
    /// The length of a slice.
    Len(u64),
    /// A scalar's value.
    Scalar(Value),
}

/// What was proved of one launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranges {
    proved: Vec<bool>,
    fits_u32: bool,
    overflow: Vec<bool>,
}

impl Ranges {
    /// Is every execution of the site safe? Of an assertion this says also that evaluating its
    /// condition is, so that it may be left out as a whole.
    pub fn proved(&self, site: SiteId) -> bool {
        self.proved[site.index()]
    }

    /// Do all `usize` values of the launch lie in `u32`, and is none computed in a way that depends
    /// on the width? Then 32 bits may stand for `usize`.
    pub fn fits_u32(&self) -> bool {
        self.fits_u32
    }

    /// Does no `+`, `-`, `*`, `<<` or integer cast in this expression, nor in the initialisers of
    /// the immutable locals that it reads, leave its type's range in any thread?
    pub fn no_overflow(&self, expr: ExprId) -> bool {
        !self.overflow[expr.index()]
    }

    /// Is nothing left that a closer look might prove?
    fn tell_all(&self) -> bool {
        self.fits_u32 && !self.proved.contains(&false) && !self.overflow.contains(&true)
    }
}

/// Analyses one launch of a kernel. `facts.args` fit the kernel's parameters.
pub fn analyse(kernel: &Kernel, facts: &LaunchFacts<'_>) -> Ranges {
    analyse_by(kernel, facts, true)
}

/// Analyses a launch by intervals, and if these do not tell all and it is asked for, by sums as well.
fn analyse_by(kernel: &Kernel, facts: &LaunchFacts<'_>, sums: bool) -> Ranges {
    let nothing_fails = Ranges {
        proved: vec![true; kernel.sites.len()],
        fits_u32: true,
        overflow: vec![false; kernel.exprs.len()],
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
            refreshing: false,
            doubtful: false,
            after_faults,
            follow_sums,
            shared_lens: vec![],
            globals: [const { None }; 3],
            quotients: vec![],
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
            return run(follow_sums, true);
        }
        ranges
    };
    // Intervals alone are quick, and tell all of most kernels.
    let ranges = prove(false);
    if !sums || ranges.tell_all() {
        return ranges;
    }
    prove(true)
}

struct Analyser<'a> {
    kernel: &'a Kernel,
    args: &'a [ArgFact],
    env: Env,
    /// The initialisers of immutable locals that nothing changes while the local is in scope.
    defs: Vec<Option<ExprId>>,
    /// Immutable locals whose initialisers overflow.
    tainted: Vec<bool>,
    /// The locals in scope that have a definition, outermost first.
    scope: Vec<LocalId>,
    loops: Vec<LoopPaths>,
    /// How many statements were looked at.
    steps: usize,
    /// Does what is evaluated count? Not on the way to a fixpoint.
    record: bool,
    /// Did anything overflow in the expression being evaluated?
    overflowed: bool,
    /// Did the operator that was evaluated last overflow, by the rules of a debug build?
    exceeds: bool,
    /// Are ranges being brought up to date after a guard?
    refreshing: bool,
    /// Did any site in the statement being executed look as if it may fail?
    doubtful: bool,
    /// May threads have faulted and gone on?
    after_faults: bool,
    /// Are sums of values followed?
    follow_sums: bool,
    shared_lens: Vec<i128>,
    /// The global ids, where they are sums of a block's part and a thread's.
    globals: [Option<Sum>; 3],
    /// The quotients that are atoms of sums.
    quotients: Vec<Quotient>,
    out: Ranges,
}

/// Where the jumps out of a loop's body lead.
struct LoopPaths {
    label: LabelId,
    breaks: Option<Env>,
    continues: Option<Env>,
}

impl Analyser<'_> {
    /// Whether what the launch itself brings fits 32 bits.
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

    /// How many elements each shared array has in this launch.
    fn shared_lens(&mut self, facts: &LaunchFacts<'_>) -> Vec<i128> {
        let kernel = self.kernel;
        for array in kernel.shared.iter() {
            if let Length::Launch(len) = array.len {
                self.eval(len);
            }
        }
        match kernel.shared_lens(facts) {
            Ok(lens) => lens.into_iter().map(i128::from).collect(),
            // The launch does not happen.
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
            // No access is in bounds of what is not known.
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
