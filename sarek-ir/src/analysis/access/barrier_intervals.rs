//! Barrier intervals: the accesses of shared arrays that may happen between the same two barriers.
//!
//! All threads of a block pass the same barriers in the same order ([`crate::analysis::barriers`]). So two
//! accesses may race only if both lie on paths from one barrier to the next. The walk carries these paths, each
//! as the set of accesses on it. Where a construct contains a barrier, or a jump out of a loop with a barrier,
//! its condition is the same for all threads. Its branches therefore become separate paths. Any other statement
//! is a single step: all of its accesses join every open path.
//!
//! A callee may access all of an array that it is passed, up to the barrier with which it ends
//! ([`crate::analysis::race::function`]).
//!
//! A loop with a barrier is walked twice. In the second walk, the accesses before the first barrier join those
//! after the last barrier of the previous iteration. Values of the previous iteration have other symbols
//! ([`Values`]), so the two are not taken to be equal.

use std::collections::BTreeSet;

use super::Access;
use super::collect::Collector;
use super::induction::{Head, Kind};
use crate::analysis::linear::{Affine, Resolver, Terms, Values};
use crate::analysis::uniformity::Among;
use crate::facts::Flow;
use crate::{Block, ExprId, Kernel, LabelId, LocalId, Memory, Stmt, StmtId};

/// More paths than these are merged into one.
const MOST_WAYS: usize = 32;

/// The accesses on a path, by their indices.
type Way = BTreeSet<usize>;

/// The accesses of plain shared arrays, and for each barrier interval the indices of the accesses that may
/// happen in it. `among` holds assumptions about the threads of the block.
pub fn barrier_intervals(kernel: &Kernel, among: &Among) -> (Vec<Access>, Vec<BTreeSet<usize>>) {
    let resolver = Resolver::among(kernel, among.params.clone());
    let (accesses, intervals, _) = walk(kernel, among, resolver);
    (accesses, intervals)
}

/// [`barrier_intervals`] with the resolver of values.
pub fn barrier_intervals_of_values(
    kernel: &Kernel,
    among: &Among,
) -> (Vec<Access>, Vec<BTreeSet<usize>>, Terms) {
    walk(
        kernel,
        among,
        Resolver::of_values(kernel, among.params.clone()),
    )
}

fn walk(
    kernel: &Kernel,
    among: &Among,
    mut resolver: Resolver<'_>,
) -> (Vec<Access>, Vec<BTreeSet<usize>>, Terms) {
    resolver.block = Some(Values::new(kernel, among));
    let mut walk = Phases {
        collector: Collector::new(kernel, resolver),
        open: vec![Way::new()],
        closed: BTreeSet::new(),
        loops: vec![],
    };
    if !kernel.shared.is_empty() {
        walk.block(kernel.body);
        walk.close();
    }
    let terms = std::mem::take(walk.collector.resolver.terms());
    let intervals = walk.closed.into_iter().collect();
    (walk.collector.found, intervals, terms)
}

struct Phases<'a> {
    collector: Collector<'a>,
    /// The paths from the last barrier to the current point.
    open: Vec<Way>,
    closed: BTreeSet<Way>,
    loops: Vec<Around>,
}

/// A loop with a barrier.
struct Around {
    label: LabelId,
    /// The paths that leave the loop.
    exits: Vec<Way>,
    /// The paths that begin the next iteration early.
    nexts: Vec<Way>,
}

impl Phases<'_> {
    fn close(&mut self) {
        self.closed.extend(self.open.drain(..));
    }

    /// Removes duplicate paths, and merges all paths if there are too many.
    fn tidy(&mut self) {
        let ways: BTreeSet<Way> = self.open.drain(..).collect();
        if ways.len() > MOST_WAYS {
            self.open = vec![ways.into_iter().flatten().collect()];
        } else {
            self.open = ways.into_iter().collect();
        }
    }

    /// Adds the accesses that `step` finds to all open paths.
    fn step(&mut self, step: impl FnOnce(&mut Collector<'_>)) {
        let before = self.collector.found.len();
        step(&mut self.collector);
        let found = before..self.collector.found.len();
        for way in &mut self.open {
            way.extend(found.clone());
        }
    }

    fn block(&mut self, block: Block) {
        let mark = self.collector.mark();
        for stmt in self.collector.kernel.block(block) {
            self.stmt(stmt);
        }
        self.collector.release(mark);
    }

    fn stmt(&mut self, id: StmtId) {
        let kernel = self.collector.kernel;
        if !self.splits(id) {
            return self.step(|collector| collector.stmt(id));
        }
        match kernel.stmt(id) {
            Stmt::Barrier => self.barrier(),
            Stmt::Call { call } => {
                self.step(|collector| collector.stmt(id));
                self.barrier();
                // The callee may call its closures after its last barrier, too.
                self.step(|collector| collector.closures(call));
            }
            Stmt::Break { label } => self.jump(label, true),
            Stmt::Continue { label } => self.jump(label, false),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise),
            Stmt::Loop { label, cond, body } => {
                self.repeat((label, Kind::While(cond)), body, |this| {
                    if let Some(cond) = cond {
                        this.step(|collector| collector.expr(cond));
                        this.collector.suppose(cond, true);
                        this.collector.stepped_range(cond, body);
                    }
                    cond.is_some()
                });
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                self.step(|collector| {
                    collector.expr(start);
                    collector.expr(end);
                });
                let before = self.collector.resolver.block.clone();
                let counter = self.collector.counter([start, end]);
                let kind = Kind::Over(local, [start, end], counter);
                self.repeat((label, kind), body, |this| {
                    // The range is that of before the loop.
                    let now = this.collector.resolver.block.clone();
                    this.collector.restore(before.clone());
                    if let Some(counter) = now.as_ref().and_then(|now| now.get(local)) {
                        this.collector.set(local, counter);
                    }
                    this.collector.counts(local, start, end);
                    this.collector.restore(now);
                    this.collector.reversed_range(local, (start, end), body);
                    true
                });
            }
            other => unreachable!("{other:?} contains no barrier and leaves no loop"),
        }
    }

    fn barrier(&mut self) {
        // In unreachable code, no interval begins.
        let reached = !self.open.is_empty();
        self.close();
        self.open.extend(reached.then(Way::new));
    }

    fn jump(&mut self, label: LabelId, leaves: bool) {
        let ways = std::mem::take(&mut self.open);
        let around = self.loops.iter_mut().find(|l| l.label == label);
        let around = around.expect("a jump out of a loop with a barrier only splits");
        if leaves {
            around.exits.extend(ways);
        } else {
            around.nexts.extend(ways);
        }
    }

    fn branch(&mut self, cond: ExprId, then: Block, otherwise: Block) {
        self.step(|collector| collector.expr(cond));
        let (ways, mark) = (self.open.clone(), self.collector.mark());
        let before = self.collector.resolver.block.clone();
        self.collector.suppose(cond, true);
        let if_true = self.collector.facts[mark[1]..].to_vec();
        self.block(then);
        self.collector.release(mark);
        let after = self.collector.resolver.block.clone();
        self.collector.restore(before);
        let after_then = std::mem::replace(&mut self.open, ways);
        self.collector.suppose(cond, false);
        let if_false = self.collector.facts[mark[1]..].to_vec();
        self.block(otherwise);
        self.collector.release(mark);
        match self.collector.is_of_values() {
            true => self.collector.join(after, [if_true, if_false]),
            false => self.collector.changed_in(&[then, otherwise]),
        }
        self.open.extend(after_then);
        self.tidy();
    }

    /// Walks a loop. `head` runs before each iteration, and returns true if the loop may end there.
    fn repeat(
        &mut self,
        (label, kind): (LabelId, Kind),
        body: Block,
        mut head: impl FnMut(&mut Self) -> bool,
    ) {
        self.loops.push(Around {
            label,
            exits: vec![],
            nexts: vec![],
        });
        let before = self.collector.resolver.block.clone();
        let local = kind.counter();
        let at = Head {
            label: Some(label),
            body,
            before: before.expect("the walk keeps values"),
            kind,
        };
        let mut last = None;
        for turn in 0..2 {
            // Every way through the body passes a barrier, so the second turn is the next one.
            let follows = turn == 1 && self.collector.is_of_values() && self.always_waits(body);
            match (follows, local) {
                (true, Some(local)) => self.collector.count_on(local),
                (true, None) => {}
                (false, _) => {
                    local.inspect(|local| self.collector.renew(*local));
                    self.collector.head_of(&at);
                    last = self.collector.last_turn.take();
                }
            }
            let mark = self.collector.mark();
            let may_end = head(self);
            let around = self.loops.last_mut().expect("pushed above");
            if may_end {
                around.exits.extend(self.open.iter().cloned());
            }
            self.block(body);
            self.collector.release(mark);
            let around = self.loops.last_mut().expect("pushed above");
            self.open.append(&mut around.nexts);
            self.tidy();
        }
        if let Some(last) = last.filter(|_| self.always_waits(body)) {
            return self.last_turn(&at, last, head);
        }
        self.collector.after_loop(&at);
        local.inspect(|local| self.collector.renew(*local));
        let mark = self.collector.mark();
        if head(self) {
            let ways = self.open.clone();
            let around = self.loops.last_mut().expect("pushed above");
            around.exits.extend(ways);
        }
        self.collector.release(mark);
        let around = self.loops.pop().expect("pushed above");
        // A third iteration would find the intervals of the second again, so that the open paths end here.
        self.close();
        self.open = around.exits;
        self.tidy();
    }

    /// Walks the last turn of a loop of which the locals' values are known. Each turn passes a barrier, so that accesses
    /// after the loop meet those of this turn only.
    fn last_turn(
        &mut self,
        at: &Head,
        last: Vec<(LocalId, Affine)>,
        mut head: impl FnMut(&mut Self) -> bool,
    ) {
        self.close();
        self.open.push(Way::new());
        self.collector.head_of(at);
        let mark = self.collector.mark();
        head(self);
        for (local, value) in last {
            self.collector.set(local, value);
        }
        self.block(at.body);
        self.collector.release(mark);
        self.collector.after_loop(at);
        at.kind
            .counter()
            .inspect(|local| self.collector.renew(*local));
        self.loops.pop().expect("the caller pushed it");
        self.tidy();
    }

    /// True if every way through the body of a loop passes a barrier and reaches its end.
    fn always_waits(&self, body: Block) -> bool {
        let kernel = self.collector.kernel;
        let jumps = |id: StmtId| matches!(kernel.stmt(id).facts().flow, Flow::Continue(_));
        kernel.block(body).any(|id| self.ends_interval(id))
            && !kernel.stmts_in(kernel.block(body)).any(jumps)
    }

    /// True if the statement contains a barrier, or a jump out of a loop with one.
    fn splits(&self, id: StmtId) -> bool {
        let kernel = self.collector.kernel;
        let stmt = kernel.stmt(id);
        match stmt.facts().flow {
            Flow::Break(label) | Flow::Continue(label) => {
                self.loops.iter().any(|l| l.label == label)
            }
            Flow::Branch | Flow::Loop(_) => {
                let mut inner = kernel.blocks_of(id).into_iter();
                inner.any(|block| kernel.block(block).any(|stmt| self.splits(stmt)))
            }
            // Under a uniform condition a `return` ends all threads. Otherwise the remaining threads go on.
            Flow::Return | Flow::Panic => false,
            // Other targets run text in place of the fallback, so a barrier in it proves nothing.
            Flow::Next => self.ends_interval(id),
        }
    }

    /// True if a barrier interval ends with the statement: it is a barrier, or a call that receives a shared array.
    fn ends_interval(&self, id: StmtId) -> bool {
        let kernel = self.collector.kernel;
        match kernel.stmt(id) {
            Stmt::Call { call } => !super::lent(kernel, call).is_empty(),
            other => other == Stmt::Barrier,
        }
    }
}

/// True if the memory is one that this module examines: a shared array without atomics.
pub(super) fn is_plain_shared(kernel: &Kernel, memory: Memory) -> bool {
    match memory {
        Memory::Shared(_) => kernel.access(memory) != crate::Access::Atomic,
        Memory::Slice(_) | Memory::Local(_) | Memory::Table(_) => false,
    }
}
