//! Which accesses of shared arrays may happen between the same two barriers.
//!
//! All threads of a block pass the same barriers in the same order ([`crate::analysis::barriers`]), so that the accesses
//! between two of them are those on the ways from one to the next. The walk carries these ways, each as the accesses on it, through
//! the constructs that contain a barrier, or a way out of a loop that does: a condition there is the same for all threads, and its branches are
//! different ways. All else is one step, whose accesses may all happen.
//!
//! A function that is lent an array may use all of it until the barrier by which it ends
//! ([`crate::analysis::race::function`]).
//!
//! A loop with a barrier is walked twice: the second time, what comes before the first barrier joins what came after the
//! last one of the iteration before. Values of the earlier iteration have other symbols ([`super::values`]), so that
//! nothing is taken for the same in both that need not be.

use std::collections::BTreeSet;

use super::affine::Resolver;
use super::collect::Collector;
use super::values::Values;
use super::{Access, Atom};
use crate::analysis::uniformity::Among;
use crate::{Block, ExprId, Kernel, LabelId, LocalId, Memory, Stmt, StmtId};

/// More ways than these are taken for one.
const MOST_WAYS: usize = 32;

/// The accesses on a way, by their positions.
type Way = BTreeSet<usize>;

/// The accesses of plain shared arrays, and for each phase the positions of those that may happen in it; `among` the threads
/// of one block.
pub fn barrier_intervals(kernel: &Kernel, among: &Among) -> (Vec<Access>, Vec<BTreeSet<usize>>) {
    let mut resolver = Resolver::among(kernel, among.params.clone());
    resolver.block = Some(Values::new(kernel, among));
    let mut walk = Phases {
        collector: Collector {
            kernel,
            resolver,
            bounds: vec![],
            found: vec![],
            read_only: false,
        },
        open: vec![Way::new()],
        closed: BTreeSet::new(),
        loops: vec![],
    };
    if !kernel.shared.is_empty() {
        walk.block(kernel.body);
        walk.close();
    }
    (walk.collector.found, walk.closed.into_iter().collect())
}

struct Phases<'a> {
    collector: Collector<'a>,
    /// The ways from the last barrier to the current point.
    open: Vec<Way>,
    closed: BTreeSet<Way>,
    loops: Vec<Around>,
}

/// A loop with a barrier.
struct Around {
    label: LabelId,
    /// The ways on which it is left.
    exits: Vec<Way>,
    /// The ways on which an iteration ends early.
    nexts: Vec<Way>,
}

impl Phases<'_> {
    fn close(&mut self) {
        self.closed.extend(self.open.drain(..));
    }

    /// Forgets doubles; joins the ways when they are too many.
    fn tidy(&mut self) {
        let ways: BTreeSet<Way> = self.open.drain(..).collect();
        if ways.len() > MOST_WAYS {
            self.open = vec![ways.into_iter().flatten().collect()];
        } else {
            self.open = ways.into_iter().collect();
        }
    }

    /// What `step` finds is on all of the open ways.
    fn step(&mut self, step: impl FnOnce(&mut Collector<'_>)) {
        let before = self.collector.found.len();
        step(&mut self.collector);
        let found = before..self.collector.found.len();
        for way in &mut self.open {
            way.extend(found.clone());
        }
    }

    fn block(&mut self, block: Block) {
        let depth = self.collector.bounds.len();
        for stmt in self.collector.kernel.block(block) {
            self.stmt(stmt);
        }
        self.collector.bounds.truncate(depth);
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
                // The function may call them behind its last barrier, too.
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
                self.repeat(label, None, body, |this| {
                    if let Some(cond) = cond {
                        this.step(|collector| collector.expr(cond));
                        this.collector.suppose(cond, true);
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
                self.repeat(label, Some(local), body, |this| {
                    this.collector.bound_counter(Atom::Local(local), start, end);
                    true
                });
            }
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Assert { .. }
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Atomic { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Update { .. }
            | Stmt::Return
            | Stmt::Native { .. } => unreachable!("it contains no barrier and leaves no loop"),
        }
    }

    fn barrier(&mut self) {
        // Where control does not come, no phase begins.
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
        let (ways, depth) = (self.open.clone(), self.collector.bounds.len());
        let before = self.collector.resolver.block.clone();
        self.collector.suppose(cond, true);
        self.block(then);
        self.collector.bounds.truncate(depth);
        self.collector.restore(before);
        let after_then = std::mem::replace(&mut self.open, ways);
        self.collector.suppose(cond, false);
        self.block(otherwise);
        self.collector.bounds.truncate(depth);
        self.collector.changed_in(&[then, otherwise]);
        self.open.extend(after_then);
        self.tidy();
    }

    /// A loop. `head` stands before each iteration, and tells whether the loop may end there.
    fn repeat(
        &mut self,
        label: LabelId,
        counter: Option<LocalId>,
        body: Block,
        mut head: impl FnMut(&mut Self) -> bool,
    ) {
        self.loops.push(Around {
            label,
            exits: vec![],
            nexts: vec![],
        });
        for _ in 0..2 {
            self.collector.changed_in(&[body]);
            if let (Some(counter), Some(values)) = (counter, &mut self.collector.resolver.block) {
                values.renew(self.collector.kernel, counter);
            }
            let depth = self.collector.bounds.len();
            let may_end = head(self);
            let around = self.loops.last_mut().expect("pushed above");
            if may_end {
                around.exits.extend(self.open.iter().cloned());
            }
            self.block(body);
            self.collector.bounds.truncate(depth);
            let around = self.loops.last_mut().expect("pushed above");
            self.open.append(&mut around.nexts);
            self.tidy();
        }
        self.collector.changed_in(&[body]);
        let depth = self.collector.bounds.len();
        if head(self) {
            let ways = self.open.clone();
            let around = self.loops.last_mut().expect("pushed above");
            around.exits.extend(ways);
        }
        self.collector.bounds.truncate(depth);
        let around = self.loops.pop().expect("pushed above");
        // Ways that went on for another iteration are those of the one before.
        self.close();
        self.open = around.exits;
        self.tidy();
    }

    /// Does it contain a barrier, or a way out of a loop that does?
    fn splits(&self, id: StmtId) -> bool {
        let kernel = self.collector.kernel;
        let any = |block: Block| kernel.block(block).any(|stmt| self.splits(stmt));
        match kernel.stmt(id) {
            Stmt::Barrier => true,
            Stmt::Call { call } => !super::lent(kernel, call).is_empty(),
            Stmt::Break { label } | Stmt::Continue { label } => {
                self.loops.iter().any(|l| l.label == label)
            }
            Stmt::If {
                then, otherwise, ..
            } => any(then) || any(otherwise),
            Stmt::Loop { body, .. } | Stmt::For { body, .. } => any(body),
            // One that stands alone ends all threads; under a condition of its own it ends some.
            Stmt::Return => false,
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Assert { .. }
            | Stmt::Fence { .. } | Stmt::Panic { .. } | Stmt::Print { .. }
            | Stmt::Atomic { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Update { .. }
            // Where other targets have text, a fallback's barrier says nothing.
            | Stmt::Native { .. } => false,
        }
    }
}

/// Is it memory that is looked at here?
pub(super) fn is_plain_shared(kernel: &Kernel, memory: Memory) -> bool {
    match memory {
        Memory::Shared(_) => kernel.access(memory) != crate::Access::Atomic,
        Memory::Slice(_) | Memory::Local(_) | Memory::Table(_) => false,
    }
}
