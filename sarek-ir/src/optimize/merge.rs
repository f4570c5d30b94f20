//! Merging: one thread does the work of several neighbours along an axis, its *lanes*.
//!
//! After [`Merge::apply`], the kernel expects fewer threads, see [`Merge::threads`]. Ids and extents of the user's threads
//! are computed from those of the merged ones.
//!
//! Statements are merged one by one, so that the lanes' loads of neighbouring elements follow each other, and the writer
//! makes one access of them:
//!
//! - What is the same in all lanes is computed once. So lanes share a load whose index does not vary, and its result stays
//!   in a register.
//! - A statement that varies is copied for each lane. Its loads come first, each for all lanes.
//! - A branch or loop whose condition is the same in all lanes is kept, and its blocks are merged. A loop that the lanes
//!   leave at different places is copied whole for each lane.
//! - Under a condition that varies, the merged branch runs if the condition holds in all lanes. Otherwise each lane runs a
//!   copy of its own.
//!
//! Threads whose lanes would lie beyond the extent run a loop over the lanes that exist.
//!
//! Loads move before the stores of other lanes. That is right because the lanes are threads of a kernel without races:
//! none reads what another one writes. An atomic operation may come in any order with those of other threads.

use std::fmt;
use std::rc::Rc;

use crate::facts::{Check, Effect, Flow, Reads};
use crate::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprId, Kernel, Loc, LocalId, Memory, ParamId, Scalar,
    Stmt, StmtId, UnaryOp,
};

use super::Refusal;
use super::lane::{Ids, Indices, Lane, Number, binary, fresh_local};
use super::varying::Varying;

/// One thread does the work of `factor` threads along `axis`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Merge {
    /// The axis.
    pub axis: Axis,
    /// The number of lanes, at least 2.
    pub factor: u32,
    /// The number of lanes that the last thread lacks, because the extent along the axis is no multiple of the factor.
    pub missing: u32,
    /// The order of the lanes in a kernel whose loads are [staged](super::stage); `None` in all other kernels, where
    /// lanes are neighbours.
    pub spread: Option<Spread>,
}

/// The order of lanes in a block: each thread has runs of neighbours, and the runs of all threads of the block follow
/// each other.
///
/// With short runs, the threads of a warp load neighbouring parts of a shared tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spread {
    /// The number of merged threads of a block along the axis.
    pub block: u32,
    /// The number of neighbours in a run, a divisor of the factor.
    pub run: u32,
}

impl Spread {
    /// The distance of a lane from the first one.
    pub(super) fn distance(self, lane: u32) -> u32 {
        lane / self.run * (self.block * self.run) + lane % self.run
    }
}

/// The largest number of statements in the merged body.
const MOST_STATEMENTS: usize = 2048;

/// The largest number of statements that are copied for each lane under a condition that varies.
const MOST_COPIED: usize = 96;

impl Merge {
    /// The merge of `factor` threads in a launch of `extent` threads along `axis`.
    pub fn new(axis: Axis, factor: u32, extent: u64) -> Merge {
        let over = (extent % u64::from(factor)) as u32;
        Merge {
            axis,
            factor,
            missing: if over == 0 { 0 } else { factor - over },
            spread: None,
        }
    }

    /// The merge of `factor` threads in a staged kernel, whose extent is a multiple of its tiles.
    pub fn staged(axis: Axis, factor: u32, spread: Spread) -> Merge {
        Merge {
            axis,
            factor,
            missing: 0,
            spread: Some(spread),
        }
    }

    /// The number of threads along the axis that run `extent` threads.
    pub fn threads(self, extent: u64) -> u64 {
        extent.div_ceil(self.factor.into())
    }

    /// Merges the threads of a closed kernel, whose proved checks are gone. Each parameter in `multiples` is a multiple of
    /// the number beside it.
    ///
    /// # Errors
    /// [`Refusal`]. The kernel is unchanged, but for nodes that it does not use.
    pub fn apply(self, kernel: &mut Kernel, multiples: &[(ParamId, u32)]) -> Result<(), Refusal> {
        let tiles = self.spread.is_some();
        allows(kernel, tiles)?;
        let body = without_returns(kernel, kernel.body)?;
        let own = std::mem::replace(&mut kernel.body, body);
        let varying = match tiles {
            true => Varying::of_staged(kernel, self.axis),
            false => Varying::of(kernel, self.axis),
        };
        let multiples: Rc<[_]> = multiples.into();
        let mut merger = Merger {
            merge: self,
            indices: Indices::of(kernel),
            lanes: (0..self.factor)
                .map(|lane| Ids::Merged(self, Number::Fixed(lane)))
                .map(|ids| Lane::new(ids, multiples.clone()))
                .collect(),
            multiples: multiples.clone(),
            varying,
            written: 0,
        };
        let merged = merger.whole_body(kernel, body);
        kernel.body = match &merged {
            Ok(merged) => *merged,
            Err(_) => own,
        };
        merged.map(|_| ())
    }
}

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "each thread does the work of {} along {}",
            self.factor,
            self.axis.name()
        )
    }
}

/// Refuses kernels with constructs that lanes cannot share. In a staged kernel, `tiles` is true: the ids within blocks are
/// those of the merged threads, which cooperate.
pub(super) fn allows(kernel: &Kernel, tiles: bool) -> Result<(), Refusal> {
    for id in kernel.used_exprs() {
        if kernel.expr(id).facts().check.site().is_some() || kernel.overflow_site(id).is_some() {
            return Err(Refusal::Check);
        }
        match kernel.expr(id).facts().reads {
            Reads::Id(Builtin::ThreadIdx(_) | Builtin::BlockIdx(_))
            | Reads::Memory(Memory::Shared(_))
                if tiles => {}
            Reads::Id(
                Builtin::ThreadIdx(_)
                | Builtin::BlockIdx(_)
                | Builtin::BlockDim(_)
                | Builtin::GridDim(_)
                | Builtin::SubgroupSize
                | Builtin::SubgroupLane,
            ) => return Err(Refusal::BlockIds),
            Reads::Memory(Memory::Shared(_)) => return Err(Refusal::Cooperation),
            Reads::Faults => return Err(Refusal::Check),
            Reads::Id(Builtin::GlobalIdx(_) | Builtin::GlobalDim(_) | Builtin::GlobalThreadId)
            | Reads::Memory(Memory::Slice(_) | Memory::Local(_) | Memory::Table(_))
            | Reads::Operands
            | Reads::Constant
            | Reads::Param(_)
            | Reads::Len(_)
            | Reads::Local(_) => {}
        }
    }
    for id in kernel.stmts_in(kernel.block(kernel.body)) {
        let facts = kernel.stmt(id).facts();
        if matches!(kernel.stmt(id), Stmt::Loop { .. }) && may_wait(kernel, id) {
            return Err(Refusal::Cooperation);
        }
        match facts.check {
            Check::None | Check::Bounds(None) | Check::Divisor(None) => {}
            Check::Bounds(Some(_))
            | Check::Divisor(Some(_))
            | Check::Parts
            | Check::Assertion(_)
            | Check::Panic(_) => return Err(Refusal::Check),
        }
        match facts.effect {
            Effect::None | Effect::Store(Memory::Slice(_) | Memory::Local(_)) => {}
            Effect::Atomic(_, Memory::Slice(_)) => {}
            Effect::Store(Memory::Shared(_)) | Effect::Barrier if tiles => {}
            Effect::Print(_) => return Err(Refusal::Print),
            Effect::Native(_) => return Err(Refusal::Native),
            Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Fence
            | Effect::Barrier
            | Effect::Subgroup(..)
            | Effect::Call(_) => return Err(Refusal::Cooperation),
        }
    }
    Ok(())
}

/// True if a statement contains an atomic operation with a result. A loop may wait by it for a later lane, which would
/// never come.
fn may_wait(kernel: &Kernel, id: StmtId) -> bool {
    let mut inner = kernel.stmts_in([id]);
    inner.any(|id| {
        matches!(
            kernel.stmt(id),
            Stmt::Atomic {
                result: Some(_),
                ..
            }
        )
    })
}

/// The block without returns: what follows `if done { return; }` moves into a branch under `!done`.
pub(super) fn without_returns(kernel: &mut Kernel, block: Block) -> Result<Block, Refusal> {
    let stmts: Vec<StmtId> = kernel.block(block).collect();
    let is_return = |kernel: &Kernel, block: Block| {
        let mut inner = kernel.block(block);
        matches!(inner.next().map(|id| kernel.stmt(id)), Some(Stmt::Return))
    };
    let returns = |kernel: &Kernel, id: StmtId| {
        let mut all = kernel.stmts_in([id]);
        all.any(|inner| matches!(kernel.stmt(inner).facts().flow, Flow::Return))
    };
    for (at, &id) in stmts.iter().enumerate() {
        if !returns(kernel, id) {
            continue;
        }
        let loc = kernel.stmt_locs[id.index()];
        let mut kept = stmts[..at].to_vec();
        match kernel.stmt(id) {
            Stmt::Return => {}
            Stmt::If {
                cond,
                then,
                otherwise,
            } if is_return(kernel, then) => {
                let rest: Vec<StmtId> = kernel
                    .block(otherwise)
                    .chain(stmts[at + 1..].iter().copied())
                    .collect();
                let rest = kernel.push_block(&rest);
                let then = without_returns(kernel, rest)?;
                let cond = Expr::Unary {
                    op: UnaryOp::Not,
                    arg: cond,
                };
                let cond = kernel.push_expr(cond, Scalar::Bool, loc);
                let branch = Stmt::If {
                    cond,
                    then,
                    otherwise: Block::EMPTY,
                };
                kept.push(kernel.push_stmt(branch, loc));
            }
            _ => return Err(Refusal::Return),
        }
        return Ok(kernel.push_block(&kept));
    }
    Ok(block)
}

struct Merger {
    merge: Merge,
    varying: Varying,
    indices: Indices,
    lanes: Vec<Lane>,
    multiples: Rc<[(ParamId, u32)]>,
    /// The number of statements written so far.
    written: usize,
}

impl Merger {
    fn whole_body(&mut self, kernel: &mut Kernel, body: Block) -> Result<Block, Refusal> {
        let mut all = kernel.stmts_in(kernel.block(body));
        if !all.any(|id| self.varying.is_stmt(kernel, id)) {
            return Err(Refusal::SameAlongAxis);
        }
        drop(all);
        let merged = self.block(kernel, body)?;
        if self.merge.missing == 0 {
            return Ok(merged);
        }
        let tail = self.tail(kernel, body);
        let loc = Loc::default();
        let last = self.lanes.last().expect("there is a lane");
        let last = last.builtin(kernel, Builtin::GlobalIdx(self.merge.axis), loc);
        let extent = self.lanes[0].builtin(kernel, Builtin::GlobalDim(self.merge.axis), loc);
        let branch = Stmt::If {
            cond: binary(kernel, BinaryOp::Lt, last, extent, loc),
            then: merged,
            otherwise: tail,
        };
        let branch = kernel.push_stmt(branch, loc);
        Ok(kernel.push_block(&[branch]))
    }

    /// A loop over the lanes of a thread whose last lanes do not exist.
    fn tail(&self, kernel: &mut Kernel, body: Block) -> Block {
        let loc = Loc::default();
        let local = fresh_local(kernel, "lane", Scalar::Usize);
        let mut lane = Lane::new(
            Ids::Merged(self.merge, Number::Id(local)),
            self.multiples.clone(),
        );
        let body = lane.block(kernel, &self.indices, body);
        let first = &self.lanes[0];
        let each = Stmt::For {
            label: kernel.fresh_label(),
            local,
            start: first.builtin(kernel, Builtin::GlobalIdx(self.merge.axis), loc),
            end: first.builtin(kernel, Builtin::GlobalDim(self.merge.axis), loc),
            body,
        };
        let each = kernel.push_stmt(each, loc);
        kernel.push_block(&[each])
    }

    fn block(&mut self, kernel: &mut Kernel, block: Block) -> Result<Block, Refusal> {
        let stmts: Vec<StmtId> = kernel.block(block).collect();
        let mut out = vec![];
        for stmt in stmts {
            self.stmt(kernel, stmt, &mut out)?;
        }
        Ok(kernel.push_block(&out))
    }

    fn stmt(
        &mut self,
        kernel: &mut Kernel,
        id: StmtId,
        out: &mut Vec<StmtId>,
    ) -> Result<(), Refusal> {
        self.written += self.lanes.len();
        if self.written > MOST_STATEMENTS {
            return Err(Refusal::Size);
        }
        let loc = kernel.stmt_locs[id.index()];
        let varies = self.varying.is_stmt(kernel, id);
        // What does not vary is the same in all lanes, and computed as in the first one.
        match kernel.stmt(id) {
            Stmt::If {
                cond,
                then,
                otherwise,
            } if !self.varying.is_expr(kernel, cond) => {
                let branch = Stmt::If {
                    cond: self.first(kernel, cond),
                    then: self.block(kernel, then)?,
                    otherwise: self.block(kernel, otherwise)?,
                };
                out.push(kernel.push_stmt(branch, loc));
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.guarded(kernel, (cond, then, otherwise), loc, out)?,
            Stmt::Loop { label, .. } | Stmt::For { label, .. } if self.varying.is_loop(label) => {
                self.copies(kernel, id, out)?;
            }
            Stmt::Loop { label, cond, body } => {
                let cond = cond.map(|cond| self.first(kernel, cond));
                let body = self.block(kernel, body)?;
                out.push(kernel.push_stmt(Stmt::Loop { label, cond, body }, loc));
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let each = Stmt::For {
                    label,
                    local,
                    start: self.first(kernel, start),
                    end: self.first(kernel, end),
                    body: self.block(kernel, body)?,
                };
                out.push(kernel.push_stmt(each, loc));
            }
            Stmt::Let { local, .. } if self.indices.holds(local) => {}
            Stmt::Let { local, init } if !varies => {
                let init = init.map(|init| self.first(kernel, init));
                out.push(kernel.push_stmt(Stmt::Let { local, init }, loc));
            }
            Stmt::Let { local, init } => {
                match init {
                    // The local itself holds what is loaded.
                    Some(init) if matches!(kernel.expr(init), Expr::Load { .. }) => {
                        let inner = kernel.operands(init);
                        self.hold_loads(kernel, inner, out);
                    }
                    Some(_) | None => self.hold_loads(kernel, init, out),
                }
                for lane in &mut self.lanes {
                    let init = init.map(|init| lane.expr(kernel, &self.indices, init));
                    let local = lane.declare(kernel, local);
                    out.push(kernel.push_stmt(Stmt::Let { local, init }, loc));
                }
                self.release();
            }
            simple if !varies => {
                let copy = self.lanes[0].simple(kernel, &self.indices, simple);
                out.push(kernel.push_stmt(copy, loc));
            }
            simple => {
                let operands = kernel.operands_of(id);
                self.hold_loads(kernel, operands, out);
                for lane in &self.lanes {
                    let copy = lane.simple(kernel, &self.indices, simple);
                    out.push(kernel.push_stmt(copy, loc));
                }
                self.release();
            }
        }
        Ok(())
    }

    /// An expression that does not vary.
    fn first(&self, kernel: &mut Kernel, id: ExprId) -> ExprId {
        self.lanes[0].expr(kernel, &self.indices, id)
    }

    /// A branch whose condition varies: merged if the condition holds in all lanes, else a copy for each lane.
    fn guarded(
        &mut self,
        kernel: &mut Kernel,
        (cond, then, otherwise): (ExprId, Block, Block),
        loc: Loc,
        out: &mut Vec<StmtId>,
    ) -> Result<(), Refusal> {
        self.hold_loads(kernel, [cond], out);
        let mut conds: Vec<LocalId> = vec![];
        for lane in &self.lanes {
            let init = lane.expr(kernel, &self.indices, cond);
            let local = fresh_local(kernel, "holds", Scalar::Bool);
            out.push(kernel.push_stmt(
                Stmt::Let {
                    local,
                    init: Some(init),
                },
                loc,
            ));
            conds.push(local);
        }
        self.release();
        let reads: Vec<ExprId> = conds
            .iter()
            .map(|local| kernel.push_local_read(*local, loc))
            .collect();
        let all = reads
            .into_iter()
            .reduce(|lhs, rhs| kernel.push_expr(Expr::And { lhs, rhs }, Scalar::Bool, loc));
        let copied = kernel
            .stmts_in(kernel.block(then).chain(kernel.block(otherwise)))
            .count();
        if copied * self.lanes.len() > MOST_COPIED {
            return Err(Refusal::Size);
        }
        self.written += copied * self.lanes.len();
        let mut each = vec![];
        for (lane, cond) in self.lanes.iter().zip(&conds) {
            let mut lane = lane.clone();
            let branch = Stmt::If {
                cond: kernel.push_local_read(*cond, loc),
                then: lane.block(kernel, &self.indices, then),
                otherwise: lane.block(kernel, &self.indices, otherwise),
            };
            each.push(kernel.push_stmt(branch, loc));
        }
        let branch = Stmt::If {
            cond: all.expect("there is a lane"),
            then: self.block(kernel, then)?,
            otherwise: kernel.push_block(&each),
        };
        out.push(kernel.push_stmt(branch, loc));
        Ok(())
    }

    /// A copy of the whole statement for each lane.
    fn copies(
        &mut self,
        kernel: &mut Kernel,
        id: StmtId,
        out: &mut Vec<StmtId>,
    ) -> Result<(), Refusal> {
        let copied = kernel.stmts_in([id]).count() * self.lanes.len();
        if copied > MOST_COPIED {
            return Err(Refusal::Size);
        }
        self.written += copied;
        for lane in &self.lanes {
            lane.clone().stmt(kernel, &self.indices, id, out);
        }
        Ok(())
    }

    /// Moves loads out of expressions into locals. A load that varies gets a local for each lane, any other one local.
    /// Loads that are evaluated under a condition only stay in place.
    fn hold_loads(
        &mut self,
        kernel: &mut Kernel,
        exprs: impl IntoIterator<Item = ExprId>,
        out: &mut Vec<StmtId>,
    ) {
        let mut loads = vec![];
        for id in exprs {
            find_loads(kernel, id, &mut loads);
        }
        for id in loads {
            let (loc, ty) = (kernel.expr_locs[id.index()], kernel.scalar_of(id));
            let varies = self.varying.is_expr(kernel, id);
            let count = if varies { self.lanes.len() } else { 1 };
            let locals: Vec<LocalId> = (0..count)
                .map(|_| fresh_local(kernel, "held", ty))
                .collect();
            for (lane, local) in self.lanes.iter().zip(&locals) {
                let init = Some(lane.expr(kernel, &self.indices, id));
                out.push(kernel.push_stmt(
                    Stmt::Let {
                        local: *local,
                        init,
                    },
                    loc,
                ));
            }
            for (at, lane) in self.lanes.iter_mut().enumerate() {
                lane.held.insert(id, locals[if varies { at } else { 0 }]);
            }
        }
    }

    fn release(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.held.clear());
    }
}

/// The loads from slices and tiles that an expression always evaluates, inner ones first.
pub(super) fn find_loads(kernel: &Kernel, id: ExprId, out: &mut Vec<ExprId>) {
    match kernel.expr(id) {
        Expr::And { lhs, .. } | Expr::Or { lhs, .. } => find_loads(kernel, lhs, out),
        expr => {
            for operand in kernel.operands(id) {
                find_loads(kernel, operand, out);
            }
            if let Expr::Load {
                memory: Memory::Slice(_) | Memory::Shared(_),
                ..
            } = expr
            {
                out.push(id);
            }
        }
    }
}
