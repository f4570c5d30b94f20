//! Locks that ignore poisoning: state behind the crate's mutexes is valid between any two
//! statements, so a panic leaves nothing half done.

pub(crate) mod fork;
pub(crate) mod on_thread;
pub(crate) mod span;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
