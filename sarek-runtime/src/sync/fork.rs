//! Children of `fork`.
//!
//! A child has a copy of the parent's memory, and none of its threads. Those of drivers and of the native device are missing, and locks
//! may be held by threads that are not there. So once the parent has asked for devices, its children are refused all that devices do,
//! before anything is locked. Vectors on the host stay readable there; what they hold on devices is left alone when they are dropped.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

static FORKED: AtomicBool = AtomicBool::new(false);

/// Has the children of this process know that they are.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        #[cfg(unix)]
        {
            extern "C" fn in_child() {
                FORKED.store(true, Ordering::Relaxed);
            }
            // SAFETY: the function does nothing but store a flag. Where it cannot be registered, all is as without it.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        }
    });
}

/// Is this process a child of one that had asked for devices? Backends leave alone then what they have of drivers.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// An error in such a process.
#[inline]
pub(crate) fn check() -> Result<()> {
    match is_forked() {
        false => Ok(()),
        true => Err(Error::Forked),
    }
}
