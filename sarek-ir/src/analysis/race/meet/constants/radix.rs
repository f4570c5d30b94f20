//! The bounds of constants that make the terms of an index digits of a mixed-radix number.
//!
//! In `row·n + block·TILE + thread·PER + k`, a block's part is a digit if `TILE >= 16·PER`, in blocks of 16 threads, and in
//! `(block·HEIGHT + row)·WIDTH + col`, if `HEIGHT` and `WIDTH` are at least the block's extents. All bounds of this kind are one
//! assumption, however many constants the index has.

use super::ConstantBound;
use crate::analysis::access::Access;
use crate::analysis::linear::{Atom, Poly, Sign, Symbol};
use crate::{Builtin, Kernel, LinkId};

/// A number times at most two constants.
type Span = (u64, [Option<LinkId>; 2]);

/// For each constant by which a part of an index is multiplied, the least values at which the threads' other parts stay below
/// it.
pub(super) fn bounds(kernel: &Kernel, accesses: &[&Access]) -> Vec<ConstantBound> {
    let mut found = vec![];
    for access in accesses {
        for affine in access
            .form
            .iter()
            .chain(access.coordinates.iter().flatten())
        {
            let terms = affine.form.terms();
            for (_, factor) in terms {
                for (link, rest) in links_of(factor) {
                    for (other, low) in terms {
                        let (by, remainder) = low.divided(&rest);
                        let span = count(kernel, access, *other).and_then(|n| span(&by.times(&n)));
                        let Some((number, times)) = span.filter(|_| remainder.is_zero()) else {
                            continue;
                        };
                        let bound = ConstantBound {
                            link,
                            is_least: true,
                            number,
                            times,
                        };
                        if !times.contains(&Some(link)) && !found.contains(&bound) {
                            found.push(bound);
                        }
                    }
                }
            }
        }
    }
    found
}

/// The constants of a product, each with the product of the other factors.
fn links_of(product: &Poly) -> Vec<(LinkId, Poly)> {
    let terms: Vec<_> = product.terms().into_iter().flatten().collect();
    let symbols: Vec<Symbol> = match terms[..] {
        [(symbols, 1)] => symbols.to_vec(),
        _ => vec![],
    };
    let links = symbols.into_iter().filter_map(|symbol| match symbol {
        Symbol::Link(link, _) => Some((link, product.divided(&Poly::symbol(symbol)).0)),
        Symbol::Param(..) | Symbol::Len(_) | Symbol::Extent(..) | Symbol::Block(_) => None,
        Symbol::Local(..) | Symbol::Excess(_) | Symbol::Opaque(..) | Symbol::Term(..) => None,
    });
    links.collect()
}

/// A polynomial as a number times at most two constants.
fn span(poly: &Poly) -> Option<Span> {
    let mut terms = poly.terms()?;
    let (symbols, number) = terms.next()?;
    if terms.next().is_some() {
        return None;
    }
    let mut links = [None; 2];
    for (at, symbol) in symbols.iter().enumerate() {
        let Symbol::Link(link, _) = symbol else {
            return None;
        };
        *links.get_mut(at)? = Some(*link);
    }
    let number = u64::try_from(number).ok().filter(|number| *number > 0)?;
    Some((number, links))
}

/// The number of values of a thread's index in its block or of a counter, where all are natural: the smallest bound that is a
/// number or a multiple of constants.
fn count(kernel: &Kernel, access: &Access, atom: Atom) -> Option<Poly> {
    let extent = match atom {
        Atom::Id(Builtin::ThreadIdx(axis)) => kernel.block.map(|block| block[axis.index()]),
        Atom::Id(_) => return None,
        Atom::Local(_) | Atom::Param(_) | Atom::Exchange(..) => None,
        Atom::Quotient(_) | Atom::Term(..) => None,
    };
    let minus = Poly::constant(-1);
    let ends = access
        .facts
        .iter()
        .filter_map(|fact| match fact.form.terms() {
            [(of, factor)] if *of == atom && *factor == minus && fact.sign == Sign::NotNegative => {
                Some(fact.form.base.plus(&Poly::constant(1)))
            }
            _ => None,
        });
    let extent = extent.map(|extent| Poly::constant(extent.into()));
    let ends: Vec<Poly> = ends
        .chain(extent)
        .filter(|end| span(end).is_some())
        .collect();
    let numbers = ends.iter().filter(|end| end.as_constant().is_some());
    let least = numbers.min_by_key(|end| end.as_constant());
    least.or(ends.first()).cloned()
}
