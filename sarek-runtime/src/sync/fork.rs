//! Detection of child processes of `fork`.
//!
//! A child has a copy of the parent's memory, but none of its threads: those of drivers and of the
//! native device are missing, and missing threads may hold locks. So once the parent has used
//! devices, a child gets an error for every device operation, before anything is locked. Vectors on
//! the host stay readable there. Their device memory is leaked when they are dropped.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

static FORKED: AtomicBool = AtomicBool::new(false);

/// Registers a handler that marks child processes.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        #[cfg(unix)]
        {
            extern "C" fn in_child() {
                FORKED.store(true, Ordering::Relaxed);
            }
            // SAFETY: the function only stores a flag. If it cannot be registered, children are not
            // detected.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        }
    });
}

/// True if this process is a forked child of one that had used devices. Backends then leave their
/// driver state alone.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Returns an error in such a process.
#[inline]
pub(crate) fn check() -> Result<()> {
    match is_forked() {
        false => Ok(()),
        true => Err(Error::Forked),
    }
}
