//! Prints statements.

use super::{Prec, Text};
use crate::{Block, ExprId, LabelId, List, LocalId, Scope, SiteKind, Stmt, StmtId, Unroll};

impl Text<'_> {
    pub(super) fn stmt(&mut self, id: StmtId) {
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } => {
                let decl = &self.kernel.locals[local.index()];
                self.put(if decl.mutable { "let mut " } else { "let " });
                self.local(local);
                self.put(": ");
                self.ty(decl.ty);
                if let Some(init) = init {
                    self.put(" = ");
                    self.expr(init, Prec::Lowest);
                }
                self.put(";");
            }
            Stmt::Assign { local, value } => {
                self.local(local);
                self.put(" = ");
                self.expr(value, Prec::Lowest);
                self.put(";");
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                self.access(memory, index, site);
                self.put(" = ");
                self.expr(value, Prec::Lowest);
                self.put(";");
            }
            Stmt::Assert { cond, site } => {
                self.put("assert");
                self.site(Some(site));
                self.put(" ");
                self.expr(cond, Prec::Lowest);
                match &self.kernel.sites[site.index()].kind {
                    SiteKind::Assert(message) => self.put(format_args!(", {message:?};")),
                    SiteKind::Index(_)
                    | SiteKind::Dimension(..)
                    | SiteKind::Divisor
                    | SiteKind::Overflow(_)
                    | SiteKind::Panic(_) => {
                        self.put(";");
                    }
                }
            }
            Stmt::Panic { site } => self.panic(site),
            Stmt::Print { print } => self.print(print),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.if_else(cond, then, otherwise),
            Stmt::Loop { label, cond, body } => self.unbounded(label, cond, body),
            Stmt::For {
                label,
                local,
                start,
                end,
                body,
            } => self.counted(label, local, (start, end), body),
            Stmt::Break { label } => self.put(format_args!("break 'l{};", label.0)),
            Stmt::Continue { label } => self.put(format_args!("continue 'l{};", label.0)),
            Stmt::Return => self.put("return;"),
            Stmt::Barrier => self.put("barrier();"),
            Stmt::Fence { scope } => self.put(match scope {
                Scope::Block => "block_fence();",
                Scope::Device => "device_fence();",
            }),
            Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            } => {
                self.result(result);
                self.access(memory, index, site);
                self.put(format_args!(".{}(", op.name()));
                self.list(args);
                self.put(");");
            }
            Stmt::Subgroup { op, args, result } => {
                self.result(Some(result));
                self.put(format_args!("{}(", op.name()));
                self.list(args);
                self.put(");");
            }
            Stmt::Update { place, value } => {
                self.place(place);
                self.put(" = ");
                self.expr(value, Prec::Lowest);
                self.put(";");
            }
            Stmt::Call { call } => self.device_call(call),
            Stmt::Native { native } => {
                let native = &self.kernel.natives[native.index()];
                self.native(native);
            }
        }
    }

    pub(super) fn result(&mut self, local: Option<LocalId>) {
        if let Some(local) = local {
            self.local(local);
            self.put(" = ");
        }
    }

    pub(super) fn list(&mut self, list: List) {
        for (i, id) in self.kernel.list(list).enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.expr(id, Prec::Lowest);
        }
    }

    fn unbounded(&mut self, label: LabelId, cond: Option<ExprId>, body: Block) {
        self.unroll(label);
        self.label(label);
        match cond {
            Some(cond) => {
                self.put("while ");
                self.expr(cond, Prec::Lowest);
                self.put(" ");
            }
            None => self.put("loop "),
        }
        self.block(body);
    }

    fn unroll(&mut self, label: LabelId) {
        match self.kernel.unroll(label) {
            None => {}
            Some(Unroll::Whole) => self.put("#[unroll] "),
            Some(Unroll::Times(times)) => self.put(format_args!("#[unroll({times})] ")),
            Some(Unroll::Link(link)) => {
                let name = self.links[link.index()].clone();
                self.put(format_args!("#[unroll({name})] "));
            }
        }
    }

    fn counted(
        &mut self,
        label: LabelId,
        local: LocalId,
        (start, end): (ExprId, ExprId),
        body: Block,
    ) {
        self.unroll(label);
        self.label(label);
        self.put("for ");
        self.local(local);
        let ty = self.kernel.locals[local.index()].ty;
        self.put(": ");
        self.ty(ty);
        self.put(" in ");
        self.expr(start, Prec::Or);
        self.put("..");
        self.expr(end, Prec::Or);
        self.put(" ");
        self.block(body);
    }

    pub(super) fn if_else(&mut self, cond: ExprId, then: Block, otherwise: Block) {
        self.put("if ");
        self.expr(cond, Prec::Lowest);
        self.put(" ");
        self.block(then);
        if otherwise.is_empty() {
            return;
        }
        self.put(" else ");
        let mut stmts = self.kernel.block(otherwise);
        let only = stmts.next().filter(|_| stmts.next().is_none());
        if let Some(Stmt::If {
            cond,
            then,
            otherwise,
        }) = only.map(|s| self.kernel.stmt(s))
        {
            self.if_else(cond, then, otherwise);
        } else {
            self.block(otherwise);
        }
    }
}
