//! Runs the threads of a block together.
//!
//! Threads run one after the other, each until it waits for its subgroup or at a barrier. This is one of the
//! orders that the language permits between two barriers. It is the same in every run, and compiled Rust uses
//! it, too. In a kernel that never waits, each thread runs from its beginning to its end.
//!
//! **Subgroups** have 32 threads, consecutive in the block with x fastest. Of the waiting threads, those at the
//! earliest point of the program, counting iterations, operate together. So threads that took different
//! branches, or left a loop early, are together again after it.
//!
//! **Barriers** open when every thread waits at the same barrier in the same iteration. Threads that returned
//! at an earlier point of the program may be missing, unless the machine imitates an accelerator ([`Like`]).
//! Any other missing thread is [`Stop::Divergence`].
//!
//! A local that is read before it is assigned is zero; a kernel from Rust never does this. Elements of shared
//! arrays begin as conspicuous values: all bits set, or NaN.

use super::collective::{Brought, subgroup};
use super::host::{Fault, Halt, Host, Like};
use super::lane::{Common, Layout};
use super::launch::shared_len;
use super::sanitize::{Finding, Sanitize, Sanitizer};
use super::thread::{Status, Thread};
use crate::nodes::{Ids, SUBGROUP};
use crate::{BinaryOp, Kernel, Scalar, Stmt, StmtId, Value, operators};

/// The reason why a block stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The sanitizer reported an error.
    Found(Box<Finding>),
    /// A check failed in a thread.
    Fault {
        /// The failed check.
        fault: Fault,
        /// The thread's index in the block.
        thread: [u64; 3],
    },
    /// A thread waits at a barrier that another thread does not reach. This never happens in a kernel that
    /// [`crate::analysis::barriers`] accepts.
    Divergence {
        /// The barrier.
        barrier: StmtId,
        /// A thread that waits there.
        waits: [u64; 3],
        /// A thread that waits elsewhere, or has ended.
        absent: [u64; 3],
    },
}

/// Runs blocks of a closed kernel in which every native block has a fallback.
pub struct Machine<'k> {
    kernel: &'k Kernel,
    layout: Layout,
    threads: Vec<Thread>,
    shared: Vec<Vec<Value>>,
    /// True if no thread ever waits.
    alone: bool,
    sanitizer: Option<Sanitizer>,
    /// The kind of device to imitate.
    pub like: Like,
}

impl<'k> Machine<'k> {
    /// A machine that runs blocks like a host backend.
    pub fn new(kernel: &'k Kernel) -> Machine<'k> {
        let waits = |stmt: &Stmt| stmt.facts().effect.is_cooperative();
        Machine {
            kernel,
            layout: Layout::of(kernel),
            threads: vec![],
            shared: vec![vec![]; kernel.shared.len()],
            alone: !kernel.stmts.iter().any(waits),
            sanitizer: None,
            like: Like::Host,
        }
    }

    /// A machine that runs the blocks of one launch, and stops at the first error that the sanitizer finds.
    pub fn sanitizing(kernel: &'k Kernel, settings: Sanitize) -> Machine<'k> {
        Machine {
            sanitizer: Some(Sanitizer::new(settings)),
            ..Machine::new(kernel)
        }
    }

    /// Reorders blocks into the order in which they are to run.
    pub fn order<T>(&mut self, blocks: &mut [T]) {
        if let Some(sanitizer) = &mut self.sanitizer {
            sanitizer.shuffle(blocks);
        }
    }

    /// Runs a box of threads of one block to their ends. `first` is its first thread.
    ///
    /// # Errors
    /// The first failed check, or the first barrier at which threads are missing. The effects of threads up to
    /// that point remain. If threads continue after a fault, the first fault is returned when all of them have
    /// ended.
    pub fn run(&mut self, first: &Ids, size: [u64; 3], host: &mut impl Host) -> Result<(), Stop> {
        self.clear_shared(first, host)?;
        if let Some(sanitizer) = &mut self.sanitizer {
            sanitizer.enter_block();
        }
        let mut threads = std::mem::take(&mut self.threads);
        let mut found = None;
        let mut block = BlockRun {
            common: Common {
                kernel: self.kernel,
                layout: &self.layout,
                shared: &mut self.shared,
                host,
                like: self.like,
                first: &mut found,
                sanitizer: self.sanitizer.as_mut(),
            },
            threads: &mut threads,
        };
        let ids = points(size).map(|at| Ids {
            thread_idx: [0, 1, 2].map(|a| first.thread_idx[a] + at[a]),
            ..*first
        });
        let ran = if self.alone {
            block.one_by_one(ids)
        } else {
            block.together(ids)
        };
        self.threads = threads;
        ran?;
        match found {
            Some((fault, thread)) => Err(Stop::Fault { fault, thread }),
            None => Ok(()),
        }
    }

    fn clear_shared(&mut self, ids: &Ids, host: &mut impl Host) -> Result<(), Stop> {
        for (array, values) in self.kernel.shared.iter().zip(&mut self.shared) {
            let len = shared_len(self.kernel, array, ids, host).map_err(|fault| Stop::Fault {
                fault,
                thread: ids.thread_idx,
            })?;
            values.clear();
            values.resize(len as usize, unwritten(array.elem.scalar()));
        }
        Ok(())
    }
}

/// The value of an element of a shared array before it is written.
fn unwritten(ty: Scalar) -> Value {
    let zero = Value::zero(ty);
    match Value::int(ty, -1) {
        Some(ones) => ones,
        None if ty == Scalar::Bool => Value::Bool(true),
        None => operators::binary(BinaryOp::Div, zero, zero),
    }
}

/// The points of a box, x fastest.
fn points([nx, ny, nz]: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

struct BlockRun<'a, H> {
    common: Common<'a, H>,
    threads: &'a mut Vec<Thread>,
}

impl<H: Host> BlockRun<'_, H> {
    fn start(&mut self, at: usize, ids: Ids) {
        if at == self.threads.len() {
            self.threads.push(Thread::new(ids));
        }
        self.threads[at].restart(ids, self.common.kernel, self.common.layout);
    }

    fn run(&mut self, at: usize) -> Result<(), Stop> {
        let thread = &mut self.threads[at];
        thread.run(&mut self.common).map_err(|halt| match halt {
            Halt::Fault(fault) => Stop::Fault {
                fault,
                thread: thread.ids.thread_idx,
            },
            Halt::Found(finding) => Stop::Found(finding),
        })
    }

    fn order<T>(&mut self, threads: &mut [T]) {
        if let Some(sanitizer) = &mut self.common.sanitizer {
            sanitizer.shuffle(threads);
        }
    }

    /// Runs threads that never wait.
    fn one_by_one(&mut self, all: impl Iterator<Item = Ids>) -> Result<(), Stop> {
        if self.common.sanitizer.is_none() {
            for ids in all {
                self.start(0, ids);
                self.run(0)?;
            }
            return Ok(());
        }
        let mut all: Vec<Ids> = all.collect();
        self.order(&mut all);
        for ids in all {
            self.start(0, ids);
            self.run(0)?;
        }
        Ok(())
    }

    fn together(&mut self, all: impl Iterator<Item = Ids>) -> Result<(), Stop> {
        let mut count = 0;
        for ids in all {
            self.start(count, ids);
            count += 1;
        }
        self.threads.truncate(count);
        while self.threads.iter().any(|t| t.status != Status::Done) {
            self.phase()?;
            self.open_barrier()?;
        }
        Ok(())
    }

    /// Runs all threads until they wait at a barrier or end.
    fn phase(&mut self) -> Result<(), Stop> {
        loop {
            let mut order: Vec<usize> = (0..self.threads.len()).collect();
            self.order(&mut order);
            for at in order {
                if self.threads[at].status == Status::Ready {
                    self.run(at)?;
                }
            }
            if !self.join_subgroups() {
                return Ok(());
            }
        }
    }

    /// Performs one operation for each subgroup whose threads wait. Returns true if there is any.
    fn join_subgroups(&mut self) -> bool {
        let mut any = false;
        let mut rest = &mut self.threads[..];
        while let Some(first) = rest.first() {
            let number = first.ids.linear() / SUBGROUP;
            let same = |t: &Thread| t.ids.linear() / SUBGROUP == number;
            let len = rest.iter().take_while(|t| same(t)).count();
            let (group, others) = rest.split_at_mut(len);
            any |= join(group, self.common.layout);
            rest = others;
        }
        any
    }

    /// Resumes all threads that wait at the barrier.
    fn open_barrier(&mut self) -> Result<(), Stop> {
        let waiting = |t: &&Thread| matches!(t.status, Status::Barrier(_));
        let Some(first) = self.threads.iter().find(waiting) else {
            return Ok(());
        };
        let Status::Barrier(barrier) = first.status else {
            unreachable!("it was just found to wait");
        };
        let absent = self.threads.iter().find(|t| match t.status {
            Status::Done => self.common.like == Like::Accelerator || t.place(first).is_gt(),
            Status::Ready | Status::Barrier(_) | Status::Subgroup { .. } => t.place(first).is_ne(),
        });
        if let Some(absent) = absent {
            return Err(Stop::Divergence {
                barrier,
                waits: first.ids.thread_idx,
                absent: absent.ids.thread_idx,
            });
        }
        self.common.host.opened(barrier);
        if let Some(sanitizer) = &mut self.common.sanitizer {
            sanitizer.pass_barrier();
        }
        for thread in self.threads.iter_mut() {
            if thread.status != Status::Done {
                thread.status = Status::Ready;
            }
        }
        Ok(())
    }
}

/// Performs the operation of those threads of a subgroup that wait at the earliest point. Returns true if any
/// thread waits.
fn join(group: &mut [Thread], layout: &Layout) -> bool {
    let waits = |t: &Thread| matches!(t.status, Status::Subgroup { .. });
    let earliest = (0..group.len())
        .filter(|&i| waits(&group[i]))
        .min_by(|&a, &b| group[a].place(&group[b]));
    let Some(earliest) = earliest else {
        return false;
    };
    let here: Vec<usize> = (0..group.len())
        .filter(|&i| waits(&group[i]) && group[i].place(&group[earliest]).is_eq())
        .collect();
    let brought: Vec<_> = here.iter().map(|&i| brings(&group[i])).collect();
    let values: Vec<Brought> = brought.iter().map(|(b, _)| *b).collect();
    let Status::Subgroup { op, .. } = group[earliest].status else {
        unreachable!("only those that wait for their subgroup were looked at");
    };
    for (of, (&i, (_, result))) in here.iter().zip(&brought).enumerate() {
        group[i].resume_with(layout, *result, subgroup(op, &values, of));
    }
    true
}

fn brings(thread: &Thread) -> (Brought, crate::LocalId) {
    match thread.status {
        Status::Subgroup {
            value,
            other,
            result,
            ..
        } => {
            let lane = thread.ids.linear() % SUBGROUP;
            (Brought { lane, value, other }, result)
        }
        Status::Ready | Status::Barrier(_) | Status::Done => {
            unreachable!("it does not wait for its subgroup")
        }
    }
}

#[cfg(test)]
pub(crate) mod cases;
#[cfg(test)]
mod tests;
