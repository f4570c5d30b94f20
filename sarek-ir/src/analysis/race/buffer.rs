//! Race check of one slice with all of its accesses: ids as digits of the indices.

use super::reason::same_for_all;
use super::{Needs, Race, Reason, is_store, names_threads};
use crate::analysis::access::Access;
use crate::analysis::linear::{
    Affine, Atom, Bound, Form, Limit, Poly, Symbol, block_dim, is_digit, within_stride,
};
use crate::{Axis, Builtin, Kernel, Precondition};

/// One slice with its accesses, at least one.
pub(super) struct Buffer<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) accesses: &'a [&'a Access],
    /// The form of each access's index, if it has one.
    pub(super) forms: Vec<Option<Affine>>,
    /// Guards that let only one thread of each block through, by axis.
    pub(super) alone: [Option<Vec<Bound>>; 3],
    pub(super) needs: Vec<Precondition>,
}

/// The ids of an index with their coefficients.
pub(super) type IdPart = Vec<(Builtin, Poly)>;

impl<'a> Buffer<'a> {
    pub(super) fn new(kernel: &'a Kernel, accesses: &'a [&'a Access]) -> Buffer<'a> {
        let form = |access: &&Access| {
            let mut affine = access.form.clone()?;
            affine.form.join_ids(kernel);
            Some(affine)
        };
        Buffer {
            kernel,
            accesses,
            forms: accesses.iter().map(form).collect(),
            alone: [const { None }; 3],
            needs: vec![],
        }
    }

    /// The race between accesses `i` and `j`.
    pub(super) fn race(&self, i: usize, j: usize, reason: Reason) -> Race {
        let place = |a: &Access| (a.place, a.loc);
        Race {
            memory: self.accesses[i].memory,
            first: place(self.accesses[i]),
            second: place(self.accesses[j]),
            reason,
            counterexample: None,
            missing: None,
        }
    }

    /// The race between access `i` and a store: itself, or the first one.
    pub(super) fn race_with_store(&self, i: usize, reason: Reason) -> Race {
        let store = self.accesses.iter().position(|a| is_store(a));
        let store = store.unwrap_or(i);
        let same = is_store(self.accesses[i]);
        self.race(i, if same { i } else { store }, reason)
    }

    pub(super) fn check(mut self) -> Result<Vec<Precondition>, Race> {
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
            let reason = same_for_all(self.kernel, self.forms[0].as_ref(), self.accesses[0].index);
            return Err(self.race_with_store(0, reason));
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
            if !used[axis.index()] && names_threads(self.kernel, axis) {
                return Err(self.race_with_store(0, Reason::Axis(axis)));
            }
            if !used[axis.index()] {
                self.need(Precondition::SingleThread(axis));
            } else if let Some(bounds) = pin {
                bounds.iter().for_each(|b| self.rely_on(b));
            }
        }
        Ok(self.needs)
    }

    pub(super) fn need(&mut self, precondition: Precondition) {
        if !self.needs.contains(&precondition) {
            self.needs.push(precondition);
        }
    }

    pub(super) fn rely_on(&mut self, bound: &Bound) {
        for e in &bound.exact {
            self.need(Precondition::NoOverflow(*e));
        }
        for (axis, n) in &bound.extents {
            self.need(Precondition::ExtentAtMost(*axis, *n));
        }
    }

    /// A block id stands for the one thread of the block that passes the guards: adds the preconditions of
    /// these guards.
    pub(super) fn rely_on_block(&mut self, id: Builtin, axis: Axis) {
        if let (Builtin::BlockIdx(_), Some(bounds)) = (id, self.alone[axis.index()].clone()) {
            bounds.iter().for_each(|b| self.rely_on(b));
        }
    }

    /// The guards that let only one value of an id through, if all accesses are behind guards for the same
    /// value.
    pub(super) fn pin(&self, id: Builtin) -> Option<Vec<Bound>> {
        let id = Atom::Id(id);
        let mut value: Option<&Poly> = None;
        let mut relied = vec![];
        for access in self.accesses {
            let (v, bounds) = pinned(access, id)?;
            if *value.get_or_insert(v) != v {
                return None;
            }
            relied.extend(bounds.map(Bound::clone));
        }
        Some(relied)
    }

    /// The ids of the index with their coefficients, which must be the same in all accesses.
    fn id_part(&self) -> Result<IdPart, Race> {
        let mut first: Option<IdPart> = None;
        for (i, affine) in self.forms.iter().enumerate() {
            let Some(affine) = affine else {
                return Err(self.race_with_store(i, Reason::Opaque));
            };
            let ids = ids_of(&affine.form);
            let local = ids.iter().map(|(id, _)| *id).find(|id| match id {
                Builtin::ThreadIdx(_) => true,
                Builtin::BlockIdx(axis) => self.alone[axis.index()].is_none(),
                _ => false,
            });
            if let Some(id) = local {
                return Err(self.race_with_store(i, Reason::BlockLocal(id)));
            }
            let of_subgroup = ids.iter().find(|(id, _)| id.is_of_subgroup());
            if let Some((id, _)) = of_subgroup {
                return Err(self.race_with_store(i, Reason::OfSubgroup(*id)));
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
                    // Access `i` is a store itself, but it does not differ from itself.
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

    /// Checks that different ids give different indices, and adds the preconditions.
    pub(super) fn separate(&mut self, ids: &IdPart) -> Result<(), Race> {
        if let Err(race) = self.separate_ascending(ids) {
            // `n - 1 - i` determines `i` as well, so retry with the opposite signs.
            let negated: IdPart = ids.iter().map(|(id, c)| (*id, c.scaled(-1))).collect();
            for affine in &mut self.forms {
                *affine = affine.as_ref().and_then(Affine::negated);
            }
            self.separate_ascending(&negated).map_err(|_| race)?;
        }
        for (access, affine) in self.accesses.iter().zip(self.forms.clone()) {
            let Some(affine) = affine else { continue };
            for (axis, n) in affine.extents {
                self.need(Precondition::ExtentAtMost(axis, n));
            }
            if affine.needs_exact {
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

    /// An order of the ids in which each is a digit below the next, or else the access that rules it out.
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

    /// Checks that the offsets added to the ids lie within the smallest coefficient, from one base common to
    /// all accesses.
    fn check_low(&mut self, stride: &Poly, innermost: bool) -> Result<(), Race> {
        let forms = self.forms.iter();
        let forms = forms.map(|affine| affine.as_ref().map(|affine| &affine.form));
        let sides: Vec<_> = self.accesses.iter().copied().zip(forms).collect();
        match offsets_within(self.kernel, &sides, stride, innermost) {
            Ok(needs) => {
                needs.into_iter().for_each(|need| self.need(need));
                Ok(())
            }
            Err(at) => Err(self.race_with_store(at, Reason::Neighbour)),
        }
    }
}

/// The range of an index without its ids, and the bounds that prove it.
pub(super) struct Span {
    pub(super) range: (Poly, Poly),
    pub(super) relied: Vec<Bound>,
}

pub(super) fn needs_of(bound: &Bound) -> Vec<Precondition> {
    let exact = bound.exact.iter().map(|e| Precondition::NoOverflow(*e));
    let extents = bound
        .extents
        .iter()
        .map(|(a, n)| Precondition::ExtentAtMost(*a, *n));
    exact.chain(extents).collect()
}

pub(super) fn extents_of(affine: &Affine) -> Needs {
    let needs = affine.extents.iter();
    needs
        .map(|(axis, n)| Precondition::ExtentAtMost(*axis, *n))
        .collect()
}

pub(super) fn ids_of(form: &Form<Poly>) -> IdPart {
    let mut ids: IdPart = vec![];
    for (atom, c) in form.terms() {
        match atom {
            Atom::Id(id) => ids.push((*id, c.clone())),
            Atom::Local(_)
            | Atom::Param(_)
            | Atom::Exchange(..)
            | Atom::Quotient(_)
            | Atom::Term(..) => {}
        }
    }
    ids
}

/// All permutations of up to three positions; none for more.
pub(super) fn orders(n: usize) -> Vec<Vec<usize>> {
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

/// The bound that keeps `id`, of coefficient `low`, below the next digit, of coefficient `high`. `Some(None)`
/// if the extent of its axis suffices.
pub(super) fn digit_bound(
    kernel: &Kernel,
    access: &Access,
    id: Builtin,
    (low, high): (&Poly, &Poly),
) -> Option<Option<Bound>> {
    let fits = |most: &Poly| is_digit(low, most, high);
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

/// The range of an index without its ids; `None` if a local in it has no bounds. If a local has several guards, the
/// innermost or the outermost counts.
fn span_of_locals(
    kernel: &Kernel,
    access: &Access,
    form: &Form<Poly>,
    innermost: bool,
) -> Option<Span> {
    let mut relied = vec![];
    let mut rest = form.clone();
    rest.retain(|(atom, _)| !matches!(atom, Atom::Id(_)));
    let range = rest.span(|atom| {
        match atom {
            Atom::Exchange(..) | Atom::Quotient(_) | Atom::Term(..) => return None,
            Atom::Id(_) | Atom::Local(_) | Atom::Param(_) => {}
        }
        let mut bounds: Vec<&Bound> = access.bounds.iter().filter(|b| b.is_of(atom)).collect();
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
                relied.push(bound.clone());
            }
        }
        let unsigned = atom.is_unsigned_value(kernel);
        Some((least.or(unsigned.then(Poly::default))?, most?))
    })?;
    Some(Span { range, relied })
}

/// The preconditions under which the offsets added to the ids lie within one stride from a common base, or else the
/// position of an access that rules it out.
pub(super) fn offsets_within(
    kernel: &Kernel,
    sides: &[(&Access, Option<&Form<Poly>>)],
    stride: &Poly,
    innermost: bool,
) -> Result<Needs, usize> {
    let mut spans = vec![];
    for (at, (access, form)) in sides.iter().enumerate() {
        let span = form.and_then(|form| span_of_locals(kernel, access, form, innermost));
        spans.push(span.ok_or(at)?);
    }
    let ranges: Vec<_> = spans.iter().map(|span| span.range.clone()).collect();
    within_stride(&ranges, stride)?;
    let relied = spans.iter().flat_map(|span| &span.relied);
    Ok(relied.flat_map(needs_of).collect())
}

/// The single value that guards leave to an atom, and these two guards.
pub(super) fn pinned(access: &Access, atom: Atom) -> Option<(&Poly, [&Bound; 2])> {
    let bounds = access.bounds.iter().filter(|b| b.is_of(atom));
    bounds.clone().find_map(|most| {
        let Limit::AtMost(value) = &most.limit else {
            return None;
        };
        let least = Limit::AtLeast(value.clone());
        let least = bounds.clone().find(|b| b.limit == least)?;
        Some((value, [most, least]))
    })
}
