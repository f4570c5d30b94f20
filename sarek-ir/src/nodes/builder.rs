//! Builds a kernel node by node. Used by the frontend, by passes and by tests.

use std::borrow::Cow;

use crate::{
    Block, Expr, ExprId, Kernel, LabelId, List, Loc, Local, LocalId, Site, SiteId, Stmt, StmtId,
    Type, TypeDef, TypeId, Value,
};

impl Kernel {
    /// An empty kernel.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Kernel {
        Kernel {
            name: name.into(),
            ..Kernel::EMPTY
        }
    }

    /// Adds an expression.
    pub fn push_expr(&mut self, expr: Expr, ty: impl Into<Type>, loc: Loc) -> ExprId {
        self.exprs.to_mut().push(expr);
        self.expr_types.to_mut().push(ty.into());
        self.expr_locs.to_mut().push(loc);
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a literal.
    pub fn push_literal(&mut self, value: Value, loc: Loc) -> ExprId {
        self.push_expr(Expr::Literal(value), value.scalar(), loc)
    }

    /// Adds a read of a local.
    pub fn push_local_read(&mut self, local: LocalId, loc: Loc) -> ExprId {
        self.push_expr(Expr::Local(local), self.locals[local.index()].ty, loc)
    }

    /// Adds a statement; it belongs to no block yet.
    pub fn push_stmt(&mut self, stmt: Stmt, loc: Loc) -> StmtId {
        self.stmts.to_mut().push(stmt);
        self.stmt_locs.to_mut().push(loc);
        StmtId(self.stmts.len() as u32 - 1)
    }

    /// Adds a local.
    pub fn push_local(&mut self, local: Local) -> LocalId {
        self.locals.to_mut().push(local);
        LocalId(self.locals.len() as u32 - 1)
    }

    /// Adds a compound type, or finds an equal one.
    pub fn push_type(&mut self, def: TypeDef) -> Type {
        let found = self.types.iter().position(|known| *known == def);
        let at = found.unwrap_or_else(|| {
            self.types.to_mut().push(def);
            self.types.len() - 1
        });
        Type::Compound(TypeId(at as u32))
    }

    /// Adds a site.
    pub fn push_site(&mut self, site: Site) -> SiteId {
        self.sites.to_mut().push(site);
        SiteId(self.sites.len() as u32 - 1)
    }

    /// Makes a list of expressions.
    pub fn push_list(&mut self, items: &[ExprId]) -> List {
        let start = self.lists.len() as u32;
        self.lists.to_mut().extend(items.iter().map(|i| i.0));
        List {
            start,
            len: items.len() as u32,
        }
    }

    /// Makes a block of statements.
    pub fn push_block(&mut self, items: &[StmtId]) -> Block {
        let start = self.lists.len() as u32;
        self.lists.to_mut().extend(items.iter().map(|i| i.0));
        Block(List {
            start,
            len: items.len() as u32,
        })
    }

    /// A label that no loop of the kernel uses.
    pub fn fresh_label(&self) -> LabelId {
        let labels = self.stmts.iter().filter_map(|s| s.loop_label());
        let labels = labels.chain(self.unrolls.iter().map(|(label, _)| *label));
        LabelId(labels.max().map_or(0, |l| l.0 + 1))
    }
}
