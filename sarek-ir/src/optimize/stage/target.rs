//! The loop whose loads are staged, and the elements that each of them needs.

use std::collections::{HashMap, HashSet};

use crate::analysis::shape::same;
use crate::facts::{Effect, Flow, Reads};
use crate::{
    Access, Axis, BinaryOp, Block, Builtin, Expr, ExprId, Kernel, LocalId, Memory, Scalar, Stmt,
    StmtId, Value,
};

use super::super::Refusal;
use super::super::lane::{Indices, split};
use super::super::merge::find_loads;
use super::Stage;

/// A loop at the top of a kernel, through which all threads go together.
pub(super) struct Target {
    /// The position among the statements of the kernel's body.
    pub at: usize,
    pub stmt: StmtId,
    pub counter: LocalId,
    pub start: ExprId,
    pub end: ExprId,
    pub body: Block,
    pub loads: Vec<Staged>,
    /// The locals that stand for functions of ids, launch values and the counter.
    pub values: Indices,
}

/// A load that is staged.
pub(super) struct Staged {
    pub memory: Memory,
    pub index: ExprId,
    /// The axis along which the elements of the threads of a tile differ, if there is one.
    pub axis: Option<Axis>,
    pub run: Run,
    /// For each unit of the element, its loads. An element has one unit, or as many as the index grows by in a turn.
    pub units: Vec<Vec<ExprId>>,
}

impl Staged {
    /// The number of units of an element.
    pub fn size(&self) -> u32 {
        self.units.len() as u32
    }
}

/// The direction in which the elements of a tile are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Run {
    Counter,
    Axis,
    /// The units of each element.
    Units,
    Neither,
}

impl Target {
    /// Finds the loop in a body without returns.
    pub fn find(kernel: &Kernel, body: Block, stage: Stage) -> Result<Target, Refusal> {
        let stmts: Vec<StmtId> = kernel.block(body).collect();
        let reader = Reader::of(kernel);
        let mut refusal = Refusal::NoLoop;
        for (at, &stmt) in stmts.iter().enumerate() {
            if !matches!(kernel.stmt(stmt), Stmt::For { .. }) {
                continue;
            }
            match reader.target(at, stmt, stage) {
                Ok(target) => {
                    before(kernel, &stmts[..=at], stage)?;
                    return Ok(target);
                }
                Err(reason) => refusal = reason,
            }
        }
        Err(refusal)
    }
}

/// Checks the statements up to the end of the loop, which threads beyond the extent run, too.
fn before(kernel: &Kernel, stmts: &[StmtId], stage: Stage) -> Result<(), Refusal> {
    let padded = stage.missing != [0; 3];
    for id in kernel.stmts_in(stmts.iter().copied()) {
        match kernel.stmt(id).facts().effect {
            Effect::None | Effect::Store(Memory::Local(_)) => {}
            Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Barrier
            | Effect::Subgroup(..)
            | Effect::Call(_)
            | Effect::Native(_) => return Err(Refusal::Effect),
        }
        let written = |e: ExprId| match kernel.expr(e).facts().reads.memory() {
            Some(memory @ Memory::Slice(_)) => kernel.access(memory) != Access::Read,
            Some(_) | None => false,
        };
        if padded && kernel.exprs_in(kernel.operands_of(id)).any(written) {
            return Err(Refusal::Effect);
        }
    }
    Ok(())
}

/// The state on which a value depends.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Uses {
    axes: [bool; 3],
    counter: bool,
}

/// A variable of an index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Variable {
    Axis(Axis),
    Counter,
}

/// Reads indices as functions of ids, launch values and a counter.
pub(in super::super) struct Reader<'k> {
    kernel: &'k Kernel,
    /// The values of immutable locals.
    inits: HashMap<LocalId, ExprId>,
}

impl<'k> Reader<'k> {
    pub fn of(kernel: &'k Kernel) -> Reader<'k> {
        let mut inits = HashMap::new();
        let mut assigned = HashSet::new();
        for id in kernel.stmts_in(kernel.block(kernel.body)) {
            if let Stmt::Let {
                local,
                init: Some(init),
            } = kernel.stmt(id)
                && !kernel.locals[local.index()].mutable
            {
                inits.insert(local, init);
            }
            assigned.extend(kernel.stmt(id).facts().assigns);
        }
        inits.retain(|local, _| !assigned.contains(local));
        Reader { kernel, inits }
    }

    fn target(&self, at: usize, stmt: StmtId, stage: Stage) -> Result<Target, Refusal> {
        let kernel = self.kernel;
        let Stmt::For {
            label,
            local: counter,
            start,
            end,
            body,
        } = kernel.stmt(stmt)
        else {
            return Err(Refusal::NoLoop);
        };
        if kernel.locals[counter.index()].ty.as_scalar() != Some(Scalar::Usize) {
            return Err(Refusal::Counter);
        }
        let is_even = |bound| self.uses(bound, counter) == Some(Uses::default());
        if !is_even(start) || !is_even(end) {
            return Err(Refusal::Uneven);
        }
        for id in kernel.stmts_in(kernel.block(body)) {
            let facts = kernel.stmt(id).facts();
            match facts.flow {
                Flow::Break(of) | Flow::Continue(of) if of == label => return Err(Refusal::Uneven),
                Flow::Return | Flow::Panic => return Err(Refusal::Uneven),
                Flow::Break(_) | Flow::Continue(_) | Flow::Next | Flow::Branch | Flow::Loop(_) => {}
            }
            if facts.assigns == Some(counter) {
                return Err(Refusal::Uneven);
            }
        }
        let loads = self.loads(body, counter, stage);
        if loads.is_empty() {
            return Err(Refusal::NoTile);
        }
        Ok(Target {
            at,
            stmt,
            counter,
            start,
            end,
            body,
            loads,
            values: Indices::from(self.values(counter)),
        })
    }

    /// The locals that stand for such functions, with their values.
    pub fn values(&self, counter: LocalId) -> HashMap<LocalId, ExprId> {
        let values = self.inits.iter().map(|(local, init)| (*local, *init));
        let values = values.filter(|(_, init)| self.uses(*init, counter).is_some());
        values.collect()
    }

    /// The loads that every turn performs, and that gain by staging.
    fn loads(&self, body: Block, counter: LocalId, stage: Stage) -> Vec<Staged> {
        let kernel = self.kernel;
        let mut found = vec![];
        for stmt in kernel.block(body) {
            let operands = match kernel.stmt(stmt) {
                Stmt::Loop { .. } => vec![],
                _ => kernel.operands_of(stmt),
            };
            for operand in operands {
                find_loads(kernel, operand, &mut found);
            }
        }
        let mut all: Vec<Staged> = vec![];
        for load in found {
            let Some(staged) = self.staged(load, counter, stage) else {
                continue;
            };
            let is_same = |other: &&mut Staged| {
                other.memory == staged.memory && same(kernel, other.index, staged.index)
            };
            match all.iter_mut().find(is_same) {
                Some(other) => other.units[0].push(load),
                None => all.push(staged),
            }
        }
        self.with_units(all, counter)
    }

    /// Joins the loads of consecutive units.
    fn with_units(&self, mut all: Vec<Staged>, counter: LocalId) -> Vec<Staged> {
        let mut joined = vec![];
        while !all.is_empty() {
            let mut first = all.remove(0);
            let size = self.coefficient(first.index, Variable::Counter, counter);
            let (base, offset) = split(self.kernel, first.index);
            let unit = |other: &Staged| {
                let (own, at) = split(self.kernel, other.index);
                let is_same = match (base, own) {
                    (Some(one), Some(other)) => same(self.kernel, one, other),
                    (_, _) => false,
                };
                let at = at.checked_sub(offset).filter(|_| is_same)?;
                (other.memory == first.memory).then_some(at)
            };
            let size = size.filter(|size| matches!(size, 2 | 4)).unwrap_or(1);
            let rest: Option<Vec<usize>> = (1..size as u64)
                .map(|at| all.iter().position(|other| unit(other) == Some(at)))
                .collect();
            if let Some(mut rest) = rest.filter(|rest| !rest.is_empty()) {
                let units = rest.iter().map(|at| all[*at].units[0].clone());
                let units: Vec<Vec<ExprId>> = units.collect();
                first.units.extend(units);
                first.run = Run::Units;
                rest.sort_unstable();
                rest.into_iter().rev().for_each(|at| drop(all.remove(at)));
            }
            joined.push(first);
        }
        joined
    }

    fn staged(&self, load: ExprId, counter: LocalId, stage: Stage) -> Option<Staged> {
        let kernel = self.kernel;
        let Expr::Load { memory, index, .. } = kernel.expr(load) else {
            return None;
        };
        if kernel.access(memory) != Access::Read || !matches!(memory, Memory::Slice(_)) {
            return None;
        }
        let uses = self.uses(index, counter)?;
        let in_tile = |axis: &Axis| uses.axes[axis.index()] && stage.tile[axis.index()] > 1;
        let axes: Vec<Axis> = Axis::ALL.into_iter().filter(in_tile).collect();
        if !uses.counter || axes.len() > 1 {
            return None;
        }
        let axis = axes.first().copied();
        let along = |variable| self.coefficient(index, variable, counter);
        let run = match axis {
            _ if along(Variable::Counter) == Some(1) => Run::Counter,
            Some(axis) if along(Variable::Axis(axis)) == Some(1) => Run::Axis,
            Some(_) | None => Run::Neither,
        };
        // Threads that load neighbouring elements, each its own, gain nothing.
        let alone = axis.is_some_and(|own| {
            let others = Axis::ALL.into_iter().filter(|other| *other != own);
            others
                .map(|other| stage.tile[other.index()])
                .product::<u32>()
                == 1
        });
        if alone && axis == Some(Axis::X) && run == Run::Axis {
            return None;
        }
        Some(Staged {
            memory,
            index,
            axis,
            run,
            units: vec![vec![load]],
        })
    }

    /// The state on which a value depends. `None` if that is more than ids, launch values and the counter.
    pub fn uses(&self, id: ExprId, counter: LocalId) -> Option<Uses> {
        let kernel = self.kernel;
        let mut uses = Uses::default();
        match kernel.expr(id).facts().reads {
            Reads::Constant | Reads::Param(_) | Reads::Operands => {}
            Reads::Len(Memory::Slice(_)) | Reads::Id(Builtin::GlobalDim(_)) => {}
            Reads::Id(Builtin::GlobalIdx(axis)) => uses.axes[axis.index()] = true,
            Reads::Local(local) if local == counter => uses.counter = true,
            Reads::Local(local) => return self.uses(*self.inits.get(&local)?, counter),
            Reads::Id(_) | Reads::Len(_) | Reads::Memory(_) | Reads::Faults => return None,
        }
        for operand in kernel.operands(id) {
            let more = self.uses(operand, counter)?;
            uses.counter |= more.counter;
            for axis in 0..3 {
                uses.axes[axis] |= more.axes[axis];
            }
        }
        Some(uses)
    }

    /// The number by which an index grows if the variable grows by one. `None` if that is no number.
    pub fn coefficient(&self, id: ExprId, variable: Variable, counter: LocalId) -> Option<i64> {
        let kernel = self.kernel;
        let uses = self.uses(id, counter)?;
        let differs = match variable {
            Variable::Axis(axis) => uses.axes[axis.index()],
            Variable::Counter => uses.counter,
        };
        if !differs {
            return Some(0);
        }
        let part = |id| self.coefficient(id, variable, counter);
        match kernel.expr(id) {
            Expr::Builtin(_) => Some(1),
            Expr::Local(local) if local == counter => Some(1),
            Expr::Local(local) => part(*self.inits.get(&local)?),
            Expr::Binary { op, lhs, rhs } => {
                let (left, right) = (part(lhs)?, part(rhs)?);
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Sub => left.checked_sub(right),
                    BinaryOp::Mul => {
                        let literal = |id| kernel.literal(id).and_then(Value::as_int);
                        let factor = literal(rhs).or_else(|| literal(lhs))?;
                        (left + right).checked_mul(i64::try_from(factor).ok()?)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
