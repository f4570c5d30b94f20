//! Transfer functions of statements.

use super::env::Env;
use super::refine::is_stable;
use super::sums::Sum;
use super::{Analyser, LoopPaths};
use crate::analysis::linear::{Comparison, Interval, Relation};
use crate::analysis::stepped::{Stepped, stepped_range};
use crate::{
    BinaryOp, Block, DivideOp, Expr, ExprId, Kernel, LabelId, List, LocalId, Memory, NativeId,
    SiteId, Stmt, StmtId,
};

/// The number of rounds in which the states before and after an iteration are joined, before moving bounds are
/// widened. One round suffices for values that alternate (`out = 1 - out`).
const JOINS: usize = 1;

/// The number of narrowing rounds of a loop.
const NARROWINGS: usize = 2;

/// The number of statements after which loops run only once, with all locals unknown. Each loop runs about six
/// times, so the cost grows exponentially with nesting.
const MOST_STEPS: usize = 100_000;

/// The turns of a loop that are run one by one. A local that is doubled or halved has fewer bits.
const MOST_TURNS: usize = 64;

impl Analyser<'_> {
    pub(super) fn block(&mut self, block: Block) {
        let depth = self.scope.len();
        for i in block.0.range() {
            if !self.env.live {
                break;
            }
            self.stmt(StmtId(self.kernel.lists[i]));
        }
        self.scope.truncate(depth);
    }

    fn stmt(&mut self, id: StmtId) {
        self.steps += 1;
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => self.declare(local, init),
            Stmt::Assign { local, value } => {
                let range = self.whole(value);
                let sum = self.sum_of_value(local, value);
                self.give(local, sum);
                self.env.locals[local.index()] = range;
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                self.whole(value);
                self.whole_index(memory, index, site);
            }
            Stmt::Assert { cond, site } => {
                self.doubtful = false;
                let cond = self.whole(cond);
                self.check(Some(site), cond == Interval::exactly(1) && !self.doubtful);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise),
            Stmt::Loop { label, cond, body } => self.unbounded(label, cond, body),
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => self.counted(label, local, (start, end), body),
            Stmt::Break { label } => {
                let env = self.leave();
                merge(&mut self.paths(label).breaks, env);
            }
            Stmt::Continue { label } => {
                let env = self.leave();
                merge(&mut self.paths(label).continues, env);
            }
            Stmt::Return => self.env.live = false,
            Stmt::Panic { site } => {
                self.check(Some(site), false);
                self.env.live = false;
            }
            Stmt::Print { print } => self.operands(self.kernel.prints[print.index()].args),
            Stmt::Update { .. } | Stmt::Call { .. } => {
                unreachable!("linking leaves no compound")
            }
            Stmt::Barrier | Stmt::Fence { .. } => {}
            Stmt::Atomic {
                memory,
                index,
                args,
                result,
                site,
                ..
            } => {
                self.operands(args);
                self.whole_index(memory, index, site);
                self.forget(result);
            }
            Stmt::Subgroup { args, result, .. } => {
                self.operands(args);
                self.forget(Some(result));
            }
            Stmt::Native { native } => self.native(native),
        }
    }

    fn operands(&mut self, list: List) {
        for operand in self.kernel.list(list).collect::<Vec<_>>() {
            self.whole(operand);
        }
    }

    /// Evaluates an index that is no operand of another expression.
    fn whole_index(&mut self, memory: Memory, index: ExprId, site: Option<SiteId>) {
        self.overflowed = false;
        self.index(memory, index, site);
    }

    /// The value that is assigned to a local, as a sum.
    fn sum_of_value(&mut self, local: LocalId, value: ExprId) -> Option<Sum> {
        let ty = self.kernel.locals[local.index()].ty.as_scalar();
        ty.filter(|ty| ty.is_int()).and_then(|_| self.sum(value))
    }

    /// Records that the local may have any value.
    fn forget(&mut self, local: Option<LocalId>) {
        if let Some(local) = local {
            let ty = self.kernel.locals[local.index()].ty;
            self.give(local, None);
            self.env.locals[local.index()] = Interval::of_type(ty);
        }
    }

    /// Evaluates an expression that is no operand of another one.
    fn whole(&mut self, id: ExprId) -> Interval {
        self.overflowed = false;
        self.eval(id)
    }

    fn declare(&mut self, local: LocalId, init: Option<ExprId>) {
        let decl = &self.kernel.locals[local.index()];
        let Some(init) = init else {
            return self.forget(Some(local));
        };
        let range = self.whole(init);
        let sum = self.sum_of_value(local, init);
        self.give(local, sum);
        self.env.locals[local.index()] = range;
        if decl.mutable {
            return;
        }
        if self.record {
            self.tainted[local.index()] = self.overflowed;
        }
        let followed = !decl.ty.scalar().is_float() && is_stable(self.kernel, init);
        self.defs[local.index()] = followed.then_some(init);
        if followed {
            self.scope.push(local);
        }
    }

    fn branch(&mut self, cond: ExprId, then: Block, otherwise: Block) {
        let truth = self.whole(cond);
        if self.record && self.env.live && truth.contains(0) {
            self.out.may_fail[cond.index()] = true;
        }
        let before = self.env.clone();
        if truth.contains(1) {
            self.assume(cond, true);
            self.block(then);
        } else {
            self.env.live = false;
        }
        let taken = std::mem::replace(&mut self.env, before);
        if truth.contains(0) {
            self.assume(cond, false);
            self.block(otherwise);
        } else {
            self.env.live = false;
        }
        self.env.join(&taken);
    }

    /// Takes the state for a jump. The code after the jump is unreachable.
    fn leave(&mut self) -> Env {
        let env = self.env.clone();
        self.env.live = false;
        env
    }

    fn paths(&mut self, label: LabelId) -> &mut LoopPaths {
        let found = self.loops.iter_mut().rev().find(|l| l.label == label);
        found.unwrap_or_else(|| unreachable!("jumps of a validated kernel name enclosing loops"))
    }

    /// Runs a loop's body once from the current state. Leaves the state at the next iteration, and returns the
    /// state at the `break`s.
    fn iterate(&mut self, label: LabelId, body: Block) -> Option<Env> {
        self.loops.push(LoopPaths {
            label,
            breaks: None,
            continues: None,
        });
        if self.env.live {
            self.block(body);
        }
        let paths = self.loops.pop();
        let paths = paths.unwrap_or_else(|| unreachable!("pushed above"));
        if let Some(continues) = &paths.continues {
            self.env.join(continues);
        }
        paths.breaks
    }

    /// Finds an invariant of the loop's head, and then leaves the loop. `pass` runs one iteration from the
    /// current state, leaves the state at the next iteration, and returns the state after the loop.
    fn fixpoint(&mut self, mut pass: impl FnMut(&mut Self) -> Env) {
        if self.steps > MOST_STEPS {
            self.env.forget_locals(self.kernel);
            self.env = pass(self);
            return;
        }
        let entry = self.env.clone();
        let exit = pass(self);
        if self.env.within(&entry) {
            self.env = exit;
            return;
        }
        let record = std::mem::replace(&mut self.record, false);
        let mut head = entry.clone();
        for round in 0.. {
            match round < JOINS {
                true => head.join(&self.env),
                false => head.widen(&self.env, self.kernel),
            }
            self.env = head.clone();
            pass(self);
            if self.env.within(&head) {
                break;
            }
        }
        for _ in 0..NARROWINGS {
            let mut narrower = entry.clone();
            narrower.join(&self.env);
            self.env = narrower.clone();
            pass(self);
            if !self.env.within(&narrower) {
                break;
            }
            head = narrower;
        }
        self.record = record;
        self.env = head;
        let exit = pass(self);
        self.env = exit;
    }

    fn unbounded(&mut self, label: LabelId, cond: Option<ExprId>, body: Block) {
        if let Some(cond) = cond
            && !self.after_faults
            && is_geometric(self.kernel, body)
        {
            return self.unrolled(label, cond, body);
        }
        self.unbounded_by_fixpoint(label, cond, body);
    }

    fn unbounded_by_fixpoint(&mut self, label: LabelId, cond: Option<ExprId>, body: Block) {
        let after_faults = self.after_faults;
        let stepped = cond.and_then(|cond| stepped_range(self.kernel, cond, body));
        let turns = match (&stepped, cond) {
            (Some(of), _) => self.turns_of_stepped(of),
            (None, Some(cond)) => self.turns_of_while(label, cond, body),
            (None, None) => None,
        };
        let limits = turns.map_or_else(Vec::new, |turns| self.limits(body, turns));
        self.fixpoint(|this| {
            let mut exit = this.env.clone();
            match cond {
                Some(cond) => {
                    this.whole(cond);
                    let head = this.env.clone();
                    if !after_faults {
                        this.assume(cond, false);
                        exit = std::mem::replace(&mut this.env, head);
                    }
                    this.hold(&limits);
                    this.assume(cond, true);
                    if let Some(of) = &stepped {
                        this.assume_stepped(of);
                    }
                }
                None => exit.live &= after_faults,
            }
            if let Some(breaks) = this.iterate(label, body) {
                exit.join(&breaks);
            }
            exit
        });
    }

    /// Begins a turn of a loop over a stepped range: the current value is within the range.
    fn assume_stepped(&mut self, of: &Stepped) {
        let relation = match of.inclusive {
            true => Relation::Le,
            false => Relation::Lt,
        };
        self.assume_comparison(Comparison {
            relation,
            lhs: of.here,
            rhs: of.end,
        });
        if let Some(last) = self.last_of_stepped(of) {
            self.hold(&[(of.next, last)]);
        }
    }

    /// Runs a loop turn by turn, as long as its condition is certain.
    fn unrolled(&mut self, label: LabelId, cond: ExprId, body: Block) {
        let mut exits: Option<Env> = None;
        for _ in 0..MOST_TURNS {
            let goes_on = self.env.live && self.steps <= MOST_STEPS;
            if !goes_on || self.whole(cond) != Interval::exactly(1) {
                break;
            }
            self.assume(cond, true);
            if let Some(breaks) = self.iterate(label, body) {
                merge(&mut exits, breaks);
            }
        }
        if self.env.live {
            self.unbounded_by_fixpoint(label, Some(cond), body);
        }
        if let Some(exits) = exits {
            self.env.join(&exits);
        }
    }

    fn counted(
        &mut self,
        label: LabelId,
        local: LocalId,
        (start, end): (ExprId, ExprId),
        body: Block,
    ) {
        let from = self.whole(start);
        let tainted = self.overflowed;
        let to = self.whole(end);
        if self.record {
            self.tainted[local.index()] = tainted | self.overflowed;
        }
        let first = self.lasting_sum(start);
        let last = self.lasting_sum(end);
        let counter = Interval::new(from.lo, to.hi.saturating_sub(1));
        if counter.is_empty() {
            return;
        }
        let limits = self.limits(body, to.hi.saturating_sub(from.lo));
        self.fixpoint(|this| {
            let mut exit = this.env.clone();
            this.hold(&limits);
            this.env.locals[local.index()] = counter;
            this.count(local, first.as_ref(), last.as_ref());
            let breaks = this.iterate(label, body);
            // The counter's range does not flow from one iteration to the next.
            this.env.locals[local.index()] = exit.locals[local.index()];
            exit.join(&this.env);
            if let Some(breaks) = breaks {
                exit.join(&breaks);
            }
            exit
        });
    }

    fn native(&mut self, id: NativeId) {
        let kernel = self.kernel;
        let before = self.env.clone();
        for local in kernel.changed_by_text(id) {
            self.forget(Some(local));
        }
        if let Some(fallback) = kernel.natives[id.index()].fallback {
            let text = std::mem::replace(&mut self.env, before);
            self.block(fallback);
            self.env.join(&text);
        }
    }
}

/// Joins the state of one more path.
fn merge(paths: &mut Option<Env>, env: Env) {
    match paths {
        Some(paths) => paths.join(&env),
        None => *paths = Some(env),
    }
}

/// True if the body doubles or halves a local, or the like, so that the loop has few turns.
fn is_geometric(kernel: &Kernel, body: Block) -> bool {
    let mut stmts = kernel.stmts_in(kernel.block(body));
    stmts.any(|id| {
        let Stmt::Assign { local, value } = kernel.stmt(id) else {
            return false;
        };
        let itself = |e: ExprId| kernel.expr(e) == Expr::Local(local);
        match kernel.expr(value) {
            Expr::Binary { op, lhs, rhs } => match op {
                BinaryOp::Mul => itself(lhs) || itself(rhs),
                BinaryOp::Shl | BinaryOp::Shr => itself(lhs),
                _ => false,
            },
            Expr::Divide {
                op: DivideOp::Div | DivideOp::DivEuclid,
                lhs,
                ..
            } => itself(lhs),
            _ => false,
        }
    })
}
