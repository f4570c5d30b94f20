//! Futures for device work. A helper thread waits for the device; polling never blocks.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::sync::lock;
use crate::{Error, Event, Result};

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
        let told = shared.clone();
        let run = move || {
            let result = work();
            let mut shared = lock(&told);
            shared.result = Some(result);
            shared.waker.wake_by_ref();
        };
        let thread = std::thread::Builder::new().name("sarek waiting".into());
        match thread.spawn(run) {
            Ok(_) => Ok(OnThread(shared)),
            Err(error) => Err(Error::Device {
                device: "the host".into(),
                message: format!("no thread to wait on: {error}"),
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

/// A future that is ready when an event has passed, with the result of [`Event::sync`]. Made by
/// `event.await`.
#[must_use = "nothing is waited for until the future is polled"]
pub struct Passing {
    event: Event,
    thread: Option<OnThread<Result<()>>>,
}

impl IntoFuture for Event {
    type Output = Result<()>;
    type IntoFuture = Passing;

    fn into_future(self) -> Passing {
        let thread = None;
        Passing {
            event: self,
            thread,
        }
    }
}

impl Future for Passing {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(thread) = &self.thread {
            return thread.poll(context);
        }
        if self.event.is_known()? {
            return Poll::Ready(self.event.sync());
        }
        let event = self.event.clone();
        self.thread = Some(OnThread::start(context, move || event.sync())?);
        Poll::Pending
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::task::Wake;

    use super::*;
    use crate::Vector;
    use crate::testing::kernels::axpy_call as axpy;
    use crate::testing::{host, two_gpus};

    struct Unpark(std::thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// Runs a future, and returns its output and the number of polls.
    pub(crate) fn block_on<F: Future + Unpin>(mut future: F) -> (F::Output, usize) {
        let waker = Arc::new(Unpark(std::thread::current())).into();
        for polls in 1.. {
            match Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return (output, polls),
                Poll::Pending => std::thread::park(),
            }
        }
        unreachable!("it is polled until it is ready")
    }

    #[test]
    fn events_are_futures() {
        let [(device, _), _] = two_gpus();
        for device in [device, host()] {
            let (x, mut y) = (Vector::filled(4, 1.0), Vector::zeros(4));
            let event = axpy(3.0, &x, &mut y).over(4).enqueue(&device.stream());
            let (outcome, polls) = block_on(event.unwrap().into_future());
            outcome.unwrap();
            assert!(polls >= 2 || device.info().host_memory);
            let passed = device.record_all().unwrap();
            device.sync().unwrap();
            let (outcome, polls) = block_on(passed.into_future());
            outcome.unwrap();
            assert_eq!(polls, 1, "it has passed");
        }
    }

    #[test]
    fn an_events_fault_is_the_futures() {
        let [(device, _), _] = two_gpus();
        let (x, mut y) = (Vector::filled(1, 1.0), Vector::zeros(2));
        let event = axpy(1.0, &x, &mut y).over(2).enqueue(&device.stream());
        let (outcome, _) = block_on(event.unwrap().into_future());
        assert!(matches!(outcome, Err(Error::Fault(_))));
        device.sync().unwrap();
    }
}
