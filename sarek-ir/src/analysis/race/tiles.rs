//! Tiled indices, in which block ids and thread ids are separate digits, such as the transposed tile's
//! `(block_idx_x() * 16 + thread_idx_y()) * height + block_idx_y() * 16 + thread_idx_x()`.
//!
//! Every global id is split into its block part and its thread part. The ids, in some order, are digits of a
//! mixed-radix number if the sum of the lower digits stays below each id's factor. A guard may bound such a sum
//! as a whole. Otherwise each id adds its own largest value. The offset added to the ids must stay below the
//! smallest factor.

use super::apart::last;
use super::buffer::{IdPart, extents_of, ids_of, needs_of, offsets_within};
use super::{Needs, names_blocks, names_own_threads};
use crate::analysis::access::Access;
use crate::analysis::linear::{Affine, Atom, Limit, Poly};
use crate::{Axis, Builtin, Kernel, Precondition};

/// The preconditions under which an index of both accesses belongs to a single thread, and the axes along which
/// the index tells threads apart.
pub(super) fn tiles(kernel: &Kernel, a: &Access, b: &Access) -> Option<(Needs, [bool; 3])> {
    let sides = [a, b].map(|access| {
        let affine = access.form.as_ref()?;
        Some((affine.with(affine.form.split_ids(kernel)), access))
    });
    let [Some(a), Some(b)] = sides else {
        return None;
    };
    let ids = ids_of(&a.0.form);
    if ids.is_empty() || ids != ids_of(&b.0.form) || !ids.iter().all(|(id, _)| id.axis().is_some())
    {
        return None;
    }
    let mut needs: Needs = vec![];
    for (affine, access) in [&a, &b] {
        needs.extend(extents_of(affine));
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

/// A search for an order of the ids in which each is a digit above those before it, at both accesses.
struct Search<'a> {
    kernel: &'a Kernel,
    ids: &'a IdPart,
    accesses: [&'a Access; 2],
}

impl Search<'_> {
    /// Completes an order, and returns it with its preconditions.
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

    /// The preconditions under which the digits so far, plus an offset below the smallest factor, stay below
    /// the next factor.
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

    /// Searches for an upper bound of the sum of the first digits that is low enough.
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
        // The guard may bound an element's index, while the sum is a multiple of it: the index of the element's
        // first part.
        let scale = &terms[0].1;
        let by_guard = access.bounds.iter().find_map(|bound| {
            let bound = bound.split_ids(self.kernel);
            let form = bound.form.times(scale)?;
            let terms = form.terms();
            let same = terms.len() == as_atoms.len() && terms.iter().all(|t| as_atoms.contains(t));
            match &bound.limit {
                Limit::AtMost(most) if same && enough(&most.times(scale)) => Some(needs_of(&bound)),
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

/// The preconditions under which the offsets added to the ids, in both accesses, lie within one stride from a
/// common base.
fn low(kernel: &Kernel, sides: [&(Affine, &Access); 2], stride: &Poly) -> Option<Needs> {
    let sides = sides.map(|(affine, access)| (*access, Some(&affine.form)));
    [true, false]
        .into_iter()
        .find_map(|innermost| offsets_within(kernel, &sides, stride, innermost).ok())
}

/// The axes along which the ids tell threads apart. `None` if the ids tell apart only blocks, or only threads
/// within a block, and no precondition can make up for that.
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
            // One thread of several would not be told from the others.
            (true, false) if names_own_threads(kernel, axis) => return None,
            (true, false) => needs.push(Precondition::BlockAtMost(axis, 1)),
            (false, true) if names_blocks(kernel, axis) => return None,
            (false, true) => needs.push(Precondition::ExtentAtMost(axis, fixed?.into())),
        }
        told[axis.index()] = true;
    }
    Some(told)
}
