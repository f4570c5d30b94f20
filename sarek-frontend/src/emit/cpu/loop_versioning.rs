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
use sarek_ir::analysis::linear::{Comparison, Guard};
use sarek_ir::{Axis, Builtin, Expr, ExprId, Stmt, StmtId};

use super::peel::in_groups;
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
        let lanes = |count: &TokenStream, body| each_row(each_lane(&mixed!(0..#count), body));
        let edge = lanes(&mixed!(__lanes[0]), edge);
        let inside = match (self.frame, self.kernel.block) {
            // Rows of a block that the launch gives are short, too, and their length is unknown.
            (Some(_), None) => {
                let inside = in_groups(&inside);
                each_row(mixed!(let (__from, __to) = (0, #count); #inside))
            }
            (Some(_), Some(_)) | (None, _) => lanes(&count, inside),
        };
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
        let Comparison { relation, lhs, rhs } = match Guard::of(self.kernel, cond, true) {
            Guard::Both { lhs, rhs } => {
                return self.is_guard(lhs, sums) && self.is_guard(rhs, sums);
            }
            Guard::Compare(comparison) => comparison,
            Guard::Either { .. } | Guard::Not(_) | Guard::Local(_) | Guard::Other => return false,
        };
        let mut is_index = |index, value| {
            let found = self.rises(index) && self.is_uniform(value);
            if found {
                sums.push(index);
            }
            found
        };
        relation.is_order()
            && (is_index(lhs, rhs)
                || is_index(rhs, lhs)
                || self.is_uniform(lhs) && self.is_uniform(rhs))
    }

    /// True for an index of the lane plus a value that is the same for the whole block. An index in the block plus
    /// a constant is excluded: it splits the lanes of every block alike, so it is no guard against the end of the
    /// data.
    fn rises(&self, expr: ExprId) -> bool {
        let Some(index) = self.lane_index(expr, &|value| self.is_uniform(value)) else {
            return false;
        };
        let of_block = matches!(index.id, Builtin::ThreadIdx(_));
        let is_along = Axis::ALL.into_iter().any(|axis| index.is_along(axis));
        is_along && !(of_block && index.offset.as_constant().is_some())
    }

    /// True if the value is the same for all lanes at any time.
    pub fn is_uniform(&self, expr: ExprId) -> bool {
        let expr = self.resolved(expr);
        let itself = if let Expr::Builtin(builtin) = self.kernel.expr(expr) {
            builtin.is_uniform()
        } else {
            self.is_fixed(expr)
        };
        let mut operands = self.kernel.operands(expr).into_iter();
        itself && operands.all(|e| self.is_uniform(e))
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
