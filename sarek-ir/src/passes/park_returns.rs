//! Parks threads that return before a barrier, for targets whose barriers count all threads.
//!
//! The pass adds a local flag, and where the block must vote, barriers and a shared array.
//!
//! **The flag.** Take a `return` that only some threads reach, and a barrier that may follow it. The `return` becomes
//! `active = false`: the thread is *parked*. The code after it goes under `if active`, except the *spine* ([`Spine`]):
//! barriers, and the code that decides whether and how often they are reached. Every thread follows the spine to its
//! end, parked or not. That is possible because the spine is uniform and without effects. It reads only parameters,
//! ids, memory that no thread writes, and locals that are assigned on the spine. So a parked thread that follows it
//! has the same values as an active one.
//!
//! **When all are parked,** no thread of the source would continue, and the spine's values may be meaningless. A loop
//! may never end. A load may be unchecked because the guard whose `return` parked the threads proved its index. Such
//! places are *delicate*, and the block votes before them:
//!
//! 1. Each vote has a number, its *round*. Active threads write the round to a shared element.
//! 2. All threads meet at a barrier.
//! 3. If the element still holds the previous round, no thread is active, and all threads return.
//!
//! A fast thread may already write the next round while a slow one still reads. That number is larger, so both read
//! that a thread is active. So one barrier for each vote is enough. A loop in which threads park votes at the head of
//! each iteration; elsewhere there is one vote.
//!
//! **Faults.** A thread that faults on an accelerator continues with made-up values. The spine must have no such
//! values. A check on the spine fails for all threads alike, so it becomes a condition: if it fails, the fault is
//! recorded and all threads return. A fault elsewhere cannot divert the thread from the spine, whose values do not
//! depend on it. But such a fault, of one thread or of all, may have been the intended end of an unbounded loop. So if
//! the kernel has checks, each loop of the spine that may not end by itself votes too: a faulted thread writes the round
//! to a second element, and all threads return if it holds that round. ([`super::guard_loops`] handles the loops outside
//! the spine.)

mod checks;
mod emit;
mod facts;
mod fits;

use super::hoist_decls::hoist;
use crate::analysis::spine::Spine;
use crate::facts::Flow;
use crate::{Block, ExprId, Kernel, LabelId, Loc, LocalId, Stmt, StmtId};
use emit::Vote;
use facts::Facts;

/// Keeps the threads of a block together at barriers, including those that return or fault.
pub fn park_returns(kernel: &mut Kernel) {
    let spine = Spine::of(kernel);
    if spine.is_empty() {
        return;
    }
    let facts = Facts::of(kernel, &spine);
    let body = kernel.body;
    let mut pass = Pass {
        kernel,
        spine,
        facts,
        active: None,
        vote: None,
    };
    let mut state = State::default();
    let body = pass.spine_block(body, &mut state);
    let mut stmts = pass.prelude();
    stmts.extend(body);
    kernel.body = kernel.push_block(&stmts);
}

struct Pass<'a> {
    kernel: &'a mut Kernel,
    spine: Spine,
    /// The facts of the original kernel.
    facts: Facts,
    active: Option<LocalId>,
    vote: Option<Vote>,
}

/// The possible history of the threads at a statement of the spine.
#[derive(Clone, Copy, Default)]
struct State {
    /// Some threads may be parked.
    parked: bool,
    /// Some threads may have been parked since the last vote.
    unasked: bool,
}

impl State {
    fn or(self, other: State) -> State {
        State {
            parked: self.parked | other.parked,
            unasked: self.unasked | other.unasked,
        }
    }
}

impl Pass<'_> {
    fn loc(&self, id: StmtId) -> Loc {
        self.kernel.stmt_locs[id.index()]
    }

    fn spine_block(&mut self, block: Block, state: &mut State) -> Vec<StmtId> {
        let stmts: Vec<StmtId> = self.kernel.block(block).collect();
        let (mut out, mut start) = (vec![], 0);
        for (i, &id) in stmts.iter().enumerate() {
            let on = self.spine.has(id);
            if !on && !self.facts.parks(id) {
                continue;
            }
            let end = if on { i } else { i + 1 };
            self.aside(&stmts[start..end], &stmts[end..], state, &mut out);
            start = i + 1;
            if on {
                self.spine_stmt(id, state, &mut out);
            } else {
                state.parked = true;
                state.unasked = true;
            }
        }
        self.aside(&stmts[start..], &[], state, &mut out);
        out
    }

    /// Transforms statements outside the spine. Only the last of them may park threads.
    fn aside(&mut self, stmts: &[StmtId], later: &[StmtId], state: &State, out: &mut Vec<StmtId>) {
        let Some(&first) = stmts.first() else {
            return;
        };
        let loc = self.loc(first);
        if !state.parked {
            return self.leaving(stmts, None, out);
        }
        let mut kept = vec![];
        for &id in stmts {
            kept.extend(hoist(self.kernel, id, later, out));
        }
        let mut guarded = vec![];
        self.leaving(&kept, None, &mut guarded);
        if !guarded.is_empty() {
            let active = self.is_active(loc);
            out.push(self.branch(active, &guarded, loc));
        }
    }

    /// Transforms statements so that each `return` that parks leaves only these statements. `around` is their innermost
    /// enclosing loop outside the spine.
    fn leaving(&mut self, stmts: &[StmtId], around: Option<LabelId>, out: &mut Vec<StmtId>) {
        for (i, &id) in stmts.iter().enumerate() {
            if !self.facts.parks(id) {
                out.push(id);
                continue;
            }
            let loc = self.loc(id);
            let rest = &stmts[i + 1..];
            let inner = match self.kernel.stmt(id).facts().flow {
                Flow::Return => {
                    out.push(self.park(loc));
                    out.extend(around.map(|label| self.jump(Stmt::Break { label }, loc)));
                    return;
                }
                Flow::Loop(label) => Some(label),
                Flow::Branch | Flow::Next => around,
                Flow::Break(_) | Flow::Continue(_) | Flow::Panic => {
                    unreachable!("only a `return`, and what holds one, parks threads")
                }
            };
            self.inside(id, inner);
            out.push(id);
            match around {
                None if rest.is_empty() => return,
                None => {
                    let mut guarded = vec![];
                    self.leaving(rest, None, &mut guarded);
                    let active = self.is_active(loc);
                    out.push(self.branch(active, &guarded, loc));
                    return;
                }
                // A jump has left the enclosing loop already.
                Some(_) if inner == around => {}
                Some(label) => {
                    let active = self.is_active(loc);
                    let parked = self.not(active, loc);
                    let leave = self.jump(Stmt::Break { label }, loc);
                    out.push(self.branch(parked, &[leave], loc));
                }
            }
        }
    }

    fn inside(&mut self, id: StmtId, around: Option<LabelId>) {
        self.map_blocks(id, &mut |pass, block| {
            let stmts: Vec<StmtId> = pass.kernel.block(block).collect();
            let mut out = vec![];
            pass.leaving(&stmts, around, &mut out);
            out
        });
    }

    /// Replaces the blocks of a statement.
    fn map_blocks(&mut self, id: StmtId, f: &mut dyn FnMut(&mut Self, Block) -> Vec<StmtId>) {
        let blocks = self.kernel.blocks_of(id);
        let mut new = vec![];
        for block in blocks {
            let stmts = f(self, block);
            new.push(self.kernel.push_block(&stmts));
        }
        let mut new = new.into_iter();
        self.kernel
            .map_blocks(id, &mut |_, old| new.next().unwrap_or(old));
    }

    fn spine_stmt(&mut self, id: StmtId, state: &mut State, out: &mut Vec<StmtId>) {
        let loc = self.loc(id);
        let stmt = self.kernel.stmt(id);
        // Such a loop votes before anything else.
        let asks = matches!(stmt, Stmt::Loop { .. }) && self.facts.polls(id);
        if self.facts.delicate(id) && state.unasked && !asks {
            out.extend(self.ask(loc));
            state.unasked = false;
        }
        if let Stmt::Loop { label, cond, body } = stmt {
            return self.unbounded(id, (label, cond, body), state, out);
        }
        self.settle(id, out);
        if let Stmt::For { body, .. } = stmt {
            let body = self.iteration(id, vec![], body, state);
            self.kernel.map_blocks(id, &mut |_, _| body);
        } else {
            self.branches(id, state);
        }
        out.push(id);
    }

    /// Moves the checks of the values that a statement of the spine evaluates before the statement.
    fn settle(&mut self, id: StmtId, out: &mut Vec<StmtId>) {
        let loc = self.loc(id);
        let mut stmt = self.kernel.stmt(id);
        if let Stmt::Let {
            init: Some(value), ..
        }
        | Stmt::Assign { value, .. }
        | Stmt::If { cond: value, .. } = &mut stmt
        {
            [*value] = self.settled([*value], loc, out);
        } else if let Stmt::For { start, end, .. } = &mut stmt {
            [*start, *end] = self.settled([*start, *end], loc, out);
        } else {
            let operands = self.kernel.operands_of(id);
            assert!(
                operands.is_empty(),
                "{stmt:?} decides nothing about barriers"
            );
        }
        self.set(id, stmt);
    }

    fn set(&mut self, id: StmtId, stmt: Stmt) {
        self.kernel.stmts.to_mut()[id.index()] = stmt;
    }

    /// Transforms the blocks of a statement of which each thread executes one.
    fn branches(&mut self, id: StmtId, state: &mut State) {
        let before = *state;
        self.map_blocks(id, &mut |pass, block| {
            let mut own = before;
            let stmts = pass.spine_block(block, &mut own);
            *state = state.or(own);
            stmts
        });
    }

    fn unbounded(
        &mut self,
        id: StmtId,
        (label, cond, body): (LabelId, Option<ExprId>, Block),
        state: &mut State,
        out: &mut Vec<StmtId>,
    ) {
        let loc = self.loc(id);
        let mut head = vec![];
        // The condition goes after the vote and its own check.
        let moved = cond.filter(|c| self.facts.polls(id) || self.is_checked(*c));
        if let Some(cond) = moved {
            let [cond] = self.settled([cond], loc, &mut head);
            let over = self.not(cond, loc);
            let leave = self.jump(Stmt::Break { label }, loc);
            head.push(self.branch(over, &[leave], loc));
        }
        let cond = cond.filter(|_| moved.is_none());
        let body = self.iteration(id, head, body, state);
        self.set(id, Stmt::Loop { label, cond, body });
        out.push(id);
    }

    /// The body of a loop on the spine, preceded by its vote, if any, and by `head`.
    fn iteration(
        &mut self,
        id: StmtId,
        head: Vec<StmtId>,
        body: Block,
        state: &mut State,
    ) -> Block {
        let parks = self.facts.parks(id);
        let mut own = State {
            parked: state.parked | parks,
            unasked: state.unasked | parks,
        };
        let mut stmts = vec![];
        if self.facts.polls(id) {
            stmts = self.ask(self.loc(id));
            own.unasked = false;
        }
        stmts.extend(head);
        stmts.extend(self.spine_block(body, &mut own));
        state.parked |= parks;
        state.unasked |= parks;
        self.kernel.push_block(&stmts)
    }
}

#[cfg(test)]
mod tests;
