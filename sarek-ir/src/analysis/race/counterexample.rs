//! Counterexamples for race errors: two threads that may collide, found by trying small launches.

use std::collections::HashMap;

use crate::analysis::access::Access;
use crate::analysis::linear::{Atom, Bound, Extent, Form, Limit, Poly, Symbol};
use crate::{Axis, Builtin, Kernel, LocalId, Memory};

/// Two threads, and the element that both may access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The threads' ids: global ids for a slice, ids within the block for a shared array.
    pub threads: [[u64; 3]; 2],
    /// The element.
    pub index: u64,
    /// The assumed value of arguments and lengths, if it matters.
    pub value: Option<u64>,
}

/// The values that are tried for arguments and lengths.
const VALUES: [i128; 6] = [64, 5, 3, 2, 1, 0];

/// The number of values that are tried for loop counters and loaded values, from 0.
const LOCALS: i128 = 4;

/// The number of threads that are tried: all threads of four blocks of 1024. Of larger blocks, the first ones.
const THREADS: usize = 4096;

/// Two threads that may collide at these accesses, as far as indices and guards tell.
pub(super) fn counterexample(kernel: &Kernel, a: &Access, b: &Access) -> Option<Counterexample> {
    let shared = matches!(a.memory, Memory::Shared(_));
    let block = kernel
        .block
        .unwrap_or(if shared { [64, 1, 1] } else { [4, 2, 1] });
    let grid = if shared { [1; 3] } else { [2, 2, 1] };
    VALUES.into_iter().find_map(|value| {
        let world = World {
            block: block.map(i128::from),
            grid,
            value,
        };
        let mut found = world.meeting(a, b)?;
        let sides = [a, b].into_iter().filter_map(|access| access.form.as_ref());
        let mut matters = sides.map(|affine| world.depends(&affine.form));
        found.value = matters.any(|m| m).then_some(value as u64);
        Some(found)
    })
}

/// A small launch.
struct World {
    block: [i128; 3],
    grid: [i128; 3],
    value: i128,
}

/// A thread, by its block index and its index in the block, and the values of its locals.
struct Thread {
    block: [i128; 3],
    thread: [i128; 3],
    locals: Vec<(LocalId, i128)>,
}

impl World {
    fn meeting(&self, a: &Access, b: &Access) -> Option<Counterexample> {
        let name = |t: &Thread| [0, 1, 2].map(|k| t.block[k] * self.block[k] + t.thread[k]);
        // The first thread at each element. Later ones are found by swapping the accesses.
        let mut seen: HashMap<i128, [i128; 3]> = HashMap::new();
        self.each(a, &mut |thread, index| {
            seen.entry(index).or_insert(name(thread));
        });
        let mut meet = None;
        self.each(b, &mut |thread, index| {
            let (me, other) = (name(thread), seen.get(&index));
            if let Some(other) = other.filter(|other| **other != me)
                && meet.is_none()
            {
                let threads = [*other, me].map(|t| t.map(|v| v as u64));
                meet = Some(Counterexample {
                    threads,
                    index: index as u64,
                    value: None,
                });
            }
        });
        meet
    }

    /// Calls `show` for each thread that may reach an access, with its index.
    fn each(&self, access: &Access, show: &mut dyn FnMut(&Thread, i128)) {
        let Some(form) = access.form.as_ref().map(|affine| &affine.form) else {
            return;
        };
        let locals: Vec<LocalId> = form
            .terms()
            .iter()
            .filter_map(|(atom, _)| match atom {
                Atom::Local(local) => Some(*local),
                Atom::Id(_) | Atom::Param(_) | Atom::Exchange(..) | Atom::Quotient(_) => None,
            })
            .take(2)
            .collect();
        let combinations = LOCALS.pow(locals.len() as u32);
        for (block, thread) in self.threads() {
            for number in 0..combinations {
                let values = [number % LOCALS, number / LOCALS];
                let thread = Thread {
                    block,
                    thread,
                    locals: locals.iter().copied().zip(values).collect(),
                };
                let passes = access.bounds.iter().all(|b| self.holds(b, &thread));
                if let Some(index) = self.form(form, &thread).filter(|i| passes && *i >= 0) {
                    show(&thread, index);
                }
            }
        }
    }

    fn threads(&self) -> impl Iterator<Item = ([i128; 3], [i128; 3])> + '_ {
        let points = |[w, h, d]: [i128; 3]| {
            (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| [x, y, z])))
        };
        let all =
            points(self.grid).flat_map(move |block| points(self.block).map(move |t| (block, t)));
        all.take(THREADS)
    }

    /// True unless the guard provably stops the thread.
    fn holds(&self, bound: &Bound, thread: &Thread) -> bool {
        let sum = self.form(&bound.form, thread);
        match (&bound.limit, sum) {
            (_, None) => true,
            (Limit::AtMost(most), Some(sum)) => self.poly(most).is_none_or(|most| sum <= most),
            (Limit::AtLeast(least), Some(sum)) => self.poly(least).is_none_or(|v| sum >= v),
        }
    }

    fn form(&self, form: &Form<Poly>, thread: &Thread) -> Option<i128> {
        let base = self.poly(&form.base)?;
        form.terms().iter().try_fold(base, |sum, (atom, factor)| {
            let value = match atom {
                Atom::Id(id) => self.id(*id, thread)?,
                Atom::Local(local) => {
                    let known = thread.locals.iter().find(|(of, _)| of == local);
                    known.map(|(_, value)| *value)?
                }
                Atom::Param(_) | Atom::Exchange(..) | Atom::Quotient(_) => return None,
            };
            sum.checked_add(self.poly(factor)?.checked_mul(value)?)
        })
    }

    fn id(&self, id: Builtin, thread: &Thread) -> Option<i128> {
        let global = |axis: Axis| {
            let a = axis.index();
            thread.block[a] * self.block[a] + thread.thread[a]
        };
        let extent = |axis: Axis| self.block[axis.index()] * self.grid[axis.index()];
        Some(match id {
            Builtin::ThreadIdx(axis) => thread.thread[axis.index()],
            Builtin::BlockIdx(axis) => thread.block[axis.index()],
            Builtin::GlobalIdx(axis) => global(axis),
            Builtin::GlobalThreadId => {
                let rows = global(Axis::Z) * extent(Axis::Y) + global(Axis::Y);
                rows * extent(Axis::X) + global(Axis::X)
            }
            Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => return None,
        })
    }

    fn poly(&self, poly: &Poly) -> Option<i128> {
        poly.evaluate(|symbol| match symbol {
            Symbol::Extent(Extent::Block, axis) => self.block[usize::from(axis)],
            Symbol::Extent(Extent::Grid, axis) => self.grid[usize::from(axis)],
            Symbol::Extent(Extent::Global, axis) => {
                self.block[usize::from(axis)] * self.grid[usize::from(axis)]
            }
            Symbol::Block(_) | Symbol::Excess(_) => 0,
            Symbol::Param(..)
            | Symbol::Len(_)
            | Symbol::Link(..)
            | Symbol::Local(..)
            | Symbol::Opaque(..) => self.value,
        })
    }

    /// True if the index depends on the values of arguments.
    fn depends(&self, form: &Form<Poly>) -> bool {
        let other = World {
            value: self.value + 1,
            ..*self
        };
        let polys = form
            .terms()
            .iter()
            .map(|(_, factor)| factor)
            .chain([&form.base]);
        polys
            .into_iter()
            .any(|poly| self.poly(poly) != other.poly(poly))
    }
}
