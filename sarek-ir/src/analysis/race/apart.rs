//! Disjoint index ranges: indices that never coincide, whichever threads compute them, such as `t` under
//! `t < s`, and `t + s`.

use super::Needs;
use super::buffer::{extents_of, needs_of};
use crate::analysis::access::Access;
use crate::analysis::linear::{Affine, Atom, Extent, Limit, Poly, Symbol, block_dim};
use crate::{Axis, Builtin, Kernel, Precondition};

/// The number of alternative bounds on one atom that are tried.
const CHOICES: usize = 3;

/// The preconditions under which no index of one access is an index of the other; `None` if that is not proved.
pub(super) fn apart(kernel: &Kernel, a: &Access, b: &Access) -> Option<Needs> {
    let (a_form, b_form) = (a.form.as_ref()?, b.form.as_ref()?);
    let sides = [(a, a_form), (b, b_form)];
    let disjoint = |[a, b]: [Range; 2]| {
        let gap = |a: &Range, b: &Range| b.least.minus(&a.most).minus(&Poly::constant(1));
        let apart = gap(&a, &b).is_natural() || gap(&b, &a).is_natural();
        apart.then(|| [a.needs, b.needs].concat())
    };
    let mut needs = choose(kernel, sides, disjoint).or_else(|| in_turns(kernel, sides))?;
    needs.extend([a, b].map(|access| Precondition::NoOverflow(access.index)));
    Some(needs)
}

/// Double buffering, with halves that swap roles: `out * n + i` and `(1 - out) * n + j`, with `i` and `j` below
/// `n`. For every integer `out`, the two halves start an odd multiple of `n` apart, and so at least `n`.
fn in_turns(kernel: &Kernel, sides: [(&Access, &Affine); 2]) -> Option<Needs> {
    let units = sides
        .iter()
        .flat_map(|(_, affine)| affine.form.base.counted());
    for unit in units.filter(Poly::is_natural) {
        let [a, b] = sides.map(|(_, affine)| affine.form.base.divided(&unit));
        if !b.0.minus(&a.0).is_odd() {
            continue;
        }
        let rests = [(sides[0].1, a.1), (sides[1].1, b.1)].map(|(affine, base)| {
            let mut rest = affine.clone();
            rest.form.base = base;
            rest
        });
        let within = |ranges: [Range; 2]| {
            let last = unit.minus(&Poly::constant(1));
            let inside = |r: &Range| r.least.is_natural() && last.minus(&r.most).is_natural();
            let needs = || ranges.iter().flat_map(|r| r.needs.clone()).collect();
            ranges.iter().all(inside).then(needs)
        };
        let sides = [(sides[0].0, &rests[0]), (sides[1].0, &rests[1])];
        if let Some(needs) = choose(kernel, sides, within) {
            return Some(needs);
        }
    }
    None
}

/// Tries combinations of bounds until the ranges of both indices pass a test.
fn choose(
    kernel: &Kernel,
    [a, b]: [(&Access, &Affine); 2],
    test: impl Fn([Range; 2]) -> Option<Needs>,
) -> Option<Needs> {
    let range = |(access, form): (&Access, &Affine), choice| range(kernel, access, form, choice);
    (0..CHOICES * CHOICES).find_map(|choice| {
        let ranges = [range(a, choice / CHOICES)?, range(b, choice % CHOICES)?];
        test(ranges)
    })
}

/// The range of an index.
struct Range {
    least: Poly,
    most: Poly,
    needs: Needs,
}

/// The range of an index. If an atom has several bounds, the `choice`th from the innermost is used.
fn range(kernel: &Kernel, access: &Access, affine: &Affine, choice: usize) -> Option<Range> {
    let mut needs = extents_of(affine);
    let (least, most) = affine.form.span(|atom| {
        let mut limit = |most| limit(kernel, access, atom, choice, most, &mut needs);
        Some((limit(false)?, limit(true)?))
    })?;
    Some(Range { least, most, needs })
}

fn limit(
    kernel: &Kernel,
    access: &Access,
    atom: Atom,
    choice: usize,
    most: bool,
    needs: &mut Needs,
) -> Option<Poly> {
    let bounds = access.bounds.iter().rev().filter(|b| b.is_of(atom));
    let mut limits: Vec<(Poly, Needs)> = bounds
        .filter_map(|b| match (&b.limit, most) {
            (Limit::AtMost(limit), true) | (Limit::AtLeast(limit), false) => {
                Some((limit.clone(), needs_of(b)))
            }
            (Limit::AtMost(_), false) | (Limit::AtLeast(_), true) => None,
        })
        .collect();
    match (atom, most) {
        (Atom::Id(id), true) => limits.extend(last(kernel, id).map(|last| (last, vec![]))),
        (Atom::Id(_) | Atom::Exchange(..), false) => limits.push((Poly::default(), vec![])),
        (Atom::Local(_) | Atom::Param(_), false) => {
            if atom.is_unsigned_value(kernel) {
                limits.push((Poly::default(), vec![]));
            }
        }
        (Atom::Local(_) | Atom::Param(_) | Atom::Exchange(..), true)
        | (Atom::Quotient(_) | Atom::Term(..), _) => {}
    }
    let choice = choice.min(limits.len().checked_sub(1)?);
    let (limit, of) = limits.swap_remove(choice);
    needs.extend(of);
    Some(limit)
}

/// The largest value of an id.
pub(super) fn last(kernel: &Kernel, id: Builtin) -> Option<Poly> {
    let extent = |extent, axis: Axis| Poly::symbol(Symbol::Extent(extent, axis.index() as u8));
    let count = match id {
        Builtin::ThreadIdx(axis) => block_dim(kernel, axis),
        Builtin::BlockIdx(axis) => extent(Extent::Grid, axis),
        Builtin::GlobalIdx(axis) => extent(Extent::Global, axis),
        Builtin::BlockDim(_)
        | Builtin::GridDim(_)
        | Builtin::GlobalDim(_)
        | Builtin::GlobalThreadId
        | Builtin::SubgroupSize
        | Builtin::SubgroupLane => return None,
    };
    Some(count.minus(&Poly::constant(1)))
}
