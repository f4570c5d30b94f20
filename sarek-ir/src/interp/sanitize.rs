//! Looks for what a kernel must not do and what does not show in one run: threads that race, elements of shared arrays
//! that are read before they were written, and, where it is asked for, integers that leave their types.
//!
//! Every element of memory that threads share and write has a shadow: who wrote it last, who read it since. Two accesses by different
//! threads, one of them a store and not both atomic, race unless something orders them: a barrier, between threads of one
//! block; or a fence of the first thread after its access, and an atomic operation of the second one after that and before its own
//! access, as in a flag that says that data is there. Subgroup operations order nothing.
//!
//! The order in which threads run, which the language leaves open, is turned about by a seed, the same for each run with it.

use std::collections::HashMap;

use super::host::Ids;
use crate::{Kernel, Loc, Memory, SiteId};

/// What to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sanitize {
    /// Also integers that leave their type's range in the arithmetic that [`crate::Arithmetic`] lists, whoever built the kernel.
    pub overflow: bool,
    /// The order of threads and blocks; 0 is the plain one.
    pub seed: u64,
    /// Let elements of shared arrays be read that were not written.
    pub unwritten: bool,
}

/// Where in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// Line and column.
    pub loc: Loc,
    /// What is checked there; it knows the file.
    pub site: Option<SiteId>,
}

/// What a thread does to an element.
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

/// One access of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalUse {
    /// What it does.
    pub deed: Deed,
    /// Where.
    pub spot: Spot,
    /// The thread: its block's index and its own in the block.
    pub thread: ([u64; 3], [u64; 3]),
    /// How many barriers the block has passed.
    phase: u64,
    /// How many accesses there were before, in the whole launch.
    time: u64,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Two accesses of one element.
    Race {
        /// The slice or shared array.
        memory: Memory,
        /// The element.
        index: u64,
        /// The access that came first in this run, and the other one.
        touches: [LocalUse; 2],
    },
    /// An element of a shared array is read that no thread has written.
    Uninitialised {
        /// The shared array.
        memory: Memory,
        /// The element.
        index: u64,
        /// The access.
        touch: LocalUse,
    },
    /// An integer leaves its type.
    Overflow {
        /// The operator with its operands.
        what: String,
        /// Where.
        loc: Loc,
        /// The thread: its block's index and its own in the block.
        thread: ([u64; 3], [u64; 3]),
    },
}

impl Finding {
    /// In words.
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

/// Who touched an element.
#[derive(Clone, Copy, Default)]
struct Shadow {
    write: Option<LocalUse>,
    atomic: Option<LocalUse>,
    /// The latest readers, of which there are two, so that one is another thread than any writer.
    reads: [Option<LocalUse>; 2],
}

/// When a thread last made its accesses known, and when it last looked for others'.
#[derive(Clone, Copy, Default)]
struct Marks {
    fence: u64,
    atomic: u64,
}

/// See the module's own words.
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

    /// A block begins, whose shared arrays are its own.
    pub fn enter_block(&mut self) {
        self.phase = 0;
        self.shadows
            .retain(|(memory, _), _| matches!(memory, Memory::Slice(_)));
    }

    /// A barrier opens.
    pub fn pass_barrier(&mut self) {
        self.phase += 1;
    }

    /// A thread executes a fence.
    pub fn fence(&mut self, ids: &Ids) {
        self.time += 1;
        self.marks.entry(name(ids)).or_default().fence = self.time;
    }

    /// Puts threads or blocks into an order of the seed's.
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

    /// A thread touches an element of memory that threads share.
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

/// Does the first access come before the second one in every run?
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
