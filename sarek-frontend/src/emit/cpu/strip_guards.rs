//! Loop versioning for strips: a version of a strip for lanes that all pass the guards of the code.
//!
//! In `if x + 1 >= width { return }` and `if x > 0 && x + 1 < width && y > 0 && …`, the lanes of a
//! strip diverge only at the edges of the data. Each comparison of a lane's index with a value on
//! which the row agrees holds for all lanes of a strip if it holds for the first and the last one.
//! Strips for which all comparisons have the value that they have inside the data run a version in
//! which these values are known. The other lanes run one by one.
//!
//! A comparison is evaluated before its place, perhaps for a lane that never reaches it. Only
//! arithmetic is accepted, and it wraps in debug builds, too.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::TokenStream;
use sarek_ir::analysis::linear::Relation;
use sarek_ir::facts::Hazard;
use sarek_ir::{Arithmetic, Axis, Builtin, Expr, ExprId, StmtId, Value};

use super::{Writer, mixed};

/// Indices below this are at an edge: `x >= 2` holds inside the data, and `x < 2` does not.
const EDGE: u64 = 64;

/// The comparisons that are known for a strip inside the data.
#[derive(Default)]
pub struct StripGuards {
    /// Their values inside.
    pub inside: BTreeMap<ExprId, bool>,
    /// The indices, which must not wrap between the first and the last lane.
    indices: Vec<ExprId>,
}

impl StripGuards {
    /// The conditions known inside, besides these.
    pub fn among(&self, known: &HashMap<ExprId, bool>) -> HashMap<ExprId, bool> {
        let mut all = known.clone();
        all.extend(&self.inside);
        all
    }
}

impl Writer<'_> {
    /// The guards of lanes that are adjacent along x.
    pub fn strip_guards(&self, stmts: &[StmtId]) -> StripGuards {
        let mut guards = StripGuards::default();
        if !self.shapes.inside {
            return guards;
        }
        for stmt in self.kernel.stmts_in(stmts.iter().copied()) {
            for expr in self.kernel.exprs_in(self.kernel.operands_of(stmt)) {
                if !self.known.contains_key(&expr)
                    && let Some((index, inside)) = self.strip_guard(expr)
                {
                    guards.inside.insert(expr, inside);
                    guards.indices.push(index);
                }
            }
        }
        guards
    }

    /// The index that a comparison compares with a value of the row, and its result inside the data.
    fn strip_guard(&self, expr: ExprId) -> Option<(ExprId, bool)> {
        let Expr::Binary { op, lhs, rhs } = self.kernel.expr(expr) else {
            return None;
        };
        let relation = Relation::of(op)?;
        let (index, value, is_below) = match relation {
            Relation::Lt | Relation::Le if self.is_strip_index(lhs) => (lhs, rhs, true),
            Relation::Lt | Relation::Le => (rhs, lhs, false),
            Relation::Gt | Relation::Ge if self.is_strip_index(lhs) => (lhs, rhs, false),
            Relation::Gt | Relation::Ge => (rhs, lhs, true),
            Relation::Eq | Relation::Ne => return None,
        };
        let is_guard = self.is_strip_index(index) && self.is_calm(value) && self.is_fixed(value);
        let low = |v: Value| matches!(v, Value::Usize(n) if n < EDGE);
        let is_low = self.kernel.literal(self.resolved(value)).is_some_and(low);
        is_guard.then_some((index, is_below != is_low))
    }

    /// True for the index of a lane along x, plus a value of the row. An index in the block plus a
    /// constant is excluded: it splits the lanes of every block alike.
    fn is_strip_index(&self, expr: ExprId) -> bool {
        let fixed = |value: ExprId| self.is_fixed(value) && self.is_calm(value);
        let Some(index) = self.lane_index(expr, &fixed) else {
            return false;
        };
        let of_block = matches!(index.id, Builtin::ThreadIdx(_));
        let is_split = of_block && index.offset.as_constant().is_some();
        index.is_along(Axis::X) && !is_split && self.is_calm(expr)
    }

    /// True if the value can be evaluated early: only sums, differences and products may overflow.
    fn is_calm(&self, expr: ExprId) -> bool {
        let expr = self.resolved(expr);
        let overflows = match self.kernel.hazard(expr) {
            Hazard::None => false,
            Hazard::Overflow(arithmetic) => !matches!(
                arithmetic,
                Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul
            ),
            Hazard::Fault => true,
        };
        let mut operands = self.kernel.operands(expr).into_iter();
        !overflows && operands.all(|e| self.is_calm(e))
    }

    /// A test that a strip of `__count` lanes from `__first` on lies inside the data.
    pub fn lies_inside(&self, guards: &StripGuards) -> TokenStream {
        let early = Writer {
            guarded: true,
            proved: true,
            ..*self
        };
        let conds: Vec<ExprId> = guards.inside.keys().copied().collect();
        let lets = early.declared_again(&conds);
        let conds = guards.inside.iter().map(|(cond, inside)| {
            let value = early.expr(*cond);
            mixed!(#value == #inside)
        });
        let indices = guards.indices.iter().map(|index| early.expr(*index));
        mixed! {
            __host::rise_between([__first, __y, __z], [__first + __count - 1, __y, __z], |__thread| {
                let __p = false;
                #lets
                let __inside = #(#conds)&&*;
                let __indices = [#(#indices),*];
                if __inside { ::core::option::Option::Some(__indices) } else { ::core::option::Option::None }
            })
        }
    }
}
