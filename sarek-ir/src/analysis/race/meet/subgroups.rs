//! The lanes of subgroups. The threads of a block form subgroups in the order of their numbers, x running fastest, so a
//! lane is the remainder of a thread's number.
//!
//! Devices differ in the size of subgroups. A proof takes it as a variable, or assumes the size that the kernel's numbers
//! suggest ([`sizes`]). The launch has to be on a device of which that holds.

use super::translate::{Condition, Name, Side, Stop, Translation};
use crate::analysis::linear::{Atom, Extent, Symbol};
use crate::analysis::refute::{Polynomial, Reasons};
use crate::{Axis, BinaryOp, Builtin, Expr, Kernel, LinkId, Precondition};

/// More sizes than these are not tried.
const MOST_SIZES: usize = 5;

/// The usual size, which is tried first.
const USUAL: u32 = 32;

/// An assumed size of subgroups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::analysis::race) enum SubgroupSize {
    Number(u32),
    Constant(LinkId),
}

impl SubgroupSize {
    /// The size that a precondition requires.
    pub(in crate::analysis::race) fn required(by: &Precondition) -> Option<SubgroupSize> {
        match *by {
            Precondition::SubgroupSize(number) => Some(SubgroupSize::Number(number)),
            Precondition::SubgroupSizeIs(link) => Some(SubgroupSize::Constant(link)),
            Precondition::SingleThread(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::NoOverflow(_)
            | Precondition::Holds(_)
            | Precondition::Positive(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups => None,
        }
    }
}

/// The sizes to try for a kernel: any size, and then those that its numbers and constants suggest.
pub(in crate::analysis::race) fn sizes(kernel: &Kernel) -> Vec<Option<SubgroupSize>> {
    let of_subgroup = |expr: &Expr| match expr {
        Expr::Builtin(id) => id.is_of_subgroup(),
        _ => false,
    };
    if !kernel.exprs.iter().any(of_subgroup) {
        return vec![None];
    }
    let literal = |expr: Expr| match expr {
        Expr::Literal(value) => u32::try_from(value.as_int()?).ok(),
        _ => None,
    };
    let mut numbers: Vec<u32> = kernel.block.into_iter().flatten().collect();
    for expr in kernel.exprs.iter() {
        // A mask of low bits, and the distance of a shift.
        let number = literal(*expr);
        numbers.extend(
            number
                .into_iter()
                .flat_map(|n| [Some(n), n.checked_add(1)])
                .flatten(),
        );
        if let Expr::Binary {
            op: BinaryOp::Shl | BinaryOp::Shr,
            rhs,
            ..
        } = *expr
        {
            numbers.extend(literal(kernel.expr(rhs)).and_then(|by| 1_u32.checked_shl(by)));
        }
    }
    numbers.retain(|n| n.is_power_of_two() && (4..=128).contains(n));
    numbers.sort_by_key(|n| (*n != USUAL, *n));
    numbers.dedup();
    let numbers = numbers.into_iter().map(SubgroupSize::Number);
    let links = (0..kernel.links.len() as u32).map(LinkId);
    let links = links.filter(|link| {
        let ty = kernel.links[link.index()].ty.as_scalar();
        ty.is_some_and(|ty| ty.is_int() && !ty.is_signed())
    });
    let constants = links.map(SubgroupSize::Constant);
    let some = numbers.take(MOST_SIZES).chain(constants.take(2));
    std::iter::once(None).chain(some.map(Some)).collect()
}

impl Translation<'_> {
    /// The size of subgroups, and the condition under which it is the same everywhere.
    fn subgroup_size(&mut self) -> Result<(Polynomial, Reasons), Stop> {
        let (size, need) = match self.setting.assumed.subgroup {
            Some(SubgroupSize::Number(number)) => (
                Polynomial::number(number.into()),
                Precondition::SubgroupSize(number),
            ),
            Some(SubgroupSize::Constant(link)) => (
                self.symbol(Symbol::Link(link, true), Side::First)?,
                Precondition::SubgroupSizeIs(link),
            ),
            None => {
                let (var, new) = self.variable(Name::SubgroupSize, true)?;
                let size = Polynomial::var(var);
                if new {
                    self.at_least(&size, 1)?;
                }
                (size, Precondition::EqualSubgroups)
            }
        };
        let reason = self.reason(Condition::OfLaunch(vec![need]));
        Ok((size, reason.ok_or(Stop::NoProof)?))
    }

    /// The size of subgroups as a thread reads it.
    pub(super) fn size_read(&mut self, side: Side) -> Result<Polynomial, Stop> {
        let id = Atom::Id(Builtin::SubgroupSize);
        let (var, new) = self.variable(Name::Atom(side, id), true)?;
        if new {
            let (size, reason) = self.subgroup_size()?;
            self.defined.push(var);
            self.system.define(var, size, reason);
        }
        Ok(Polynomial::var(var))
    }

    /// The lane of a thread.
    pub(super) fn lane(&mut self, side: Side) -> Result<Polynomial, Stop> {
        let id = Atom::Id(Builtin::SubgroupLane);
        let (var, new) = self.variable(Name::Atom(side, id), true)?;
        let lane = Polynomial::var(var);
        if !new {
            return Ok(lane);
        }
        let (size, of_size) = self.subgroup_size()?;
        let rest = size.minus(&lane);
        let rest = rest.and_then(|rest| rest.minus(&Polynomial::number(1)));
        self.system
            .at_least_zero(rest.ok_or(Stop::NoProof)?, of_size);
        let block = self.setting.kernel.block;
        let is_flat = block.is_none_or(|[_, y, z]| [y, z] == [1, 1]);
        let flat = match block {
            Some(_) => vec![],
            None => [Axis::Y, Axis::Z]
                .map(|axis| Precondition::BlockAtMost(axis, 1))
                .into(),
        };
        if self.setting.in_block || self.split[Axis::X.index()] {
            let mut number = Polynomial::number(0);
            for axis in Axis::ALL.into_iter().rev() {
                let extent = block.map_or(1, |block| block[axis.index()]);
                number = number.scaled(extent.into()).ok_or(Stop::NoProof)?;
                if extent > 1 || axis == Axis::X {
                    let thread = self.thread(axis, side)?;
                    number = number.plus(&thread).ok_or(Stop::NoProof)?;
                }
            }
            let of_block = (Name::Subgroup(side, false), flat.clone());
            self.remainder([&number, &lane, &size], of_size, of_block)?;
            if block.is_none() {
                let extent = self.extent(Extent::Block, Axis::X.index() as u8)?;
                let whole = (Name::SubgroupsOfBlock, vec![Precondition::BlockOfSubgroups]);
                let none = Polynomial::number(0);
                self.remainder([&extent, &none, &size], of_size, whole)?;
            }
        }
        if !self.setting.in_block && is_flat {
            let mut needs = flat;
            match (self.setting.assumed.subgroup, block) {
                // No launch would have whole subgroups.
                (Some(SubgroupSize::Number(size)), Some([x, _, _])) if x % size != 0 => {
                    return Ok(lane);
                }
                (Some(SubgroupSize::Number(_)), Some(_)) => {}
                (_, _) => needs.push(Precondition::WholeSubgroups),
            }
            let number = self.global(Axis::X, side)?;
            let of_launch = (Name::Subgroup(side, true), needs);
            self.remainder([&number, &lane, &size], of_size, of_launch)?;
        }
        Ok(lane)
    }

    /// States that a lane is the remainder of a number by the size of subgroups, under conditions.
    fn remainder(
        &mut self,
        [number, lane, size]: [&Polynomial; 3],
        of_size: Reasons,
        (name, needs): (Name, Vec<Precondition>),
    ) -> Result<(), Stop> {
        let mut reasons = of_size;
        if !needs.is_empty() {
            let own = self.reason(Condition::OfLaunch(needs));
            reasons |= own.ok_or(Stop::NoProof)?;
        }
        let subgroup = Polynomial::var(self.variable(name, true)?.0);
        let sum = size.times(&subgroup).and_then(|first| first.plus(lane));
        let rest = sum.and_then(|sum| number.minus(&sum));
        self.system.zero(rest.ok_or(Stop::NoProof)?, reasons);
        Ok(())
    }
}
