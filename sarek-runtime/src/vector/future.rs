//! Reading a vector without waiting on a thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::Vector;
use crate::sync::lock;
use crate::{Element, Error, Result};

impl<T: Element> Vector<T> {
    /// The elements once the launches that write them are done. The vector goes along, and comes back as its elements.
    ///
    /// A thread of the future's own waits for the device; the one that polls it never does. Dropping the future lets that
    /// thread finish by itself.
    pub fn into_vec_async(self) -> ReadBack<T> {
        ReadBack(State::Idle(Some(Box::new(self))))
    }
}

/// The elements of a vector, as a future. See [`Vector::into_vec_async`].
#[must_use = "nothing is read until the future is polled"]
pub struct ReadBack<T>(State<T>);

enum State<T> {
    Idle(Option<Box<Vector<T>>>),
    Reading(Arc<Mutex<Shared<T>>>),
}

struct Shared<T> {
    result: Option<Result<Vec<T>>>,
    waker: Waker,
}

impl<T> Unpin for ReadBack<T> {}

impl<T: Element> Future for ReadBack<T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Vec<T>>> {
        let vector = match &mut self.0 {
            State::Reading(shared) => {
                let mut shared = lock(shared);
                shared.waker.clone_from(context.waker());
                return match shared.result.take() {
                    Some(result) => Poll::Ready(result),
                    None => Poll::Pending,
                };
            }
            State::Idle(vector) => vector.take().expect("a future starts once"),
        };
        if vector.host.get().is_some() {
            return Poll::Ready(vector.into_vec());
        }
        let shared = Arc::new(Mutex::new(Shared {
            result: None,
            waker: context.waker().clone(),
        }));
        let told = shared.clone();
        let read = move || {
            let result = vector.into_vec();
            let mut shared = lock(&told);
            shared.result = Some(result);
            shared.waker.wake_by_ref();
        };
        let thread = std::thread::Builder::new().name("sarek read-back".into());
        if let Err(error) = thread.spawn(read) {
            return Poll::Ready(Err(Error::Device {
                device: "the host".into(),
                message: format!("no thread to wait on: {error}"),
            }));
        }
        self.0 = State::Reading(shared);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;
    use std::task::Wake;

    use super::*;
    use crate::testing::kernels::axpy_call as axpy;
    use crate::testing::two_gpus;

    struct Unpark(std::thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn block_on<F: Future + Unpin>(mut future: F) -> (F::Output, usize) {
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
        let (result, _) = block_on(y.into_vec_async());
        assert!(matches!(result, Err(Error::Fault(_))));
        device.sync().unwrap();
    }
}
