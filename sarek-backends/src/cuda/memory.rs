//! Device memory.
//!
//! With a pool, memory is allocated and released in stream order, on two streams of their own: an
//! allocation is waited for (there is nothing before it); a release waits on the device, not on the
//! host, for all that was queued on any stream. Without a pool the host waits before it frees.

use std::sync::Arc;

use cudarc::driver::result::{self, DriverError, mem_pool, stream};
use cudarc::driver::sys::{CUdeviceptr, CUresult};
use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Error, Result};

use super::device::{Pool, Shared};
use crate::jit;

/// An allocation.
pub(super) struct Memory {
    shared: Arc<Shared>,
    address: CUdeviceptr,
    len: usize,
}

impl Memory {
    pub fn new(shared: &Arc<Shared>, len: usize) -> Result<Memory> {
        shared.bind()?;
        let allocated = allocate(shared, len);
        match allocated {
            Ok(address) => Ok(Memory {
                shared: shared.clone(),
                address,
                len,
            }),
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Err(Error::OutOfMemory {
                device: shared.name.clone(),
                bytes: len,
            }),
            Err(error) => Err(shared.error("allocating memory", error)),
        }
    }

    fn release(&self) -> Result<()> {
        self.shared.bind()?;
        match self.shared.pool {
            Some(Pool { free, .. }) => {
                self.shared.wait_for_all(free)?;
                // SAFETY: what uses the memory was queued on the streams that `free` now waits for.
                unsafe { result::free_async(self.address, free) }
            }
            None => {
                self.shared.finish_all()?;
                // SAFETY: nothing that uses the memory is left.
                unsafe { result::free_sync(self.address) }
            }
        }
        .map_err(|error| self.shared.error("freeing memory", error))
    }
}

fn allocate(shared: &Shared, len: usize) -> Result<CUdeviceptr, DriverError> {
    match shared.pool {
        Some(Pool { pool, alloc, .. }) => {
            // SAFETY: the stream is live; once it is done, the memory may be used on any other.
            unsafe {
                let address = mem_pool::alloc_async(pool, len, alloc)?;
                stream::synchronize(alloc).map(|()| address)
            }
        }
        // SAFETY: a context is current.
        None => unsafe { result::malloc_sync(len) },
    }
}

impl Mem for Memory {
    fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A failure means that the device is lost, which every later call tells.
        let _ = self.release();
    }
}

/// Where a slice of the memory of any CUDA device begins, and whose it is.
pub(super) fn located<'a>(
    shared: &Shared,
    slice: &'a Slice,
) -> Result<(CUdeviceptr, &'a Arc<Shared>)> {
    let memory: &Memory = jit::memory(&shared.name, slice)?;
    Ok((memory.address + slice.offset as CUdeviceptr, &memory.shared))
}

/// Where a slice of this device's memory begins.
pub(super) fn address(shared: &Arc<Shared>, slice: &Slice) -> Result<CUdeviceptr> {
    match located(shared, slice)? {
        (address, owner) if Arc::ptr_eq(owner, shared) => Ok(address),
        _ => Err(jit::foreign(&shared.name, "memory of another device")),
    }
}
