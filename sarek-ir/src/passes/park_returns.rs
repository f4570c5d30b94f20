//! Threads that return before a barrier are parked instead, for targets whose barriers count all threads.
//!
//! **The flag.** A `return` that some threads take, and that a barrier may follow, clears the thread's local
//! `active`. What comes after it stands under `if active`, except the *spine* ([`Spine`]): barriers, and what
//! decides whether and how often they are come to. Every thread follows the spine to its end, parked or
//! not. That is possible because all of it is uniform and without effects: it reads only parameters, ids, memory that
//! nobody writes, and locals that are assigned on the spine themselves, so that a parked thread that follows it has
//! the same values as an active one.
//!
//! **When all are parked** the source says that nobody goes on. The spine's values may then be absurd: a loop that
//! never ends, a load whose check was dropped because a guard that returned proved it. So before such places
//! (*delicate* ones) the block votes: threads that are active write the number of the round to a shared
//! element, and behind a barrier everybody returns if it still holds the last round's. Other threads cannot be
//! further than the next vote's write, which is larger still; so all read the same answer, with one barrier for each vote.
//! The vote stands at the head of each iteration of a loop in which threads are parked, otherwise once.
//!
//! **Faults.** A thread that faults on an accelerator goes on with made-up values. On the spine there
//! must be none: a check there fails for all threads alike, so it becomes a condition under which the
//! fault is recorded and all return. Elsewhere the thread cannot be led off the spine, whose values do not depend on
//! it; but an unbounded loop may have been meant to end by that fault, of one thread or of all. So where anything is
//! checked, unbounded loops of the spine vote too: a thread that has faulted writes the round to a second element, and
//! all return if it holds it. ([`super::guard_loops`] sees to the loops beside the spine.)

mod checks;
mod emit;
mod facts;
mod fits;

use super::hoist_decls::hoist;
use crate::analysis::spine::Spine;
use crate::{Block, ExprId, Kernel, LabelId, Loc, LocalId, Stmt, StmtId};
use emit::Vote;
use facts::Facts;

/// Keeps the threads of a block together at barriers: those that return, or fault, follow.
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
    /// Of the kernel as it was.
    facts: Facts,
    active: Option<LocalId>,
    vote: Option<Vote>,
}

/// What may have happened on the way to a statement of the spine.
#[derive(Clone, Copy, Default)]
struct State {
    /// Some threads may be parked.
    parked: bool,
    /// Some were since the last vote.
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

    /// Statements beside the spine, of which only the last may park threads.
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

    /// Statements in which each `return` that parks becomes one that leaves only them; `around` is the innermost
    /// loop around them that is not on the spine.
    fn leaving(&mut self, stmts: &[StmtId], around: Option<LabelId>, out: &mut Vec<StmtId>) {
        for (i, &id) in stmts.iter().enumerate() {
            if !self.facts.parks(id) {
                out.push(id);
                continue;
            }
            let loc = self.loc(id);
            let rest = &stmts[i + 1..];
            let inner = match self.kernel.stmt(id) {
                Stmt::Return => {
                    out.push(self.park(loc));
                    out.extend(around.map(|label| self.jump(Stmt::Break { label }, loc)));
                    return;
                }
                Stmt::Loop { label, .. } | Stmt::For { label, .. } => Some(label),
                Stmt::If { .. } | Stmt::Native { .. } => around,
                Stmt::Let { .. }
                | Stmt::Assign { .. }
                | Stmt::Store { .. }
                | Stmt::Assert { .. }
                | Stmt::Break { .. }
                | Stmt::Continue { .. }
                | Stmt::Barrier
                | Stmt::Fence { .. }
                | Stmt::Panic { .. }
                | Stmt::Print { .. }
                | Stmt::Atomic { .. }
                | Stmt::Subgroup { .. }
                | Stmt::Update { .. }
                | Stmt::Call { .. } => {
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
                // A jump has already led out of the loop around.
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

    /// Replaces the blocks that a statement holds.
    fn map_blocks(&mut self, id: StmtId, f: &mut dyn FnMut(&mut Self, Block) -> Vec<StmtId>) {
        let blocks = self.kernel.children(self.kernel.stmt(id)).1;
        let mut new = vec![];
        for block in blocks {
            let stmts = f(self, block);
            new.push(self.kernel.push_block(&stmts));
        }
        let mut new = new.into_iter();
        super::map_blocks(self.kernel, id, &mut |_, old| new.next().unwrap_or(old));
    }

    fn spine_stmt(&mut self, id: StmtId, state: &mut State, out: &mut Vec<StmtId>) {
        let loc = self.loc(id);
        let stmt = self.kernel.stmt(id);
        // Such a loop asks before anything else.
        let asks = matches!(stmt, Stmt::Loop { .. }) && self.facts.polls(id);
        if self.facts.delicate(id) && state.unasked && !asks {
            out.extend(self.ask(loc));
            state.unasked = false;
        }
        match stmt {
            Stmt::Let { init: None, .. }
            | Stmt::Barrier
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return => out.push(id),
            Stmt::Let {
                local,
                init: Some(init),
            } => {
                let [init] = self.settled([init], loc, out);
                let init = Some(init);
                self.set(id, Stmt::Let { local, init });
                out.push(id);
            }
            Stmt::Assign { local, value } => {
                let [value] = self.settled([value], loc, out);
                self.set(id, Stmt::Assign { local, value });
                out.push(id);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let [cond] = self.settled([cond], loc, out);
                self.set(
                    id,
                    Stmt::If {
                        cond,
                        then,
                        otherwise,
                    },
                );
                self.branches(id, state);
                out.push(id);
            }
            Stmt::Native { .. } => {
                self.branches(id, state);
                out.push(id);
            }
            Stmt::Loop { label, cond, body } => self.unbounded(id, (label, cond, body), state, out),
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                let [start, end] = self.settled([start, end], loc, out);
                let body = self.iteration(id, vec![], body, state);
                self.set(
                    id,
                    Stmt::For {
                        label,
                        local,
                        start,
                        end,
                        body,
                    },
                );
                out.push(id);
            }
            Stmt::Store { .. }
            | Stmt::Assert { .. }
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Atomic { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Update { .. }
            | Stmt::Call { .. } => unreachable!("it decides nothing about barriers"),
        }
    }

    fn set(&mut self, id: StmtId, stmt: Stmt) {
        self.kernel.stmts.to_mut()[id.index()] = stmt;
    }

    /// The blocks of a statement of which each thread takes one.
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
        // The condition comes behind the vote and its own check.
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

    /// The body of a loop on the spine, after a vote if it takes one, and `head`.
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
