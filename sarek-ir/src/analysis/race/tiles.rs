//! Indices in which the ids of blocks and of threads are digits apart: the transposed tile's
//! `(block_idx_x() * 16 + thread_idx_y()) * height + block_idx_y() * 16 + thread_idx_x()`.
//!
//! Every global id is written as its block's part and its thread's. The ids, in some order, are digits of a mixed-radix
//! number if what those below each of them add up to stays below its factor. A guard bounds such a sum as a whole, or each
//! id adds its own largest value. What is added to the ids stays below the smallest factor.

use super::Needs;
use super::apart::last;
use super::buffer::{IdPart, extents_of, ids_of, needs_of, span_of_locals};
use crate::analysis::access::{Access, Affine, Atom, Bound, Limit, Poly, block_dim};
use crate::{Axis, Builtin, Kernel, Precondition};

/// What it takes that one thread only computes an index that both accesses have, and the axes along which the index tells
/// threads apart.
pub(super) fn tiles(kernel: &Kernel, a: &Access, b: &Access) -> Option<(Needs, [bool; 3])> {
    let sides = [a, b].map(|access| Some((split(kernel, access.form.clone()?), access)));
    let [Some(a), Some(b)] = sides else {
        return None;
    };
    let ids = ids_of(&a.0);
    if ids.is_empty() || ids != ids_of(&b.0) || !ids.iter().all(|(id, _)| id.axis().is_some()) {
        return None;
    }
    let mut needs: Needs = vec![];
    for (form, access) in [&a, &b] {
        needs.extend(extents_of(form));
        needs.push(Precondition::NoOverflow(access.index));
    }
    let search = Search {
        kernel,
        ids: &ids,
        accesses: [a.1, b.1],
    };
    let (order, found) = search.extend(&[])?;
    needs.extend(found);
    needs.extend(low(kernel, [&a, &b], &ids[order[0]].1)?);
    let told = told(kernel, &ids, &mut needs)?;
    Some((needs, told))
}

/// The form with each global id in its parts.
fn split(kernel: &Kernel, mut form: Affine) -> Affine {
    for axis in Axis::ALL {
        let [global, block, thread] = [
            Builtin::GlobalIdx(axis),
            Builtin::BlockIdx(axis),
            Builtin::ThreadIdx(axis),
        ]
        .map(Atom::Id);
        let whole = form.coefficient(global);
        let of_block = whole.times(&block_dim(kernel, axis));
        form.set(block, form.coefficient(block).plus(&of_block));
        form.set(thread, form.coefficient(thread).plus(&whole));
        form.set(global, Poly::default());
    }
    form
}

/// Looks for an order of the ids in which each is a digit above those before it, at both accesses.
struct Search<'a> {
    kernel: &'a Kernel,
    ids: &'a IdPart,
    accesses: [&'a Access; 2],
}

impl Search<'_> {
    /// Completes an order, and says what it takes.
    fn extend(&self, order: &[usize]) -> Option<(Vec<usize>, Needs)> {
        if order.len() == self.ids.len() {
            return Some((order.to_vec(), vec![]));
        }
        (0..self.ids.len())
            .filter(|next| !order.contains(next))
            .find_map(|next| {
                let mut needs = self.above(order, &self.ids[next].1)?;
                let (order, more) = self.extend(&[order, &[next]].concat())?;
                needs.extend(more);
                Some((order, needs))
            })
    }

    /// Do the digits so far, and what stays below the smallest factor, stay below the next factor?
    fn above(&self, order: &[usize], factor: &Poly) -> Option<Needs> {
        if !factor.is_natural() {
            return None;
        }
        let Some(first) = order.first() else {
            return Some(vec![]);
        };
        let below = |most: &Poly| factor.minus(most).minus(&self.ids[*first].1).is_natural();
        let mut needs = vec![];
        for access in self.accesses {
            needs.extend(self.most(access, order, &below)?);
        }
        Some(needs)
    }

    /// Looks for the most that the first digits add up to, until it is low enough.
    fn most(
        &self,
        access: &Access,
        order: &[usize],
        enough: &dyn Fn(&Poly) -> bool,
    ) -> Option<Needs> {
        let terms: IdPart = order.iter().map(|i| self.ids[*i].clone()).collect();
        let as_atoms: Vec<_> = terms
            .iter()
            .map(|(id, c)| (Atom::Id(*id), c.clone()))
            .collect();
        // The guard may be on the index of an element, and the sum on its first part.
        let scale = &terms[0].1;
        let by_guard = access.bounds.iter().find_map(|bound| {
            let terms = split_bound(self.kernel, bound).times(scale).terms;
            let same = terms.len() == as_atoms.len() && terms.iter().all(|t| as_atoms.contains(t));
            match &bound.limit {
                Limit::AtMost(most) if same && enough(&most.times(scale)) => Some(needs_of(bound)),
                Limit::AtMost(_) | Limit::AtLeast(_) => None,
            }
        });
        if by_guard.is_some() {
            return by_guard;
        }
        let (last_at, before) = order.split_last()?;
        let (id, factor) = &self.ids[*last_at];
        let own = factor.times(&last(self.kernel, *id)?);
        if before.is_empty() {
            return enough(&own).then(Vec::new);
        }
        self.most(access, before, &|most| enough(&most.plus(&own)))
    }
}

/// What a bound is of, with each global id in its parts.
fn split_bound(kernel: &Kernel, bound: &Bound) -> Affine {
    let form = Affine {
        terms: bound.terms.clone(),
        ..Affine::default()
    };
    split(kernel, form)
}

/// Does all that is added to the ids stay within one stride, from a common base on?
fn low(kernel: &Kernel, sides: [&(Affine, &Access); 2], stride: &Poly) -> Option<Needs> {
    [true, false].into_iter().find_map(|innermost| {
        let [a, b] = sides.map(|(form, access)| span_of_locals(kernel, access, form, innermost));
        let spans = [a?, b?];
        let last = stride.minus(&Poly::constant(1));
        let holds = spans.iter().any(|from| {
            spans.iter().all(|s| {
                let above = s.least.minus(&from.least).is_natural();
                above && last.plus(&from.least).minus(&s.most).is_natural()
            })
        });
        let relied = spans.iter().flat_map(|s| &s.relied);
        holds.then(|| relied.flat_map(needs_of).collect())
    })
}

/// The axes along which the ids tell threads apart; `None` if they tell blocks or threads of one only, and the launch cannot be
/// asked to have one of the others.
fn told(kernel: &Kernel, ids: &IdPart, needs: &mut Needs) -> Option<[bool; 3]> {
    let mut told = [false; 3];
    for axis in Axis::ALL {
        let has = |id: Builtin| ids.iter().any(|(of, _)| *of == id);
        let fixed = kernel.block.map(|block| block[axis.index()]);
        match (has(Builtin::BlockIdx(axis)), has(Builtin::ThreadIdx(axis))) {
            (false, false) => continue,
            (true, true) => {}
            (true, false) if fixed == Some(1) => {}
            (true, false) if fixed.is_some() => return None,
            (true, false) => needs.push(Precondition::BlockAtMost(axis, 1)),
            (false, true) => needs.push(Precondition::ExtentAtMost(axis, fixed?.into())),
        }
        told[axis.index()] = true;
    }
    Some(told)
}
