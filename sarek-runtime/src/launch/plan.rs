//! The plan of a launch on a device: blocks and threads, the physical grid, and the proof.

use std::sync::Arc;

use sarek_ir::analysis::range::ArgFact;
use sarek_ir::write::{self, IndexWidth, Variant};
use sarek_ir::{Axis, SiteKind};

use super::eligible::private_arrays;
use super::optimize::{Kept, Optimized, Planning};
use super::prove::{Proof, facts};
use super::space::{Host, Shape, physical_grid, reblocked};
use super::{Ready, host_memory, subgroups};
use crate::host::IndexSpace;
use crate::kernel::KernelDef;
use crate::plugin::backend::{DeviceInfo, LaunchTags, Pipeline};
use crate::plugin::claims::Schedule;
use crate::{Device, Error, Result, intrinsic, settings};

pub(super) struct Plan {
    pub(super) space: IndexSpace,
    /// The grid that the device starts: `space.grid`, or a folded one.
    pub(super) grid: [u32; 3],
    pub(super) proof: Arc<Proof>,
    /// The length of each shared array, in elements.
    pub(super) shared: Arc<[u64]>,
    /// True if the program runs a strided loop over blocks. False on host devices, which schedule
    /// blocks themselves.
    strided: bool,
    /// True if the last strides of all views are 1.
    dense: bool,
    /// The index space of the threads that the user launched.
    pub(super) asked: IndexSpace,
    /// The size of the device's subgroups, 0 if it may differ.
    subgroup: u32,
    /// The transformed kernel, which `space` is for, or the reason why there is none. `None` for devices that run no
    /// text.
    pub(super) optimized: Option<Result<Arc<Optimized>, Kept>>,
    /// The tags of the launch, if the text depends on them.
    pub(super) tags: Option<LaunchTags>,
}

impl Ready<'_> {
    /// The plan of a launch that is checked and not empty.
    pub(super) fn plan(&self, device: &Device) -> Result<Plan> {
        let kernel = &self.call.kernel;
        let info = device.info();
        let host = host_memory(device).then(|| {
            let direct = kernel.def().map(|def| def.direct);
            Host {
                cost: direct.map_or(1, |direct| direct.cost),
                row_wise: direct.is_some_and(|direct| direct.row_wise),
                tall: direct.is_some_and(|direct| direct.tall),
            }
        });
        let malformed = |problem| self.call.malformed(problem);
        let schedule = match host {
            Some(_) => Schedule::Blocks,
            None => self.call.known_schedule(),
        };
        let blocks = (kernel.block(), schedule == Schedule::SingleThread);
        let smaller = self.smaller_block(device, blocks);
        let info = smaller.as_ref().unwrap_or(info);
        let picked = self.picked_block(device, blocks).map_err(malformed)?;
        let space = self.shape.space(blocks, picked, info, host);
        let space = space.map_err(malformed)?;
        // Host devices run the blocks of the logical grid, and start no physical one.
        let max_grid = if host.is_some() {
            [u32::MAX; 3]
        } else {
            info.max_grid
        };
        let grid = match schedule {
            Schedule::Blocks => physical_grid(space.grid, max_grid).ok_or_else(|| {
                let [x, y, z] = max_grid;
                malformed(format!(
                    "it has {} blocks, and {} starts at most {x} × {y} × {z}",
                    space.blocks(),
                    info.name
                ))
            })?,
            Schedule::GridStride => [at_once(info, space), 1, 1],
            Schedule::SingleThread => [1; 3],
        };
        if kernel.foreign().is_some() && grid.map(u64::from) != space.grid {
            let [x, y, z] = max_grid;
            return Err(malformed(format!(
                "{} starts grids of at most {x} × {y} × {z} blocks, and text cannot be folded",
                info.name
            )));
        }
        let shared = self.shared_lens(space)?;
        let proof = kernel.proofs.get(&kernel.kernel, space, self.call.facts());
        let optimized = match device.pipeline() {
            Pipeline::Jit(renderer, _)
                if schedule == Schedule::Blocks && kernel.foreign().is_none() =>
            {
                let planning = Planning {
                    call: &self.call,
                    info,
                    space,
                    proof: &proof,
                    target: renderer.target(),
                    ends_loops: renderer.ends_loops(),
                    mode: settings::optimize(),
                };
                Some(planning.choose())
            }
            Pipeline::Jit(..) | Pipeline::Direct | Pipeline::Interpret => None,
        };
        let tags = match device.pipeline() {
            Pipeline::Jit(renderer, _) if renderer.sees_tags() => Some(self.call.tags()),
            Pipeline::Jit(..) | Pipeline::Direct | Pipeline::Interpret => None,
        };
        let (asked, mut space, mut grid, mut shared) = (space, space, grid, shared);
        let any_block = |def: &KernelDef| def.direct.any_block;
        // A host function may see the blocks.
        let any_block =
            kernel.def().is_some_and(any_block) && !intrinsic::is_hosted(&kernel.needs.intrinsics);
        if let Some(host) = host.filter(|_| any_block && picked.is_none())
            && matches!(device.pipeline(), Pipeline::Direct)
        {
            let other = reblocked(space, info, host);
            if let Some(other_grid) = physical_grid(other.grid, max_grid) {
                (space, grid) = (other, other_grid);
            }
        }
        if let Some(Ok(optimized)) = &optimized {
            (space, grid) = (optimized.space, optimized.grid);
            shared = optimized.shared.clone();
        }
        Ok(Plan {
            asked,
            subgroup: info.subgroup,
            optimized,
            tags,
            space,
            grid,
            proof,
            shared,
            strided: schedule != Schedule::Blocks,
            dense: !self.call.strided,
        })
    }

    /// The device's limits with fewer threads in a block. `None` unless the block size is chosen
    /// automatically and the local arrays of a full block would not fit.
    fn smaller_block(
        &self,
        device: &Device,
        (fixed, serial): (Option<[u32; 3]>, bool),
    ) -> Option<DeviceInfo> {
        let info = device.info();
        let is_picked = match self.shape {
            Shape::Over(_) => fixed.is_none() && !serial,
            // These have the same blocks on every device.
            Shape::Cover(_) | Shape::Grid { .. } | Shape::Blocks(_) => false,
        };
        if !is_picked || host_memory(device) || info.max_private_block == u64::MAX {
            return None;
        }
        let (bytes, _) = private_arrays(device, &self.call.kernel)?;
        let most = (info.max_private_block / bytes.max(1)).max(1);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        (most < info.max_block_threads).then(|| DeviceInfo {
            max_block_threads: most,
            ..info.clone()
        })
    }

    /// The length of each shared array in an index space.
    pub(super) fn shared_lens(&self, space: IndexSpace) -> Result<Arc<[u64]>> {
        let kernel = &self.call.kernel.kernel;
        if kernel.shared.is_empty() {
            return Ok(Arc::default());
        }
        let args: Vec<ArgFact> = self.call.facts().collect();
        let lens = kernel.shared_lens(&facts(space, &args));
        lens.map(Arc::from).map_err(|fault| {
            let site = &kernel.sites[fault.site.index()];
            let place = kernel.place_of(site.loc);
            let fails = match site.kind {
                SiteKind::Overflow(_) => "overflows",
                SiteKind::Divisor
                | SiteKind::Index(_)
                | SiteKind::Dimension(..)
                | SiteKind::Assert(_)
                | SiteKind::Panic(_) => "divides by zero",
            };
            self.call
                .malformed(format!("the length of a shared array {fails} at {place}"))
        })
    }

    /// The first requirement that the launch does not meet, in words.
    pub(super) fn violated_precondition(&self, plan: &Plan) -> Option<String> {
        let violated_precondition = plan.proof.violated_precondition.clone();
        let kernel = &self.call.kernel.kernel;
        violated_precondition
            .or_else(|| subgroups::violated(kernel, plan.asked, plan.subgroup))
            .or_else(|| self.call.broken_of_floats(plan.asked))
    }

    /// Returns an error if the launch does not meet a requirement.
    pub(super) fn require(&self, plan: &Plan) -> Result<()> {
        match self.violated_precondition(plan) {
            None => Ok(()),
            Some(requirement) => Err(Error::Precondition {
                kernel: self.call.kernel.name().to_owned(),
                requirement,
            }),
        }
    }
}

/// An estimate of the blocks that each processor runs at once.
const BLOCKS_A_PROCESSOR: u32 = 8;

/// An estimate of the blocks of a space that a device runs at once.
fn at_once(info: &DeviceInfo, space: IndexSpace) -> u32 {
    // If the number of processors is unknown, assume that of a large device.
    let processors = if info.compute_units == 0 {
        128
    } else {
        info.compute_units
    };
    let most = processors
        .saturating_mul(BLOCKS_A_PROCESSOR)
        .min(info.max_grid[0].max(1));
    u32::try_from(space.blocks()).map_or(most, |blocks| blocks.min(most))
}

impl Plan {
    /// The transformed kernel, if there is one.
    pub(super) fn transformed(&self) -> Option<&Arc<Optimized>> {
        self.optimized.as_ref()?.as_ref().ok()
    }

    pub(super) fn is_folded(&self) -> bool {
        self.strided || self.grid.map(u64::from) != self.space.grid
    }

    /// The width that `usize` needs in the program. It must also hold the numbers of blocks in a
    /// folded grid.
    pub(super) fn index(&self) -> IndexWidth {
        let started = self
            .grid
            .iter()
            .map(|&g| u64::from(g))
            .fold(1, u64::saturating_mul);
        // A strided loop over blocks also computes a number past the last block.
        let last = match self.strided {
            true => started.saturating_add(self.space.blocks()),
            false => started,
        };
        let numbers_fit = !self.is_folded() || u32::try_from(last).is_ok();
        match self.proof.fits_u32 && numbers_fit {
            true => IndexWidth::Bits32,
            false => IndexWidth::Bits64,
        }
    }

    /// The variant of `kernel` that this launch needs.
    pub(super) fn variant(&self, kernel: &sarek_ir::Kernel, target: &str) -> Variant {
        let wide = |axis: &Axis| {
            let i = axis.index();
            self.space.grid[i] * u64::from(self.space.block[i]) > 1
        };
        let last = Axis::ALL.into_iter().rfind(wide).unwrap_or(Axis::X);
        // Dimensions that the kernel mentions anyway cost nothing more, and save a variant.
        let default = write::dialect(target).map(|d| write::default_variant(kernel, d).dims);
        Variant {
            dims: (last.index() as u8 + 1).max(default.unwrap_or(1)),
            folded: self.is_folded(),
            strided: self.strided,
            index: self.index(),
            checked: self.proof.checked.clone(),
            dense: self.dense,
        }
    }
}
