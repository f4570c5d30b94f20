//! Block sizes that are open: the device picks them, or they are the largest that fit.

use sarek_ir::Precondition;

use super::eligible::{FLAT_SUBGROUPS, private_of_space, shared_bytes};
use super::space::{Shape, check_block, halved, open_block};
use super::{Dims, Ready, subgroups};
use crate::Device;
use crate::host::IndexSpace;
use crate::plugin::backend::{BlockRequest, OpenBlocks};

impl Ready<'_> {
    /// The block size that the device picks for a launch that leaves it open; `None` for the
    /// customary one.
    pub(super) fn picked_block(
        &self,
        device: &Device,
        (fixed, serial): (Option<[u32; 3]>, bool),
    ) -> Result<Option<[u32; 3]>, String> {
        if fixed.is_some() || serial {
            return Ok(None);
        }
        let wide = |dims: Dims| dims.0.map(|n| n as u64);
        let threads = match self.shape {
            Shape::Over(extent) => OpenBlocks::Over(wide(extent)),
            Shape::Cover(extent) => OpenBlocks::Cover(wide(extent)),
            Shape::Blocks(grid) => OpenBlocks::Grid(wide(grid)),
            Shape::Grid { .. } => return Ok(None),
        };
        let check = |block| self.check_picked(device, block);
        let request = BlockRequest {
            kernel: &self.call.kernel.kernel,
            threads,
            schedule: self.call.schedule(),
            check: &check,
        };
        let Some(block) = device.raw().pick_block(&request) else {
            return Ok(match threads {
                OpenBlocks::Over(_) | OpenBlocks::Cover(_) => None,
                OpenBlocks::Grid(grid) => {
                    let most = open_block(grid, device.info());
                    let mut blocks = std::iter::successors(Some(most), |block| halved(*block));
                    // If none fits, the largest one has the error.
                    Some(blocks.find(|block| check(*block).is_ok()).unwrap_or(most))
                }
            });
        };
        check(block).map_err(|problem| {
            let (backend, block) = (device.backend(), Dims(block.map(|n| n as usize)));
            format!("`{backend}` picks blocks of {block} for it: {problem}")
        })?;
        match threads {
            OpenBlocks::Cover(_) => {
                let extent = |picked| self.space_of(device, picked).map(|space| space.extent);
                Ok((extent(Some(block))? == extent(None)?).then_some(block))
            }
            OpenBlocks::Over(_) | OpenBlocks::Grid(_) => Ok(Some(block)),
        }
    }

    /// The index space with a block size.
    fn space_of(&self, device: &Device, picked: Option<[u32; 3]>) -> Result<IndexSpace, String> {
        self.shape.space((None, false), picked, device.info(), None)
    }

    /// Returns the reason why the launch cannot have blocks of this size, if so.
    fn check_picked(&self, device: &Device, block: [u32; 3]) -> Result<(), String> {
        let (info, kernel) = (device.info(), &self.call.kernel);
        if block.contains(&0) {
            return Err("such a block has no threads".to_owned());
        }
        check_block(block, info)?;
        let space = self.space_of(device, Some(block))?;
        if !kernel.kernel.shared.is_empty() {
            let lens = self.shared_lens(space).map_err(|error| error.to_string())?;
            shared_bytes(device, |least| kernel.kernel.shared_bytes(&lens, least))?;
        }
        if kernel.needs.subgroups && !info.features.shaped_subgroups && block[1..] != [1, 1] {
            return Err(FLAT_SUBGROUPS.to_owned());
        }
        let problem = subgroups::violated(&kernel.kernel, space, info.subgroup)
            .or_else(|| private_of_space(device, kernel, space))
            .or_else(|| self.block_precondition(space));
        problem.map_or(Ok(()), Err)
    }

    /// The violated precondition on the block size, in words.
    fn block_precondition(&self, space: IndexSpace) -> Option<String> {
        let kernel = &self.call.kernel;
        let concerns_blocks = kernel.kernel.preconditions.iter().any(|need| match need {
            Precondition::BlockAtMost(..) | Precondition::BlockMultipleOf(_) => true,
            Precondition::SingleThread(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::NoOverflow(_)
            | Precondition::Holds(_)
            | Precondition::Positive(_)
            | Precondition::SubgroupSize(_)
            | Precondition::SubgroupSizeIs(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups => false,
        });
        let proof = || kernel.proofs.get(&kernel.kernel, space, self.call.facts());
        concerns_blocks.then(|| proof().violated_precondition.clone())?
    }
}
