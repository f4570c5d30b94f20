use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Error, Result};

use super::NAME;

/// Host memory in the role of device memory. Vectors do not need it, since this device works on their own memory.
pub(super) struct Memory {
    len: usize,
    bytes: Mutex<Vec<u8>>,
}

impl Memory {
    pub(super) fn new(len: usize) -> Result<Memory> {
        let mut bytes = vec![];
        let room = bytes.try_reserve_exact(len);
        room.map_err(|_| Error::OutOfMemory {
            device: NAME.into(),
            bytes: len,
        })?;
        bytes.resize(len, 0);
        Ok(Memory {
            len,
            bytes: Mutex::new(bytes),
        })
    }

    /// The memory of a slice.
    pub(super) fn of(slice: &Slice) -> Result<&Memory> {
        let mem: &dyn Any = &*slice.mem;
        mem.downcast_ref().ok_or_else(|| Error::Device {
            device: NAME.into(),
            message: "memory of another device was passed".into(),
        })
    }

    pub(super) fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        // A panic elsewhere may leave bytes half written, which does no harm.
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: the length is that of the bytes it owns.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.len
    }
}
