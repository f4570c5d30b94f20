//! The structural rules: ranges of handles, the forest, labels and scopes.

use super::{Node, Rule, Violation, site_in_range};
use crate::print::PrintPiece;
use crate::{
    Argument, Block, CallId, CallTarget, CallableArg, CallableId, ClosureId, Compound, CompoundId,
    Expr, ExprId, FunctionId, Kernel, LabelId, Length, List, LocalId, Memory, NativeId, ParamId,
    Piece, PlaceId, Precondition, PrintId, Root, Stmt, StmtId, TypeDef, Unroll,
};

pub(super) fn check(kernel: &Kernel) -> Vec<Violation> {
    let tables = kernel.expr_types.len() == kernel.exprs.len()
        && kernel.expr_locs.len() == kernel.exprs.len()
        && kernel.stmt_locs.len() == kernel.stmts.len();
    if !tables {
        return vec![Node::Kernel.breaks(Rule::ParallelTables)];
    }
    let mut walk = Walk {
        kernel,
        expr_used: vec![false; kernel.exprs.len()],
        stmt_used: vec![false; kernel.stmts.len()],
        native_used: vec![false; kernel.natives.len()],
        scopes: vec![Scope::Undeclared; kernel.locals.len()],
        labels_seen: vec![],
        loops: vec![],
        violations: vec![],
    };
    walk.lengths();
    walk.overflows();
    walk.block(kernel.body, Node::Kernel);
    for (i, p) in kernel.preconditions.iter().enumerate() {
        let known = match p {
            Precondition::NoOverflow(e) => e.index() < kernel.exprs.len(),
            Precondition::Holds(site) => site.index() < kernel.sites.len(),
            Precondition::Positive(param) => param.index() < kernel.params.len(),
            Precondition::SubgroupSizeIs(link) => link.index() < kernel.links.len(),
            Precondition::SingleThread(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::SubgroupSize(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups => true,
        };
        if !known {
            walk.report(Node::Precondition(i as u32), Rule::HandleInRange);
        }
    }
    walk.violations
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Undeclared,
    Live,
    Ended,
}

struct Walk<'a> {
    kernel: &'a Kernel,
    expr_used: Vec<bool>,
    stmt_used: Vec<bool>,
    native_used: Vec<bool>,
    scopes: Vec<Scope>,
    labels_seen: Vec<LabelId>,
    loops: Vec<LabelId>,
    violations: Vec<Violation>,
}

impl Walk<'_> {
    fn report(&mut self, node: Node, rule: Rule) {
        self.violations.push(node.breaks(rule));
    }

    /// Returns true if the handle is in range. Otherwise reports it at its user.
    fn in_range(&mut self, index: usize, len: usize, user: Node) -> bool {
        if index >= len {
            self.report(user, Rule::HandleInRange);
        }
        index < len
    }

    /// Checks the table of checked arithmetic.
    fn overflows(&mut self) {
        let kernel = self.kernel;
        for (id, site) in kernel.overflows.iter() {
            self.in_range(id.index(), kernel.exprs.len(), Node::Kernel);
            self.in_range(site.index(), kernel.sites.len(), Node::Expr(*id));
        }
        if !kernel.overflows.is_sorted_by(|(a, _), (b, _)| a < b) {
            self.report(Node::Kernel, Rule::OverflowOrder);
        }
    }

    /// Checks the handles in the lengths of arrays, where no local is in scope.
    fn lengths(&mut self) {
        for def in self.kernel.types.iter() {
            if let TypeDef::Array { len, .. } = def {
                self.length(*len);
            }
        }
        for array in self.kernel.shared.iter() {
            self.length(array.len);
        }
        for (_, unroll) in self.kernel.unrolls.iter() {
            if let Unroll::Link(link) = unroll {
                self.length(Length::Link(*link));
            }
        }
    }

    fn length(&mut self, len: Length) {
        match len {
            Length::Fixed(_) => {}
            Length::Link(link) => {
                self.in_range(link.index(), self.kernel.links.len(), Node::Kernel);
            }
            Length::Launch(len) => self.expr(len, Node::Kernel),
        }
    }

    fn list(&mut self, list: List, user: Node) -> Vec<u32> {
        let end = list.start as usize + list.len as usize;
        if end > self.kernel.lists.len() {
            self.report(user, Rule::HandleInRange);
            return vec![];
        }
        self.kernel.lists[list.start as usize..end].to_vec()
    }

    /// Walks a block, and ends the scope of its locals after it.
    fn block(&mut self, block: Block, user: Node) {
        let mut declared = vec![];
        for id in self.list(block.0, user) {
            self.stmt(StmtId(id), user, &mut declared);
        }
        self.end(&declared);
    }

    fn end(&mut self, declared: &[LocalId]) {
        for l in declared {
            self.scopes[l.index()] = Scope::Ended;
        }
    }

    fn declare(&mut self, local: LocalId, user: Node, declared: &mut Vec<LocalId>) {
        if !self.in_range(local.index(), self.kernel.locals.len(), user) {
            return;
        }
        if self.scopes[local.index()] != Scope::Undeclared {
            self.report(Node::Local(local), Rule::DeclaredOnce);
            return;
        }
        self.scopes[local.index()] = Scope::Live;
        declared.push(local);
    }

    fn name_local(&mut self, local: LocalId, user: Node) -> bool {
        if !self.in_range(local.index(), self.kernel.locals.len(), user) {
            return false;
        }
        if self.scopes[local.index()] != Scope::Live {
            self.report(user, Rule::LocalInScope);
        }
        true
    }

    fn param(&mut self, param: ParamId, user: Node) {
        self.in_range(param.index(), self.kernel.params.len(), user);
    }

    fn memory(&mut self, memory: Memory, user: Node) {
        match memory {
            Memory::Slice(param) => self.param(param, user),
            Memory::Shared(shared) => {
                self.in_range(shared.index(), self.kernel.shared.len(), user);
            }
            Memory::Table(table) => {
                self.in_range(table.index(), self.kernel.tables.len(), user);
            }
            Memory::Local(local) => {
                self.name_local(local, user);
            }
        }
    }

    fn stmt(&mut self, id: StmtId, user: Node, declared: &mut Vec<LocalId>) {
        if !self.in_range(id.index(), self.kernel.stmts.len(), user) {
            return;
        }
        let node = Node::Stmt(id);
        if std::mem::replace(&mut self.stmt_used[id.index()], true) {
            self.report(node, Rule::Forest);
            return;
        }
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => {
                if let Some(init) = init {
                    self.expr(init, node);
                }
                self.declare(local, node, declared);
            }
            Stmt::Assign { local, value } => {
                self.expr(value, node);
                if self.name_local(local, node) && !self.kernel.locals[local.index()].mutable {
                    self.report(node, Rule::AssignMutable);
                }
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                self.memory(memory, node);
                self.expr(value, node);
                self.expr(index, node);
                if !site_in_range(self.kernel, site) {
                    self.report(node, Rule::HandleInRange);
                }
            }
            Stmt::Assert { cond, site } => {
                self.expr(cond, node);
                self.in_range(site.index(), self.kernel.sites.len(), node);
            }
            Stmt::Panic { site } => {
                self.in_range(site.index(), self.kernel.sites.len(), node);
            }
            Stmt::Print { print } => self.print(print, node),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond, node);
                self.block(then, node);
                self.block(otherwise, node);
            }
            Stmt::Loop { label, cond, body } => {
                if let Some(cond) = cond {
                    self.expr(cond, node);
                }
                self.loop_body(label, body, node);
            }
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => {
                self.expr(start, node);
                self.expr(end, node);
                let mut own = vec![];
                self.declare(local, node, &mut own);
                self.loop_body(label, body, node);
                self.end(&own);
            }
            Stmt::Break { label } | Stmt::Continue { label } => {
                if !self.loops.contains(&label) {
                    self.report(node, Rule::LabelInScope);
                }
            }
            Stmt::Update { place, value } => {
                self.expr(value, node);
                self.place(place, node);
            }
            Stmt::Call { call } => self.call(call, node),
            Stmt::Return | Stmt::Barrier | Stmt::Fence { .. } => {}
            Stmt::Atomic {
                op: _,
                memory,
                index,
                args,
                result,
                site,
            } => {
                self.memory(memory, node);
                for arg in self.list(args, node) {
                    self.expr(ExprId(arg), node);
                }
                self.expr(index, node);
                self.result(result, node);
                if !site_in_range(self.kernel, site) {
                    self.report(node, Rule::HandleInRange);
                }
            }
            Stmt::Subgroup {
                op: _,
                args,
                result,
            } => {
                for arg in self.list(args, node) {
                    self.expr(ExprId(arg), node);
                }
                self.result(Some(result), node);
            }
            Stmt::Native { native } => self.native(native, node),
        }
    }

    fn compound(&mut self, id: CompoundId, node: Node) {
        if !self.in_range(id.index(), self.kernel.compounds.len(), node) {
            return;
        }
        match &self.kernel.compounds[id.index()] {
            Compound::Array { items } => {
                self.list(*items, node);
            }
            Compound::At { view, indices } => {
                let rank = self.list(*indices, node).len() as u32;
                let last = view.0 + Kernel::view_params(rank) - 1;
                self.param(ParamId(last), node);
            }
            Compound::Field { .. }
            | Compound::Index { .. }
            | Compound::IsVariant { .. }
            | Compound::Payload { .. }
            | Compound::Construct { .. }
            | Compound::Repeat { .. }
            | Compound::Len { .. } => {}
        }
        if self.violations.is_empty() {
            for operand in self.kernel.compound_operands(id) {
                self.expr(operand, node);
            }
        }
    }

    fn place(&mut self, id: PlaceId, node: Node) {
        if !self.in_range(id.index(), self.kernel.places.len(), node) {
            return;
        }
        match self.kernel.places[id.index()].root {
            Root::Local(local) => {
                self.result(Some(local), node);
            }
            Root::Param(param) => self.param(param, node),
            Root::Element { memory, .. } => self.memory(memory, node),
        }
        for operand in self.kernel.place_operands(id) {
            self.expr(operand, node);
        }
    }

    fn call(&mut self, id: CallId, node: Node) {
        if !self.in_range(id.index(), self.kernel.calls.len(), node) {
            return;
        }
        let call = &self.kernel.calls[id.index()];
        match call.called {
            CallTarget::Function(of) => self.function(of, node),
            CallTarget::Callable(of) => self.callable(of, node),
        }
        for arg in call.args.iter() {
            match *arg {
                Argument::Value(value) => self.expr(value, node),
                Argument::Memory(memory) => self.memory(memory, node),
                Argument::Local(local) => self.result(Some(local), node),
            }
        }
        for given in call.callable_args.iter() {
            match *given {
                CallableArg::Closure(closure) => self.closure(closure, node),
                CallableArg::Function(function) => self.function(function, node),
                CallableArg::Callable(callable) => self.callable(callable, node),
            }
        }
        self.result(call.result, node);
    }

    fn function(&mut self, id: FunctionId, node: Node) {
        self.in_range(id.index(), self.kernel.functions.len(), node);
    }

    fn callable(&mut self, id: CallableId, node: Node) {
        self.in_range(id.index(), self.kernel.callables.len(), node);
    }

    /// Checks a closure. Its block must not belong to another call.
    fn closure(&mut self, id: ClosureId, node: Node) {
        if !self.in_range(id.index(), self.kernel.closures.len(), node) {
            return;
        }
        let closure = &self.kernel.closures[id.index()];
        let mut own = vec![];
        for local in closure.params.iter().copied().chain(closure.result) {
            self.declare(local, node, &mut own);
        }
        // No jump may leave the closure.
        let loops = std::mem::take(&mut self.loops);
        self.block(closure.body, node);
        self.result(closure.result, node);
        self.loops = loops;
        self.end(&own);
    }

    /// Checks the local for a statement's result, which must be mutable.
    fn result(&mut self, local: Option<LocalId>, node: Node) {
        if let Some(local) = local
            && self.name_local(local, node)
            && !self.kernel.locals[local.index()].mutable
        {
            self.report(node, Rule::AssignMutable);
        }
    }

    fn loop_body(&mut self, label: LabelId, body: Block, node: Node) {
        if self.labels_seen.contains(&label) {
            self.report(node, Rule::LabelUnique);
        }
        self.labels_seen.push(label);
        self.loops.push(label);
        self.block(body, node);
        self.loops.pop();
    }

    fn print(&mut self, id: PrintId, user: Node) {
        if !self.in_range(id.index(), self.kernel.prints.len(), user) {
            return;
        }
        let print = &self.kernel.prints[id.index()];
        for piece in print.pieces.iter() {
            match piece {
                PrintPiece::Text(_) => {}
                PrintPiece::Arg { index, .. } => {
                    self.in_range(*index as usize, print.args.len as usize, user);
                }
            }
        }
        for arg in self.list(print.args, user) {
            self.expr(ExprId(arg), user);
        }
    }

    fn native(&mut self, id: NativeId, user: Node) {
        if !self.in_range(id.index(), self.kernel.natives.len(), user) {
            return;
        }
        let node = Node::Native(id);
        if std::mem::replace(&mut self.native_used[id.index()], true) {
            self.report(node, Rule::Forest);
            return;
        }
        let native = &self.kernel.natives[id.index()];
        for (i, text) in native.texts.iter().enumerate() {
            if native.texts[..i].iter().any(|t| t.target == text.target) {
                self.report(node, Rule::NativeTargets);
            }
            for piece in text.pieces.iter() {
                match piece {
                    Piece::Text(_) => {}
                    Piece::Local(local) => {
                        self.name_local(*local, node);
                    }
                    Piece::Param(param) => self.param(*param, node),
                    Piece::Shared(shared) => {
                        self.in_range(shared.index(), self.kernel.shared.len(), node);
                    }
                    Piece::Place(place) => {
                        if self.in_range(place.index(), self.kernel.places.len(), node)
                            && let Root::Local(local) = self.kernel.places[place.index()].root
                        {
                            self.name_local(local, node);
                        }
                    }
                }
            }
        }
        if let Some(fallback) = native.fallback {
            self.block(fallback, node);
        }
        if let Some(result) = native.result {
            self.name_local(result, node);
            if !self.kernel.locals[result.index()].mutable {
                self.report(node, Rule::NativeResult);
            }
        }
    }

    fn expr(&mut self, id: ExprId, user: Node) {
        if !self.in_range(id.index(), self.kernel.exprs.len(), user) {
            return;
        }
        let node = Node::Expr(id);
        if std::mem::replace(&mut self.expr_used[id.index()], true) {
            self.report(node, Rule::Forest);
            return;
        }
        match self.kernel.expr(id) {
            Expr::Literal(_) | Expr::Builtin(_) | Expr::Faulted => {}
            Expr::Link(link) => {
                self.in_range(link.index(), self.kernel.links.len(), node);
            }
            Expr::Local(local) => {
                self.name_local(local, node);
            }
            Expr::Param(param) => self.param(param, node),
            Expr::Len(memory) => self.memory(memory, node),
            Expr::Load {
                memory,
                index,
                site,
            } => {
                self.memory(memory, node);
                self.expr(index, node);
                if !site_in_range(self.kernel, site) {
                    self.report(node, Rule::HandleInRange);
                }
            }
            Expr::Unary { op: _, arg } | Expr::Cast { arg } => self.expr(arg, node),
            Expr::Bounded {
                index: lhs,
                len: rhs,
                site,
            }
            | Expr::Divide { lhs, rhs, site, .. } => {
                self.expr(lhs, node);
                self.expr(rhs, node);
                if !site_in_range(self.kernel, site) {
                    self.report(node, Rule::HandleInRange);
                }
            }
            Expr::Binary { op: _, lhs, rhs } | Expr::And { lhs, rhs } | Expr::Or { lhs, rhs } => {
                self.expr(lhs, node);
                self.expr(rhs, node);
            }
            Expr::Compound(compound) => self.compound(compound, node),
            Expr::Call { intrinsic: _, args } => {
                for arg in self.list(args, node) {
                    self.expr(ExprId(arg), node);
                }
            }
        }
    }
}
