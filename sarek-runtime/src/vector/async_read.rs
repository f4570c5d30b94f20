//! Asynchronous reads of a vector: futures that never block the thread that polls them.

use std::future::Future;
use std::ops::{Range, RangeBounds};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Vector, resolve};
use crate::device::Pending;
use crate::sync::lock;
use crate::sync::on_thread::OnThread;
use crate::{Element, Result};

impl<T: Element> Vector<T> {
    /// Returns the elements as a future, which consumes the vector. It is ready when the launches
    /// that write the vector are done.
    ///
    /// The first poll starts a thread that waits for the device; the polling thread never blocks.
    /// If the future is dropped, that thread ends by itself.
    ///
    /// # Errors
    /// The future returns the error of a launch that failed to write the vector, or the one of the
    /// transfer.
    pub fn into_vec_async(self) -> ReadBack<T> {
        ReadBack(State::Idle(Some(Box::new(self))))
    }

    /// Returns a copy of some elements as a future. Only these elements are transferred from a
    /// device.
    ///
    /// A thread of the future waits for the launches that write the vector. The poll after that
    /// makes the transfer, which waits for the last writer of the vector, but not for work that was
    /// queued later.
    ///
    /// # Errors
    /// The future returns [`Error::Range`](crate::Error::Range) for a range outside the vector, or the error of a launch
    /// that failed to write it.
    pub fn read_async(&self, range: impl RangeBounds<usize>) -> Reading<'_, T> {
        Reading {
            range: Some(resolve(range, self.len())),
            vector: self,
            thread: None,
        }
    }

    /// Returns a function that blocks until the contents can be read; `None` if they can be read
    /// now.
    fn readable(&self) -> Result<Option<impl FnOnce() + Send + 'static>> {
        if self.host.get().is_some() {
            return Ok(None);
        }
        let mut state = lock(&self.state);
        let outcomes = state.copies.unsettled()?.to_vec();
        let written = state.copies.mark_written()?;
        // The read that follows reports these errors.
        Ok(Some(move || {
            let _ = written.map(|event| event.sync());
            let _ = outcomes.iter().try_for_each(Pending::outcome);
        }))
    }
}

/// A future of all elements of a vector, made by [`Vector::into_vec_async`].
#[must_use = "nothing is read until the future is polled"]
pub struct ReadBack<T>(State<T>);

enum State<T> {
    Idle(Option<Box<Vector<T>>>),
    Reading(OnThread<Result<Vec<T>>>),
}

impl<T> Unpin for ReadBack<T> {}

impl<T: Element> Future for ReadBack<T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let vector = match &mut self.0 {
            State::Reading(thread) => return thread.poll(context),
            State::Idle(vector) => vector.take().expect("a future starts once"),
        };
        if vector.host.get().is_some() {
            return Poll::Ready(vector.into_vec());
        }
        self.0 = State::Reading(OnThread::start(context, move || vector.into_vec())?);
        Poll::Pending
    }
}

/// A future of some elements of a vector, made by [`Vector::read_async`].
#[must_use = "nothing is read until the future is polled"]
pub struct Reading<'a, T: Element> {
    vector: &'a Vector<T>,
    range: Option<Result<Range<usize>>>,
    thread: Option<OnThread<()>>,
}

impl<T: Element> Future for Reading<'_, T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        match &self.thread {
            None if matches!(self.range, Some(Ok(_))) => {
                if let Some(wait) = self.vector.readable()? {
                    self.thread = Some(OnThread::start(context, wait)?);
                    return Poll::Pending;
                }
            }
            None => {}
            Some(thread) if thread.poll(context).is_pending() => return Poll::Pending,
            Some(_) => {}
        }
        let range = self
            .range
            .take()
            .expect("a future is not polled when it is done");
        Poll::Ready(range.and_then(|range| self.vector.read(range)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::Error;
    use crate::device::event_future::tests::block_on;
    use crate::testing::kernels::axpy_call as axpy;
    use crate::testing::two_gpus;

    #[test]
    fn elements_come_back_as_a_future() {
        let [(device, stats), _] = two_gpus();
        let x = Vector::filled(4, 1.0);
        let mut y = Vector::zeros(4);
        axpy(3.0, &x, &mut y).over(4).run_on(&device).unwrap();
        let future = y.into_vec_async();
        assert_eq!(
            stats.downloads.load(Relaxed),
            0,
            "nothing before it is polled"
        );
        let (elements, polls) = block_on(future);
        assert_eq!(elements.unwrap(), [3.0; 4]);
        assert!(polls >= 2, "it waited without blocking");
        let (elements, polls) = block_on(x.into_vec_async());
        assert_eq!((elements.unwrap(), polls), (vec![1.0; 4], 1));
    }

    #[test]
    fn a_fault_comes_back_as_well() {
        let [(device, _), _] = two_gpus();
        let (x, mut y) = (Vector::filled(1, 1.0), Vector::zeros(2));
        axpy(1.0, &x, &mut y).over(2).run_on(&device).unwrap();
        let (result, _) = block_on(y.read_async(..1));
        assert!(matches!(result, Err(Error::Fault(_))));
        let (result, _) = block_on(y.into_vec_async());
        assert!(matches!(result, Err(Error::Fault(_))));
        device.sync().unwrap();
    }

    #[test]
    fn a_part_is_read_while_the_vector_stays_where_it_is() {
        let [(device, stats), _] = two_gpus();
        let (x, mut y) = (Vector::filled(4, 1.0), Vector::zeros(4));
        axpy(3.0, &x, &mut y).over(4).run_on(&device).unwrap();
        let stream = device.new_stream().unwrap();
        let [first, last] = [y.read_async(..1), y.read_async(3..)];
        let ((first, polls), (last, _)) = (block_on(first), block_on(last));
        assert_eq!((first.unwrap(), last.unwrap()), (vec![3.0], vec![3.0]));
        assert!(polls >= 2 && y.devices().contains(&device));
        let uploads = stats.uploads.load(Relaxed);
        axpy(1.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
        assert_eq!(stats.uploads.load(Relaxed), uploads);
        assert_eq!(block_on(y.read_async(1..3)).0.unwrap(), [4.0; 2]);
        // A vector on the host is ready at the first poll.
        let (elements, polls) = block_on(x.read_async(..));
        assert_eq!((elements.unwrap(), polls), (vec![1.0; 4], 1));
        let (outside, _) = block_on(y.read_async(3..9));
        assert!(matches!(outside, Err(Error::Range { .. })));
    }
}
