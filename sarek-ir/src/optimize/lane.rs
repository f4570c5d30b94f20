//! A copy of a statement for one of the merged threads, its *lane*.
//!
//! The copy has locals and labels of its own. Its id along the axis is the id of the merged thread plus the lane's
//! number. Sums are written with that number last, as `(base + …) + 3`, so that the writer recognises neighbouring
//! elements and loads them at once. Reordering a sum is exact, because arithmetic without a check wraps.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Merge;
use crate::analysis::shape::same;
use crate::facts::Reads;
use crate::{
    Axis, BinaryOp, Block, Builtin, DivideOp, Expr, ExprId, Kernel, LabelId, Loc, Local, LocalId,
    Memory, ParamId, Scalar, Stmt, StmtId, Value,
};

/// The number of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// The distance from the first lane.
    Fixed(u32),
    /// A local that holds the id along the axis.
    Id(LocalId),
}

/// The ids and extents of the thread that a lane stands for.
#[derive(Clone, Debug)]
pub(super) enum Ids {
    /// One of the threads that a merged thread does the work of.
    Merged(Merge, Number),
    /// A thread of a staged kernel.
    Staged {
        /// The id along each axis, as an expression outside of the kernel; `None` for the thread's own.
        at: [Option<ExprId>; 3],
        /// The number of threads that each thread of the launch stands for, one after the other.
        turns: [u32; 3],
        /// The threads of all turns beyond the user's extent.
        missing: [u32; 3],
    },
}

impl Ids {
    /// The thread's own ids and extents.
    pub fn own() -> Ids {
        Ids::Staged {
            at: [None; 3],
            turns: [1; 3],
            missing: [0; 3],
        }
    }
}

/// One lane: the names of its locals and labels.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub ids: Ids,
    locals: HashMap<LocalId, LocalId>,
    labels: HashMap<LabelId, LabelId>,
    /// Scalar parameters that are multiples of a number in this launch.
    multiples: Rc<[(ParamId, u32)]>,
    /// Expressions whose values are in locals already.
    pub held: HashMap<ExprId, LocalId>,
    /// Locals that stand for expressions outside of the kernel.
    pub values: HashMap<LocalId, ExprId>,
    /// A memory of atomic operations, and the one in its place.
    pub private: Option<(Memory, Memory)>,
}

impl Lane {
    pub fn new(ids: Ids, multiples: Rc<[(ParamId, u32)]>) -> Lane {
        Lane {
            ids,
            locals: HashMap::new(),
            labels: HashMap::new(),
            multiples,
            held: HashMap::new(),
            values: HashMap::new(),
            private: None,
        }
    }

    /// The lane's own copy of a local, which it declares.
    pub fn declare(&mut self, kernel: &mut Kernel, local: LocalId) -> LocalId {
        let own = kernel.push_local(kernel.locals[local.index()].clone());
        self.locals.insert(local, own);
        own
    }

    fn local(&self, local: LocalId) -> LocalId {
        self.locals.get(&local).copied().unwrap_or(local)
    }

    fn memory(&self, memory: Memory) -> Memory {
        match memory {
            Memory::Local(local) => Memory::Local(self.local(local)),
            Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_) => memory,
        }
    }

    /// The expression as this lane evaluates it. `indices` are locals that stand for their values.
    pub fn expr(&self, kernel: &mut Kernel, indices: &Indices, id: ExprId) -> ExprId {
        let (expr, ty, loc) = (
            kernel.expr(id),
            kernel.type_of(id),
            kernel.expr_locs[id.index()],
        );
        if let Some(local) = self.held.get(&id) {
            return kernel.push_local_read(*local, loc);
        }
        if let Expr::Builtin(builtin) = expr {
            return self.builtin(kernel, builtin, loc);
        }
        if let Expr::Local(local) = expr {
            if let Some(value) = self.values.get(&local) {
                return kernel.copy_expr(*value);
            }
            return match indices.0.get(&local) {
                Some(value) => self.expr(kernel, indices, *value),
                None => kernel.push_local_read(self.local(local), loc),
            };
        }
        if let Expr::Param(param) = expr
            && let Some((_, by)) = self.multiples.iter().find(|(of, _)| *of == param)
        {
            return multiple(kernel, param, *by, loc);
        }
        let operands = kernel.operands(id);
        let operands: Vec<ExprId> = operands
            .into_iter()
            .map(|operand| self.expr(kernel, indices, operand))
            .collect();
        let is_checked = kernel.overflow_site(id).is_some();
        if let (Expr::Binary { op, .. }, Some(Scalar::Usize), false) =
            (expr, ty.as_scalar(), is_checked)
        {
            return sum(kernel, op, operands[0], operands[1], loc);
        }
        let mut copy = kernel.with_operands(expr, &operands);
        if let Expr::Load { memory, .. } | Expr::Len(memory) = &mut copy {
            *memory = self.memory(*memory);
        }
        kernel.push_expr(copy, ty, loc)
    }

    /// An id or extent of the threads that the user launched.
    pub fn builtin(&self, kernel: &mut Kernel, builtin: Builtin, loc: Loc) -> ExprId {
        match builtin {
            Builtin::GlobalIdx(axis) => self.id(kernel, axis, loc),
            Builtin::GlobalDim(axis) => self.extent(kernel, axis, loc),
            Builtin::GlobalThreadId => {
                let [x, y, z] = Axis::ALL.map(|axis| self.id(kernel, axis, loc));
                let [dx, dy] = [Axis::X, Axis::Y].map(|axis| self.extent(kernel, axis, loc));
                let planes = binary(kernel, BinaryOp::Mul, z, dy, loc);
                let rows = sum(kernel, BinaryOp::Add, planes, y, loc);
                let rows = binary(kernel, BinaryOp::Mul, rows, dx, loc);
                sum(kernel, BinaryOp::Add, rows, x, loc)
            }
            Builtin::ThreadIdx(_)
            | Builtin::BlockIdx(_)
            | Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => id(kernel, builtin, loc),
        }
    }

    fn id(&self, kernel: &mut Kernel, axis: Axis, loc: Loc) -> ExprId {
        let own = Builtin::GlobalIdx(axis);
        match &self.ids {
            Ids::Merged(merge, number) if merge.axis == axis => match *number {
                Number::Id(local) => kernel.push_local_read(local, loc),
                Number::Fixed(lane) => merged_id(kernel, *merge, lane, loc),
            },
            Ids::Merged(..) => id(kernel, own, loc),
            Ids::Staged { at, .. } => match at[axis.index()] {
                Some(given) => kernel.copy_expr(given),
                None => id(kernel, own, loc),
            },
        }
    }

    fn extent(&self, kernel: &mut Kernel, axis: Axis, loc: Loc) -> ExprId {
        let own = id(kernel, Builtin::GlobalDim(axis), loc);
        let (all, missing) = match &self.ids {
            Ids::Merged(merge, _) if merge.axis == axis => {
                let factor = number(kernel, merge.factor.into(), loc);
                let all = binary(kernel, BinaryOp::Mul, own, factor, loc);
                (all, merge.missing)
            }
            Ids::Merged(..) => (own, 0),
            Ids::Staged { turns, missing, .. } => {
                let all = match turns[axis.index()] {
                    1 => own,
                    turns => {
                        let turns = number(kernel, turns.into(), loc);
                        binary(kernel, BinaryOp::Mul, own, turns, loc)
                    }
                };
                (all, missing[axis.index()])
            }
        };
        if missing == 0 {
            return all;
        }
        let missing = number(kernel, missing.into(), loc);
        binary(kernel, BinaryOp::Sub, all, missing, loc)
    }

    /// A copy of a block.
    pub fn block(&mut self, kernel: &mut Kernel, indices: &Indices, block: Block) -> Block {
        let stmts: Vec<StmtId> = kernel.block(block).collect();
        let mut out = vec![];
        for stmt in stmts {
            self.stmt(kernel, indices, stmt, &mut out);
        }
        kernel.push_block(&out)
    }

    /// A copy of a statement that declares its own locals.
    pub fn stmt(
        &mut self,
        kernel: &mut Kernel,
        indices: &Indices,
        id: StmtId,
        out: &mut Vec<StmtId>,
    ) {
        let loc = kernel.stmt_locs[id.index()];
        let copy = match kernel.stmt(id) {
            Stmt::Let { local, .. } if indices.0.contains_key(&local) => return,
            Stmt::Let { local, init } => {
                let init = init.map(|init| self.expr(kernel, indices, init));
                let local = self.declare(kernel, local);
                Stmt::Let { local, init }
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => Stmt::If {
                cond: self.expr(kernel, indices, cond),
                then: self.block(kernel, indices, then),
                otherwise: self.block(kernel, indices, otherwise),
            },
            Stmt::Loop { label, cond, body } => Stmt::Loop {
                cond: cond.map(|cond| self.expr(kernel, indices, cond)),
                label: self.label(kernel, label),
                body: self.block(kernel, indices, body),
            },
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => Stmt::For {
                start: self.expr(kernel, indices, start),
                end: self.expr(kernel, indices, end),
                local: self.declare(kernel, local),
                label: self.label(kernel, label),
                body: self.block(kernel, indices, body),
            },
            simple => self.simple(kernel, indices, simple),
        };
        out.push(kernel.push_stmt(copy, loc));
    }

    /// A statement without blocks that declares nothing.
    pub fn simple(&self, kernel: &mut Kernel, indices: &Indices, stmt: Stmt) -> Stmt {
        let expr = |kernel: &mut Kernel, id| self.expr(kernel, indices, id);
        match stmt {
            Stmt::Assign { local, value } => Stmt::Assign {
                local: self.local(local),
                value: expr(kernel, value),
            },
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => Stmt::Store {
                memory: self.memory(memory),
                value: expr(kernel, value),
                index: expr(kernel, index),
                site,
            },
            Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            } => {
                let args: Vec<ExprId> = kernel.list(args).collect();
                let args: Vec<ExprId> = args.into_iter().map(|arg| expr(kernel, arg)).collect();
                let memory = match self.private {
                    Some((of, private)) if of == memory => private,
                    Some(_) | None => self.memory(memory),
                };
                Stmt::Atomic {
                    op,
                    memory,
                    args: kernel.push_list(&args),
                    index: expr(kernel, index),
                    result: result.map(|local| self.local(local)),
                    site,
                }
            }
            Stmt::Break { label } => Stmt::Break {
                label: self.own_label(label),
            },
            Stmt::Continue { label } => Stmt::Continue {
                label: self.own_label(label),
            },
            Stmt::Barrier => Stmt::Barrier,
            Stmt::Let { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::For { .. }
            | Stmt::Return
            | Stmt::Assert { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Fence { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Update { .. }
            | Stmt::Call { .. }
            | Stmt::Native { .. } => unreachable!("such kernels are refused"),
        }
    }

    fn label(&mut self, kernel: &mut Kernel, label: LabelId) -> LabelId {
        let fresh = fresh_label(kernel, &self.labels);
        if let Some(unroll) = kernel.unroll(label) {
            kernel.unrolls.to_mut().push((fresh, unroll));
        }
        self.labels.insert(label, fresh);
        fresh
    }

    fn own_label(&self, label: LabelId) -> LabelId {
        self.labels.get(&label).copied().unwrap_or(label)
    }
}

/// A label that neither the kernel nor the lane uses. The lane's newest loop may not be in the kernel yet.
fn fresh_label(kernel: &Kernel, own: &HashMap<LabelId, LabelId>) -> LabelId {
    let newest = own.values().map(|label| label.0 + 1).max().unwrap_or(0);
    LabelId(kernel.fresh_label().0.max(newest))
}

/// Immutable locals that hold sums and products of ids and launch values, by their values. Each use of such a local
/// becomes its value.
#[derive(Debug)]
pub(super) struct Indices(HashMap<LocalId, ExprId>);

impl Indices {
    /// True if each use of the local becomes its value.
    pub fn holds(&self, local: LocalId) -> bool {
        self.0.contains_key(&local)
    }

    /// Uses become these values.
    pub fn from(values: HashMap<LocalId, ExprId>) -> Indices {
        Indices(values)
    }

    pub fn of(kernel: &Kernel) -> Indices {
        let mut found = HashMap::new();
        let mut assigned: HashSet<LocalId> = HashSet::new();
        for id in kernel.stmts_in(kernel.block(kernel.body)) {
            if let Stmt::Let {
                local,
                init: Some(init),
            } = kernel.stmt(id)
                && !kernel.locals[local.index()].mutable
                && kernel.scalar_of(init) == Scalar::Usize
                && kernel.exprs_in([init]).all(|e| is_index(kernel, e))
            {
                found.insert(local, init);
            }
            assigned.extend(kernel.stmt(id).facts().assigns);
        }
        found.retain(|local, _| !assigned.contains(local));
        Indices(found)
    }
}

/// True for a node of a sum or product that has one value in the scope of a local.
fn is_index(kernel: &Kernel, id: ExprId) -> bool {
    let operands = match kernel.expr(id) {
        Expr::Binary { op, .. } => {
            matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
                && kernel.overflow_site(id).is_none()
        }
        _ => false,
    };
    let leaf = match kernel.expr(id).facts().reads {
        Reads::Constant | Reads::Param(_) | Reads::Len(_) | Reads::Id(_) => true,
        Reads::Local(local) => !kernel.locals[local.index()].mutable,
        Reads::Operands | Reads::Memory(_) | Reads::Faults => false,
    };
    operands || leaf
}

/// The id of a lane of a merged thread.
fn merged_id(kernel: &mut Kernel, merge: Merge, lane: u32, loc: Loc) -> ExprId {
    let axis = merge.axis;
    let (first, lane) = match merge.spread {
        None => {
            let own = id(kernel, Builtin::GlobalIdx(axis), loc);
            let factor = number(kernel, merge.factor.into(), loc);
            (binary(kernel, BinaryOp::Mul, own, factor, loc), lane)
        }
        Some(spread) => {
            let block = id(kernel, Builtin::BlockIdx(axis), loc);
            let tile = number(kernel, (spread.block * merge.factor).into(), loc);
            let block = binary(kernel, BinaryOp::Mul, block, tile, loc);
            let thread = id(kernel, Builtin::ThreadIdx(axis), loc);
            let run = number(kernel, spread.run.into(), loc);
            let thread = binary(kernel, BinaryOp::Mul, thread, run, loc);
            let first = binary(kernel, BinaryOp::Add, block, thread, loc);
            (first, spread.distance(lane))
        }
    };
    let lane = number(kernel, lane.into(), loc);
    sum(kernel, BinaryOp::Add, first, lane, loc)
}

pub(super) fn id(kernel: &mut Kernel, builtin: Builtin, loc: Loc) -> ExprId {
    kernel.push_expr(Expr::Builtin(builtin), Scalar::Usize, loc)
}

pub(super) fn number(kernel: &mut Kernel, value: u64, loc: Loc) -> ExprId {
    kernel.push_literal(Value::Usize(value), loc)
}

pub(super) fn binary(
    kernel: &mut Kernel,
    op: BinaryOp,
    lhs: ExprId,
    rhs: ExprId,
    loc: Loc,
) -> ExprId {
    let ty = match op.is_comparison() {
        true => Scalar::Bool,
        false => kernel.scalar_of(lhs),
    };
    kernel.push_expr(Expr::Binary { op, lhs, rhs }, ty, loc)
}

/// `(param / by) * by`: the writer sees that this is a multiple.
fn multiple(kernel: &mut Kernel, param: ParamId, by: u32, loc: Loc) -> ExprId {
    let lhs = kernel.push_expr(Expr::Param(param), Scalar::Usize, loc);
    let rhs = number(kernel, by.into(), loc);
    let quotient = Expr::Divide {
        op: DivideOp::Div,
        lhs,
        rhs,
        site: None,
    };
    let quotient = kernel.push_expr(quotient, Scalar::Usize, loc);
    let by = number(kernel, by.into(), loc);
    binary(kernel, BinaryOp::Mul, quotient, by, loc)
}

/// `lhs op rhs` on `usize`. Constants added to either side of a sum or difference come last. A term that is added and
/// subtracted disappears.
pub(super) fn sum(kernel: &mut Kernel, op: BinaryOp, lhs: ExprId, rhs: ExprId, loc: Loc) -> ExprId {
    let (left, right) = (split(kernel, lhs), split(kernel, rhs));
    if let (BinaryOp::Sub, (Some(all), offset), (Some(less), 0)) = (op, left, right)
        && let Expr::Binary {
            op: BinaryOp::Add,
            lhs: first,
            rhs: rest,
        } = kernel.expr(all)
        && same(kernel, first, less)
    {
        let offset = number(kernel, offset, loc);
        return sum(kernel, BinaryOp::Add, rest, offset, loc);
    }
    let (base, offset) = match (op, left, right) {
        (BinaryOp::Add, (Some(a), m), (Some(b), n)) if (m, n) != (0, 0) => {
            (binary(kernel, op, a, b, loc), m.wrapping_add(n))
        }
        (BinaryOp::Add, (Some(a), m), (None, n)) | (BinaryOp::Add, (None, n), (Some(a), m)) => {
            (a, m.wrapping_add(n))
        }
        (BinaryOp::Add, (None, m), (None, n)) => return number(kernel, m.wrapping_add(n), loc),
        (BinaryOp::Sub, (Some(a), m), (Some(b), 0)) if m != 0 => (binary(kernel, op, a, b, loc), m),
        (BinaryOp::Sub, (Some(a), m), (None, n)) if m >= n => (a, m - n),
        _ => return binary(kernel, op, lhs, rhs, loc),
    };
    if offset == 0 {
        return base;
    }
    let offset = number(kernel, offset, loc);
    binary(kernel, BinaryOp::Add, base, offset, loc)
}

/// An expression without the constant that is added last.
pub(super) fn split(kernel: &Kernel, id: ExprId) -> (Option<ExprId>, u64) {
    let constant = |id| match kernel.literal(id) {
        Some(Value::Usize(n)) => Some(n),
        _ => None,
    };
    if let Some(n) = constant(id) {
        return (None, n);
    }
    if let Expr::Binary {
        op: BinaryOp::Add,
        lhs,
        rhs,
    } = kernel.expr(id)
        && let Some(n) = constant(rhs)
        && kernel.overflow_site(id).is_none()
    {
        return (Some(lhs), n);
    }
    (Some(id), 0)
}

/// A local for the lanes' own use.
pub(super) fn fresh_local(kernel: &mut Kernel, name: &'static str, ty: Scalar) -> LocalId {
    kernel.push_local(Local {
        name: name.into(),
        ty: ty.into(),
        mutable: false,
    })
}
