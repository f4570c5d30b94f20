//! Collects the accesses of a kernel in evaluation order, each with the bounds that hold there.

use std::collections::HashSet;

use super::induction::Kind;
use super::{Access, Place, barrier_intervals, lent};
use crate::analysis::linear::{
    Affine, Atom, Bound, Fact, Form, Poly, Relation, Resolver, Symbol, Terms, Values,
};
use crate::analysis::local_uses::{self, LocalUse};
use crate::facts::Flow;
use crate::{
    Block, CallId, Expr, ExprId, Kernel, List, Loc, LocalId, Memory, PlaceId, Root, Stmt, StmtId,
};

pub(super) fn collect(kernel: &Kernel, read_only: bool) -> Vec<Access> {
    let mut collector = Collector::new(kernel, Resolver::new(kernel));
    collector.read_only = read_only;
    collector.block(kernel.body);
    collector.found
}

/// Collects the accesses of slices with the resolver of values.
pub(super) fn collect_values(kernel: &Kernel) -> (Vec<Access>, Terms) {
    let mut resolver = Resolver::of_values(kernel, HashSet::new());
    resolver.block = Some(Values::of_launch());
    let mut collector = Collector::new(kernel, resolver);
    collector.block(kernel.body);
    let terms = std::mem::take(collector.resolver.terms());
    (collector.found, terms)
}

pub(super) struct Collector<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) resolver: Resolver<'a>,
    /// The bounds that hold at the current point.
    pub(super) bounds: Vec<Bound>,
    /// The facts that hold at the current point, for the resolver of values.
    pub(super) facts: Vec<Fact>,
    pub(super) found: Vec<Access>,
    /// The number of turns before this one of the loop whose head was entered last, if a local needed it.
    pub(super) turns: Option<Affine>,
    /// The values of locals in the last turn of that loop, if they are known.
    pub(super) last_turn: Option<Vec<(LocalId, Affine)>>,
    /// True if accesses of slices that the kernel never writes are collected, too.
    pub(super) read_only: bool,
}

impl<'a> Collector<'a> {
    /// The walk before the first statement. A resolver of values knows what a launch requires.
    pub(super) fn new(kernel: &'a Kernel, mut resolver: Resolver<'a>) -> Collector<'a> {
        let facts = match resolver.gives_values() {
            true => resolver.required(),
            false => vec![],
        };
        Collector {
            kernel,
            resolver,
            bounds: vec![],
            facts,
            found: vec![],
            turns: None,
            last_turn: None,
            read_only: false,
        }
    }
}

impl Collector<'_> {
    pub(super) fn block(&mut self, block: Block) {
        let mark = self.mark();
        for stmt in self.kernel.block(block) {
            self.stmt(stmt);
        }
        self.release(mark);
    }

    /// The number of bounds and facts that hold.
    pub(super) fn mark(&self) -> [usize; 2] {
        [self.bounds.len(), self.facts.len()]
    }

    /// Drops the bounds and facts that were added since.
    pub(super) fn release(&mut self, [bounds, facts]: [usize; 2]) {
        self.bounds.truncate(bounds);
        self.facts.truncate(facts);
    }

    pub(super) fn stmt(&mut self, id: StmtId) {
        let kernel = self.kernel;
        match kernel.stmt(id) {
            Stmt::Let { local, init } => {
                if let Some(init) = init {
                    self.expr(init);
                }
                self.bind(local, init);
            }
            Stmt::Assign { local, value } => {
                self.expr(value);
                self.bind(local, Some(value));
            }
            Stmt::Store {
                memory,
                index,
                value,
                ..
            } => {
                self.expr(value);
                self.expr(index);
                let loc = kernel.stmt_locs[id.index()];
                self.access(memory, Place::Store(id), loc, index);
            }
            Stmt::Assert { cond, .. } => self.expr(cond),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond);
                let [if_true, if_false] = self.branches(cond, then, otherwise);
                if leaves(kernel, then) {
                    self.hold(if_false);
                }
                if leaves(kernel, otherwise) {
                    self.hold(if_true);
                }
            }
            Stmt::Loop { label, cond, body } => {
                self.repeated((Some(label), Kind::While(cond)), body, |this| {
                    if let Some(cond) = cond {
                        this.expr(cond);
                        this.suppose(cond, true);
                        this.stepped_range(cond, body);
                    }
                })
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                self.expr(start);
                self.expr(end);
                let mark = self.mark();
                let counter = self.counter([start, end]);
                // Threads may be in different turns.
                self.in_loop(|this| {
                    this.renew(local);
                    this.counts(local, start, end);
                });
                self.reversed_range(local, (start, end), body);
                let kind = Kind::Over(local, [start, end], counter);
                self.repeated((Some(label), kind), body, |_| {});
                self.release(mark);
            }
            // Atomic operations do not race with each other, and an atomic slice has no other accesses.
            Stmt::Atomic {
                index,
                args,
                result,
                ..
            } => {
                self.operands(args);
                self.expr(index);
                if let Some(result) = result {
                    self.bind(result, None);
                }
            }
            Stmt::Subgroup { args, result, .. } => {
                self.operands(args);
                self.bind(result, None);
            }
            Stmt::Update { place, value } => {
                self.expr(value);
                self.update(id, place);
            }
            Stmt::Call { call } => self.call(id, call),
            Stmt::Print { print } => self.operands(kernel.prints[print.index()].args),
            Stmt::Native { native } => self.native(native),
            Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Panic { .. } => {}
        }
    }

    /// Adds the bounds that hold if `cond` has evaluated to `truth`.
    pub(super) fn suppose(&mut self, cond: ExprId, truth: bool) {
        match self.is_of_values() {
            true => {
                let facts = self.resolver.supposed(cond, truth);
                self.facts.extend(facts);
            }
            false => {
                let bounds = self.resolver.implied(cond, truth);
                self.bounds.extend(bounds);
            }
        }
    }

    /// Adds the bounds of a loop's counter. The locals have the values of before the loop.
    pub(super) fn counts(&mut self, counter: LocalId, start: ExprId, end: ExprId) {
        if self.is_of_values() {
            let counter = self.values().and_then(|values| values.get(counter));
            if let Some(counter) = counter {
                let facts = self.resolver.counts(&counter.form, start, end);
                self.facts.extend(facts);
            }
            return;
        }
        let bounds = self.resolver.counted(Atom::Local(counter), start, end);
        self.bounds.extend(bounds);
    }

    /// Walks a block for a value of a condition. Returns what follows from that value.
    pub(super) fn guarded(&mut self, cond: ExprId, truth: bool, block: Block) -> Implied {
        let mark = self.mark();
        self.suppose(cond, truth);
        let implied = Implied {
            bounds: self.bounds[mark[0]..].to_vec(),
            facts: self.facts[mark[1]..].to_vec(),
        };
        self.block(block);
        self.release(mark);
        implied
    }

    /// Adds what follows from a condition.
    fn hold(&mut self, implied: Implied) {
        self.bounds.extend(implied.bounds);
        self.facts.extend(implied.facts);
    }

    /// Records a store into a part of an element as an access of the whole element.
    fn update(&mut self, id: StmtId, place: PlaceId) {
        let kernel = self.kernel;
        for operand in kernel.place_operands(place) {
            self.expr(operand);
        }
        match kernel.places[place.index()].root {
            Root::Element { memory, index, .. } => {
                let loc = kernel.stmt_locs[id.index()];
                self.access(memory, Place::Store(id), loc, index);
            }
            Root::Local(local) => self.bind(local, None),
            Root::Param(_) => {}
        }
    }

    fn call(&mut self, stmt: StmtId, id: CallId) {
        let kernel = self.kernel;
        for operand in kernel.call_operands(id) {
            self.expr(operand);
        }
        for memory in lent(kernel, id) {
            if self.is_of_block() {
                self.found.push(Access {
                    memory,
                    place: Place::Store(stmt),
                    loc: kernel.stmt_locs[stmt.index()],
                    index: ExprId(0),
                    form: None,
                    coordinates: vec![],
                    bounds: vec![],
                    facts: vec![],
                    lent: true,
                });
            }
        }
        local_uses::called(kernel, id, &mut |local, touch| {
            if touch == LocalUse::Write {
                self.bind(local, None);
            }
        });
        self.closures(id);
    }

    /// Walks the closures that a call passes on. The callee may call each of them any number of times.
    pub(super) fn closures(&mut self, id: CallId) {
        for closure in self.kernel.closures_of(id) {
            self.repeated((None, Kind::Calls), closure.body, |this| {
                for local in closure.params.iter().copied().chain(closure.result) {
                    this.bind(local, None);
                }
            });
        }
    }

    fn operands(&mut self, list: List) {
        for operand in self.kernel.list(list).collect::<Vec<_>>() {
            self.expr(operand);
        }
    }

    fn access(&mut self, memory: Memory, place: Place, loc: Loc, index: ExprId) {
        let looked_at = match self.is_of_block() {
            false => matches!(memory, Memory::Slice(_)),
            true => barrier_intervals::is_plain_shared(self.kernel, memory),
        };
        if !looked_at || !(self.read_only || self.kernel.is_shared_between_threads(memory)) {
            return;
        }
        let mark = self.mark();
        let mut form = self.resolver.affine(index);
        let coordinates = self.resolver.coordinates(index);
        if self.is_of_values() {
            let mut facts = self.resolver.within(index);
            facts.extend(self.in_bounds(memory, index, form.as_ref()));
            self.facts.extend(facts);
        } else if self.is_of_block() {
            let dimensions = self.resolver.dimensions(index);
            self.bounds.extend(dimensions);
        }
        let mut bounds = self.bounds.clone();
        let facts = self.facts.clone();
        self.release(mark);
        if self.is_of_block() && !self.is_of_values() {
            bounds = bounds.iter().map(|b| b.in_block(self.kernel)).collect();
            form = form.map(|affine| affine.with(affine.form.in_block(self.kernel)));
        }
        self.found.push(Access {
            memory,
            place,
            loc,
            index,
            form,
            coordinates,
            bounds,
            facts,
            lent: false,
        });
    }

    /// The fact that an index of a slice is below the length, or else the access faults.
    fn in_bounds(&mut self, memory: Memory, of: ExprId, index: Option<&Affine>) -> Option<Fact> {
        let (Memory::Slice(_), Some(index)) = (memory, index) else {
            return None;
        };
        let len = Form::of(Poly::symbol(Symbol::Len(memory)));
        let mut fact = Fact::of(Relation::Lt, &index.form, &len)?.under(index);
        fact.exact.extend(index.needs_exact.then_some(of));
        Some(fact)
    }

    /// True in the walk over a single block's code.
    fn is_of_block(&self) -> bool {
        self.values().is_some_and(Values::are_of_block)
    }

    pub(super) fn expr(&mut self, id: ExprId) {
        let expr = self.kernel.expr(id);
        if let Expr::And { lhs, rhs } = expr {
            return self.short_circuit(lhs, rhs, true);
        }
        if let Expr::Or { lhs, rhs } = expr {
            return self.short_circuit(lhs, rhs, false);
        }
        for operand in self.kernel.operands(id) {
            self.expr(operand);
        }
        if let Expr::Load { memory, index, .. } = expr {
            let loc = self.kernel.expr_locs[id.index()];
            self.access(memory, Place::Load(id), loc, index);
        }
    }

    fn short_circuit(&mut self, lhs: ExprId, rhs: ExprId, truth: bool) {
        self.expr(lhs);
        let mark = self.mark();
        self.suppose(lhs, truth);
        self.expr(rhs);
        self.release(mark);
    }
}

/// The bounds and facts that follow from the value of a condition.
pub(super) struct Implied {
    pub(super) bounds: Vec<Bound>,
    pub(super) facts: Vec<Fact>,
}

/// True if control never reaches the end of the block.
pub(super) fn leaves(kernel: &Kernel, block: Block) -> bool {
    kernel
        .block(block)
        .any(|stmt| match kernel.stmt(stmt).facts().flow {
            Flow::Break(_) | Flow::Continue(_) | Flow::Return | Flow::Panic => true,
            Flow::Branch => kernel
                .blocks_of(stmt)
                .into_iter()
                .all(|branch| leaves(kernel, branch)),
            Flow::Next | Flow::Loop(_) => false,
        })
}
