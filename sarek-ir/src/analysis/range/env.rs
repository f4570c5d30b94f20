//! The abstract state at one point of a program.

use std::rc::Rc;

use super::sums::Sum;
use crate::analysis::linear::Interval;
use crate::{Axis, Builtin, ExprId, Kernel};

/// The largest number of guards on compound expressions that are remembered.
const MAX_FACTS: usize = 8;

/// The largest number of guards on sums that are remembered.
const MAX_SUMS: usize = 16;

/// The ranges of everything that a guard can narrow.
#[derive(Clone, Debug)]
pub(super) struct Env {
    /// True if the point may be reached.
    pub live: bool,
    pub locals: Vec<Interval>,
    builtins: [Interval; Builtin::ALL.len()],
    /// Guards on compound expressions of immutable values. They hold for every expression of the same shape.
    pub facts: Vec<(ExprId, Interval)>,
    /// Guards on sums of current values. Each sum is normalised: its constant is 0, its factors have no common
    /// divisor, and the first factor is positive.
    pub sums: Vec<(Sum, Interval)>,
    /// The values of locals as sums. The atoms are the current values of locals, so that an assignment to one
    /// of them ends the sum, also for an immutable local.
    pub forms: Vec<Option<Rc<Sum>>>,
}

/// The position of a builtin in [`Builtin::ALL`].
pub(super) fn slot(builtin: Builtin) -> usize {
    match builtin {
        Builtin::ThreadIdx(a) => a.index(),
        Builtin::BlockIdx(a) => 3 + a.index(),
        Builtin::BlockDim(a) => 6 + a.index(),
        Builtin::GridDim(a) => 9 + a.index(),
        Builtin::GlobalIdx(a) => 12 + a.index(),
        Builtin::GlobalDim(a) => 15 + a.index(),
        Builtin::GlobalThreadId => 18,
        Builtin::SubgroupSize => 19,
        Builtin::SubgroupLane => 20,
    }
}

impl Env {
    /// The state at the start of a launch with at least one thread.
    pub fn new(kernel: &Kernel, grid: [u64; 3], block: [u32; 3], extent: [u64; 3]) -> Env {
        let mut env = Env {
            live: true,
            locals: kernel
                .locals
                .iter()
                .map(|l| Interval::of_type(l.ty))
                .collect(),
            builtins: [Interval::BIT; Builtin::ALL.len()],
            facts: vec![],
            sums: vec![],
            forms: vec![None; kernel.locals.len()],
        };
        let below = |n: i128| Interval::new(0, n - 1);
        for axis in Axis::ALL {
            let a = axis.index();
            let (grid, block) = (i128::from(grid[a]), i128::from(block[a]));
            let extent = i128::from(extent[a]);
            let mut set = |b: Builtin, range| env.builtins[slot(b)] = range;
            set(Builtin::ThreadIdx(axis), below(block.min(extent)));
            let last_block = (extent - 1) / block.max(1);
            set(Builtin::BlockIdx(axis), below(grid.min(last_block + 1)));
            set(Builtin::BlockDim(axis), Interval::exactly(block));
            set(Builtin::GridDim(axis), Interval::exactly(grid));
            set(Builtin::GlobalIdx(axis), below(extent));
            set(Builtin::GlobalDim(axis), Interval::exactly(extent));
        }
        let threads = extent
            .iter()
            .fold(1i128, |n, &e| n.saturating_mul(e.into()));
        // The id is computed in 64 bits, and wraps there like other integers.
        env.builtins[18] = below(threads).meet(Interval::of(crate::Scalar::Usize));
        // Devices have subgroups of any size. A thread's lane is at most its number in the block.
        let of_block = block.iter().fold(1i128, |n, &b| n.saturating_mul(b.into()));
        env.builtins[slot(Builtin::SubgroupSize)] = Interval::new(1, u32::MAX.into());
        env.builtins[slot(Builtin::SubgroupLane)] = below(of_block.max(1));
        env
    }

    /// Forgets everything about locals.
    pub fn forget_locals(&mut self, kernel: &Kernel) {
        for (range, local) in self.locals.iter_mut().zip(kernel.locals.iter()) {
            *range = Interval::of_type(local.ty);
        }
        self.facts.clear();
        self.sums.clear();
        self.forms.fill(None);
    }

    /// An empty state, which briefly takes the place of another one.
    pub fn empty() -> Env {
        Env {
            live: false,
            locals: vec![],
            builtins: [Interval::BIT; Builtin::ALL.len()],
            facts: vec![],
            sums: vec![],
            forms: vec![],
        }
    }

    pub fn builtin(&self, builtin: Builtin) -> Interval {
        self.builtins[slot(builtin)]
    }

    pub fn narrow_builtin(&mut self, builtin: Builtin, to: Interval) {
        let range = &mut self.builtins[slot(builtin)];
        *range = range.meet(to);
        self.live &= !range.is_empty();
    }

    pub fn add_fact(&mut self, expr: ExprId, range: Interval) {
        if let Some(fact) = self.facts.iter_mut().find(|(e, _)| *e == expr) {
            fact.1 = fact.1.meet(range);
        } else if self.facts.len() < MAX_FACTS {
            self.facts.push((expr, range));
        }
    }

    /// Remembers that a sum lies in a range.
    pub fn bound_sum(&mut self, sum: &Sum, range: Interval) {
        let Some((sum, range)) = sum.in_lowest_terms(range) else {
            return;
        };
        if let Some(known) = self.sums.iter_mut().find(|(s, _)| *s == sum) {
            known.1 = known.1.meet(range);
        } else if self.sums.len() < MAX_SUMS {
            self.sums.push((sum, range));
        }
    }

    /// Joins the state of another path to this point.
    pub fn join(&mut self, other: &Env) {
        if !other.live {
            return;
        }
        if !self.live {
            self.clone_from(other);
            return;
        }
        for (a, b) in self.locals.iter_mut().zip(&other.locals) {
            *a = a.join(*b);
        }
        for (a, b) in self.builtins.iter_mut().zip(&other.builtins) {
            *a = a.join(*b);
        }
        self.facts.retain_mut(|(expr, range)| {
            let there = other.facts.iter().find(|(e, _)| e == expr);
            there.is_some_and(|(_, r)| {
                *range = range.join(*r);
                true
            })
        });
        self.sums.retain_mut(|(sum, range)| {
            let there = other.sums.iter().find(|(s, _)| s == sum);
            there.is_some_and(|(_, r)| {
                *range = range.join(*r);
                true
            })
        });
        for (form, there) in self.forms.iter_mut().zip(&other.forms) {
            if form != there {
                *form = None;
            }
        }
    }

    /// True if every concrete state in this one is also in `other`.
    pub fn within(&self, other: &Env) -> bool {
        if !self.live {
            return true;
        }
        let inside = |a: &[Interval], b: &[Interval]| a.iter().zip(b).all(|(a, b)| a.within(*b));
        let known = |(expr, range): &(ExprId, Interval)| {
            let here = self.facts.iter().find(|(e, _)| e == expr);
            here.is_some_and(|(_, r)| r.within(*range))
        };
        let bounded = |(sum, range): &(Sum, Interval)| {
            let here = self.sums.iter().find(|(s, _)| s == sum);
            here.is_some_and(|(_, r)| r.within(*range))
        };
        let mut forms = self.forms.iter().zip(&other.forms);
        other.live
            && inside(&self.locals, &other.locals)
            && inside(&self.builtins, &other.builtins)
            && other.facts.iter().all(known)
            && other.sums.iter().all(bounded)
            && forms.all(|(form, there)| there.is_none() || form == there)
    }

    /// Widens the state to include `next`. Each bound that moves goes to the end of its type, so that widening
    /// terminates.
    pub fn widen(&mut self, next: &Env, kernel: &Kernel) {
        let before = self.clone();
        self.join(next);
        if !before.live {
            return;
        }
        let types = kernel.locals.iter().map(|l| Interval::of_type(l.ty));
        for ((now, old), full) in self.locals.iter_mut().zip(&before.locals).zip(types) {
            if now.lo < old.lo {
                now.lo = full.lo;
            }
            if now.hi > old.hi {
                now.hi = full.hi;
            }
        }
        let usize_range = Interval::of(crate::Scalar::Usize);
        for (now, old) in self.builtins.iter_mut().zip(&before.builtins) {
            if !now.within(*old) {
                *now = usize_range;
            }
        }
        let moved: Vec<ExprId> = self
            .facts
            .iter()
            .filter(|f| !before.facts.contains(f))
            .map(|f| f.0)
            .collect();
        self.facts.retain(|(e, _)| !moved.contains(e));
        self.sums.retain(|sum| before.sums.contains(sum));
    }
}
