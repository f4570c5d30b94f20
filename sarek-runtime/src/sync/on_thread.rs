//! Work that a future waits for on a thread of its own, so that polling never blocks.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::lock;
use crate::{Error, Result};

/// Work on a separate thread, and its result. If this is dropped, the thread ends by itself.
pub(crate) struct OnThread<T>(Arc<Mutex<Shared<T>>>);

struct Shared<T> {
    result: Option<T>,
    waker: Waker,
}

impl<T: Send + 'static> OnThread<T> {
    /// Starts the work; wakes the task of `context` when it is done.
    pub(crate) fn start(
        context: &Context<'_>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<OnThread<T>> {
        let shared = Arc::new(Mutex::new(Shared {
            result: None,
            waker: context.waker().clone(),
        }));
        let for_thread = shared.clone();
        let run = move || {
            let result = work();
            let mut shared = lock(&for_thread);
            shared.result = Some(result);
            shared.waker.wake_by_ref();
        };
        let thread = std::thread::Builder::new().name("sarek waiting".into());
        match thread.spawn(run) {
            Ok(_) => Ok(OnThread(shared)),
            Err(error) => Err(Error::Device {
                device: "the host".into(),
                message: format!("cannot start a thread that waits for the device: {error}"),
            }),
        }
    }

    /// Returns the result, once.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<T> {
        let mut shared = lock(&self.0);
        shared.waker.clone_from(context.waker());
        match shared.result.take() {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}
