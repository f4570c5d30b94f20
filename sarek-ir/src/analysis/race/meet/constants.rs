//! Bounds of named constants that a proof assumes, and that rustc checks.

mod radix;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::subgroups::{SubgroupSize, sizes};
use super::{Axes, Reading};
use crate::analysis::access::Access;
use crate::analysis::race::Needs;
use crate::{Axis, BinaryOp, Builtin, Expr, ExprId, Kernel, LinkId};

/// More numbers than these are not tried as bounds.
const MOST_NUMBERS: usize = 8;

/// More named constants than these are not compared with each other.
const MOST_COMPARED: usize = 3;

/// Larger multiples than this of a constant are not tried as bounds of another one.
const MOST_MULTIPLES: u64 = 4;

/// More numbers than these are not tried as divisors of the size of blocks.
const MOST_PARTS: usize = 2;

/// A bound of a constant that the user's crate names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConstantBound {
    /// The constant.
    pub link: LinkId,
    /// True if the number is the least value, false if it is the largest one.
    pub is_least: bool,
    /// The number.
    pub number: u64,
    /// The constants by which the number is multiplied.
    pub times: [Option<LinkId>; 2],
}

/// The bounds of constants that proofs about one kernel may assume.
pub(in crate::analysis::race) struct Constants {
    /// The alternatives, the weakest first. The first is empty.
    alternatives: Vec<Vec<ConstantBound>>,
    /// The bounds by which the terms of an index are digits. Tried after the first alternative.
    digits: Vec<ConstantBound>,
    /// The numbers that are tried, in ascending order.
    numbers: Vec<u64>,
    /// The sizes of subgroups that are tried. A kernel needs one size at the most.
    sizes: Vec<Option<SubgroupSize>>,
    /// Numbers of which the size of blocks may be assumed to be a multiple.
    multiples: Vec<u32>,
    /// The bounds that were used.
    pub(in crate::analysis::race) used: Vec<ConstantBound>,
    /// The steps that all refutations together may still take.
    steps: Steps,
    /// True for the kernel itself, false for a guess.
    is_thorough: bool,
}

/// The assumptions of one attempt.
#[derive(Clone, Copy)]
pub(in crate::analysis::race) struct Assumption<'a> {
    /// The bounds of constants that a proof may use.
    pub(in crate::analysis::race) bounds: &'a [ConstantBound],
    /// The size of subgroups.
    pub(in crate::analysis::race) subgroup: Option<SubgroupSize>,
    /// A number of which the size of blocks along x is a multiple, if the launch has several there.
    pub(in crate::analysis::race) multiple: Option<u32>,
    /// The steps that all questions together may still take.
    pub(in crate::analysis::race) steps: &'a Cell<u32>,
    /// True if all readings are worth their steps.
    pub(in crate::analysis::race) is_thorough: bool,
    /// The attempt that answered the last question, which is the first one for the next question.
    pub(in crate::analysis::race) last: Option<&'a Cell<Option<(Axes, Reading)>>>,
}

/// A number of steps that several proofs share.
pub(in crate::analysis::race) type Steps = Rc<Cell<u32>>;

/// The steps for one kernel: about 0.2 s in an unoptimised build.
const MOST_STEPS: u32 = 10_000;

impl Constants {
    /// Allows no assumption.
    pub(in crate::analysis::race) fn none() -> Constants {
        Constants {
            alternatives: vec![vec![]],
            digits: vec![],
            numbers: vec![],
            sizes: vec![None],
            multiples: vec![],
            used: vec![],
            steps: Rc::new(Cell::new(MOST_STEPS)),
            is_thorough: true,
        }
    }

    /// Allows to assume a size of subgroups, and that blocks have a multiple of some number of threads.
    pub(in crate::analysis::race) fn with_subgroups(mut self, kernel: &Kernel) -> Constants {
        self.sizes = sizes(kernel);
        self.multiples = multiples(kernel);
        self
    }

    /// Takes the steps of refutations from these, which are few.
    pub(in crate::analysis::race) fn within(mut self, steps: &Steps) -> Constants {
        self.steps = steps.clone();
        self.is_thorough = false;
        self
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
        let links: Vec<LinkId> = links.collect();
        let mut constants = Constants::among(kernel, &links).with_subgroups(kernel);
        constants.compare(kernel, &links);
        constants
    }

    /// Adds multiples and products of the constants as bounds of the others. All of them are at least as large as the
    /// block, too.
    fn compare(&mut self, kernel: &Kernel, links: &[LinkId]) {
        if links.len() > MOST_COMPARED {
            return;
        }
        let extents = kernel.block.into_iter().flatten().map(u64::from);
        let extents: BTreeSet<u64> = extents.filter(|extent| *extent > 1).collect();
        let least = |link: &LinkId, number: u64| ConstantBound {
            link: *link,
            is_least: true,
            number,
            times: [None; 2],
        };
        let number = extents.last().copied().unwrap_or(1);
        let all: Vec<ConstantBound> = links.iter().map(|link| least(link, number)).collect();
        let multiples: BTreeSet<u64> = (1..=MOST_MULTIPLES).chain(extents).collect();
        let mut found = vec![];
        for &link in links {
            let others: Vec<LinkId> = links.iter().copied().filter(|of| *of != link).collect();
            let mut add = |number: u64, times: [Option<LinkId>; 2]| {
                let mut assumed = all.clone();
                assumed.push(ConstantBound {
                    times,
                    ..least(&link, number)
                });
                found.push(assumed);
            };
            for of in &others {
                multiples
                    .iter()
                    .for_each(|number| add(*number, [Some(*of), None]));
            }
            if let [one, other] = others[..] {
                add(1, [Some(one), Some(other)]);
            }
        }
        self.alternatives.extend(found);
    }

    /// Adds the bounds by which the terms of the indices are digits, if bounds may be assumed at all.
    pub(in crate::analysis::race) fn expect_digits(&mut self, kernel: &Kernel, of: &[&Access]) {
        if self.alternatives.len() > 1 {
            self.digits = radix::bounds(kernel, of);
        }
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
        let mentioned: BTreeSet<u64> = extents.chain(literals).chain([1]).filter(small).collect();
        let first = |numbers: BTreeSet<u64>| {
            let numbers = numbers.into_iter().take(MOST_NUMBERS);
            numbers.collect::<Vec<u64>>()
        };
        // Beside an offset of 1, a factor has to be at least 2.
        let numbers = first(mentioned.iter().flat_map(|n| [*n, *n + 1]).collect());
        let bounds = |is_least: bool, number: u64| {
            let each = links.iter().map(|link| ConstantBound {
                link: *link,
                is_least,
                number,
                times: [None; 2],
            });
            each.collect::<Vec<ConstantBound>>()
        };
        let least = numbers.iter().map(|n| bounds(true, *n));
        // A constant of at most 1 would be no parameter: nearly any kernel is free of races then.
        let most = first(mentioned).into_iter().rev().filter(|n| *n > 1);
        let most = most.map(|n| bounds(false, n));
        constants.alternatives.extend(least.chain(most));
        constants.numbers = numbers;
        constants
    }

    /// The first proof that an alternative allows. `prove` adds the bounds that it used.
    pub(in crate::analysis::race) fn first_proof(
        &mut self,
        mut prove: impl FnMut(Assumption<'_>, &mut Vec<ConstantBound>) -> Option<Needs>,
    ) -> Option<Needs> {
        let steps = self.steps.clone();
        let (sizes, last) = (&self.sizes, Cell::new(None));
        let assumption = |bounds, subgroup, multiple, is_thorough| Assumption {
            bounds,
            subgroup,
            multiple,
            steps: &steps,
            is_thorough,
            last: Some(&last),
        };
        // Numbers are guessed: one attempt must not take the steps of the next ones.
        let digits = Some(&self.digits).filter(|digits| !digits.is_empty());
        let (first, guesses) = self.alternatives.split_at(self.alternatives.len().min(1));
        let first = first.iter().chain(digits);
        let first = first.map(|bounds| (bounds, self.is_thorough));
        let each = first.chain(guesses.iter().map(|bounds| (bounds, false)));
        let each = each.flat_map(|(bounds, is_thorough)| {
            let sizes = sizes.iter();
            sizes.map(move |size| assumption(bounds.as_slice(), *size, None, is_thorough))
        });
        let multiples = self.multiples.iter();
        let mut each =
            each.chain(multiples.map(|number| assumption(&[], None, Some(*number), false)));
        let found = each.find_map(|assumed| {
            let mut used = vec![];
            let needs = prove(assumed, &mut used)?;
            Some((needs, used, assumed.subgroup))
        });
        let (mut needs, mut used, subgroup) = found?;
        if needs
            .iter()
            .any(|need| SubgroupSize::required(need).is_some())
        {
            self.sizes
                .retain(|size| size.is_none() || *size == subgroup);
        }
        // Each constant may do with a weaker bound than the others. Without these steps, the bounds would be too strict.
        let steps = Cell::new(MOST_STEPS);
        for at in 0..used.len() {
            let strict = used[at];
            // Multiples are tried from the smallest on.
            if strict.times != [None; 2] {
                continue;
            }
            let weaker: Vec<u64> = match strict.is_least {
                true => self.numbers.clone(),
                false => self.numbers.iter().rev().copied().collect(),
            };
            let weaker = weaker.into_iter().take_while(|n| *n != strict.number);
            let found = weaker.into_iter().find_map(|number| {
                let mut assumed = used.clone();
                assumed[at] = ConstantBound { number, ..strict };
                let bounds = Assumption {
                    bounds: &assumed,
                    subgroup,
                    multiple: None,
                    steps: &steps,
                    is_thorough: false,
                    last: Some(&last),
                };
                let needs = prove(bounds, &mut vec![])?;
                Some((needs, assumed))
            });
            if let Some(found) = found {
                (needs, used) = found;
            }
        }
        for bound in used {
            if !self.used.iter().any(|other| other.implies(&bound)) {
                self.used.retain(|other| !bound.implies(other));
                self.used.push(bound);
            }
        }
        Some(needs)
    }
}

impl ConstantBound {
    /// True if another bound follows from this one by their numbers.
    fn implies(&self, other: &ConstantBound) -> bool {
        let same = ConstantBound {
            number: self.number,
            ..*other
        };
        match (self.is_least, self.times) {
            _ if *self != same => false,
            (_, [Some(_), _] | [_, Some(_)]) => self.number == other.number,
            (true, [None, None]) => self.number >= other.number,
            (false, [None, None]) => self.number <= other.number,
        }
    }
}

/// The numbers by which a kernel without declared blocks divides the index of a thread in its block.
fn multiples(kernel: &Kernel) -> Vec<u32> {
    let is_thread = |id: ExprId| kernel.expr(id) == Expr::Builtin(Builtin::ThreadIdx(Axis::X));
    if kernel.block.is_some() || !(0..kernel.exprs.len() as u32).any(|id| is_thread(ExprId(id))) {
        return vec![];
    }
    let literal = |id: ExprId| match kernel.expr(id) {
        Expr::Literal(value) => u32::try_from(value.as_int()?).ok(),
        _ => None,
    };
    let numbers = kernel.exprs.iter().filter_map(|expr| match *expr {
        Expr::Divide { rhs, .. } => literal(rhs),
        Expr::Binary {
            op: BinaryOp::BitAnd,
            rhs,
            ..
        } => literal(rhs)?.checked_add(1),
        _ => None,
    });
    let mut numbers: Vec<u32> = numbers.filter(|n| (2..=1024).contains(n)).collect();
    numbers.sort_by_key(|n| (*n != 32, *n));
    numbers.dedup();
    numbers.truncate(MOST_PARTS);
    numbers
}
