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
//! | [`merge`] | one thread does the work of several neighbours along an axis |
//! | `varying` | the values that differ between threads along an axis |
//! | `lane` | a copy of a statement for one of the merged threads |

mod lane;
pub mod merge;
mod varying;

use std::fmt;

use crate::Kernel;

pub use merge::Merge;

/// A transformation with its parameters. A plan is a list of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// See [`Merge`].
    Merge(Merge),
}

impl Step {
    /// Transforms a closed kernel without checks.
    ///
    /// # Errors
    /// [`Refusal`]. The kernel is then in an unspecified valid state.
    pub fn apply(self, kernel: &mut Kernel) -> Result<(), Refusal> {
        match self {
            Step::Merge(merge) => merge.apply(kernel),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Merge(merge) => merge.fmt(f),
        }
    }
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
