//! The ids of the two threads, and what makes them different ones.

use super::single;
use super::translate::{Condition, Name, Side, Stop, Translation};
use crate::analysis::linear::{Atom, Extent, Symbol};
use crate::analysis::race::{Needs, names_blocks, names_own_threads};
use crate::analysis::refute::Polynomial;
use crate::{Axis, Builtin, Precondition};

impl Translation<'_> {
    pub(super) fn id(&mut self, id: Builtin, side: Side) -> Result<Polynomial, Stop> {
        match id {
            Builtin::ThreadIdx(axis) => self.thread(axis, side),
            Builtin::BlockIdx(axis) => self.block(axis, side),
            Builtin::GlobalIdx(axis) => self.global(axis, side),
            Builtin::GlobalThreadId if self.by_number => {
                self.used = [true; 3];
                let (var, _) = self.variable(Name::Atom(side, Atom::Id(id)), true)?;
                Ok(Polynomial::var(var))
            }
            Builtin::GlobalThreadId => {
                let mut number = self.global(Axis::Z, side)?;
                for axis in [Axis::Y, Axis::X] {
                    let extent = self.extent(Extent::Global, axis.index() as u8)?;
                    let id = self.global(axis, side)?;
                    let next = number.times(&extent).and_then(|rows| rows.plus(&id));
                    number = next.ok_or(Stop::NoProof)?;
                }
                Ok(number)
            }
            Builtin::SubgroupLane => self.lane(side),
            Builtin::SubgroupSize => self.size_read(side),
            Builtin::BlockDim(_) | Builtin::GridDim(_) | Builtin::GlobalDim(_) => {
                let (var, _) = self.variable(Name::Atom(side, Atom::Id(id)), true)?;
                Ok(Polynomial::var(var))
            }
        }
    }

    fn own_id(&mut self, id: Builtin, side: Side, extent: Extent) -> Result<Polynomial, Stop> {
        let axis = id.axis().ok_or(Stop::NoProof)?;
        self.used[axis.index()] = true;
        let (var, new) = self.variable(Name::Atom(side, Atom::Id(id)), true)?;
        let value = Polynomial::var(var);
        if new {
            let end = self.extent(extent, axis.index() as u8)?;
            self.below(&value, &end)?;
        }
        Ok(value)
    }

    pub(super) fn thread(&mut self, axis: Axis, side: Side) -> Result<Polynomial, Stop> {
        self.threads[axis.index()] = true;
        self.own_id(Builtin::ThreadIdx(axis), side, Extent::Block)
    }

    fn block(&mut self, axis: Axis, side: Side) -> Result<Polynomial, Stop> {
        self.blocks[axis.index()] = true;
        match self.setting.in_block {
            true => self.symbol(Symbol::Block(axis.index() as u8), side),
            false => self.own_id(Builtin::BlockIdx(axis), side, Extent::Grid),
        }
    }

    pub(super) fn global(&mut self, axis: Axis, side: Side) -> Result<Polynomial, Stop> {
        if !self.setting.in_block && !self.split[axis.index()] {
            return self.own_id(Builtin::GlobalIdx(axis), side, Extent::Global);
        }
        let (block, thread) = (self.block(axis, side)?, self.thread(axis, side)?);
        let size = self.extent(Extent::Block, axis.index() as u8)?;
        let sum = block.times(&size).and_then(|start| start.plus(&thread));
        let sum = sum.ok_or(Stop::NoProof)?;
        if !self.setting.in_block {
            let end = self.extent(Extent::Global, axis.index() as u8)?;
            self.below(&sum, &end)?;
            if let (Some(number), Axis::X) = (self.setting.assumed.multiple, axis) {
                return self.global_in_parts(number, side, [&block, &thread]);
            }
        }
        Ok(sum)
    }

    /// The global id along x, if the size of blocks is `number · parts`. In a launch with one block there, the product is
    /// only at least as large.
    fn global_in_parts(
        &mut self,
        number: u32,
        side: Side,
        [block, thread]: [&Polynomial; 2],
    ) -> Result<Polynomial, Stop> {
        let id = Atom::Id(Builtin::GlobalIdx(Axis::X));
        let (var, new) = self.variable(Name::Atom(side, id), true)?;
        if new {
            let need = Precondition::BlockMultipleOf(number);
            let reason = self.reason(Condition::OfLaunch(vec![need]));
            let reason = reason.ok_or(Stop::NoProof)?;
            let parts = Polynomial::var(self.variable(Name::PartsOfBlock, true)?.0);
            let size = parts.scaled(number.into()).ok_or(Stop::NoProof)?;
            let rest = size.minus(thread).ok_or(Stop::NoProof)?;
            let rest = rest.minus(&Polynomial::number(1)).ok_or(Stop::NoProof)?;
            self.system.at_least_zero(rest, reason);
            let value = block.times(&size).and_then(|start| start.plus(thread));
            self.defined.push(var);
            self.system.define(var, value.ok_or(Stop::NoProof)?, reason);
        }
        Ok(Polynomial::var(var))
    }

    /// States which ids make two threads different ones, where the launch has one block along some axes. Returns the
    /// preconditions for these and for the axes that are not used.
    pub(super) fn thread_ids(&mut self, used: [bool; 3], alone: [bool; 3]) -> Result<Needs, Stop> {
        let mut needs = vec![];
        if self.by_number {
            self.differ(Builtin::GlobalThreadId)?;
            return Ok(needs);
        }
        for axis in Axis::ALL {
            let at = axis.index();
            let size = self.setting.kernel.block.map(|block| block[at]);
            let is_single = self.setting.in_block && size == Some(1);
            match (used[at], single(self.setting, axis), size) {
                _ if is_single => {}
                (false, Some(need), _) => needs.push(need),
                (true, _, _) if alone[at] && names_blocks(self.setting.kernel, axis) => {
                    return Err(Stop::NoProof);
                }
                (true, _, Some(size)) if alone[at] => {
                    needs.push(Precondition::ExtentAtMost(axis, size.into()));
                    self.differ(Builtin::ThreadIdx(axis))?;
                }
                (true, _, None) if alone[at] => {
                    needs.push(Precondition::GridAtMost(axis, 1));
                    self.differ(Builtin::ThreadIdx(axis))?;
                }
                (true, _, None) if self.is_of_blocks(axis) => {
                    needs.push(Precondition::BlockAtMost(axis, 1));
                    self.differ(Builtin::BlockIdx(axis))?;
                }
                (true, _, _) | (false, None, _) => match (self.setting.in_block, self.split[at]) {
                    (true, _) => self.differ(Builtin::ThreadIdx(axis))?,
                    (false, true) => {
                        self.differ(Builtin::ThreadIdx(axis))?;
                        self.differ(Builtin::BlockIdx(axis))?;
                    }
                    (false, false) => self.differ(Builtin::GlobalIdx(axis))?,
                },
            }
        }
        Ok(needs)
    }

    /// True if the blocks along an axis are told apart, but the kernel does not tell their threads apart there.
    fn is_of_blocks(&self, axis: Axis) -> bool {
        let at = axis.index();
        let split = !self.setting.in_block && self.split[at] && self.blocks[at];
        split && !self.threads[at] && !names_own_threads(self.setting.kernel, axis)
    }

    fn differ(&mut self, id: Builtin) -> Result<(), Stop> {
        let (first, second) = (self.id(id, Side::First)?, self.id(id, Side::Second)?);
        let difference = first.minus(&second).ok_or(Stop::NoProof)?;
        self.system.thread_id(difference);
        Ok(())
    }
}
