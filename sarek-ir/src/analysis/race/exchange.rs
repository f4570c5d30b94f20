//! Pairwise exchanges, as in sorting networks: accesses of `t` and `t ^ mask` under the guard `t ^ mask > t`,
//! or `>=`, `<`, `<=`.
//!
//! Let `f(t) = t ^ m` for one mask `m`, so that `f(f(t)) = t`. A thread `t` with `f(t) >= t` accesses only the
//! elements `t` and `f(t)`. Let a thread `u` with `f(u) >= u` access one of them, too. If `f(u) = f(t)`, then
//! `u = t`. If `u = f(t)`, then `u >= t` by the first guard and `t = f(u) >= u` by the second, so that again
//! `u = t`.

use super::Needs;
use super::buffer::{extents_of, needs_of};
use crate::Builtin;
use crate::analysis::access::Access;
use crate::analysis::linear::{Affine, Atom, Bound, Limit};

/// If both accesses belong to one exchange: the id that tells threads apart, and the preconditions.
pub(super) fn exchange(a: &Access, b: &Access) -> Option<(Builtin, Needs)> {
    let sides = [(a, a.form.as_ref()?), (b, b.form.as_ref()?)];
    let exchanged = sides.iter().find_map(|(_, form)| match only(form)? {
        exchanged @ Atom::Exchange(..) => Some(exchanged),
        Atom::Id(_) | Atom::Local(_) | Atom::Param(_) | Atom::Quotient(_) | Atom::Term(..) => None,
    })?;
    let Atom::Exchange(id, _) = exchanged else {
        return None;
    };
    let of_it = |atom| atom == exchanged || atom == Atom::Id(id);
    if !sides.iter().all(|(_, form)| only(form).is_some_and(of_it)) {
        return None;
    }
    let [up, down] = [true, false].map(|up| {
        let guards = sides.map(|(access, _)| {
            let mut bounds = access.bounds.iter();
            bounds.find(|b| lets_one_through(b, exchanged, Atom::Id(id), up))
        });
        Some([guards[0]?, guards[1]?])
    });
    let guards = up.or(down)?;
    let conditions = sides.iter().flat_map(|(_, form)| extents_of(form));
    let needs = conditions.chain(guards.into_iter().flat_map(needs_of));
    Some((id, needs.collect()))
}

/// The atom, if the index is exactly one atom under no conditions.
fn only(affine: &Affine) -> Option<Atom> {
    affine.form.sole_atom().filter(|_| !affine.needs_exact)
}

/// True if a guard lets only one thread of each pair through: the lower one if `above` is set, else the upper one.
fn lets_one_through(bound: &Bound, partner: Atom, own: Atom, above: bool) -> bool {
    let factor = |atom: Atom| bound.form.coefficient(atom).as_constant();
    let (Some(of_partner), Some(of_own)) = (factor(partner), factor(own)) else {
        return false;
    };
    let opposite = of_partner.abs() == 1 && of_own == -of_partner && bound.form.terms().len() == 2;
    // The bounds of `partner - own`.
    let (least, most) = match (&bound.limit, of_partner > 0) {
        (Limit::AtLeast(limit), true) => (limit.as_constant(), None),
        (Limit::AtMost(limit), true) => (None, limit.as_constant()),
        (Limit::AtLeast(limit), false) => (None, limit.as_constant().map(|v| -v)),
        (Limit::AtMost(limit), false) => (limit.as_constant().map(|v| -v), None),
    };
    opposite
        && match above {
            true => least.is_some_and(|v| v >= 0),
            false => most.is_some_and(|v| v <= 0),
        }
}
