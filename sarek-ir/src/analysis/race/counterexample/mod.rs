//! Counterexamples for race errors: two threads that race in a small launch.
//!
//! Each thread of the launch is run ([`run`]) with values that are known or unknown ([`datum`]). Arguments, lengths and
//! ids are known; elements that other threads may write, floats, constants of the user's crate and results of calls are
//! not. Only accesses that are certain are recorded: those that the thread makes whatever the unknown values are. So the
//! two threads of a counterexample do meet. A race without a counterexample may still be real.
//!
//! Two threads race at an element if both access it, one by each of the reported accesses, and nothing orders the two.
//! A barrier orders the accesses of threads of one block. Other blocks are never ordered, because a thread that waits
//! for a flag stops at an unknown condition. An interval after a barrier is reached only if no thread of the block has
//! stopped before it.

mod datum;
mod evaluate;
mod run;
mod world;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use run::{Record, Relies, Thread, Watched};
use world::{Facts, LONG, VALUES, World, points};

use super::Race;
use crate::analysis::access::Place;
use crate::{Kernel, Loc, Memory};

/// Two threads that race, and the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The threads' ids: global ids for a slice, ids within the block for a shared array.
    pub threads: [[u32; 3]; 2],
    /// The element.
    pub element: Element,
    /// The assumed values of arguments and lengths, if they matter.
    pub assumed: Option<Assumed>,
    /// True if integers are assumed to be 0 in slices that the kernel only reads.
    pub zeros: bool,
}

/// Values of arguments and lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assumed {
    /// The value of each integer argument.
    pub arguments: u32,
    /// The length of each slice whose length the kernel reads.
    pub lengths: u32,
    /// True if slices whose length the kernel does not read must have more elements.
    pub longer: bool,
}

/// The position of an element: an index, or the coordinates in a strided view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Element {
    coordinates: [u64; 3],
    rank: usize,
}

impl Element {
    /// The element of a view at these coordinates.
    fn of_view(at: &[u64]) -> Option<Element> {
        let mut coordinates = [0; 3];
        coordinates.get_mut(..at.len())?.copy_from_slice(at);
        let rank = at.len();
        Some(Element { coordinates, rank })
    }

    /// The index, if the memory is no view.
    pub fn single(self) -> Option<u64> {
        (self.rank == 0).then_some(self.coordinates[0])
    }
}

impl From<u64> for Element {
    fn from(index: u64) -> Element {
        Element {
            coordinates: [index, 0, 0],
            rank: 0,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            0 => write!(f, "{}", self.coordinates[0]),
            rank => write!(f, "{:?}", &self.coordinates[..rank]),
        }
    }
}

/// The number of nodes that a search may evaluate.
const BUDGET: u32 = 25_000;

/// The number of accesses of one element that are kept.
const MOST_RECORDS: usize = 8;

/// Adds a counterexample to a race, if a small launch shows one. If the two accesses do not meet, but the first one
/// meets another, that one takes the place of the second.
pub(super) fn explain(kernel: &Kernel, race: &mut Race) {
    let facts = Facts::of(kernel);
    let budget = Cell::new(0);
    for second in [Some(race.second.0), None] {
        budget.set(BUDGET);
        if let Some((_, found, place)) = search(&facts, race, second, &budget) {
            race.second = (place, place.loc(kernel));
            race.counterexample = Some(found);
            return;
        }
    }
}

/// Searches launches for two threads that race. Returns the launch, the threads, and the place of the second access.
fn search<'f>(
    facts: &'f Facts<'f>,
    race: &Race,
    second: Option<Place>,
    budget: &'f Cell<u32>,
) -> Option<(World<'f>, Counterexample, Place)> {
    let watched = Watched {
        memory: race.memory,
        first: race.first.0,
        second,
    };
    for (zeros, differ) in facts.families() {
        for [block, grid] in facts.launches(is_shared(race.memory)) {
            for value in VALUES {
                let world = World {
                    facts,
                    block,
                    grid,
                    value,
                    len: if differ { LONG } else { value },
                    zeros,
                    budget,
                };
                let mut meetings = Meetings::of(&world, watched);
                if let Some((found, place)) = meetings.search() {
                    return Some((world, found, place));
                }
                if !meetings.asked {
                    break;
                }
            }
        }
    }
    None
}

fn is_shared(memory: Memory) -> bool {
    matches!(memory, Memory::Shared(_))
}

/// The accesses of a launch so far, by element.
struct Meetings<'w> {
    world: &'w World<'w>,
    shared: bool,
    watched: Watched,
    /// The accesses at the first and at the second place.
    seen: [HashMap<Element, Vec<Record>>; 2],
    /// True if a thread has read an argument or a length.
    asked: bool,
}

impl<'w> Meetings<'w> {
    fn of(world: &'w World<'w>, watched: Watched) -> Meetings<'w> {
        Meetings {
            world,
            shared: is_shared(watched.memory),
            watched,
            seen: Default::default(),
            asked: false,
        }
    }

    /// Runs the threads in order until two of them race.
    fn search(&mut self) -> Option<(Counterexample, Place)> {
        for block in points(self.world.grid) {
            let mut later = vec![];
            let mut reached = u32::MAX;
            for ids in self.world.threads(block) {
                let run = Thread::run(self.world, ids, self.watched);
                self.asked |= run.asked;
                reached = reached.min(run.stopped.unwrap_or(u32::MAX));
                for record in run.records {
                    match record.interval {
                        0 => {
                            if let Some(found) = self.meet(record) {
                                return Some(found);
                            }
                        }
                        _ => later.push(record),
                    }
                }
                if self.world.budget.get() == 0 {
                    return None;
                }
            }
            later.retain(|record| record.interval <= reached);
            if let Some(found) = later.into_iter().find_map(|record| self.meet(record)) {
                return Some(found);
            }
        }
        None
    }

    /// Adds an access, and returns the race with an earlier one, and the second place.
    fn meet(&mut self, record: Record) -> Option<(Counterexample, Place)> {
        let sides = self.watched.sides(record.place);
        // The earlier thread comes first if it may.
        for side in [1, 0] {
            if !sides[side] {
                continue;
            }
            let others = self.seen[1 - side].get(&record.element);
            let mut others = others.into_iter().flatten();
            if let Some(other) = others.find(|other| self.races(other, &record)) {
                let [first, second] = match side {
                    0 => [&record, other],
                    _ => [other, &record],
                };
                return Some((self.counterexample(first, second), second.place));
            }
        }
        let same = |r: &Record| {
            (r.ids, r.interval, r.place) == (record.ids, record.interval, record.place)
        };
        for side in [0, 1] {
            let mine = self.seen[side].entry(record.element).or_default();
            if sides[side] && mine.len() < MOST_RECORDS && !mine.iter().any(same) {
                mine.push(record);
            }
        }
        None
    }

    fn counterexample(&self, first: &Record, second: &Record) -> Counterexample {
        let relies = first.relies.with(second.relies);
        let assumed = Assumed {
            arguments: self.world.value as u32,
            lengths: self.world.len as u32,
            longer: relies.longer,
        };
        Counterexample {
            threads: [first, second].map(|record| {
                let ids = match self.shared {
                    true => record.ids.thread_idx,
                    false => record.ids.global_of(record.ids.thread_idx),
                };
                ids.map(|id| id as u32)
            }),
            element: second.element,
            assumed: (relies.arguments || relies.lengths).then_some(assumed),
            zeros: relies.zeros,
        }
    }

    /// True if two accesses of one element are by different threads and nothing orders them.
    fn races(&self, a: &Record, b: &Record) -> bool {
        let same_block = a.ids.block_idx == b.ids.block_idx;
        let [p, q] = [a, b].map(|record| record.ids.global_of(record.ids.thread_idx));
        // The proof may ask for one thread along the other axes.
        let comparable = (0..3).all(|axis| self.world.facts.axes[axis] || p[axis] == q[axis]);
        let is_store = |record: &Record| matches!(record.place, Place::Store(_));
        p != q
            && (is_store(a) || is_store(b))
            && (self.shared || comparable)
            && (same_block || !self.shared)
            && (!same_block || a.interval == b.interval)
    }
}

impl Place {
    /// The position in the source.
    fn loc(self, kernel: &Kernel) -> Loc {
        match self {
            Place::Load(id) => kernel.expr_locs[id.index()],
            Place::Store(id) => kernel.stmt_locs[id.index()],
        }
    }
}

impl Relies {
    fn with(self, other: Relies) -> Relies {
        Relies {
            arguments: self.arguments | other.arguments,
            lengths: self.lengths | other.lengths,
            zeros: self.zeros | other.zeros,
            longer: self.longer | other.longer,
        }
    }
}

#[cfg(test)]
mod tests;
