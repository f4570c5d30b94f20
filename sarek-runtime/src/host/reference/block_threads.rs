//! Runs the threads of a block as threads of the operating system, one at a time.
//!
//! A thread runs until it waits (at a barrier, or for its subgroup) or ends, and then passes the
//! token to the next thread that can run. If none can, the pending subgroup operations are
//! performed. If there are none, the threads at the barrier continue. Threads that have returned
//! are not waited for.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use sarek_ir::{SubgroupOp, Value};

use super::shared::{Array, forget_handles};
use super::{IndexSpace, POSITION, Position};
use crate::host::collective::{Join, REFERENCE_SUBGROUP, join};
use crate::output::in_hook;

/// Calls `body` for each thread of a launch, block after block, with the ids set.
///
/// # Safety
/// References that `body` gets from [`shared_array`](crate::host::collective::shared_array) and
/// similar functions do not outlive its call. No two references to the same element are used across
/// a barrier.
///
/// ```
/// use sarek_runtime::host::{IndexSpace, for_each_block};
/// let space = IndexSpace { grid: [1; 3], block: [1; 3], extent: [1; 3] };
/// // SAFETY: it has no arrays.
/// unsafe { for_each_block(&space, || {}) };
/// ```
///
/// ```compile_fail,E0133
/// use sarek_runtime::host::{IndexSpace, for_each_block};
/// let space = IndexSpace { grid: [1; 3], block: [1; 3], extent: [1; 3] };
/// for_each_block(&space, || {});
/// ```
pub unsafe fn for_each_block(space: &IndexSpace, body: impl Fn() + Sync) {
    let lanes = space.block.iter().product::<u32>() as usize;
    let block_threads = Arc::new(BlockThreads::new(lanes));
    std::thread::scope(|scope| {
        for me in 0..lanes {
            let (block_threads, body) = (block_threads.clone(), &body);
            let lane = move || Lane { me, block_threads }.run(space, body);
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread
                .spawn_scoped(scope, lane)
                .unwrap_or_else(|error| panic!("cannot start a thread for a lane: {error}"));
        }
    });
    let panic = block_threads.lock().panic.take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

const STACK: usize = 1 << 20;

/// The state of a thread.
#[derive(Clone, Copy)]
enum ThreadState {
    /// It can run.
    Ready,
    /// It waits at a barrier.
    Barrier,
    /// It waits for its subgroup.
    Subgroup(Call),
    /// It has returned.
    Done,
}

/// A thread's part in an operation of its subgroup.
#[derive(Clone, Copy)]
struct Call {
    op: SubgroupOp,
    join: Join,
    value: Value,
    lane: usize,
}

struct State {
    /// The thread that has the token.
    turn: usize,
    states: Vec<ThreadState>,
    answers: Vec<Option<Value>>,
    /// The block's shared arrays, in the order in which its threads make them.
    arrays: Vec<Array>,
    /// True once a thread has panicked: all others end too.
    ended: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// The threads of a block.
struct BlockThreads {
    state: Mutex<State>,
    turns: Vec<Condvar>,
}

/// The panic payload that unwinds a thread after another one has panicked.
struct Ended;

impl BlockThreads {
    fn new(lanes: usize) -> BlockThreads {
        BlockThreads {
            state: Mutex::new(State {
                turn: 0,
                states: vec![ThreadState::Ready; lanes],
                answers: vec![None; lanes],
                arrays: vec![],
                ended: false,
                panic: None,
            }),
            turns: (0..lanes).map(|_| Condvar::new()).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the token on.
    fn pass(&self, me: usize, mut state: MutexGuard<'_, State>) {
        state.wake(me);
        let Some(next) = state.next(me) else { return };
        state.turn = next;
        // The woken thread should find the lock free.
        drop(state);
        self.turns[next].notify_one();
    }

    /// Waits for the token; an error if all threads are to end.
    fn await_turn(&self, me: usize) -> Result<(), Ended> {
        let mut state = self.lock();
        while state.turn != me && !state.ended {
            let waited = self.turns[me].wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if state.ended { Err(Ended) } else { Ok(()) }
    }

    /// Makes all threads end.
    fn end(&self, panic: Box<dyn Any + Send>) {
        let mut state = self.lock();
        state.ended = true;
        if !panic.is::<Ended>() {
            state.panic.get_or_insert(panic);
        }
        self.turns.iter().for_each(Condvar::notify_one);
    }
}

impl State {
    /// The next thread after `me` that can run; wraps around.
    fn next(&self, me: usize) -> Option<usize> {
        let ready = |d: &ThreadState| matches!(d, ThreadState::Ready);
        let behind = self.states[me..].iter().position(ready);
        let behind = behind.map(|distance| me + distance);
        behind.or_else(|| self.states.iter().position(ready))
    }

    /// If no thread can run, lets some continue; starts the next block if all are done.
    fn wake(&mut self, me: usize) {
        if self.next(me).is_some() || self.answer_subgroups() {
            return;
        }
        let waits = |d: &ThreadState| matches!(d, ThreadState::Barrier);
        let all_done = !self.states.iter().any(waits);
        if all_done {
            self.arrays.clear();
        }
        for states in &mut self.states {
            if all_done || waits(states) {
                *states = ThreadState::Ready;
            }
        }
    }

    /// Performs the pending subgroup operations. Threads that wait in different operations are at
    /// different places, and are inactive in each other's.
    fn answer_subgroups(&mut self) -> bool {
        let mut answered = false;
        for first in (0..self.states.len()).step_by(REFERENCE_SUBGROUP) {
            let end = self.states.len().min(first + REFERENCE_SUBGROUP);
            for (_, op) in SubgroupOp::ALL {
                let part = |d: &ThreadState| match d {
                    ThreadState::Subgroup(call) if call.op == op => Some(*call),
                    ThreadState::Subgroup(_)
                    | ThreadState::Ready
                    | ThreadState::Barrier
                    | ThreadState::Done => None,
                };
                let calls: Vec<Option<Call>> = self.states[first..end].iter().map(part).collect();
                let values: Vec<Option<Value>> = calls.iter().map(|c| c.map(|c| c.value)).collect();
                for (lane, call) in calls.into_iter().enumerate() {
                    let Some(call) = call else { continue };
                    self.answers[first + lane] =
                        Some(join(op, call.join, &values, lane, call.lane));
                    self.states[first + lane] = ThreadState::Ready;
                    answered = true;
                }
            }
        }
        answered
    }
}

/// One of the threads.
#[derive(Clone)]
struct Lane {
    me: usize,
    block_threads: Arc<BlockThreads>,
}

thread_local! {
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
    /// The number of shared arrays that the thread has made.
    static ARRAYS: Cell<usize> = const { Cell::new(0) };
}

impl Lane {
    fn run(self, space: &IndexSpace, body: &(impl Fn() + Sync)) {
        LANE.set(Some(self.clone()));
        let all = AssertUnwindSafe(|| {
            for number in 0..space.blocks() {
                if self.block_threads.await_turn(self.me).is_err() {
                    return;
                }
                if let Some(position) = self.position(space, number) {
                    POSITION.set(Some(position));
                    ARRAYS.set(0);
                    body();
                    forget_handles();
                }
                self.wait(ThreadState::Done);
            }
        });
        if let Err(panic) = catch_unwind(all) {
            self.block_threads.end(super::place::placed(panic));
        }
        forget_handles();
        // Destructors of the user's thread-local variables may follow, which are not part of the
        // kernel.
        LANE.set(None);
    }

    /// The position of the thread in a block, if the launch includes it.
    fn position(&self, space: &IndexSpace, number: u64) -> Option<Position> {
        let [gx, gy, _] = space.grid;
        let block = [number % gx, number / gx % gy, number / gx / gy].map(|i| i as usize);
        let dim = space.block.map(|d| d as usize);
        let thread = [
            self.me % dim[0],
            self.me / dim[0] % dim[1],
            self.me / dim[0] / dim[1],
        ];
        let inside =
            |axis: usize| ((block[axis] * dim[axis] + thread[axis]) as u64) < space.extent[axis];
        (0..3).all(inside).then_some(Position {
            thread,
            block,
            space: *space,
        })
    }

    /// Sets the thread's state, and passes the token on.
    fn wait(&self, states: ThreadState) {
        let mut state = self.block_threads.lock();
        state.states[self.me] = states;
        self.block_threads.pass(self.me, state);
    }

    /// Waits until the token comes back.
    fn pause(&self, states: ThreadState) {
        self.wait(states);
        if let Err(ended) = self.block_threads.await_turn(self.me) {
            resume_unwind(Box::new(ended));
        }
    }
}

/// The running thread of a kernel.
///
/// # Panics
/// If other user code runs on the thread: the `Debug` of printed values, or hooks for output and
/// panics. Such code could keep references beyond the end of the block, or let other threads run
/// while the kernel lends an element.
fn lane(what: &str) -> Lane {
    assert!(
        !in_hook() && !std::thread::panicking(),
        "`{what}()` was called by a hook, or by what formats a value"
    );
    let lane = LANE.with_borrow(Clone::clone);
    lane.unwrap_or_else(|| panic!("`{what}()` was called outside of a kernel"))
}

/// Waits for the other threads of the block.
pub(in crate::host) fn barrier() {
    lane("barrier").pause(ThreadState::Barrier);
}

/// Takes part in an operation of the subgroup.
pub(in crate::host) fn subgroup(op: SubgroupOp, join: Join, value: Value, other: usize) -> Value {
    let lane = lane(op.name());
    lane.pause(ThreadState::Subgroup(Call {
        op,
        join,
        value,
        lane: other,
    }));
    let answer = lane.block_threads.lock().answers[lane.me].take();
    answer.unwrap_or_else(|| unreachable!("the subgroup has answered"))
}

/// The next shared array of the calling thread; the first thread that gets there makes it.
pub(super) fn array<R>(
    what: &str,
    make: impl FnOnce() -> Array,
    then: impl FnOnce(&mut Array) -> R,
) -> R {
    let lane = lane(what);
    let mut state = lane.block_threads.lock();
    let number = ARRAYS.replace(ARRAYS.get() + 1);
    if number == state.arrays.len() {
        state.arrays.push(make());
    }
    then(&mut state.arrays[number])
}
