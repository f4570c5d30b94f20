//! Blocks that lie inside of the data.
//!
//! `tile[t] = if i < n { x[i] } else { 0.0 }` asks each lane what holds for all of them but in the blocks at the edge of the
//! data. Such a guard is a conjunction of comparisons of an index along some axis with a value on which the block agrees: if it holds for
//! the first lane and for the last one, it holds for those between. Then the block runs a body for which the guard is known, and how
//! many lanes there are, too; else the plain one.
//!
//! Only guards that every lane comes to are looked at, so that nothing is evaluated that would not have been.

use proc_macro2::{Literal, TokenStream};
use sarek_ir::{Axis, BinaryOp, Builtin, Expr, ExprId, Stmt, StmtId};

use super::tree::{each_lane, each_row};
use super::{Writer, mixed};

/// Conditions that hold for all lanes if they do for the first and the last.
#[derive(Default)]
struct Guards {
    conds: Vec<ExprId>,
    /// Sums in them that grow from lane to lane unless they wrap.
    sums: Vec<ExprId>,
}

impl Writer<'_> {
    /// The loop over all lanes, if some of its guards are of that kind. `body` writes what a lane does.
    pub fn rows_inside(
        &self,
        stmts: &[StmtId],
        body: &dyn Fn(&Writer<'_>) -> TokenStream,
    ) -> Option<TokenStream> {
        if !self.shapes.inside {
            return None;
        }
        let guards = self.guards(stmts);
        if guards.sums.is_empty() {
            return None;
        }
        let mut known = self.known.clone();
        known.extend(guards.conds.iter().map(|cond| (*cond, true)));
        // What the launch proved is asked for here, too: without these tests, which cost nothing, LLVM makes a tiled product take an
        // eighth longer.
        let inside = body(&Writer {
            known: &known,
            ..*self
        });
        let edge = body(self);
        let holds = self.holds(&guards);
        // Where all of the block's rows run whole, their length is known.
        let count = match (self.frame.is_some(), self.kernel.block) {
            (true, Some([x, _, _])) => {
                let x = Literal::u32_unsuffixed(x);
                mixed!(#x)
            }
            (true, None) | (false, _) => mixed!(__lanes[0]),
        };
        let lanes = |count, body| each_row(each_lane(&mixed!(0..#count), body));
        let (inside, edge) = (
            lanes(count.clone(), inside),
            lanes(mixed!(__lanes[0]), edge),
        );
        Some(mixed!(if __lanes[0] == #count && #holds { #inside } else { #edge }))
    }

    /// The guards among statements, and among what stands under conditions that are known to hold.
    fn guards(&self, stmts: &[StmtId]) -> Guards {
        let mut guards = Guards::default();
        for stmt in self.straight(stmts) {
            let Stmt::If { cond, .. } = self.kernel.stmt(stmt) else {
                continue;
            };
            let mut sums = vec![];
            if self.is_guard(cond, &mut sums) && !sums.is_empty() {
                guards.conds.push(cond);
                guards.sums.extend(sums);
            }
        }
        guards
    }

    fn is_guard(&self, cond: ExprId, sums: &mut Vec<ExprId>) -> bool {
        if let Some(known) = self.known.get(&cond) {
            return *known;
        }
        if let Expr::And { lhs, rhs } = self.kernel.expr(cond) {
            return self.is_guard(lhs, sums) && self.is_guard(rhs, sums);
        }
        let Expr::Binary { op, lhs, rhs } = self.kernel.expr(cond) else {
            return false;
        };
        let compares = match op {
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => true,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne => false,
        };
        let mut is_index = |index, value| {
            let mut axes = Axis::ALL.into_iter();
            let found = axes.any(|axis| self.is_index_along(axis, index)) && self.is_uniform(value);
            if found {
                sums.push(index);
            }
            found
        };
        compares
            && (is_index(lhs, rhs)
                || is_index(rhs, lhs)
                || self.is_uniform(lhs) && self.is_uniform(rhs))
    }

    /// Is it an index along an axis, to which something is added that is the same for the block? One in the block, and what is
    /// added known, parts the lanes of each block alike: that is no guard against the data's end.
    fn is_index_along(&self, axis: Axis, expr: ExprId) -> bool {
        !self.is_of_block(axis, expr)
            && self.is_consecutive(axis, expr, &|added| self.is_uniform(added))
    }

    /// Is it the same for all lanes, at any time?
    fn is_uniform(&self, expr: ExprId) -> bool {
        let expr = self.resolved(expr);
        let itself = match self.kernel.expr(expr) {
            Expr::Builtin(builtin) => builtin.is_uniform(),
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => self.is_fixed(expr),
        };
        let mut operands = self.kernel.operands(expr).into_iter();
        itself && operands.all(|e| self.is_uniform(e))
    }

    /// Is it an index in the block, or one to which something known is added?
    fn is_of_block(&self, axis: Axis, expr: ExprId) -> bool {
        let expr = self.resolved(expr);
        match self.kernel.expr(expr) {
            Expr::Builtin(_) => self.kernel.expr(expr) == Expr::Builtin(Builtin::ThreadIdx(axis)),
            Expr::Binary { lhs, rhs, .. } => {
                let is_part = |e| self.kernel.literal(e).is_some() || self.is_of_block(axis, e);
                is_part(lhs) && is_part(rhs)
            }
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        }
    }

    /// Do the guards hold for the first lane and for the last, and does no sum wrap between them?
    fn holds(&self, guards: &Guards) -> TokenStream {
        let trying = Writer {
            tries: true,
            ..*self
        };
        let lets = trying.declared_again(&guards.conds);
        let conds = guards.conds.iter().map(|cond| trying.expr(*cond));
        let sums = guards.sums.iter().map(|sum| trying.expr(*sum));
        mixed! {
            __host::rise(__lanes, |__thread| {
                #lets
                // Only then all sums would have been evaluated.
                if #(#conds)&&* { ::core::option::Option::Some([#(#sums),*]) } else { ::core::option::Option::None }
            })
        }
    }
}
