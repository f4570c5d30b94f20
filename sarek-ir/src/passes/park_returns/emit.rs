//! Emits the flag of a thread and the vote of a block.

use super::Pass;
use crate::{
    AtomicOp, Axis, BinaryOp, Block, Builtin, Expr, ExprId, Length, List, Loc, Local, LocalId,
    Memory, Scalar, SharedArray, SharedId, Stmt, StmtId, UnaryOp, Value,
};

/// The state of a block's votes.
#[derive(Clone, Copy)]
pub(super) struct Vote {
    /// The local with the number of the last vote.
    round: LocalId,
    /// The shared array with the round of the last vote in which a thread was active, and of the last in which one had
    /// faulted.
    last: SharedId,
}

const NO_ARGS: List = List { start: 0, len: 0 };

impl Pass<'_> {
    fn local(&mut self, name: &'static str, ty: Scalar) -> LocalId {
        self.kernel.push_local(Local {
            name: name.into(),
            ty: ty.into(),
            mutable: true,
        })
    }

    fn active(&mut self) -> LocalId {
        if let Some(active) = self.active {
            return active;
        }
        let active = self.local("active", Scalar::Bool);
        *self.active.insert(active)
    }

    pub(super) fn is_active(&mut self, loc: Loc) -> ExprId {
        let active = self.active();
        self.kernel.push_local_read(active, loc)
    }

    /// `active = false;`
    pub(super) fn park(&mut self, loc: Loc) -> StmtId {
        let local = self.active();
        let value = self.kernel.push_literal(Value::Bool(false), loc);
        self.kernel.push_stmt(Stmt::Assign { local, value }, loc)
    }

    pub(super) fn jump(&mut self, stmt: Stmt, loc: Loc) -> StmtId {
        self.kernel.push_stmt(stmt, loc)
    }

    /// `if cond { then }`
    pub(super) fn branch(&mut self, cond: ExprId, then: &[StmtId], loc: Loc) -> StmtId {
        let then = self.kernel.push_block(then);
        let otherwise = Block::EMPTY;
        let branch = Stmt::If {
            cond,
            then,
            otherwise,
        };
        self.kernel.push_stmt(branch, loc)
    }

    pub(super) fn not(&mut self, arg: ExprId, loc: Loc) -> ExprId {
        let op = UnaryOp::Not;
        self.kernel
            .push_expr(Expr::Unary { op, arg }, Scalar::Bool, loc)
    }

    fn and(&mut self, lhs: ExprId, rhs: ExprId, loc: Loc) -> ExprId {
        self.kernel
            .push_expr(Expr::And { lhs, rhs }, Scalar::Bool, loc)
    }

    fn vote(&mut self) -> Vote {
        if let Some(vote) = self.vote {
            return vote;
        }
        let round = self.local("round", Scalar::I32);
        self.kernel.shared.to_mut().push(SharedArray {
            name: "last_round".into(),
            elem: Scalar::I32.into(),
            len: Length::Fixed(2),
            atomic: true,
        });
        let last = SharedId(self.kernel.shared.len() as u32 - 1);
        *self.vote.insert(Vote { round, last })
    }

    /// Declares and initializes the variables that the pass uses.
    pub(super) fn prelude(&mut self) -> Vec<StmtId> {
        let loc = Loc::default();
        let mut out = vec![];
        if let Some(active) = self.active {
            out.push(self.declare(active, Value::Bool(true), loc));
        }
        if let Some(vote) = self.vote {
            out.push(self.declare(vote.round, Value::I32(0), loc));
            let zero = self.kernel.push_literal(Value::I32(0), loc);
            let clear = self.access(vote, 0, AtomicOp::Store, Some(zero), None, loc);
            let zero = self.kernel.push_literal(Value::I32(0), loc);
            let other = self.access(vote, 1, AtomicOp::Store, Some(zero), None, loc);
            let first = Axis::ALL.map(|axis| {
                let id = Builtin::ThreadIdx(axis);
                let id = self.kernel.push_expr(Expr::Builtin(id), Scalar::Usize, loc);
                let zero = self.kernel.push_literal(Value::Usize(0), loc);
                self.compare(id, zero, loc)
            });
            let [x, y, z] = first;
            let xy = self.and(x, y, loc);
            let first = self.and(xy, z, loc);
            out.push(self.branch(first, &[clear, other], loc));
            out.push(self.kernel.push_stmt(Stmt::Barrier, loc));
        }
        out
    }

    fn declare(&mut self, local: LocalId, value: Value, loc: Loc) -> StmtId {
        let init = Some(self.kernel.push_literal(value, loc));
        self.kernel.push_stmt(Stmt::Let { local, init }, loc)
    }

    fn compare(&mut self, lhs: ExprId, rhs: ExprId, loc: Loc) -> ExprId {
        let op = BinaryOp::Eq;
        self.kernel
            .push_expr(Expr::Binary { op, lhs, rhs }, Scalar::Bool, loc)
    }

    fn access(
        &mut self,
        vote: Vote,
        element: u64,
        op: AtomicOp,
        arg: Option<ExprId>,
        result: Option<LocalId>,
        loc: Loc,
    ) -> StmtId {
        let args = match arg {
            Some(arg) => self.kernel.push_list(&[arg]),
            None => NO_ARGS,
        };
        let index = self.kernel.push_literal(Value::Usize(element), loc);
        let access = Stmt::Atomic {
            op,
            memory: Memory::Shared(vote.last),
            index,
            args,
            result,
            site: None,
        };
        self.kernel.push_stmt(access, loc)
    }

    /// `round + by`
    fn round(&mut self, vote: Vote, by: i32, loc: Loc) -> ExprId {
        let lhs = self.kernel.push_local_read(vote.round, loc);
        let rhs = self.kernel.push_literal(Value::I32(by), loc);
        let op = BinaryOp::Add;
        self.kernel
            .push_expr(Expr::Binary { op, lhs, rhs }, Scalar::I32, loc)
    }

    /// A vote: all threads return if no thread is active.
    pub(super) fn ask(&mut self, loc: Loc) -> Vec<StmtId> {
        let vote = self.vote();
        let value = self.round(vote, 1, loc);
        let local = vote.round;
        let mut out = vec![self.kernel.push_stmt(Stmt::Assign { local, value }, loc)];
        let here = self.kernel.push_local_read(vote.round, loc);
        let write = self.access(vote, 0, AtomicOp::Store, Some(here), None, loc);
        out.push(match self.votes(loc) {
            Some(votes) => self.branch(votes, &[write], loc),
            None => write,
        });
        if self.facts.checked {
            let here = self.kernel.push_local_read(vote.round, loc);
            let write = self.access(vote, 1, AtomicOp::Store, Some(here), None, loc);
            let faulted = self.kernel.push_expr(Expr::Faulted, Scalar::Bool, loc);
            out.push(self.branch(faulted, &[write], loc));
        }
        out.push(self.kernel.push_stmt(Stmt::Barrier, loc));
        if self.facts.checked {
            let stopped = self.seen(vote, 1, loc, &mut out);
            let here = self.kernel.push_local_read(vote.round, loc);
            let stop = self.compare(stopped, here, loc);
            let leave = self.jump(Stmt::Return, loc);
            out.push(self.branch(stop, &[leave], loc));
        }
        let seen = self.seen(vote, 0, loc, &mut out);
        let before = self.round(vote, -1, loc);
        let nobody = self.compare(seen, before, loc);
        let leave = self.jump(Stmt::Return, loc);
        out.push(self.branch(nobody, &[leave], loc));
        out
    }

    /// The content of an element after the barrier of a vote.
    fn seen(&mut self, vote: Vote, element: u64, loc: Loc, out: &mut Vec<StmtId>) -> ExprId {
        let seen = self.local("seen", Scalar::I32);
        let declare = Stmt::Let {
            local: seen,
            init: None,
        };
        out.push(self.kernel.push_stmt(declare, loc));
        out.push(self.access(vote, element, AtomicOp::Load, None, Some(seen), loc));
        self.kernel.push_local_read(seen, loc)
    }

    /// True if this thread runs as the source says. `None` if every thread always does.
    fn votes(&mut self, loc: Loc) -> Option<ExprId> {
        let active = self.facts.parks_any().then(|| self.is_active(loc));
        let sound = self.facts.checked.then(|| {
            let faulted = self.kernel.push_expr(Expr::Faulted, Scalar::Bool, loc);
            self.not(faulted, loc)
        });
        match (active, sound) {
            (Some(active), Some(sound)) => Some(self.and(active, sound, loc)),
            (one, None) | (None, one) => one,
        }
    }
}
