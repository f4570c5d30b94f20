//! Futures of events. A helper thread waits for the device; polling never blocks.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Event;
use crate::Result;
use crate::sync::on_thread::OnThread;

/// A future that is ready when an event has passed, with the result of [`Event::sync`]. Made by
/// `event.await`.
#[must_use = "nothing is waited for until the future is polled"]
pub struct EventFuture {
    event: Event,
    thread: Option<OnThread<Result<()>>>,
}

impl IntoFuture for Event {
    type Output = Result<()>;
    type IntoFuture = EventFuture;

    fn into_future(self) -> EventFuture {
        let thread = None;
        EventFuture {
            event: self,
            thread,
        }
    }
}

impl Future for EventFuture {
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
    use std::sync::Arc;
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
        assert!(matches!(outcome, Err(crate::Error::Fault(_))));
        device.sync().unwrap();
    }
}
