//! Prints expressions with the parentheses that they need.

use super::Text;
use super::spell::{Literal, Prec, binary_prec, is_negative, tighter};
use crate::{DivideOp, Expr, ExprId, Intrinsic, SiteId, UnaryOp};

impl Text<'_> {
    /// Prints an expression, in parentheses if its precedence is below `least`.
    pub(super) fn expr(&mut self, id: ExprId, least: Prec) {
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
}
