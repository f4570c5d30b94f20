//! Device memory.
//!
//! The framework caches the memory that vectors release, so the driver rarely allocates or frees. Memory is freed once
//! all work queued on any stream is done. One of the driver's pools (`cuMemAllocFromPoolAsync`) would free in stream
//! order instead, but takes 8 ms for its first block.

use std::any::Any;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{
    CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE, CUdeviceptr, CUresult,
};
use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Error, Result};

use super::device::Shared;
use crate::jit;

/// An allocation.
pub(super) struct Memory {
    shared: Arc<Shared>,
    address: CUdeviceptr,
    len: usize,
    place: Place,
}

enum Place {
    Device,
    /// Page-locked host memory, at the same address on both sides.
    Host,
    /// Imported memory, with its owner.
    Owned(Owner),
}

/// The owner of imported memory, which keeps it alive.
type Owner = Box<dyn Any + Send + Sync>;

impl Memory {
    pub fn new(shared: &Arc<Shared>, len: usize) -> Result<Memory> {
        shared.bind()?;
        // SAFETY: a context is current.
        let address = unsafe { result::malloc_sync(len) };
        Memory::of(shared, len, Place::Device, address)
    }

    /// Page-locked host memory, which kernels access over the bus.
    pub fn on_host(shared: &Arc<Shared>, len: usize) -> Result<Memory> {
        shared.bind()?;
        let flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: a context is current. In 64-bit processes, devices see such memory at the host's address.
        let allocated = unsafe { result::malloc_host(len, flags) };
        let address = allocated.map(|memory| memory.expose_provenance() as CUdeviceptr);
        Memory::of(shared, len, Place::Host, address)
    }

    fn of(
        shared: &Arc<Shared>,
        len: usize,
        place: Place,
        allocated: Result<CUdeviceptr, DriverError>,
    ) -> Result<Memory> {
        match allocated {
            Ok(address) => Ok(Memory {
                shared: shared.clone(),
                address,
                len,
                place,
            }),
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Err(Error::OutOfMemory {
                device: shared.name.clone(),
                bytes: len,
            }),
            Err(error) => Err(shared.error("allocating memory", error)),
        }
    }

    /// Wraps existing memory, which goes back to its owner in the end.
    pub fn imported(
        shared: &Arc<Shared>,
        address: CUdeviceptr,
        len: usize,
        owner: Owner,
    ) -> Memory {
        Memory {
            shared: shared.clone(),
            address,
            len,
            place: Place::Owned(owner),
        }
    }

    fn release(&self) -> Result<()> {
        self.shared.bind()?;
        self.shared.finish_all()?;
        let freed = match &self.place {
            // SAFETY: the memory was allocated in this way, and nothing uses it any more.
            Place::Device => unsafe { result::free_sync(self.address) },
            Place::Host => {
                let memory = std::ptr::with_exposed_provenance_mut(self.address as usize);
                // SAFETY: as above.
                unsafe { result::free_host(memory) }
            }
            // The owner is dropped afterwards.
            Place::Owned(_owner) => Ok(()),
        };
        freed.map_err(|error| self.shared.error("freeing memory", error))
    }
}

// SAFETY: that many bytes were allocated, or are promised by the code that imported them.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A failure means that the device is lost, which every later call reports.
        let _ = self.release();
    }
}

/// The address of a slice in the memory of any CUDA device, and that device.
pub(super) fn located<'a>(
    shared: &Shared,
    slice: &'a Slice,
) -> Result<(CUdeviceptr, &'a Arc<Shared>)> {
    let memory: &Memory = jit::memory(&shared.name, slice)?;
    Ok((memory.address + slice.offset as CUdeviceptr, &memory.shared))
}

/// The address of a slice in this device's memory.
pub(super) fn address(shared: &Arc<Shared>, slice: &Slice) -> Result<CUdeviceptr> {
    match located(shared, slice)? {
        (address, owner) if Arc::ptr_eq(owner, shared) => Ok(address),
        _ => Err(jit::foreign(&shared.name, "memory of another device")),
    }
}
