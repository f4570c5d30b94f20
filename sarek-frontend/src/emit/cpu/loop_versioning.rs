//! Loop versioning: a version of the loop over lanes for blocks that lie entirely inside the data.
//!
//! In `tile[t] = if i < n { x[i] } else { 0.0 }`, each lane tests a guard that fails only in blocks
//! at the edge of the data. Such a guard is a conjunction of comparisons between an index along
//! some axis and a value on which the block agrees. If it holds for the first and the last lane, it
//! holds for all lanes between them. The block then runs a version in which the guard is known to
//! hold and the number of lanes is known, too. Otherwise it runs the plain version.
//!
//! Only guards that every lane reaches are considered, so that the test evaluates nothing that the
//! lanes would not evaluate.

use proc_macro2::{Literal, TokenStream};
use sarek_ir::{Axis, BinaryOp, Builtin, Expr, ExprId, Stmt, StmtId};

use super::tree::{each_lane, each_row};
use super::{Writer, mixed};

/// Conditions that hold for all lanes if they hold for the first and the last one.
#[derive(Default)]
struct Guards {
    conds: Vec<ExprId>,
    /// Sums in these conditions. They increase from lane to lane unless they wrap.
    sums: Vec<ExprId>,
}

impl Writer<'_> {
    /// The loop over all lanes in two versions, or `None` without such guards. `body` writes the
    /// code of a lane.
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
        // This version keeps the tests of provable sites. They cost nothing, and without them
        // LLVM's code for a tiled product takes an eighth longer.
        let inside = body(&Writer {
            known: &known,
            ..*self
        });
        let edge = body(self);
        let holds = self.holds(&guards);
        // In a split body with a fixed block size, the length of a complete row is a constant.
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

    /// The guards among the statements, including statements under conditions that are known to
    /// hold.
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

    /// True for an index along an axis, plus a value that is the same for the whole block. An index
    /// in the block plus a constant is excluded: it splits the lanes of every block alike, so it is
    /// no guard against the end of the data.
    fn is_index_along(&self, axis: Axis, expr: ExprId) -> bool {
        !self.is_of_block(axis, expr)
            && self.is_consecutive(axis, expr, &|added| self.is_uniform(added))
    }

    /// True if the value is the same for all lanes at any time.
    fn is_uniform(&self, expr: ExprId) -> bool {
        let expr = self.resolved(expr);
        let itself = if let Expr::Builtin(builtin) = self.kernel.expr(expr) {
            builtin.is_uniform()
        } else {
            self.is_fixed(expr)
        };
        let mut operands = self.kernel.operands(expr).into_iter();
        itself && operands.all(|e| self.is_uniform(e))
    }

    /// True for an index in the block, or such an index combined with constants.
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

    /// A test that the guards hold for the first and the last lane, and that no sum wraps between
    /// them.
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
                // Only if the guards hold would the lanes have evaluated all sums.
                if #(#conds)&&* { ::core::option::Option::Some([#(#sums),*]) } else { ::core::option::Option::None }
            })
        }
    }
}
