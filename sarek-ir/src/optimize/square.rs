//! Staging without a loop: loads of neighbouring elements along y are copied through square tiles of shared memory.
//!
//! Threads that are neighbours along x load elements far apart, as in a transposition, but those along y load neighbours.
//! So the threads of a block copy the elements of a square of the user's threads in that order, wait, and load their own
//! from the tile. A row of the tile has one element more than threads need, so that both accesses use different banks.
//!
//! If the stores are far apart instead, the axes x and y of the launch are exchanged first.
//!
//! As in [`stage`](super::stage), threads beyond the user's extent copy what the last threads within load, and do no more.

use std::fmt;

use crate::{
    Axis, Builtin, Expr, ExprId, Kernel, Length, LocalId, Memory, SharedArray, SharedId, Stmt,
    StmtId,
};

use super::lane::{Ids, Indices, Lane};
use super::merge::{allows, find_loads, without_returns};
use super::stage::code::Code;
use super::stage::target::{Reader, Variable};
use super::{Refusal, Stage};

/// Loads far apart along x are staged through square tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Square {
    /// The user's threads of a block along x and y.
    pub tile: u32,
    /// The threads that run a block, along x and y. Both divide the tile.
    pub block: [u32; 2],
    /// The threads of the launch beyond the user's extent, along each axis.
    pub missing: [u32; 3],
    /// True if the axes x and y are exchanged. The other fields describe the exchanged launch.
    pub exchanged: bool,
}

/// The largest number of loads with a tile.
const MOST_LOADS: usize = 4;

impl Square {
    /// The plan for a launch of `extent` threads of the user.
    pub fn new(tile: u32, block: [u32; 2], exchanged: bool, extent: [u64; 3]) -> Square {
        let extent = exchange(extent, exchanged);
        let stage = Stage::new([tile, tile, 1], [block[0], block[1], 1], 1, extent);
        Square {
            tile,
            block,
            missing: stage.missing,
            exchanged,
        }
    }

    /// The extent of the staged launch, before its threads are merged.
    pub fn threads(self, extent: [u64; 3]) -> [u64; 3] {
        self.stage().threads(exchange(extent, self.exchanged))
    }

    fn stage(self) -> Stage {
        Stage {
            tile: [self.tile, self.tile, 1],
            block: [self.block[0], self.block[1], 1],
            chunk: 1,
            missing: self.missing,
            double: false,
            rest: false,
        }
    }

    /// Stages loads of a closed kernel, whose proved checks are gone.
    ///
    /// # Errors
    /// [`Refusal`]. The kernel's ids may be exchanged already, so it must not be used.
    pub fn apply(self, kernel: &mut Kernel) -> Result<(), Refusal> {
        allows(kernel, false)?;
        let body = without_returns(kernel, kernel.body)?;
        if self.exchanged {
            exchange_ids(kernel)?;
        }
        let stmts: Vec<StmtId> = kernel.block(body).collect();
        let loads = self.loads(kernel, &stmts);
        if loads.is_empty() || loads.len() > MOST_LOADS {
            return Err(Refusal::NoTile);
        }
        let reader = Reader::of(kernel);
        let values = Indices::from(reader.values(NO_COUNTER));
        let indices = Indices::of(kernel);
        let loc = kernel.stmt_locs[stmts[0].index()];
        let mut code = Code { kernel, loc };
        let ids = Ids::Staged {
            at: [None; 3],
            turns: [1; 3],
            missing: self.missing,
        };
        let mut lane = Lane::new(ids, [].into());
        let mut out = vec![];
        self.copy(&mut code, (&mut lane, &values), &loads, &mut out);
        let mut rest = vec![];
        for stmt in stmts {
            lane.stmt(code.kernel, &indices, stmt, &mut rest);
        }
        out.extend(self.stage().within(&mut code, &lane, rest));
        kernel.body = kernel.push_block(&out);
        kernel.block = Some(self.stage().block);
        Ok(())
    }

    /// The loads that every thread performs, far apart along x and side by side along y.
    fn loads(self, kernel: &Kernel, stmts: &[StmtId]) -> Vec<ExprId> {
        let reader = Reader::of(kernel);
        let mut found = vec![];
        for stmt in stmts {
            if !matches!(kernel.stmt(*stmt), Stmt::Loop { .. }) {
                for operand in kernel.operands_of(*stmt) {
                    find_loads(kernel, operand, &mut found);
                }
            }
        }
        found.retain(|load| {
            let Expr::Load { memory, index, .. } = kernel.expr(*load) else {
                return false;
            };
            let along = |axis| reader.coefficient(index, Variable::Axis(axis), NO_COUNTER);
            let is_read = kernel.access(memory) == crate::Access::Read;
            let is_slice = matches!(memory, Memory::Slice(_));
            is_slice
                && is_read
                && reader.uses(index, NO_COUNTER).is_some()
                && along(Axis::Y) == Some(1)
                && !matches!(along(Axis::X), Some(0 | 1))
        });
        found
    }

    /// Copies the elements of the loads to tiles, and each thread's own ones from there into locals.
    fn copy(
        self,
        code: &mut Code<'_>,
        (lane, values): (&mut Lane, &Indices),
        loads: &[ExprId],
        out: &mut Vec<StmtId>,
    ) {
        let [wide, high] = self.block;
        let pitch = self.tile + 1;
        let thread = code.id(Builtin::ThreadIdx(Axis::X));
        let row = code.id(Builtin::ThreadIdx(Axis::Y));
        let row = code.mul(row, wide);
        let thread = code.add(row, thread);
        let thread = code.bind("thread", thread, out);
        let steps: Vec<u32> = (0..self.tile * self.tile)
            .step_by((wide * high) as usize)
            .collect();
        // The position of the element that a thread copies: along y, and along x.
        let place = |code: &mut Code<'_>, at: u32| {
            let [one, other] = [(); 2].map(|()| {
                let number = code.read(thread);
                code.plus(number, at)
            });
            (code.rem(one, self.tile), code.div(other, self.tile))
        };
        let (mut stores, mut own) = (vec![], vec![]);
        for load in loads {
            let Expr::Load { memory, index, .. } = code.kernel.expr(*load) else {
                unreachable!("only loads are staged");
            };
            let tile = self.array(code, memory);
            for at in &steps {
                let (y, x) = place(code, *at);
                let mut ids = [None; 3];
                for (axis, offset) in [(Axis::X, x), (Axis::Y, y)] {
                    let first = code.id(Builtin::BlockIdx(axis));
                    let first = code.mul(first, self.tile);
                    let id = code.add(first, offset);
                    ids[axis.index()] = Some(self.stage().clamp(code, axis, id));
                }
                let mut copy = lane.clone();
                copy.ids = Ids::Staged {
                    at: ids,
                    turns: [1; 3],
                    missing: self.missing,
                };
                let index = copy.expr(code.kernel, values, index);
                let value = code.load(memory, index);
                let held = code.bind("next", value, out);
                let (y, x) = place(code, *at);
                let x = code.mul(x, pitch);
                let at = code.add(x, y);
                let held = code.read(held);
                stores.push(code.store(tile, at, held));
            }
            let [x, y] = [Axis::X, Axis::Y].map(|axis| {
                let own = code.id(Builtin::GlobalIdx(axis));
                let first = code.id(Builtin::BlockIdx(axis));
                let first = code.mul(first, self.tile);
                code.sub(own, first)
            });
            let x = code.mul(x, pitch);
            let at = code.add(x, y);
            let value = code.load(tile, at);
            let local = code.bind("staged", value, &mut own);
            lane.held.insert(*load, local);
        }
        out.extend(stores);
        out.push(code.stmt(Stmt::Barrier));
        out.extend(own);
    }

    /// The shared array for a load.
    fn array(self, code: &mut Code<'_>, memory: Memory) -> Memory {
        let elem = code.kernel.element_type(memory);
        let name = format!("{}_tile", code.kernel.memory_name(memory));
        let arrays = code.kernel.shared.to_mut();
        arrays.push(SharedArray {
            name: name.into(),
            elem,
            len: Length::Fixed(u64::from(self.tile * (self.tile + 1))),
            atomic: false,
        });
        Memory::Shared(SharedId(arrays.len() as u32 - 1))
    }
}

/// The counter of a loop that is not there.
const NO_COUNTER: LocalId = LocalId(u32::MAX);

fn exchange(extent: [u64; 3], exchanged: bool) -> [u64; 3] {
    match (exchanged, extent) {
        (true, [x, y, z]) => [y, x, z],
        (false, _) => extent,
    }
}

/// Exchanges x and y in ids and extents.
fn exchange_ids(kernel: &mut Kernel) -> Result<(), Refusal> {
    let used: Vec<ExprId> = kernel.used_exprs().collect();
    let other = |axis| match axis {
        Axis::X => Axis::Y,
        Axis::Y => Axis::X,
        Axis::Z => Axis::Z,
    };
    for id in used {
        let Expr::Builtin(builtin) = kernel.expr(id) else {
            continue;
        };
        let exchanged = match builtin {
            Builtin::GlobalIdx(axis) => Builtin::GlobalIdx(other(axis)),
            Builtin::GlobalDim(axis) => Builtin::GlobalDim(other(axis)),
            _ => return Err(Refusal::BlockIds),
        };
        kernel.exprs.to_mut()[id.index()] = Expr::Builtin(exchanged);
    }
    Ok(())
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile = self.tile;
        if self.exchanged {
            write!(f, "x and y are exchanged, ")?;
        }
        write!(
            f,
            "blocks of {tile} × {tile} threads stage elements that are neighbours along y in shared memory"
        )
    }
}
