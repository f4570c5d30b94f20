//! Private copies: the threads of a block count in shared memory, and add the result to the slice once.
//!
//! A kernel whose threads change the elements of one slice by the same atomic operation, such as a histogram, waits for
//! the few places of the memory that all threads change. The operations commute and nobody uses their results, so they
//! may come in any order and in parts. Here each block has a copy of the slice in shared memory:
//!
//! 1. Its threads set the copy to the operation's neutral element, and wait.
//! 2. They run the kernel's code with the copy in place of the slice.
//! 3. They wait, and apply the operation with each element of the copy to the slice.
//!
//! A block takes many turns, each for as many threads as it has, so that the steps 1 and 3 take little time.
//!
//! A histogram of integers, minima and maxima, and bits do not depend on the order. Sums of floats do, so they stay.

use std::fmt;

use crate::analysis::linear::Interval;
use crate::facts::Reads;
use crate::{
    Access, AtomicOp, Axis, BinaryOp, Builtin, Expr, ExprId, Kernel, Length, List, Local, LocalId,
    Memory, ParamId, ParamKind, Scalar, SharedArray, SharedId, Stmt, StmtId, UnaryOp, Value,
};

use super::lane::{Ids, Indices, Lane, fresh_local};
use super::merge::{allows, without_returns};
use super::stage::code::Code;
use super::{Refusal, resolved};

/// The blocks of a launch have private copies of a slice. Merges come before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Privatize {
    /// The slice.
    pub slice: ParamId,
    /// Its length.
    pub len: u32,
    /// The threads of a block, all along x.
    pub block: u32,
    /// The axis along which a block takes its turns: x or y.
    pub axis: Axis,
    /// The number of turns.
    pub turns: u32,
    /// The threads of all turns beyond the extent, along each axis.
    pub missing: [u32; 3],
}

/// The largest number of elements for each thread that are set and added without a loop.
const MOST_UNROLLED: u32 = 4;

impl Privatize {
    /// The plan for a launch of `extent` threads. If `guarded` is true, threads beyond the extent along x do nothing by
    /// themselves.
    pub fn new(
        (slice, len): (ParamId, u32),
        block: u32,
        (axis, turns): (Axis, u32),
        extent: [u64; 3],
        guarded: bool,
    ) -> Privatize {
        let plan = Privatize {
            slice,
            len,
            block,
            axis,
            turns,
            missing: [0; 3],
        };
        let threads = plan.threads(extent);
        let missing = |axis: Axis| {
            if guarded && axis == Axis::X {
                return 0;
            }
            let at = axis.index();
            (threads[at] * u64::from(plan.turns_along(axis)) - extent[at]) as u32
        };
        Privatize {
            missing: Axis::ALL.map(missing),
            ..plan
        }
    }

    /// The slice that all atomic operations of a closed kernel change, if a block may have a copy of it.
    pub fn target(kernel: &Kernel) -> Option<ParamId> {
        let mut all = kernel.stmts_in(kernel.block(kernel.body));
        let slice = all.find_map(|id| match kernel.stmt(id) {
            Stmt::Atomic {
                memory: Memory::Slice(slice),
                ..
            } => Some(slice),
            _ => None,
        })?;
        operation(kernel, slice).ok()?;
        Some(slice)
    }

    /// The condition under which all of a closed kernel runs, if it is false for each thread from `extent` on along x.
    /// `value` knows launch values.
    pub fn guard(
        kernel: &Kernel,
        extent: u64,
        value: &dyn Fn(Expr) -> Option<u64>,
    ) -> Option<ExprId> {
        let reader = Guards {
            kernel,
            extent,
            value,
        };
        reader.find()
    }

    /// The extent of the launch.
    pub fn threads(self, mut extent: [u64; 3]) -> [u64; 3] {
        let along = |axis: Axis, by: u32| {
            let turns = u64::from(self.turns_along(axis));
            extent[axis.index()].div_ceil(u64::from(by) * turns) * u64::from(by)
        };
        let [x, y] = [along(Axis::X, self.block), along(Axis::Y, 1)];
        [extent[0], extent[1]] = [x, y];
        extent
    }

    fn turns_along(self, axis: Axis) -> u32 {
        if self.axis == axis { self.turns } else { 1 }
    }

    /// Rewrites a closed kernel, whose proved checks are gone.
    ///
    /// # Errors
    /// [`Refusal`]. The kernel is unchanged, but for nodes that it does not use.
    pub fn apply(self, kernel: &mut Kernel, multiples: &[(ParamId, u32)]) -> Result<(), Refusal> {
        allows(kernel, false)?;
        let (op, scalar) = operation(kernel, self.slice)?;
        let body = without_returns(kernel, kernel.body)?;
        let stmts: Vec<StmtId> = kernel.block(body).collect();
        let indices = Indices::of(kernel);
        let loc = kernel.stmt_locs[stmts.first().ok_or(Refusal::Atomics)?.index()];
        let own = self.array(kernel);
        let mut code = Code { kernel, loc };
        let mut out = vec![];
        let thread = code.id(Builtin::ThreadIdx(Axis::X));
        let thread = code.bind("thread", thread, &mut out);
        let neutral = neutral(op, scalar);
        self.each(&mut code, thread, &mut out, &mut |code, at, out| {
            let value = code.kernel.push_literal(neutral, code.loc);
            out.push(atomic(code, AtomicOp::Store, own, at, &[value], None));
        });
        out.push(code.stmt(Stmt::Barrier));
        self.turns(&mut code, (&stmts, &indices, multiples, own), &mut out);
        out.push(code.stmt(Stmt::Barrier));
        // What was subtracted is negative.
        let op = if op == AtomicOp::Sub {
            AtomicOp::Add
        } else {
            op
        };
        self.each(&mut code, thread, &mut out, &mut |code, at, out| {
            let again = code.again(at);
            let count = code.kernel.push_local(Local {
                name: "count".into(),
                ty: scalar.into(),
                mutable: true,
            });
            out.push(code.stmt(Stmt::Let {
                local: count,
                init: None,
            }));
            out.push(atomic(code, AtomicOp::Load, own, at, &[], Some(count)));
            let (lhs, rhs) = (
                code.read(count),
                code.kernel.push_literal(neutral, code.loc),
            );
            let differs = Expr::Binary {
                op: BinaryOp::Ne,
                lhs,
                rhs,
            };
            let cond = code.kernel.push_expr(differs, Scalar::Bool, code.loc);
            let value = code.read(count);
            let slice = Memory::Slice(self.slice);
            let add = atomic(code, op, slice, again, &[value], None);
            out.push(code.branch(cond, &[add]));
        });
        kernel.body = kernel.push_block(&out);
        kernel.block = Some([self.block, 1, 1]);
        Ok(())
    }

    /// The kernel's code, in turns.
    fn turns(
        self,
        code: &mut Code<'_>,
        (stmts, indices, multiples, own): (&[StmtId], &Indices, &[(ParamId, u32)], Memory),
        out: &mut Vec<StmtId>,
    ) {
        let turn = fresh_local(code.kernel, "turn", Scalar::Usize);
        let mut at = [None; 3];
        if self.turns > 1 {
            let width = match self.axis {
                Axis::X => self.block,
                Axis::Y | Axis::Z => 1,
            };
            let block = code.id(Builtin::BlockIdx(self.axis));
            let block = code.mul(block, width * self.turns);
            let turn = code.read(turn);
            let turn = code.mul(turn, width);
            let mut id = code.add(block, turn);
            if self.axis == Axis::X {
                let thread = code.id(Builtin::ThreadIdx(Axis::X));
                id = code.add(id, thread);
            }
            at[self.axis.index()] = Some(id);
        }
        let ids = Ids::Staged {
            at,
            turns: Axis::ALL.map(|axis| self.turns_along(axis)),
            missing: self.missing,
        };
        let mut lane = Lane::new(ids, multiples.into());
        lane.private = Some((Memory::Slice(self.slice), own));
        let mut inner = vec![];
        for stmt in stmts {
            lane.stmt(code.kernel, indices, *stmt, &mut inner);
        }
        for axis in Axis::ALL {
            if self.missing[axis.index()] > 0 {
                let id = lane.builtin(code.kernel, Builtin::GlobalIdx(axis), code.loc);
                let extent = lane.builtin(code.kernel, Builtin::GlobalDim(axis), code.loc);
                let cond = code.lt(id, extent);
                inner = vec![code.branch(cond, &inner)];
            }
        }
        if self.turns > 1 {
            let end = code.n(self.turns);
            out.push(code.count(turn, end, &inner));
        } else {
            out.extend(inner);
        }
    }

    /// Writes a step for each element of the copy. The threads of the block share the elements.
    fn each(
        self,
        code: &mut Code<'_>,
        thread: LocalId,
        out: &mut Vec<StmtId>,
        step: &mut dyn FnMut(&mut Code<'_>, ExprId, &mut Vec<StmtId>),
    ) {
        let steps = self.len.div_ceil(self.block);
        let mut one =
            |code: &mut Code<'_>, first: ExprId, is_whole: bool, out: &mut Vec<StmtId>| {
                let thread = code.read(thread);
                let at = code.add(first, thread);
                let at = code.bind("at", at, out);
                let mut inner = vec![];
                let index = code.read(at);
                step(code, index, &mut inner);
                if is_whole {
                    out.extend(inner);
                    return;
                }
                let (at, len) = (code.read(at), code.n(self.len));
                let cond = code.lt(at, len);
                out.push(code.branch(cond, &inner));
            };
        if steps <= MOST_UNROLLED {
            for number in 0..steps {
                let first = code.n(number * self.block);
                one(code, first, (number + 1) * self.block <= self.len, out);
            }
            return;
        }
        let number = fresh_local(code.kernel, "step", Scalar::Usize);
        let first = code.read(number);
        let first = code.mul(first, self.block);
        let mut body = vec![];
        one(code, first, self.len.is_multiple_of(self.block), &mut body);
        let end = code.n(steps);
        out.push(code.count(number, end, &body));
    }

    /// The shared array for the copy.
    fn array(self, kernel: &mut Kernel) -> Memory {
        let slice = Memory::Slice(self.slice);
        let (elem, name) = (
            kernel.element_type(slice),
            format!("{}_copy", kernel.memory_name(slice)),
        );
        let arrays = kernel.shared.to_mut();
        arrays.push(SharedArray {
            name: name.into(),
            elem,
            len: Length::Fixed(self.len.into()),
            atomic: true,
        });
        Memory::Shared(SharedId(arrays.len() as u32 - 1))
    }
}

fn atomic(
    code: &mut Code<'_>,
    op: AtomicOp,
    memory: Memory,
    index: ExprId,
    args: &[ExprId],
    result: Option<LocalId>,
) -> StmtId {
    let args: List = code.kernel.push_list(args);
    code.stmt(Stmt::Atomic {
        op,
        memory,
        index,
        args,
        result,
        site: None,
    })
}

/// The operation by which a closed kernel changes the slice, and the type of its elements.
fn operation(kernel: &Kernel, slice: ParamId) -> Result<(AtomicOp, Scalar), Refusal> {
    let ParamKind::Slice {
        elem,
        access: Access::Atomic,
    } = kernel.params[slice.index()].kind
    else {
        return Err(Refusal::Atomics);
    };
    let scalar = elem.as_scalar().filter(|scalar| scalar.is_int());
    let scalar = scalar.ok_or(Refusal::Atomics)?;
    let is_used = |local: LocalId| {
        let mut all = kernel.used_exprs();
        all.any(|id| kernel.expr(id) == Expr::Local(local))
    };
    let mut found = None;
    for id in kernel.stmts_in(kernel.block(kernel.body)) {
        let Stmt::Atomic {
            op, memory, result, ..
        } = kernel.stmt(id)
        else {
            continue;
        };
        let fits = memory == Memory::Slice(slice)
            && op.commutes()
            && found.is_none_or(|other| other == op)
            && !result.is_some_and(is_used);
        if !fits {
            return Err(Refusal::Atomics);
        }
        found = Some(op);
    }
    Ok((found.ok_or(Refusal::Atomics)?, scalar))
}

/// The value that an operation leaves as it is.
fn neutral(op: AtomicOp, scalar: Scalar) -> Value {
    let range = Interval::of(scalar);
    let value = match op {
        AtomicOp::Min => range.hi,
        AtomicOp::Max => range.lo,
        AtomicOp::And if scalar.is_signed() => -1,
        AtomicOp::And => range.hi,
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor => 0,
        AtomicOp::Load | AtomicOp::Store | AtomicOp::Swap | AtomicOp::CompareExchange => {
            unreachable!("these do not commute")
        }
    };
    Value::int(scalar, value).expect("a value of the type")
}

/// Reads the condition around a whole kernel.
struct Guards<'a> {
    kernel: &'a Kernel,
    extent: u64,
    value: &'a dyn Fn(Expr) -> Option<u64>,
}

impl Guards<'_> {
    fn find(&self) -> Option<ExprId> {
        let kernel = self.kernel;
        let stmts: Vec<StmtId> = kernel.block(kernel.body).collect();
        for (at, id) in stmts.iter().enumerate() {
            match kernel.stmt(*id) {
                Stmt::Let { init, .. } if init.is_none_or(|init| self.is_pure(init)) => {}
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } if kernel.block(otherwise).next().is_none() => {
                    let mut inner = kernel.block(then).map(|id| kernel.stmt(id));
                    let returns = matches!(inner.next(), Some(Stmt::Return));
                    let is_all = at + 1 == stmts.len();
                    return (self.is_pure(cond)
                        && (is_all || returns)
                        && self.excludes(cond, !returns))
                    .then_some(cond);
                }
                _ => return None,
            }
        }
        None
    }

    fn is_pure(&self, expr: ExprId) -> bool {
        let mut all = self.kernel.exprs_in([expr]);
        !all.any(|id| matches!(self.kernel.expr(id).facts().reads, Reads::Memory(_)))
    }

    /// True if the condition is not `truth` for each thread from the extent on along x.
    fn excludes(&self, cond: ExprId, truth: bool) -> bool {
        match (self.kernel.expr(cond), truth) {
            (Expr::And { lhs, rhs }, true) | (Expr::Or { lhs, rhs }, false) => {
                self.excludes(lhs, truth) || self.excludes(rhs, truth)
            }
            (
                Expr::Unary {
                    op: UnaryOp::Not,
                    arg,
                },
                _,
            ) => self.excludes(arg, !truth),
            (
                Expr::Binary {
                    op: BinaryOp::Lt,
                    lhs,
                    rhs,
                },
                true,
            )
            | (
                Expr::Binary {
                    op: BinaryOp::Ge,
                    lhs,
                    rhs,
                },
                false,
            ) => self.is_limit(lhs, rhs),
            (
                Expr::Binary {
                    op: BinaryOp::Gt,
                    lhs,
                    rhs,
                },
                true,
            )
            | (
                Expr::Binary {
                    op: BinaryOp::Le,
                    lhs,
                    rhs,
                },
                false,
            ) => self.is_limit(rhs, lhs),
            (_, _) => false,
        }
    }

    /// True for the id along x and a limit of at most the extent.
    fn is_limit(&self, id: ExprId, limit: ExprId) -> bool {
        let of_thread = Expr::Builtin(Builtin::GlobalIdx(Axis::X));
        let limit = (self.value)(resolved(self.kernel, limit));
        resolved(self.kernel, id) == of_thread && limit.is_some_and(|limit| limit <= self.extent)
    }
}

impl fmt::Display for Privatize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "blocks of {} threads collect their atomic operations in shared memory",
            self.block
        )?;
        match self.turns {
            1 => Ok(()),
            turns => write!(f, ", {turns} for each thread"),
        }
    }
}
