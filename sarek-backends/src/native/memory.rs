use std::sync::{Mutex, MutexGuard, PoisonError};

use sarek_runtime::backend::Mem;
use sarek_runtime::{Error, Result};

/// Host memory as device memory. Vectors do not need it, since kernels run on their own memory. It serves programs that
/// allocate through the backend interface.
pub struct HostMemory {
    bytes: Mutex<Box<[u8]>>,
    len: usize,
}

impl HostMemory {
    /// Zeroed memory.
    pub fn new(len: usize) -> Result<HostMemory> {
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(len)
            .map_err(|_| Error::OutOfMemory {
                device: "native".into(),
                bytes: len,
            })?;
        bytes.resize(len, 0);
        Ok(HostMemory {
            bytes: Mutex::new(bytes.into_boxed_slice()),
            len,
        })
    }

    /// The bytes, locked.
    pub fn lock(&self) -> MutexGuard<'_, Box<[u8]>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: the length is that of the bytes it owns.
unsafe impl Mem for HostMemory {
    fn len(&self) -> usize {
        self.len
    }
}
