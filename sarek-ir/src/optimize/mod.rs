//! The optimizer: transformations of a kernel for one launch, each in a file of its own.
//!
//! A transformation relies on three facts. The kernel has no races, so the threads between two barriers may run in any
//! order, and one thread may do the work of several. The launch proved all checks of the code that is transformed, so no
//! thread faults there. All numbers of the launch are known, among them its extents and the alignment of its buffers.
//!
//! A transformation changes no result: each logical thread performs the same operations in the same order. It either
//! transforms the whole kernel or returns a [`Refusal`] that names the first construct it cannot handle.
//!
//! | module | content |
//! |---|---|
//! | [`footprint`] | the strides and the reuse of the elements that threads access |
//! | [`merge`] | one thread does the work of several neighbours along an axis |
//! | [`stage`] | a block copies what its loop loads into shared memory |
//! | [`privatize`] | a block has a copy of what its atomic operations change |
//! | [`square`] | a block copies elements in the order of another axis into shared memory |
//! | [`unroll`] | short loops become code without loops |
//! | `window` | a block's loads of neighbouring elements become one run |
//! | `varying` | the values that differ between threads along an axis |
//! | `assume` | facts of the launch, written into the kernel |
//! | `lane` | a copy of a statement for one of the merged threads |

mod assume;
pub mod footprint;
mod lane;
pub mod merge;
pub mod privatize;
pub mod square;
pub mod stage;
pub mod unroll;
mod varying;
mod window;

use std::collections::BTreeSet;
use std::fmt;

use crate::{
    Expr, ExprId, Kernel, LabelId, LocalId, ParamId, Scalar, Stmt, StmtId, passes, validate,
};

pub use assume::ALIGNMENT;
pub use footprint::Footprint;
pub use merge::{Merge, Spread};
pub use privatize::Privatize;
pub use square::Square;
pub use stage::Stage;
pub use unroll::ShortLoops;

/// The registers that indices and addresses take.
const INDICES: u64 = 40;

/// The facts and transformations of a plan for one launch, all of whose checks are proved.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Optimization {
    /// Conditions of branches that hold in every thread.
    pub holds: Vec<ExprId>,
    /// Slices that begin at a multiple of [`ALIGNMENT`] bytes.
    pub aligned: Vec<ParamId>,
    /// Scalar parameters that are multiples of the number beside them.
    pub multiples: Vec<(ParamId, u32)>,
    /// True if the last strides of all views are 1.
    pub dense: bool,
    /// The staging, which comes before the merges.
    pub stage: Option<Stage>,
    /// The staging of a kernel whose loads are far apart, which comes before the merges.
    pub square: Option<Square>,
    /// The merges, in order.
    pub merges: Vec<Merge>,
    /// The loops that are unrolled after the merges, so that their loads become windows.
    pub unrolled: Vec<LabelId>,
    /// Scalar parameters with their values, and slices with their lengths, by which these loops are short.
    pub settled: Vec<(ParamId, u64)>,
    /// The private copies, which come after the merges.
    pub privatize: Option<Privatize>,
}

impl Optimization {
    /// True if the threads and their blocks stay as they were launched, whose ids the kernel may then use.
    pub fn keeps_threads(&self) -> bool {
        self.stage.is_none()
            && self.square.is_none()
            && self.merges.is_empty()
            && self.privatize.is_none()
    }

    /// The kernel for the merged threads, without checks.
    ///
    /// # Errors
    /// [`Refusal`], if a transformation does not apply.
    pub fn apply(&self, kernel: &Kernel) -> Result<Kernel, Refusal> {
        let mut kernel = kernel.clone();
        passes::elide_checks(&mut kernel, &BTreeSet::new());
        assume::fold_branches(&mut kernel, &self.holds);
        if self.dense {
            passes::settle_strides(&mut kernel);
        }
        for param in &self.aligned {
            assume::align(&mut kernel, *param);
        }
        unroll::settle(&mut kernel, &self.settled);
        // The first transformation writes them into the kernel.
        let mut multiples = &self.multiples[..];
        if let Some(stage) = &self.stage {
            stage.apply(&mut kernel, std::mem::take(&mut multiples))?;
        }
        if let Some(square) = &self.square {
            square.apply(&mut kernel)?;
        }
        for merge in &self.merges {
            merge.apply(&mut kernel, std::mem::take(&mut multiples))?;
        }
        if !self.unrolled.is_empty() {
            unroll::apply(&mut kernel, &self.unrolled)?;
            window::apply(&mut kernel);
        }
        if let Some(privatize) = &self.privatize {
            privatize.apply(&mut kernel, std::mem::take(&mut multiples))?;
        }
        debug_assert_eq!(validate(&kernel), Ok(()), "{self}");
        Ok(kernel)
    }

    /// An estimate of the 32-bit registers that a thread takes in the loops of a kernel: one for each lane of what a turn
    /// changes, one for each lane along an axis of what it loads, and a few for indices.
    pub fn registers(&self, kernel: &Kernel) -> u64 {
        let words = |ty: Scalar| ty.size().div_ceil(4) as u64;
        let factors = || self.merges.iter().map(|merge| u64::from(merge.factor));
        let (all, most) = (factors().product::<u64>(), factors().max().unwrap_or(1));
        let is_loop = |id: &StmtId| kernel.stmt(*id).loop_label().is_some();
        let loops = kernel.stmts_in(kernel.block(kernel.body)).filter(is_loop);
        let bodies: Vec<StmtId> = loops
            .flat_map(|id| {
                kernel.stmts_in(
                    kernel
                        .blocks_of(id)
                        .into_iter()
                        .flat_map(|b| kernel.block(b)),
                )
            })
            .collect::<BTreeSet<StmtId>>()
            .into_iter()
            .collect();
        let assigned = bodies
            .iter()
            .filter_map(|id| kernel.stmt(*id).facts().assigns);
        let assigned: BTreeSet<LocalId> = assigned.collect();
        let changed = assigned
            .iter()
            .map(|local| words(kernel.local_scalar(&kernel.locals[local.index()])));
        let exprs = kernel.exprs_in(bodies.iter().flat_map(|id| kernel.operands_of(*id)));
        let loads = exprs.filter(|e| matches!(kernel.expr(*e), Expr::Load { .. }));
        let loaded = loads.map(|e| words(kernel.scalar_of(e)));
        changed.sum::<u64>() * all + loaded.sum::<u64>() * most + INDICES
    }

    /// The extent of the transformed launch.
    pub fn threads(&self, mut extent: [u64; 3]) -> [u64; 3] {
        if let Some(stage) = self.stage {
            extent = stage.threads(extent);
        }
        if let Some(square) = self.square {
            extent = square.threads(extent);
        }
        for merge in &self.merges {
            let threads = &mut extent[merge.axis.index()];
            *threads = merge.threads(*threads);
        }
        match self.privatize {
            Some(privatize) => privatize.threads(extent),
            None => extent,
        }
    }
}

impl fmt::Display for Optimization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.stage.iter().map(ToString::to_string);
        let merges = self.merges.iter().map(ToString::to_string);
        let square = self.square.iter().map(ToString::to_string);
        let unrolled = match self.unrolled[..] {
            [] => None,
            _ => Some("loops are unrolled, and their elements loaded once".to_string()),
        };
        let copies = self.privatize.iter().map(ToString::to_string);
        let all = stage.chain(square).chain(merges).chain(unrolled);
        let all: Vec<String> = all.chain(copies).collect();
        match &all[..] {
            [] => f.write_str("elements that follow each other are loaded and stored at once"),
            all => f.write_str(&all.join(", ")),
        }
    }
}

/// The value of an immutable local, or the expression itself.
fn resolved(kernel: &Kernel, id: ExprId) -> Expr {
    let Expr::Local(local) = kernel.expr(id) else {
        return kernel.expr(id);
    };
    if kernel.locals[local.index()].mutable {
        return Expr::Local(local);
    }
    let init = kernel.stmts.iter().find_map(|stmt| match *stmt {
        Stmt::Let { local: of, init } if of == local => init,
        _ => None,
    });
    init.map_or(Expr::Local(local), |init| resolved(kernel, init))
}

/// The reason why a transformation does not apply to a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// A check may fail in this launch.
    Check,
    /// The kernel prints.
    Print,
    /// Threads of a block wait for each other, or exchange values.
    Cooperation,
    /// The kernel uses ids of blocks, of subgroups, or of threads in their block.
    BlockIds,
    /// It contains code in a target's own language.
    Native,
    /// A thread returns early, and the rest of the kernel is not simply the other branch.
    Return,
    /// The threads do not differ along the axis.
    SameAlongAxis,
    /// The text would grow too much.
    Size,
    /// No loop at the top of the kernel can be staged.
    NoLoop,
    /// The turns of the loop differ between threads, or a thread may leave it early.
    Uneven,
    /// The counter of the loop is no `usize`.
    Counter,
    /// No load gains by staging.
    NoTile,
    /// The kernel changes memory before or in the loop, or reads there what it writes.
    Effect,
    /// The kernel has no atomic operations, or uses their results, or has some of several kinds or slices.
    Atomics,
}

impl Refusal {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Refusal::Check => "some checks are not proved for this launch",
            Refusal::Print => "the kernel prints",
            Refusal::Cooperation => "the threads of a block cooperate",
            Refusal::BlockIds => "the kernel uses ids within blocks",
            Refusal::Native => "the kernel contains code of a target",
            Refusal::Return => "a thread returns in the middle",
            Refusal::SameAlongAxis => "all threads along the axis do the same",
            Refusal::Size => "the text would become too long",
            Refusal::NoLoop => "no loop is reached by all threads",
            Refusal::Uneven => "the turns of the loop differ between threads",
            Refusal::Counter => "the counter of the loop is no `usize`",
            Refusal::NoTile => "no load gains by shared memory",
            Refusal::Effect => "the kernel changes memory up to the end of its loop",
            Refusal::Atomics => {
                "the results or kinds of its atomic operations depend on their order"
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

#[cfg(test)]
mod tests;
