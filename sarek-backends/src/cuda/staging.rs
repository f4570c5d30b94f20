//! Page-locked staging memory for transfers, as a ring of slots.
//!
//! A stream has slots for its own uploads. Larger transfers use several threads with slots of their own
//! ([`super::transfer`]).

use cudarc::driver::result::{self, DriverError, event};
use cudarc::driver::sys::{CUevent, CUevent_flags, CUresult, CUstream};

use super::copying::copy;

/// The number and size of the slots for a stream's uploads.
pub(super) const STREAM: (usize, usize) = (4, 4 << 20);

/// Page-locked memory in slots of one size, used in turn.
pub(super) struct Staging {
    memory: *mut u8,
    slot: usize,
    /// For each slot, an event recorded after its last transfer.
    done: Vec<CUevent>,
    next: usize,
}

impl Staging {
    pub fn new((count, slot): (usize, usize)) -> Result<Staging, DriverError> {
        // SAFETY: a context is current; only this value uses the memory.
        let memory = unsafe { result::malloc_host(count * slot, 0) }?;
        let mut staging = Staging {
            memory: memory.cast(),
            slot,
            done: Vec::with_capacity(count),
            next: 0,
        };
        for _ in 0..count {
            let event = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
            staging.done.push(event);
        }
        Ok(staging)
    }

    /// Queues an upload of at most a slot, once the next slot is idle.
    pub fn upload(&mut self, stream: CUstream, to: u64, part: &[u8]) -> Result<(), DriverError> {
        let slot = self.slot(self.next);
        self.next = (self.next + 1) % self.count();
        // SAFETY: the event is live; once it has passed (or if it was never recorded), the slot is idle.
        unsafe {
            event::synchronize(slot.done)?;
            slot.fill(0, part, false);
            slot.send(stream, to, part.len())
        }
    }

    pub fn count(&self) -> usize {
        self.done.len()
    }

    pub fn slot(&self, at: usize) -> StagingSlot {
        StagingSlot {
            // The slot lies within the memory.
            memory: self.memory.wrapping_add(at * self.slot),
            len: self.slot,
            done: self.done[at],
        }
    }
}

// SAFETY: memory and events may be used from any thread, and each slot is used by one thread at a time.
unsafe impl Send for Staging {}
// SAFETY: a shared reference only returns the addresses of slots.
unsafe impl Sync for Staging {}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: the streams that used the memory and the events have been waited for.
        unsafe {
            for event in self.done.drain(..) {
                let _ = event::destroy(event);
            }
            let _ = result::free_host(self.memory.cast());
        }
    }
}

/// A slot, with the event after its last transfer.
#[derive(Clone, Copy)]
pub(super) struct StagingSlot {
    memory: *mut u8,
    len: usize,
    done: CUevent,
}

// SAFETY: one thread at a time uses a slot; events may be used from any thread.
unsafe impl Send for StagingSlot {}

impl StagingSlot {
    /// Copies bytes into the slot, from offset `at` on.
    ///
    /// # Safety
    /// Neither the device nor another thread uses that part of the slot.
    pub unsafe fn fill(self, at: usize, bytes: &[u8], past_caches: bool) {
        assert!(at <= self.len && bytes.len() <= self.len - at);
        // SAFETY: the slot is large enough, and that part of it belongs to the caller alone.
        let staged = unsafe { std::slice::from_raw_parts_mut(self.memory.add(at), bytes.len()) };
        copy(bytes, staged, past_caches);
    }

    /// Copies bytes out of the slot, from offset `at` on.
    ///
    /// # Safety
    /// A transfer has written that part of the slot, and neither the device nor another thread writes it.
    pub unsafe fn take(self, at: usize, bytes: &mut [u8]) {
        assert!(at <= self.len && bytes.len() <= self.len - at);
        // SAFETY: the slot is large enough, that part is initialized, and no one writes it now.
        let staged = unsafe { std::slice::from_raw_parts(self.memory.add(at), bytes.len()) };
        bytes.copy_from_slice(staged);
    }

    /// Queues an upload of the first `len` bytes of the slot.
    ///
    /// # Safety
    /// Those bytes have been filled in. The device's memory is at least as large, and the slot is not written before
    /// [`StagingSlot::is_done`].
    pub unsafe fn send(self, stream: CUstream, to: u64, len: usize) -> Result<(), DriverError> {
        // SAFETY: by contract.
        unsafe {
            let staged = std::slice::from_raw_parts(self.memory, len);
            result::memcpy_htod_async(to, staged, stream)?;
            event::record(self.done, stream)
        }
    }

    /// Queues a download of at most a slot.
    ///
    /// # Safety
    /// The device's memory is at least as large, and the slot is not used before [`StagingSlot::is_done`].
    pub unsafe fn fetch(self, stream: CUstream, from: u64, len: usize) -> Result<(), DriverError> {
        assert!(len <= self.len);
        // SAFETY: by contract; the slot is large enough.
        unsafe {
            let staged = std::slice::from_raw_parts_mut(self.memory, len);
            result::memcpy_dtoh_async(staged, from, stream)?;
            event::record(self.done, stream)
        }
    }

    /// True if its last transfer is done.
    pub fn is_done(self) -> Result<bool, DriverError> {
        // SAFETY: the event is live.
        match unsafe { event::query(self.done) } {
            Ok(()) => Ok(true),
            Err(DriverError(CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
