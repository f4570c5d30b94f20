//! Collects the accesses of a kernel in evaluation order, each with the bounds that hold there.

use super::{Access, Place, barrier_intervals, lent};
use crate::analysis::linear::{Atom, Bound, Resolver};
use crate::analysis::local_uses::{self, LocalUse};
use crate::facts::Flow;
use crate::{
    Block, CallId, Expr, ExprId, Kernel, List, Loc, LocalId, Memory, PlaceId, Root, Stmt, StmtId,
};

pub(super) fn collect(kernel: &Kernel, read_only: bool) -> Vec<Access> {
    let mut collector = Collector {
        kernel,
        resolver: Resolver::new(kernel),
        bounds: vec![],
        found: vec![],
        read_only,
    };
    collector.block(kernel.body);
    collector.found
}

pub(super) struct Collector<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) resolver: Resolver<'a>,
    /// The bounds that hold at the current point.
    pub(super) bounds: Vec<Bound>,
    pub(super) found: Vec<Access>,
    /// True if accesses of slices that the kernel never writes are collected, too.
    pub(super) read_only: bool,
}

impl Collector<'_> {
    fn block(&mut self, block: Block) {
        let depth = self.bounds.len();
        for stmt in self.kernel.block(block) {
            self.stmt(stmt);
        }
        self.bounds.truncate(depth);
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
                self.bind(local, None);
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
                let before = self.resolver.block.clone();
                self.guarded(cond, true, then);
                self.restore(before);
                self.guarded(cond, false, otherwise);
                self.changed_in(&[then, otherwise]);
                if leaves(kernel, then) {
                    self.suppose(cond, false);
                }
                if leaves(kernel, otherwise) {
                    self.suppose(cond, true);
                }
            }
            Stmt::Loop { cond, body, .. } => {
                self.enter_loop(body);
                match cond {
                    Some(cond) => {
                        self.expr(cond);
                        self.guarded(cond, true, body);
                    }
                    None => self.block(body),
                }
                self.leave_loop(body);
            }
            Stmt::For {
                local,
                start,
                end,
                body,
                ..
            } => {
                self.expr(start);
                self.expr(end);
                let depth = self.bounds.len();
                self.counts(local, start, end);
                self.enter_loop(body);
                self.block(body);
                self.leave_loop(body);
                self.bounds.truncate(depth);
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
        let bounds = self.resolver.implied(cond, truth);
        self.bounds.extend(bounds);
    }

    /// Adds the bounds of a loop's counter.
    pub(super) fn counts(&mut self, counter: LocalId, start: ExprId, end: ExprId) {
        let bounds = self.resolver.counted(Atom::Local(counter), start, end);
        self.bounds.extend(bounds);
    }

    fn guarded(&mut self, cond: ExprId, truth: bool, block: Block) {
        let depth = self.bounds.len();
        self.suppose(cond, truth);
        self.block(block);
        self.bounds.truncate(depth);
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
            if self.resolver.block.is_some() {
                self.found.push(Access {
                    memory,
                    place: Place::Store(stmt),
                    loc: kernel.stmt_locs[stmt.index()],
                    index: ExprId(0),
                    form: None,
                    coordinates: vec![],
                    bounds: vec![],
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
            self.enter_loop(closure.body);
            for local in closure.params.iter().copied().chain(closure.result) {
                self.bind(local, None);
            }
            self.block(closure.body);
            self.leave_loop(closure.body);
        }
    }

    fn operands(&mut self, list: List) {
        for operand in self.kernel.list(list).collect::<Vec<_>>() {
            self.expr(operand);
        }
    }

    fn access(&mut self, memory: Memory, place: Place, loc: Loc, index: ExprId) {
        let looked_at = match self.resolver.block {
            None => matches!(memory, Memory::Slice(_)),
            Some(_) => barrier_intervals::is_plain_shared(self.kernel, memory),
        };
        if !looked_at || !(self.read_only || self.kernel.is_shared_between_threads(memory)) {
            return;
        }
        let depth = self.bounds.len();
        let mut form = self.resolver.affine(index);
        let coordinates = self.resolver.coordinates(index);
        if self.resolver.block.is_some() {
            let dimensions = self.resolver.dimensions(index);
            self.bounds.extend(dimensions);
        }
        let mut bounds = self.bounds.clone();
        self.bounds.truncate(depth);
        if self.resolver.block.is_some() {
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
            lent: false,
        });
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
        let depth = self.bounds.len();
        self.suppose(lhs, truth);
        self.expr(rhs);
        self.bounds.truncate(depth);
    }
}

/// True if control never reaches the end of the block.
fn leaves(kernel: &Kernel, block: Block) -> bool {
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
