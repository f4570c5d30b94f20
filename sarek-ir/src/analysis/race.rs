//! The race-freedom contract of safe kernels: no two threads touch one element of a `&mut` slice
//! that the kernel writes.
//!
//! All accesses of such a slice must have indices `base + P + low` with one `P = Σ cⱼ·idⱼ` for all
//! of them. Ordered by their coefficients, the ids are digits of a mixed-radix number: each but the
//! last has a bound `Bⱼ` (a guard's, or the extent of its axis) with `cⱼ·Bⱼ <= cⱼ₊₁`, and `low`,
//! which may differ from access to access and holds the bounded locals, lies in `0..c₀`. Then the
//! index tells the ids apart. Axes of which no id occurs must have one thread, or be pinned to one
//! thread by a guard (`global_idx_y() == 0`).
//!
//! Where that does not hold of all accesses, each two of them are looked at: their ranges may not overlap ([`apart`]), the ids of
//! blocks and threads may be digits of their own ([`tiles`]), or the threads exchange elements in pairs ([`exchange`]).
//!
//! What is known only at a launch becomes a [`Precondition`].
//!
//! Indices of strided views are looked at coordinate by coordinate: [`view`].
//!
//! Shared arrays are compared within one barrier phase and one block: [`shared`].

mod apart;
mod exchange;
pub mod function;
mod shared;
mod tiles;
mod view;
mod witness;

use std::collections::BTreeSet;
use std::fmt;

pub use witness::Witness;

use super::access::{
    Access, Affine, Atom, Bound, Limit, Place, Poly, Symbol, accesses, block_dim, relied_on,
};
use crate::{Axis, Builtin, Kernel, Loc, Memory, Precondition};

/// Checks that no two threads touch one element, at least one of them writing.
///
/// # Errors
/// One race for each slice that is not proved free of them.
pub fn check(kernel: &Kernel) -> Result<Vec<Precondition>, Vec<Race>> {
    let all = accesses(kernel);
    let mut preconditions = relied_on(kernel);
    let mut races = vec![];
    let memories: BTreeSet<Memory> = all.iter().map(|a| a.memory).collect();
    for memory in memories {
        let of_buffer = all.iter().filter(|a| a.memory == memory);
        let of_buffer: Vec<&Access> = of_buffer.collect();
        let is_store = |a: &&Access| matches!(a.place, Place::Store(_));
        if !of_buffer.iter().any(is_store) {
            continue;
        }
        let buffer = Buffer::new(kernel, &of_buffer);
        let checked = match buffer.rank() {
            0 => {
                let whole = buffer.check();
                whole.or_else(|race| in_pairs(kernel, &of_buffer).ok_or(race))
            }
            _ => buffer.check_view(),
        };
        match checked {
            Ok(needs) => add(&mut preconditions, needs),
            Err(race) => races.push(race),
        }
    }
    match shared::check(kernel) {
        Ok(needs) => add(&mut preconditions, needs),
        Err(found) => races.extend(found),
    }
    if races.is_empty() {
        Ok(preconditions)
    } else {
        Err(races)
    }
}

fn add(all: &mut Needs, needs: Needs) {
    for need in needs {
        if !all.contains(&need) {
            all.push(need);
        }
    }
}

/// What it takes that no two accesses of a slice meet, each pair looked at by itself; `None` where one may.
fn in_pairs(kernel: &Kernel, accesses: &[&Access]) -> Option<Needs> {
    let mut needs = vec![];
    for (i, a) in accesses.iter().enumerate() {
        for (j, b) in accesses.iter().enumerate().skip(i) {
            if is_store(a) || is_store(b) {
                add(&mut needs, pair(kernel, a, b, i == j)?);
            }
        }
    }
    Some(needs)
}

fn pair(kernel: &Kernel, a: &Access, b: &Access, same: bool) -> Option<Needs> {
    if !same && let Some(needs) = apart::apart(kernel, a, b) {
        return Some(needs);
    }
    if let Ok(needs) = Buffer::new(kernel, &[a, b]).check() {
        return Some(needs);
    }
    let (mut needs, told) = match exchange::exchange(a, b) {
        Some((Builtin::GlobalIdx(axis), needs)) => (needs, axis_alone(axis)),
        Some(_) | None => tiles::tiles(kernel, a, b)?,
    };
    for (axis, told) in Axis::ALL.into_iter().zip(told) {
        if !told {
            needs.push(Precondition::SingleThread(axis));
        }
    }
    Some(needs)
}

fn axis_alone(axis: Axis) -> [bool; 3] {
    let mut told = [false; 3];
    told[axis.index()] = true;
    told
}

fn is_store(access: &Access) -> bool {
    matches!(access.place, Place::Store(_))
}

/// What a launch must satisfy.
type Needs = Vec<Precondition>;

/// Two accesses by which two threads may meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// The slice or shared array.
    pub memory: Memory,
    /// The access to blame.
    pub first: (Place, Loc),
    /// The one that it may meet in another thread: often the same one.
    pub second: (Place, Loc),
    /// Why.
    pub reason: Reason,
    /// Two threads that may meet, if an example was found.
    pub witness: Option<Witness>,
}

/// Why two threads may meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The index is no formula that the analysis follows.
    Opaque,
    /// The index is the same for all threads.
    Shared,
    /// The index contains ids that repeat from block to block.
    BlockLocal(Builtin),
    /// The index mixes `global_thread_id()` with other ids.
    Mixed,
    /// Two accesses depend on the ids in different ways.
    Different,
    /// The ids do not make up a mixed-radix number, as far as guards and extents tell.
    Overlapping,
    /// What is added to the ids may reach the next thread's element.
    Neighbour,
    /// Threads that differ along an axis only access the same element.
    Axis(Axis),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Opaque => f.write_str("this index is not a formula of the thread's ids"),
            Reason::Shared => f.write_str("all threads access the same element"),
            Reason::BlockLocal(id) => write!(
                f,
                "`{}()` repeats from block to block; use a global id",
                id.name()
            ),
            Reason::Mixed => f.write_str(
                "`global_thread_id()` together with another id does not tell threads apart",
            ),
            Reason::Different => {
                f.write_str("two accesses depend on the thread's ids in different ways")
            }
            Reason::Overlapping => f.write_str(
                "different ids may give the same index; a guard such as `col < width` around \
                 `row * width + col` keeps them apart",
            ),
            Reason::Neighbour => f.write_str("this index may reach the element of another thread"),
            Reason::Axis(axis) => write!(
                f,
                "threads that differ in `thread_idx_{}()` alone access the same element",
                axis.name()
            ),
        }
    }
}

/// One slice with its accesses, at least one.
struct Buffer<'a> {
    kernel: &'a Kernel,
    accesses: &'a [&'a Access],
    /// The index of each access, where it has a form.
    forms: Vec<Option<Affine>>,
    /// The guards that let one thread only of each block through, by axis.
    alone: [Option<Vec<Bound>>; 3],
    needs: Vec<Precondition>,
}

/// The ids of an index with their coefficients.
type IdPart = Vec<(Builtin, Poly)>;

impl<'a> Buffer<'a> {
    fn new(kernel: &'a Kernel, accesses: &'a [&'a Access]) -> Buffer<'a> {
        let form = |access: &&Access| {
            let mut form = access.form.clone()?;
            form.join_block_ids(kernel);
            Some(form)
        };
        Buffer {
            kernel,
            accesses,
            forms: accesses.iter().map(form).collect(),
            alone: [const { None }; 3],
            needs: vec![],
        }
    }

    /// The race of the `i`th access with another one, which writes if it does not.
    fn race(&self, i: usize, j: usize, reason: Reason) -> Race {
        let place = |a: &Access| (a.place, a.loc);
        Race {
            memory: self.accesses[i].memory,
            first: place(self.accesses[i]),
            second: place(self.accesses[j]),
            reason,
            witness: witness::witness(self.kernel, self.accesses[i], self.accesses[j]),
        }
    }

    /// The race of the `i`th access with the first store.
    fn race_with_store(&self, i: usize, reason: Reason) -> Race {
        let is_store = |a: &&Access| matches!(a.place, Place::Store(_));
        let store = self.accesses.iter().position(is_store).unwrap_or(i);
        let same = is_store(&self.accesses[i]);
        self.race(i, if same { i } else { store }, reason)
    }

    fn check(mut self) -> Result<Vec<Precondition>, Race> {
        let pinned = Axis::ALL.map(|axis| self.pin(Builtin::GlobalIdx(axis)));
        self.alone = Axis::ALL.map(|axis| self.pin(Builtin::ThreadIdx(axis)));
        let any_pinned = pinned.iter().any(Option::is_some);
        let ids = match self.id_part() {
            Ok(ids) => ids,
            Err(_) if any_pinned => vec![],
            Err(race) => return Err(race),
        };
        let mut used = pinned.clone().map(|pin| pin.is_some());
        if ids.is_empty() && !any_pinned {
            return Err(self.race_with_store(0, Reason::Shared));
        }
        if !ids.is_empty() {
            let needs = self.needs.clone();
            match self.separate(&ids) {
                Ok(()) => {
                    for (id, _) in &ids {
                        match id.axis() {
                            Some(axis) => {
                                used[axis.index()] = true;
                                self.rely_on_block(*id, axis);
                            }
                            None => used = [true; 3],
                        }
                    }
                }
                Err(_) if any_pinned => self.needs = needs,
                Err(race) => return Err(race),
            }
        }
        for (axis, pin) in Axis::ALL.into_iter().zip(pinned) {
            if !used[axis.index()] {
                self.need(Precondition::SingleThread(axis));
            } else if let Some(bounds) = pin {
                bounds.iter().for_each(|b| self.rely_on(b));
            }
        }
        Ok(self.needs)
    }

    fn need(&mut self, precondition: Precondition) {
        if !self.needs.contains(&precondition) {
            self.needs.push(precondition);
        }
    }

    fn rely_on(&mut self, bound: &Bound) {
        for e in &bound.exact {
            self.need(Precondition::NoOverflow(*e));
        }
        for (axis, n) in &bound.extents {
            self.need(Precondition::ExtentAtMost(*axis, *n));
        }
    }

    /// A block's index stands for the one thread of the block that comes here.
    fn rely_on_block(&mut self, id: Builtin, axis: Axis) {
        if let (Builtin::BlockIdx(_), Some(bounds)) = (id, self.alone[axis.index()].clone()) {
            bounds.iter().for_each(|b| self.rely_on(b));
        }
    }

    /// The guards that let one value only of an id through, if all accesses stand behind the
    /// same ones.
    fn pin(&self, id: Builtin) -> Option<Vec<Bound>> {
        let id = Atom::Id(id);
        let mut value: Option<&Poly> = None;
        let mut relied = vec![];
        for access in self.accesses {
            let found = access
                .bounds
                .iter()
                .filter(|b| b.is_of(id))
                .find_map(|most| {
                    let Limit::AtMost(v) = &most.limit else {
                        return None;
                    };
                    let least = access
                        .bounds
                        .iter()
                        .find(|b| b.is_of(id) && b.limit == Limit::AtLeast(v.clone()))?;
                    Some((v, most, least))
                });
            let (v, most, least) = found?;
            if *value.get_or_insert(v) != v {
                return None;
            }
            relied.extend([most.clone(), least.clone()]);
        }
        Some(relied)
    }

    /// The ids of the index, which are the same for all accesses.
    fn id_part(&self) -> Result<IdPart, Race> {
        let mut first: Option<IdPart> = None;
        for (i, form) in self.forms.iter().enumerate() {
            let Some(form) = form else {
                return Err(self.race_with_store(i, Reason::Opaque));
            };
            let ids = ids_of(form);
            let local = ids.iter().map(|(id, _)| *id).find(|id| match id {
                Builtin::ThreadIdx(_) => true,
                Builtin::BlockIdx(axis) => self.alone[axis.index()].is_none(),
                _ => false,
            });
            if let Some(id) = local {
                return Err(self.race_with_store(i, Reason::BlockLocal(id)));
            }
            let whole = |(id, _): &(Builtin, Poly)| *id == Builtin::GlobalThreadId;
            if ids.len() > 1 && ids.iter().any(whole) {
                return Err(self.race_with_store(i, Reason::Mixed));
            }
            match &first {
                None => first = Some(ids),
                Some(first) if *first == ids => {}
                Some(_) => {
                    let store = self.race_with_store(i, Reason::Different);
                    // An access does not differ from itself.
                    let itself = store.first == store.second;
                    return Err(if itself {
                        self.race(i, 0, Reason::Different)
                    } else {
                        store
                    });
                }
            }
        }
        Ok(first.unwrap_or_default())
    }

    /// Checks that indices of different ids differ, and notes what that takes.
    fn separate(&mut self, ids: &IdPart) -> Result<(), Race> {
        if let Err(race) = self.separate_ascending(ids) {
            // `n - 1 - i` tells as much as `i`.
            let negated: IdPart = ids.iter().map(|(id, c)| (*id, c.scaled(-1))).collect();
            let forms = self.forms.iter_mut().flatten();
            forms.for_each(|form| *form = form.negated());
            self.separate_ascending(&negated).map_err(|_| race)?;
        }
        for (access, form) in self.accesses.iter().zip(self.forms.clone()) {
            let form = form.unwrap_or_default();
            for (axis, n) in form.extents {
                self.need(Precondition::ExtentAtMost(axis, n));
            }
            if form.needs_exact {
                self.need(Precondition::NoOverflow(access.index));
            }
        }
        Ok(())
    }

    fn separate_ascending(&mut self, ids: &IdPart) -> Result<(), Race> {
        let order = self
            .order(ids)
            .map_err(|i| self.race_with_store(i, Reason::Overlapping))?;
        let stride = &ids[order[0]].1;
        let innermost_guards = self.check_low(stride, true);
        innermost_guards.or_else(|_| self.check_low(stride, false))
    }

    /// An order of the ids in which each is a digit below the next; the access that spoils it
    /// otherwise.
    fn order(&mut self, ids: &IdPart) -> Result<Vec<usize>, usize> {
        let mut spoilt = 0;
        for order in orders(ids.len()) {
            let mut relied = vec![];
            let digits = order.windows(2).try_for_each(|pair| {
                let ((id, low), (_, high)) = (&ids[pair[0]], &ids[pair[1]]);
                for (i, access) in self.accesses.iter().enumerate() {
                    match digit_bound(self.kernel, access, *id, (low, high)) {
                        Some(bound) => relied.extend(bound),
                        None => return Err(i),
                    }
                }
                Ok(())
            });
            match digits {
                Ok(()) => {
                    relied.iter().for_each(|b| self.rely_on(b));
                    return Ok(order);
                }
                Err(i) => spoilt = i,
            }
        }
        Err(spoilt)
    }

    /// Checks that what is added to the ids stays below their smallest coefficient, in all accesses
    /// from one common base. Of several guards on a local, the innermost or the outermost counts.
    fn check_low(&mut self, stride: &Poly, innermost: bool) -> Result<(), Race> {
        let mut spans = vec![];
        for (i, (access, form)) in self.accesses.iter().zip(&self.forms).enumerate() {
            let form = form.as_ref();
            let span = form.and_then(|form| span_of_locals(self.kernel, access, form, innermost));
            match span {
                Some(span) => spans.push(span),
                None => return Err(self.race_with_store(i, Reason::Neighbour)),
            }
        }
        let last = stride.minus(&Poly::constant(1));
        let mut spoilt = 0;
        for base in spans.iter().map(|s| &s.least) {
            let outside = spans.iter().position(|s| {
                let below = !s.least.minus(base).is_natural();
                below || !last.plus(base).minus(&s.most).is_natural()
            });
            match outside {
                None => {
                    let relied = spans.iter().flat_map(|s| &s.relied);
                    relied.for_each(|b| {
                        for need in needs_of(b) {
                            if !self.needs.contains(&need) {
                                self.needs.push(need);
                            }
                        }
                    });
                    return Ok(());
                }
                Some(i) => spoilt = i,
            }
        }
        Err(self.race_with_store(spoilt, Reason::Neighbour))
    }
}

/// What an index can be apart from its ids.
struct Span {
    least: Poly,
    most: Poly,
    relied: Vec<Bound>,
}

fn needs_of(bound: &Bound) -> Vec<Precondition> {
    let exact = bound.exact.iter().map(|e| Precondition::NoOverflow(*e));
    let extents = bound
        .extents
        .iter()
        .map(|(a, n)| Precondition::ExtentAtMost(*a, *n));
    exact.chain(extents).collect()
}

fn extents_of(form: &Affine) -> Needs {
    let needs = form.extents.iter();
    needs
        .map(|(axis, n)| Precondition::ExtentAtMost(*axis, *n))
        .collect()
}

fn ids_of(form: &Affine) -> IdPart {
    let mut ids: IdPart = vec![];
    for (atom, c) in &form.terms {
        match atom {
            Atom::Id(id) => ids.push((*id, c.clone())),
            Atom::Local(_) | Atom::Exchange(..) => {}
        }
    }
    ids.sort_by_key(|(id, _)| Builtin::ALL.iter().position(|(_, b)| b == id));
    ids
}

/// The permutations of up to three positions; of more, none.
fn orders(n: usize) -> Vec<Vec<usize>> {
    match n {
        1 => vec![vec![0]],
        2 => vec![vec![0, 1], vec![1, 0]],
        3 => [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ]
        .map(Vec::from)
        .to_vec(),
        _ => vec![],
    }
}

/// The bound by which `id`, of coefficient `low`, stays below the next digit, of coefficient
/// `high`; `Some(None)` when the extent of its axis is bound enough.
fn digit_bound(
    kernel: &Kernel,
    access: &Access,
    id: Builtin,
    (low, high): (&Poly, &Poly),
) -> Option<Option<Bound>> {
    let fits = |most: &Poly| {
        let count = most.plus(&Poly::constant(1));
        high.minus(&low.times(&count)).is_natural()
    };
    let extent = |axis| match id {
        Builtin::BlockIdx(_) => Builtin::GridDim(axis),
        _ => Builtin::GlobalDim(axis),
    };
    if let Builtin::ThreadIdx(axis) = id
        && fits(&block_dim(kernel, axis).minus(&Poly::constant(1)))
    {
        return Some(None);
    }
    if let Some(extent) = id.axis().and_then(|a| Symbol::of_builtin(extent(a)))
        && fits(&Poly::symbol(extent).minus(&Poly::constant(1)))
    {
        return Some(None);
    }
    let guard = access.bounds.iter().find(|b| match &b.limit {
        Limit::AtMost(most) => b.is_of(Atom::Id(id)) && fits(most),
        Limit::AtLeast(_) => false,
    })?;
    Some(Some(guard.clone()))
}

/// The least and the most of an index without its ids; `None` when a local in it has no bounds.
fn span_of_locals(
    kernel: &Kernel,
    access: &Access,
    form: &Affine,
    innermost: bool,
) -> Option<Span> {
    let mut span = Span {
        least: form.base.clone(),
        most: form.base.clone(),
        relied: vec![],
    };
    for (atom, c) in &form.terms {
        let local = match atom {
            Atom::Id(_) => continue,
            Atom::Exchange(..) => return None,
            Atom::Local(local) => &kernel.locals[local.index()],
        };
        let mut bounds: Vec<&Bound> = access.bounds.iter().filter(|b| b.is_of(*atom)).collect();
        if innermost {
            bounds.reverse();
        }
        let (mut least, mut most) = (None, None);
        for bound in bounds {
            let (side, limit) = match &bound.limit {
                Limit::AtMost(limit) => (&mut most, limit),
                Limit::AtLeast(limit) => (&mut least, limit),
            };
            if side.is_none() {
                *side = Some(limit.clone());
                span.relied.push(bound.clone());
            }
        }
        let unsigned = local
            .ty
            .as_scalar()
            .is_some_and(|ty| ty.is_int() && !ty.is_signed());
        let (least, most) = (least.or(unsigned.then(Poly::default))?, most?);
        let (low, high) = (c.times(&least), c.times(&most));
        let (low, high) = if c.is_natural() {
            (low, high)
        } else if c.scaled(-1).is_natural() {
            (high, low)
        } else {
            return None;
        };
        span.least = span.least.plus(&low);
        span.most = span.most.plus(&high);
    }
    Some(span)
}

impl Affine {
    fn negated(&self) -> Affine {
        let mut negated = self.clone();
        negated.base = self.base.scaled(-1);
        negated.terms = self.terms.iter().map(|(a, c)| (*a, c.scaled(-1))).collect();
        negated
    }
}

#[cfg(test)]
mod patterns;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
