//! Bounds of named constants that a proof assumes, and that rustc checks.

use std::collections::BTreeSet;

use crate::analysis::race::Needs;
use crate::{Expr, Kernel, LinkId};

/// More numbers than these are not tried as bounds.
const MOST_NUMBERS: usize = 8;

/// A bound of a constant that the user's crate names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConstantBound {
    /// The constant.
    pub link: LinkId,
    /// True if the number is the least value, false if it is the largest one.
    pub is_least: bool,
    /// The number.
    pub number: u64,
}

/// The bounds of constants that proofs about one kernel may assume.
pub(in crate::analysis::race) struct Constants {
    /// The alternatives, the weakest first. The first is empty.
    alternatives: Vec<Vec<ConstantBound>>,
    /// The numbers that are tried, in ascending order.
    numbers: Vec<u64>,
    /// The bounds that were used.
    pub(in crate::analysis::race) used: Vec<ConstantBound>,
}

impl Constants {
    /// Allows no assumption.
    pub(in crate::analysis::race) fn none() -> Constants {
        Constants {
            alternatives: vec![vec![]],
            numbers: vec![],
            used: vec![],
        }
    }

    /// Allows no refutation at all, so that only the fast rules remain.
    pub(in crate::analysis::race) fn no_refutation() -> Constants {
        Constants {
            alternatives: vec![],
            ..Constants::none()
        }
    }

    /// The bounds by the block's extents and by the numbers that the kernel mentions.
    pub(in crate::analysis::race) fn of(kernel: &Kernel) -> Constants {
        let links = (0..kernel.links.len() as u32).map(LinkId);
        let links = links.filter(|link| {
            let ty = kernel.links[link.index()].ty.as_scalar();
            ty.is_some_and(|ty| ty.is_int())
        });
        Constants::among(kernel, &links.collect::<Vec<_>>())
    }

    /// [`Constants::of`] for some of the constants.
    pub(in crate::analysis::race) fn among(kernel: &Kernel, links: &[LinkId]) -> Constants {
        let mut constants = Constants::none();
        if links.is_empty() {
            return constants;
        }
        let extents = kernel.block.into_iter().flatten().map(u64::from);
        let literals = kernel.exprs.iter().filter_map(|expr| match expr {
            Expr::Literal(value) => u64::try_from(value.as_int()?).ok(),
            _ => None,
        });
        let small = |number: &u64| (1..1 << 20).contains(number);
        let numbers: BTreeSet<u64> = extents.chain(literals).chain([1]).filter(small).collect();
        let numbers: Vec<u64> = numbers.into_iter().take(MOST_NUMBERS).collect();
        let bounds = |is_least: bool, number: u64| {
            let each = links.iter().map(|link| ConstantBound {
                link: *link,
                is_least,
                number,
            });
            each.collect()
        };
        let least = numbers.iter().map(|n| bounds(true, *n));
        let most = numbers.iter().rev().map(|n| bounds(false, *n));
        constants.alternatives.extend(least.chain(most));
        constants.numbers = numbers;
        constants
    }

    /// The first proof that an alternative allows. `prove` adds the bounds that it used.
    pub(in crate::analysis::race) fn first_proof(
        &mut self,
        mut prove: impl FnMut(&[ConstantBound], &mut Vec<ConstantBound>) -> Option<Needs>,
    ) -> Option<Needs> {
        let found = self.alternatives.iter().find_map(|assumed| {
            let mut used = vec![];
            prove(assumed, &mut used).map(|needs| (needs, used))
        });
        let (mut needs, mut used) = found?;
        // Each constant may do with a weaker bound than the others.
        for at in 0..used.len() {
            let strict = used[at];
            let weaker: Vec<u64> = match strict.is_least {
                true => self.numbers.clone(),
                false => self.numbers.iter().rev().copied().collect(),
            };
            let weaker = weaker.into_iter().take_while(|n| *n != strict.number);
            let found = weaker.into_iter().find_map(|number| {
                let mut assumed = used.clone();
                assumed[at] = ConstantBound { number, ..strict };
                let needs = prove(&assumed, &mut vec![])?;
                Some((needs, assumed))
            });
            if let Some(found) = found {
                (needs, used) = found;
            }
        }
        for bound in used {
            if !self.used.contains(&bound) {
                self.used.push(bound);
            }
        }
        Some(needs)
    }
}
