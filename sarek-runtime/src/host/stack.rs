//! Stacks for kernels whose threads have large local arrays.
//!
//! A compiled body keeps the local arrays of a lane in local variables, so that small ones stay in
//! registers. If they are large, the body runs on host threads that are started for the launch,
//! with stacks that are large enough.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::Direct;

/// With up to this many bytes of local arrays, a body runs on any thread.
const SHALLOW: u64 = 4 << 10;

/// The most bytes of local arrays of a kernel thread on a host device.
pub const MOST: u64 = 4 << 20;

/// The most bytes of local arrays of all threads of a block on a host device, if they wait for each
/// other. These arrays lie in the block's memory.
pub const MOST_OF_BLOCK: u64 = 1 << 30;

/// The size of a stack in bytes, in addition to a body's arrays.
const LEAST: u64 = 2 << 20;

/// The number of copies of its arrays that a body may have on its stack: one for each lane of a
/// strip. Builds without optimisation need as many: they give each loop over lanes, each passed
/// value and each copy a separate place.
const COPIES: u64 = 128;

/// The address space that the stacks of one launch may take, in bytes.
const ADDRESSES: u64 = 16 << 30;

impl Direct {
    /// The stack size that the compiled body needs; `None` if every thread's stack is large enough.
    pub fn stack(&self) -> Option<usize> {
        let large = self.arrays > SHALLOW;
        large.then(|| size(self.arrays.saturating_mul(COPIES)))
    }

    /// The same for [`Direct::reference`]. In builds without optimisation, it copies a constant
    /// array when it indexes it.
    #[cfg(feature = "reference")]
    pub fn reference_stack(&self) -> Option<usize> {
        let constants = self.constants.saturating_mul(4);
        let arrays = self.arrays.saturating_mul(16);
        let bytes = arrays.saturating_add(constants);
        (self.arrays.saturating_add(self.constants) > SHALLOW).then(|| size(bytes))
    }
}

fn size(bytes: u64) -> usize {
    let bytes = bytes.saturating_add(LEAST).min(ADDRESSES);
    usize::try_from(bytes).unwrap_or(usize::MAX / 4)
}

/// The number of stacks of this size that may exist at once.
pub fn at_once(stack: usize) -> usize {
    let most = ADDRESSES / stack.max(1) as u64;
    usize::try_from(most).unwrap_or(usize::MAX).max(1)
}

/// Starts a thread with a stack of this size.
///
/// # Errors
/// Those of the system, if it has no room for the stack.
pub fn spawn<'scope, 'env, R: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    stack: usize,
    body: impl FnOnce() -> R + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, R>> {
    let builder = Builder::new().name("sarek".into()).stack_size(stack);
    builder.spawn_scoped(scope, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_need_a_stack_of_their_own() {
        let of = |arrays| Direct {
            arrays,
            ..crate::KernelDef::BROKEN.direct
        };
        assert_eq!(of(0).stack(), None);
        assert_eq!(of(SHALLOW).stack(), None);
        assert!(of(64 << 10).stack().is_some_and(|stack| stack > 8 << 20));
        let most = of(MOST).stack().expect("it is large");
        assert!(at_once(most) >= 2 && at_once(usize::MAX) == 1);
    }

    #[test]
    fn a_thread_has_the_stack_that_it_is_given() {
        fn fill(depth: usize) -> usize {
            let array = std::hint::black_box([depth; 8192]);
            match depth {
                0 => array[5],
                _ => fill(depth - 1) + array[7],
            }
        }
        let sum = std::thread::scope(|scope| {
            let thread = spawn(scope, 64 << 20, || fill(200));
            thread.expect("it starts").join().expect("it ends")
        });
        assert_eq!(sum, 201 * 100);
    }
}
