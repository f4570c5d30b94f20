//! The stream, which copies and launches in order.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sarek::backend::{Args, BackendStream, Launch, RawFault, Slice};
use sarek::ir::interp::{Ids, Machine, Stop};
use sarek::{Error, Result};

use super::arguments::Arguments;
use super::device::{Loaded, Memory, foreign};
use super::{turned, unit};

/// The only stream. Each operation is complete before its call returns.
#[derive(Default)]
pub(super) struct Queue {
    /// The number of copies within the device, by their storages.
    transfers: Mutex<BTreeMap<String, u64>>,
}

impl Queue {
    /// The copies within the device, for people.
    pub(super) fn transfers(&self) -> BTreeMap<String, String> {
        let transfers = self.transfers.lock();
        let transfers = transfers.unwrap_or_else(PoisonError::into_inner);
        let count = |(route, count): (&String, &u64)| (route.clone(), count.to_string());
        transfers.iter().map(count).collect()
    }
}

// SAFETY: each operation is complete before its call returns.
unsafe impl BackendStream for Queue {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        Memory::of(dst)?.lock()[dst.offset..][..src.len()].copy_from_slice(src);
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&Memory::of(src)?.lock()[src.offset..][..dst.len()]);
        Ok(())
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        let (from, to) = (Memory::of(src)?, Memory::of(dst)?);
        // One lock at a time, since both may be the same memory.
        let bytes = from.lock()[src.offset..][..src.len].to_vec();
        to.lock()[dst.offset..][..dst.len].copy_from_slice(&bytes);
        let route = format!("copies from {} to {}", from.storage(), to.storage());
        let transfers = self.transfers.lock();
        let mut transfers = transfers.unwrap_or_else(PoisonError::into_inner);
        *transfers.entry(route).or_default() += 1;
        Ok(true)
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let loaded: Option<&Loaded> = launch.program.downcast_ref();
        let (Some(loaded), Args::Device(args)) = (loaded, &launch.args) else {
            return Err(foreign("launch"));
        };
        // Texts that use the unit have its environment, so its state is there.
        let unit = launch.environments.get(unit::ENVIRONMENT);
        let mut arguments = Arguments::new(loaded, args, unit)?;
        let mut machine = Machine::new(&loaded.kernel);
        let (space, [nx, ny, _]) = (launch.space, launch.space.grid);
        let (blocks, is_turned) = (space.blocks(), *launch.schedule == turned());
        for n in 0..blocks {
            let n = if is_turned { blocks - 1 - n } else { n };
            let block_idx = [n % nx, n / nx % ny, n / (nx * ny)];
            let (ids, size) = Ids::of_block(block_idx, space.block, space.grid, space.extent);
            match machine.run(&ids, size, &mut arguments) {
                Ok(()) => {}
                Err(Stop::Fault { fault, thread }) => {
                    return Ok(Some(RawFault {
                        site: fault.site,
                        detail: fault.detail,
                        thread: ids.global_of(thread),
                    }));
                }
                Err(Stop::Divergence { .. } | Stop::Found(_)) => {
                    return Err(Error::Launch {
                        kernel: launch.kernel.into(),
                        problem: "a thread does not come to a barrier".into(),
                    });
                }
            }
        }
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        Ok(()) // all work is already done
    }
}
