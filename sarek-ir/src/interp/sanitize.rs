//! The sanitizer: finds errors that a plain run does not show. These are data races, reads of uninitialised
//! elements of shared arrays, and, on request, integer overflow.
//!
//! Every element of memory that threads share and write has a shadow: its last writer, and its readers since
//! then. Two accesses by different threads race if one of them is a store, not both are atomic, and nothing
//! orders them. A barrier orders accesses of threads of one block. A fence orders them, too, in the pattern of
//! a flag. The first thread executes a fence after its access. Later, the second thread performs an atomic
//! operation, and then its own access. Subgroup operations order nothing.
//!
//! The language leaves the order of threads open. A seed chooses the order, and the same seed always gives the
//! same order.

use std::collections::HashMap;

use crate::nodes::Ids;
use crate::{Kernel, Loc, Memory, SiteId};

/// The settings of the sanitizer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sanitize {
    /// If true, integer overflow is an error in all arithmetic that [`crate::Arithmetic`] lists, also if the
    /// kernel does not check it.
    pub overflow: bool,
    /// The seed of the order of threads and blocks; 0 is the plain order.
    pub seed: u64,
    /// If true, reading an unwritten element of a shared array is no error.
    pub unwritten: bool,
}

/// A position in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The line and column.
    pub loc: Loc,
    /// The check at this position, which knows the file.
    pub site: Option<SiteId>,
}

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation that reads.
    Atomic,
    /// An atomic store.
    Publish,
}

/// One access of memory by a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalUse {
    /// The kind of the access.
    pub deed: Deed,
    /// The position in the source.
    pub spot: Spot,
    /// The thread: the index of its block, and its own index in the block.
    pub thread: ([u64; 3], [u64; 3]),
    /// The number of barriers that the block has passed.
    phase: u64,
    /// A timestamp, which grows with each access and fence of the launch.
    time: u64,
}

/// An error that the sanitizer found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Two accesses of one element that race.
    Race {
        /// The slice or shared array.
        memory: Memory,
        /// The element.
        index: u64,
        /// The access that came first in this run, and the other one.
        touches: [LocalUse; 2],
    },
    /// A read of an element of a shared array that no thread has written.
    Uninitialised {
        /// The shared array.
        memory: Memory,
        /// The element.
        index: u64,
        /// The access.
        touch: LocalUse,
    },
    /// An integer operation that overflows.
    Overflow {
        /// The operator with its operands.
        what: String,
        /// The position in the source.
        loc: Loc,
        /// The thread: the index of its block, and its own index in the block.
        thread: ([u64; 3], [u64; 3]),
    },
}

impl Finding {
    /// The message for the user.
    pub fn text(&self, kernel: &Kernel) -> String {
        let access = |touch: &LocalUse, memory: Memory, index: u64| {
            let name = kernel.memory_name(memory);
            let does = match touch.deed {
                Deed::Load => "reads",
                Deed::Store | Deed::Publish => "writes",
                Deed::Atomic => "updates",
            };
            let (block, thread) = touch.thread;
            let place = kernel.place_of(touch.spot.loc);
            format!("thread {thread:?} of block {block:?} {does} `{name}[{index}]` at {place}")
        };
        match self {
            Finding::Race {
                memory,
                index,
                touches: [first, second],
            } => format!(
                "data race: {}, and {}, with nothing that orders the two",
                access(first, *memory, *index),
                access(second, *memory, *index)
            ),
            Finding::Uninitialised {
                memory,
                index,
                touch,
            } => format!(
                "uninitialised shared memory: {}, which no thread has written",
                access(touch, *memory, *index)
            ),
            Finding::Overflow { what, loc, thread } => format!(
                "integer overflow: {what} at {}, in thread {:?} of block {:?}",
                kernel.place_of(*loc),
                thread.1,
                thread.0
            ),
        }
    }
}

/// The latest accesses of an element.
#[derive(Clone, Copy, Default)]
struct Shadow {
    write: Option<LocalUse>,
    atomic: Option<LocalUse>,
    /// The latest reads by two different threads, at least one of which is not the next writer.
    reads: [Option<LocalUse>; 2],
}

/// The times of a thread's last fence, which publishes its accesses, and of its last atomic operation, which
/// observes those of other threads.
#[derive(Clone, Copy, Default)]
struct Marks {
    fence: u64,
    atomic: u64,
}

/// The sanitizer of one launch, see the module's documentation.
pub(super) struct Sanitizer {
    pub settings: Sanitize,
    shadows: HashMap<(Memory, u64), Shadow>,
    marks: HashMap<([u64; 3], [u64; 3]), Marks>,
    phase: u64,
    time: u64,
    shuffles: u64,
}

impl Sanitizer {
    pub fn new(settings: Sanitize) -> Sanitizer {
        Sanitizer {
            settings,
            shadows: HashMap::new(),
            marks: HashMap::new(),
            phase: 0,
            time: 1,
            shuffles: 0,
        }
    }

    /// Begins a block, with shared arrays of its own.
    pub fn enter_block(&mut self) {
        self.phase = 0;
        self.shadows
            .retain(|(memory, _), _| matches!(memory, Memory::Slice(_)));
    }

    /// Records that a barrier opens.
    pub fn pass_barrier(&mut self) {
        self.phase += 1;
    }

    /// Records a fence of a thread.
    pub fn fence(&mut self, ids: &Ids) {
        self.time += 1;
        self.marks.entry(name(ids)).or_default().fence = self.time;
    }

    /// Shuffles threads or blocks by the seed.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        if self.settings.seed == 0 {
            return;
        }
        self.shuffles += 1;
        let mut state = self.settings.seed ^ self.shuffles.rotate_left(32);
        for last in (1..all.len()).rev() {
            // splitmix64
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let at = (z ^ (z >> 31)) % (last as u64 + 1);
            all.swap(last, at as usize);
        }
    }

    /// Records an access of memory that threads share, and reports an error if it races or reads an unwritten
    /// element.
    pub fn touch(
        &mut self,
        (memory, index): (Memory, u64),
        deed: Deed,
        spot: Spot,
        ids: &Ids,
    ) -> Result<(), Box<Finding>> {
        self.time += 1;
        let touch = LocalUse {
            deed,
            spot,
            thread: name(ids),
            phase: self.phase,
            time: self.time,
        };
        let shadow = self.shadows.entry((memory, index)).or_default();
        let is_shared = matches!(memory, Memory::Shared(_));
        let unwritten = shadow.write.is_none() && shadow.atomic.is_none();
        let reads = matches!(deed, Deed::Load | Deed::Atomic);
        if is_shared && unwritten && reads && !self.settings.unwritten {
            return Err(Box::new(Finding::Uninitialised {
                memory,
                index,
                touch,
            }));
        }
        let [first, second] = shadow.reads;
        let before = match deed {
            Deed::Load => [shadow.write, shadow.atomic, None, None],
            Deed::Store => [shadow.write, shadow.atomic, first, second],
            Deed::Atomic | Deed::Publish => [shadow.write, first, second, None],
        };
        shadow.note(touch);
        let marks = &self.marks;
        let mut before = before.into_iter().flatten();
        if let Some(earlier) = before.find(|earlier| !ordered(earlier, &touch, marks)) {
            return Err(Box::new(Finding::Race {
                memory,
                index,
                touches: [earlier, touch],
            }));
        }
        if deed == Deed::Atomic {
            self.marks.entry(touch.thread).or_default().atomic = self.time;
        }
        Ok(())
    }
}

impl Shadow {
    fn note(&mut self, touch: LocalUse) {
        match touch.deed {
            Deed::Store => {
                *self = Shadow {
                    write: Some(touch),
                    ..Shadow::default()
                };
            }
            Deed::Atomic | Deed::Publish => self.atomic = Some(touch),
            Deed::Load => {
                let same = |read: &Option<LocalUse>| read.is_some_and(|r| r.thread == touch.thread);
                if !same(&self.reads[0]) {
                    self.reads[1] = self.reads[0];
                }
                self.reads[0] = Some(touch);
            }
        }
    }
}

fn name(ids: &Ids) -> ([u64; 3], [u64; 3]) {
    (ids.block_idx, ids.thread_idx)
}

/// True if the first access comes before the second one in every run.
fn ordered(
    first: &LocalUse,
    second: &LocalUse,
    marks: &HashMap<([u64; 3], [u64; 3]), Marks>,
) -> bool {
    let of = |touch: &LocalUse| marks.get(&touch.thread).copied().unwrap_or_default();
    let published = of(first).fence;
    first.thread == second.thread
        || (first.thread.0 == second.thread.0 && first.phase < second.phase)
        || (published > first.time && of(second).atomic > published)
}

#[cfg(test)]
mod tests;
