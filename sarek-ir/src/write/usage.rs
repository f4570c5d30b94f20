//! Finds the reachable nodes of a kernel, and the parts of the launch that it uses.

use std::collections::BTreeSet;

use crate::{Block, Builtin, Expr, ExprId, Kernel, Memory, Stmt};

/// A reachable node.
pub(super) enum Node {
    Expr(ExprId, Expr),
    Stmt(Stmt),
}

/// Calls `f` for every reachable statement and expression.
pub(super) fn visit(kernel: &Kernel, f: &mut dyn FnMut(Node)) {
    visit_block(kernel, kernel.body, f);
}

fn visit_block(kernel: &Kernel, block: Block, f: &mut dyn FnMut(Node)) {
    for id in kernel.block(block) {
        let stmt = kernel.stmt(id);
        f(Node::Stmt(stmt));
        let (exprs, blocks) = kernel.children(stmt);
        for expr in exprs {
            visit_expr(kernel, expr, f);
        }
        for block in blocks {
            visit_block(kernel, block, f);
        }
    }
}

fn visit_expr(kernel: &Kernel, id: ExprId, f: &mut dyn FnMut(Node)) {
    f(Node::Expr(id, kernel.expr(id)));
    for operand in kernel.operands(id) {
        visit_expr(kernel, operand, f);
    }
}

/// The parts of its launch that a lowered kernel uses.
#[derive(Default)]
pub(super) struct Usage {
    builtins: Vec<Builtin>,
    /// Memory whose length is read or compared with an index.
    pub lens: BTreeSet<Memory>,
    /// True if a site is checked.
    pub faults: bool,
    /// True if the kernel has barriers. Then launches consist of whole blocks.
    pub barriers: bool,
    /// True if the kernel has loops.
    pub loops: bool,
    /// True if the kernel uses subgroup operations or ids.
    pub subgroups: bool,
}

impl Usage {
    pub fn of(kernel: &Kernel) -> Usage {
        let mut usage = Usage::default();
        visit(kernel, &mut |node| match node {
            Node::Expr(id, expr) => {
                usage.faults |= kernel.overflow_site(id).is_some();
                usage.expr(expr);
            }
            Node::Stmt(stmt) => usage.stmt(stmt),
        });
        usage
    }

    /// True if the kernel uses this builtin.
    pub fn uses(&self, builtin: Builtin) -> bool {
        self.builtins.contains(&builtin)
    }

    fn expr(&mut self, expr: Expr) {
        match expr {
            Expr::Len(memory) => {
                self.lens.insert(memory);
            }
            Expr::Builtin(builtin) => {
                self.subgroups |= builtin.is_of_subgroup();
                if !self.uses(builtin) {
                    self.builtins.push(builtin);
                }
            }
            Expr::Load { memory, site, .. } if site.is_some() => {
                self.lens.insert(memory);
                self.faults = true;
            }
            Expr::Divide { site, .. } | Expr::Bounded { site, .. } => self.faults |= site.is_some(),
            Expr::Faulted => self.faults = true,
            Expr::Load { .. }
            | Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_) => {}
        }
    }

    fn stmt(&mut self, stmt: Stmt) {
        match stmt {
            Stmt::Store { memory, site, .. } | Stmt::Atomic { memory, site, .. }
                if site.is_some() =>
            {
                self.lens.insert(memory);
                self.faults = true;
            }
            Stmt::Assert { .. } => self.faults = true,
            Stmt::Barrier => self.barriers = true,
            Stmt::Loop { .. } | Stmt::For { .. } => self.loops = true,
            Stmt::Subgroup { .. } => self.subgroups = true,
            Stmt::Store { .. }
            | Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::If { .. }
            | Stmt::Break { .. }
            | Stmt::Continue { .. }
            | Stmt::Return
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Atomic { .. }
            | Stmt::Update { .. }
            | Stmt::Call { .. }
            | Stmt::Native { .. } => {}
        }
    }
}
