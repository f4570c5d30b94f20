//! The memory of a fake device: its own, or host memory used in place.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use sarek_ir::TypeInfo;

use super::gpu::Stats;
use crate::plugin::backend::{Mem, Slice};
use crate::sync::lock;

/// Memory of the device, which is counted.
pub(super) struct Memory {
    bytes: Mutex<Bytes>,
    stats: Arc<Stats>,
    /// The type of its elements, if the device's buffers carry it.
    pub(super) element: Option<TypeInfo>,
}

/// The place of the bytes.
pub(super) enum Bytes {
    Own(Vec<u8>),
    OfHost(NonNull<u8>, usize),
}

// SAFETY: host memory is used under the lock, while the host does not use it.
unsafe impl Send for Bytes {}

impl Memory {
    pub(super) fn of(bytes: Bytes, stats: &Arc<Stats>) -> Memory {
        Memory {
            bytes: Mutex::new(bytes),
            stats: stats.clone(),
            element: None,
        }
    }

    /// True if `place` is byte `offset` of this memory, which is on the host.
    pub(super) fn is_at(&self, offset: usize, place: *const u8) -> bool {
        match &*lock(&self.bytes) {
            Bytes::Own(_) => false,
            Bytes::OfHost(at, _) => at.as_ptr().wrapping_add(offset).cast_const() == place,
        }
    }
}

impl Bytes {
    fn get(&mut self) -> &mut [u8] {
        match self {
            Bytes::Own(bytes) => bytes,
            // SAFETY: the promise of the code that imported it.
            Bytes::OfHost(at, len) => unsafe { std::slice::from_raw_parts_mut(at.as_ptr(), *len) },
        }
    }
}

// SAFETY: the length is that of its bytes.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        match &*lock(&self.bytes) {
            Bytes::Own(bytes) => bytes.len(),
            Bytes::OfHost(_, len) => *len,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.stats.live.fetch_sub(self.len(), Ordering::Relaxed);
    }
}

/// Accesses the bytes of a slice.
pub(super) fn with<R>(slice: &Slice, f: impl FnOnce(&mut [u8]) -> R) -> R {
    f(&mut lock(&memory(slice).bytes).get()[slice.offset..][..slice.len])
}

/// The memory of a slice.
pub(super) fn memory(slice: &Slice) -> &Memory {
    (&*slice.mem as &dyn Any)
        .downcast_ref()
        .expect("our memory")
}
