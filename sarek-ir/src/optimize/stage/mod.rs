//! Staging: the threads of a block copy elements that a loop loads into shared tiles, and load them from there.
//!
//! A block of the staged kernel stands for a *tile* of the user's threads, and its loop takes its turns in *chunks*. For
//! each chunk, the threads of the block together copy the elements that the tile needs, each element once and neighbours
//! by neighbouring threads. After a barrier, each thread takes its turns, in their order. The turns that fill no chunk
//! follow in a loop like the user's.
//!
//! The tile has more threads than the block: each thread of the block does the work of several, once a
//! [merge](super::Merge::staged) along each axis has followed. The ids within a block, which only the staged code uses,
//! are those of the merged threads. So merging leaves the copies and barriers alone.
//!
//! With two buffers for each tile, the elements of the next chunk are on their way to registers while a chunk is
//! computed. One barrier a chunk is then enough.
//!
//! The launch has whole tiles of threads. Up to the end of the loop, a thread beyond the user's extent does the same as
//! one of the last threads within; then it stops. So a tile only has elements that the user's threads load.

pub(super) mod code;
mod copy;
pub(super) mod target;
mod tile;

use std::fmt;
use std::rc::Rc;

use crate::{Axis, Block, Builtin, Expr, Kernel, ParamId, Stmt, StmtId};

use super::Refusal;
use super::lane::{Ids, Indices, Lane};
use super::merge::{allows, without_returns};
use code::Code;
use target::Target;

/// The loads of the kernel's loop are staged through shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stage {
    /// The user's threads of a block.
    pub tile: [u32; 3],
    /// The threads that run a block. Each size divides that of the tile.
    pub block: [u32; 3],
    /// The turns of the loop in a chunk.
    pub chunk: u32,
    /// The threads of the launch beyond the user's extent, along each axis.
    pub missing: [u32; 3],
    /// True if each tile has two buffers.
    pub double: bool,
    /// True if the last turns may fill no chunk.
    pub rest: bool,
}

/// The threads whose ids begin at a multiple of this number stay together where ids are clamped.
const TOGETHER: u32 = 4;

impl Stage {
    /// The staging of a launch of `extent` threads.
    pub fn new(tile: [u32; 3], block: [u32; 3], chunk: u32, extent: [u64; 3]) -> Stage {
        let missing = |axis: usize| {
            let tile = u64::from(tile[axis]);
            (extent[axis].next_multiple_of(tile) - extent[axis]) as u32
        };
        Stage {
            tile,
            block,
            chunk,
            missing: [0, 1, 2].map(missing),
            double: true,
            rest: true,
        }
    }

    /// The extent of the staged launch, before its threads are merged.
    pub fn threads(self, extent: [u64; 3]) -> [u64; 3] {
        [0, 1, 2].map(|axis| extent[axis] + u64::from(self.missing[axis]))
    }

    /// Stages the loads of a closed kernel, whose proved checks are gone. Each parameter in `multiples` is a multiple of
    /// the number beside it.
    ///
    /// # Errors
    /// [`Refusal`]. The kernel is unchanged, but for nodes that it does not use.
    pub fn apply(self, kernel: &mut Kernel, multiples: &[(ParamId, u32)]) -> Result<(), Refusal> {
        allows(kernel, false)?;
        let body = without_returns(kernel, kernel.body)?;
        let target = Target::find(kernel, body, self)?;
        let stmts: Vec<StmtId> = kernel.block(body).collect();
        let missing = self.missing;
        let ids = Ids::Staged {
            at: [None; 3],
            turns: [1; 3],
            missing,
        };
        let multiples: Rc<[_]> = multiples.into();
        let indices = Indices::of(kernel);
        let loc = kernel.stmt_locs[target.stmt.index()];
        let mut code = Code { kernel, loc };
        let mut lane = Lane::new(self.clamped(&mut code), multiples);
        let mut out = vec![];
        for stmt in &stmts[..target.at] {
            lane.stmt(code.kernel, &indices, *stmt, &mut out);
        }
        let stager = copy::Stager::new(self, &target, lane.clone(), &indices);
        stager.staged(&mut code, &mut out);
        lane.ids = ids;
        let mut rest = vec![];
        for stmt in &stmts[target.at + 1..] {
            lane.stmt(code.kernel, &indices, *stmt, &mut rest);
        }
        out.extend(self.within(&mut code, &lane, rest));
        kernel.body = kernel.push_block(&out);
        kernel.block = Some(self.block);
        Ok(())
    }

    /// The number of turns of the loop of a closed kernel, if `value` knows the bounds. It gets constants, parameters and
    /// lengths.
    pub fn turns(self, kernel: &Kernel, value: &dyn Fn(Expr) -> Option<u64>) -> Option<u64> {
        let stmts = kernel.stmts_in(kernel.block(kernel.body));
        let mut turns = stmts.filter_map(|id| match kernel.stmt(id) {
            Stmt::For { start, end, .. } => Some((start, end)),
            _ => None,
        });
        let (start, end) = turns.next()?;
        // The kernel has one loop only, or it is not known which one is staged.
        if turns.next().is_some() {
            return None;
        }
        let [start, end] = [start, end].map(|bound| value(kernel.expr(bound)));
        Some(end?.saturating_sub(start?))
    }

    /// The ids of a thread up to the end of the loop.
    fn clamped(self, code: &mut Code<'_>) -> Ids {
        let mut clamp = |axis: Axis| {
            if self.missing[axis.index()] == 0 {
                return None;
            }
            let own = code.id(Builtin::GlobalIdx(axis));
            Some(self.clamp(code, axis, own))
        };
        Ids::Staged {
            at: Axis::ALL.map(&mut clamp),
            turns: [1; 3],
            missing: self.missing,
        }
    }

    /// The id of one of the last threads within the extent, or `id` if that is within.
    pub(super) fn clamp(self, code: &mut Code<'_>, axis: Axis, id: crate::ExprId) -> crate::ExprId {
        let missing = self.missing[axis.index()];
        if missing == 0 {
            return id;
        }
        if !self.is_together(axis) {
            let last = code.last(axis, missing, 1);
            return code.min(id, last);
        }
        let again = code.again(id);
        let group = code.div(id, TOGETHER);
        let last = code.last(axis, missing, TOGETHER);
        let group = code.min(group, last);
        let first = code.mul(group, TOGETHER);
        let within = code.rem(again, TOGETHER);
        code.add(first, within)
    }

    /// True if the extent is a multiple of [`TOGETHER`].
    fn is_together(self, axis: Axis) -> bool {
        let (tile, missing) = (self.tile[axis.index()], self.missing[axis.index()]);
        tile.is_multiple_of(TOGETHER) && missing.is_multiple_of(TOGETHER)
    }

    /// The statements under the condition that the thread is within the user's extent.
    pub(super) fn within(
        self,
        code: &mut Code<'_>,
        lane: &Lane,
        mut stmts: Vec<StmtId>,
    ) -> Vec<StmtId> {
        if stmts.is_empty() {
            return stmts;
        }
        for axis in Axis::ALL {
            if self.missing[axis.index()] > 0 {
                let own = code.id(Builtin::GlobalIdx(axis));
                let extent = lane.builtin(code.kernel, Builtin::GlobalDim(axis), code.loc);
                let branch = Stmt::If {
                    cond: code.lt(own, extent),
                    then: code.kernel.push_block(&stmts),
                    otherwise: Block::EMPTY,
                };
                stmts = vec![code.stmt(branch)];
            }
        }
        stmts
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.tile;
        write!(f, "blocks of {x} × {y}")?;
        if z > 1 {
            write!(f, " × {z}")?;
        }
        let buffers = if self.double {
            "two buffers"
        } else {
            "one buffer"
        };
        write!(
            f,
            " threads stage the elements of {} turns in shared memory, in {buffers}",
            self.chunk
        )
    }
}
