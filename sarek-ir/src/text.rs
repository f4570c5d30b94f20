//! The textual form of a kernel, for tests and for people.
//!
//! It reads like Rust. What Rust does not have: `!3` after an access, an operator or `assert` is
//! its site, and `!3?` a site that depends on data and can be proved by no launch; a name that
//! stands for several locals gets a number, as in `i.1`; what comes before the header are the
//! links (`link`) and preconditions (`requires`).

mod compound;
mod output;
mod spell;

use std::collections::HashSet;
use std::fmt::{self, Write as _};

use crate::{
    Access, Block, DivideOp, Expr, ExprId, Intrinsic, Kernel, LabelId, List, LocalId, Memory,
    ParamId, ParamKind, Precondition, Scope, SiteId, SiteKind, Stmt, StmtId, Type, UnaryOp, Unroll,
};
use spell::{Literal, Prec, binary_prec, is_negative, tighter};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Text::new(self);
        text.kernel();
        f.write_str(&text.out)
    }
}

impl Kernel {
    /// An expression in the kernel's textual form.
    pub fn expr_text(&self, id: ExprId) -> String {
        let mut text = Text::new(self);
        text.expr(id, Prec::Lowest);
        text.out
    }

    /// The same for people, who do not know of sites.
    pub fn expr_words(&self, id: ExprId) -> String {
        let mut text = Text::new(self);
        text.has_sites = false;
        text.expr(id, Prec::Lowest);
        text.out
    }
}

struct Text<'a> {
    kernel: &'a Kernel,
    params: Vec<String>,
    locals: Vec<String>,
    shared: Vec<String>,
    links: Vec<String>,
    /// Loops that a `break` or `continue` names.
    labels: HashSet<LabelId>,
    /// Are sites written?
    has_sites: bool,
    indent: usize,
    out: String,
}

/// Gives each of the names a spelling of its own; the first of a kind keeps the plain one.
fn unique<'n>(names: impl Iterator<Item = &'n str>, taken: &mut HashSet<String>) -> Vec<String> {
    names
        .map(|name| {
            let numbered = (1..).map(|i| format!("{name}.{i}"));
            let spelling = std::iter::once(name.to_owned())
                .chain(numbered)
                .find(|s| !taken.contains(s))
                .unwrap_or_else(|| unreachable!("the numbers never end"));
            taken.insert(spelling.clone());
            spelling
        })
        .collect()
}

impl<'a> Text<'a> {
    fn new(kernel: &'a Kernel) -> Text<'a> {
        let mut taken = HashSet::new();
        let labels = kernel.stmts.iter().filter_map(|s| match s {
            Stmt::Break { label } | Stmt::Continue { label } => Some(*label),
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Store { .. }
            | Stmt::Assert { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::For { .. }
            | Stmt::Return
            | Stmt::Barrier
            | Stmt::Fence { .. }
            | Stmt::Panic { .. }
            | Stmt::Print { .. }
            | Stmt::Atomic { .. }
            | Stmt::Subgroup { .. }
            | Stmt::Update { .. }
            | Stmt::Call { .. }
            | Stmt::Native { .. } => None,
        });
        Text {
            kernel,
            params: unique(kernel.params.iter().map(|p| &*p.name), &mut taken),
            locals: unique(kernel.locals.iter().map(|l| &*l.name), &mut taken),
            shared: unique(kernel.shared.iter().map(|s| &*s.name), &mut taken),
            links: unique(kernel.links.iter().map(|l| &*l.path), &mut taken),
            labels: labels.collect(),
            has_sites: true,
            indent: 0,
            out: String::new(),
        }
    }

    fn put(&mut self, text: impl fmt::Display) {
        write!(self.out, "{text}").unwrap_or_else(|_| unreachable!("a String takes all text"));
    }

    fn line_start(&mut self) {
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn kernel(&mut self) {
        let kernel = self.kernel;
        for (link, name) in kernel.links.iter().zip(self.links.clone()) {
            self.put(format_args!("link {name}: "));
            self.ty(link.ty);
            self.put("\n");
        }
        for p in kernel.preconditions.iter() {
            match p {
                Precondition::SingleThread(axis) => {
                    self.put(format_args!("requires global_dim_{}() <= 1", axis.name()));
                }
                Precondition::ExtentAtMost(axis, n) => {
                    self.put(format_args!("requires global_dim_{}() <= {n}", axis.name()));
                }
                Precondition::BlockAtMost(axis, n) => {
                    self.put(format_args!("requires block_dim_{}() <= {n}", axis.name()));
                }
                Precondition::Holds(site) => {
                    self.put(format_args!("requires !{}", site.0));
                }
                Precondition::NoOverflow(e) => {
                    self.put("requires no_overflow(");
                    self.expr(*e, Prec::Lowest);
                    self.put(")");
                }
            }
            self.put("\n");
        }
        if let Some([x, y, z]) = kernel.block {
            self.put(format_args!("block ({x}, {y}, {z})\n"));
        }
        self.shared_arrays();
        let strict = if kernel.strict { "strict " } else { "" };
        self.put(format_args!("{strict}kernel {}(", kernel.name));
        for (i, param) in kernel.params.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            self.put(format_args!("{separator}{}: ", self.params[i].clone()));
            match param.kind {
                ParamKind::Scalar(ty) => self.put(ty),
                ParamKind::Value(id) => self.ty(Type::Compound(id)),
                ParamKind::Reference(ty) => {
                    self.put("&mut ");
                    self.ty(ty);
                }
                ParamKind::Slice { elem, access } => {
                    self.put(if access == Access::Write {
                        "&mut ["
                    } else {
                        "&["
                    });
                    self.element(elem, access == Access::Atomic);
                    self.put("]");
                }
            }
        }
        self.put(") ");
        self.block(kernel.body);
        self.put("\n");
    }

    fn block(&mut self, block: Block) {
        if block.is_empty() {
            self.put("{}");
            return;
        }
        self.put("{\n");
        self.indent += 1;
        for stmt in self.kernel.block(block) {
            self.line_start();
            self.stmt(stmt);
            self.put("\n");
        }
        self.indent -= 1;
        self.line_start();
        self.put("}");
    }

    fn site(&mut self, site: Option<SiteId>) {
        if let Some(site) = site
            && self.has_sites
        {
            let data = if self.kernel.sites[site.index()].provable {
                ""
            } else {
                "?"
            };
            self.put(format_args!("!{}{data}", site.0));
        }
    }

    fn label(&mut self, label: LabelId) {
        if self.labels.contains(&label) {
            self.put(format_args!("'l{}: ", label.0));
        }
    }

    fn local(&mut self, local: LocalId) {
        let name = self.locals[local.index()].clone();
        self.put(name);
    }

    fn param(&mut self, param: ParamId) {
        let name = self.params[param.index()].clone();
        self.put(name);
    }

    fn stmt(&mut self, id: StmtId) {
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

    fn result(&mut self, local: Option<LocalId>) {
        if let Some(local) = local {
            self.local(local);
            self.put(" = ");
        }
    }

    fn list(&mut self, list: List) {
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

    fn if_else(&mut self, cond: ExprId, then: Block, otherwise: Block) {
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

    fn memory(&mut self, memory: Memory) {
        match memory {
            Memory::Slice(param) => self.param(param),
            Memory::Shared(shared) => {
                let name = self.shared[shared.index()].clone();
                self.put(name);
            }
            Memory::Local(local) => self.local(local),
        }
    }

    fn access(&mut self, memory: Memory, index: ExprId, site: Option<SiteId>) {
        self.memory(memory);
        self.put("[");
        self.expr(index, Prec::Lowest);
        self.put("]");
        self.site(site);
    }

    /// Prints an expression, in parentheses if it is looser than `least`.
    fn expr(&mut self, id: ExprId, least: Prec) {
        let prec = self.prec(id);
        if prec < least {
            self.put("(");
        }
        self.bare(id, prec);
        if prec < least {
            self.put(")");
        }
    }

    fn prec(&self, id: ExprId) -> Prec {
        match self.kernel.expr(id) {
            Expr::Literal(value) if is_negative(value) => Prec::Unary,
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => Prec::Postfix,
            Expr::Unary { .. } => Prec::Unary,
            Expr::Binary { op, .. } => binary_prec(op),
            Expr::Divide { op, .. } => match op {
                DivideOp::Div | DivideOp::Rem => Prec::Product,
                DivideOp::DivEuclid | DivideOp::RemEuclid => Prec::Postfix,
            },
            Expr::And { .. } => Prec::And,
            Expr::Or { .. } => Prec::Or,
            Expr::Cast { .. } => Prec::Cast,
        }
    }

    fn bare(&mut self, id: ExprId, prec: Prec) {
        match self.kernel.expr(id) {
            Expr::Literal(value) => self.put(Literal(value)),
            Expr::Link(link) => {
                let name = self.links[link.index()].clone();
                self.put(name);
            }
            Expr::Local(local) => self.local(local),
            Expr::Param(param) => self.param(param),
            Expr::Len(memory) => {
                self.memory(memory);
                self.put(".len()");
            }
            Expr::Builtin(builtin) => self.put(format_args!("{}()", builtin.name())),
            Expr::Load {
                memory,
                index,
                site,
            } => self.access(memory, index, site),
            Expr::Bounded { index, len, site } => {
                self.put("bounded");
                self.site(site);
                self.put("(");
                self.expr(index, Prec::Lowest);
                self.put(", ");
                self.expr(len, Prec::Lowest);
                self.put(")");
            }
            Expr::Unary { op, arg } => {
                self.put(match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                });
                self.expr(arg, Prec::Unary);
            }
            Expr::Binary { op, lhs, rhs } => {
                self.infix(lhs, op.symbol(), None, rhs, prec);
            }
            Expr::Divide { op, lhs, rhs, site } => match op {
                DivideOp::Div => self.infix(lhs, "/", site, rhs, prec),
                DivideOp::Rem => self.infix(lhs, "%", site, rhs, prec),
                DivideOp::DivEuclid | DivideOp::RemEuclid => {
                    self.expr(lhs, Prec::Postfix);
                    self.put(format_args!(".{}", op.name()));
                    self.site(site);
                    self.put("(");
                    self.expr(rhs, Prec::Lowest);
                    self.put(")");
                }
            },
            Expr::And { lhs, rhs } => self.infix(lhs, "&&", None, rhs, prec),
            Expr::Or { lhs, rhs } => self.infix(lhs, "||", None, rhs, prec),
            Expr::Cast { arg } => {
                self.expr(arg, Prec::Cast);
                self.put(" as ");
                self.ty(self.kernel.type_of(id));
            }
            Expr::Call { intrinsic, args } => {
                let args: Vec<ExprId> = self.kernel.list(args).collect();
                self.call(intrinsic, id, &args);
            }
            Expr::Compound(id) => self.compound(id),
            Expr::Faulted => self.put("faulted()"),
        }
    }

    fn infix(&mut self, lhs: ExprId, op: &str, site: Option<SiteId>, rhs: ExprId, prec: Prec) {
        // Comparisons do not chain: both of their sides bind tighter.
        let left = if prec == Prec::Compare {
            Prec::BitOr
        } else {
            prec
        };
        self.expr(lhs, left);
        self.put(format_args!(" {op}"));
        self.site(site);
        self.put(" ");
        self.expr(rhs, tighter(prec));
    }

    fn call(&mut self, intrinsic: Intrinsic, id: ExprId, args: &[ExprId]) {
        let rest = if intrinsic.is_from_bits() {
            self.put(format_args!("{}::from_bits(", self.kernel.scalar_of(id)));
            args
        } else {
            self.expr(args[0], Prec::Postfix);
            self.put(format_args!(".{}(", intrinsic.name()));
            &args[1..]
        };
        for (i, arg) in rest.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.expr(*arg, Prec::Lowest);
        }
        self.put(")");
    }

    fn shared_arrays(&mut self) {
        for (i, array) in self.kernel.shared.iter().enumerate() {
            let name = self.shared[i].clone();
            self.put(format_args!("shared {name}: ["));
            self.element(array.elem, array.atomic);
            self.put("; ");
            self.length(array.len);
            self.put("]\n");
        }
    }
}

#[cfg(test)]
mod tests;
