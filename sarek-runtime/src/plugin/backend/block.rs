//! Block sizes that a backend picks.

use sarek_ir::Kernel;

use crate::plugin::tag::{ScheduleKind, Tag};

/// A launch whose block size is open, see [`super::BackendDevice::pick_block`].
#[non_exhaustive]
pub struct BlockRequest<'a> {
    /// The kernel, which is linked.
    pub kernel: &'a Kernel,
    /// The threads that run.
    pub threads: OpenBlocks,
    /// The schedule of the threads.
    pub schedule: &'a Tag<ScheduleKind>,
    pub(crate) check: &'a dyn Fn([u32; 3]) -> Result<(), String>,
}

/// The threads of a launch whose block size is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenBlocks {
    /// Exactly these threads, along x, y and z: `.over(…)`.
    Over([u64; 3]),
    /// Whole blocks that cover these threads: `.cover(…)`.
    Cover([u64; 3]),
    /// This number of blocks: `.grid(…)`. The block size decides the number of threads.
    Grid([u64; 3]),
}

impl BlockRequest<'_> {
    /// Returns the reason why the launch cannot have blocks of this size, if so: a limit of the
    /// device, its shared memory, the memory of local arrays, or a need of the kernel, such as whole
    /// subgroups.
    pub fn check(&self, block: [u32; 3]) -> Result<(), String> {
        (self.check)(block)
    }
}
