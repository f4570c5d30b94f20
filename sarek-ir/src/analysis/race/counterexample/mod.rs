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
use world::{Facts, Values, World, points};

use super::Race;
use crate::analysis::access::Place;
use crate::{Kernel, Loc, Memory, ParamId};

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
    /// The argument, or the slice's length, whose value differs from all others.
    pub special: Option<(ParamId, u32)>,
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
/// meets another, or others meet, these take their places.
pub(super) fn explain(kernel: &Kernel, race: &mut Race) {
    let facts = Facts::of(kernel);
    let budget = Cell::new(0);
    let [first, second] = [race.first.0, race.second.0].map(Some);
    for places in [[first, second], [first, None], [None, None]] {
        budget.set(BUDGET);
        if let Some((_, found, places)) = search(&facts, race.memory, places, &budget) {
            [race.first, race.second] = places.map(|place| (place, place.loc(kernel)));
            race.counterexample = Some(Box::new(found));
            return;
        }
    }
}

/// Searches launches for two threads that race at these places. Returns the launch, the threads, and their accesses.
fn search<'f>(
    facts: &'f Facts<'f>,
    memory: Memory,
    places: [Option<Place>; 2],
    budget: &'f Cell<u32>,
) -> Option<(World<'f>, Counterexample, [Place; 2])> {
    let watched = Watched { memory, places };
    let families = facts.families().into_iter();
    let usual = families.map(|(zeros, differ)| (zeros, facts.values(differ)));
    let all = usual.chain([(false, facts.special_values())]);
    for (zeros, all) in all {
        if all.iter().any(|values| values.special.is_some()) {
            budget.set(BUDGET);
        }
        for [block, grid] in facts.launches(is_shared(memory)) {
            for values in &all {
                let world = World {
                    facts,
                    block,
                    grid,
                    values: *values,
                    zeros,
                    budget,
                };
                let mut meetings = Meetings::of(&world, watched);
                if let Some((found, places)) = meetings.search() {
                    return Some((world, found, places));
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
    fn search(&mut self) -> Option<(Counterexample, [Place; 2])> {
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

    /// Adds an access, and returns the race with an earlier one, and the places.
    fn meet(&mut self, record: Record) -> Option<(Counterexample, [Place; 2])> {
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
                let places = [first.place, second.place];
                return Some((self.counterexample(first, second), places));
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
        let Values {
            arguments,
            lengths,
            special,
        } = self.world.values;
        let assumed = Assumed {
            arguments: arguments as u32,
            lengths: lengths as u32,
            special: special.map(|(param, value)| (param, value as u32)),
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
