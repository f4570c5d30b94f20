//! Guard elimination: turns guards against threads beyond the data into bounds of the loop over
//! threads.
//!
//! Kernels often begin with `if i < n { … }` or `if i >= n { return }`, where `i` is a global
//! index. Regions between barriers are often `if t < s { … }`, where `t` is a thread's index in its
//! block. A test in the loop over threads hinders LLVM's vectoriser; as the end of the loop it
//! costs nothing.
//!
//! A test is removed from a body or region if
//! - it compares an index with a *fixed* value, or tests that the index is zero. A value is fixed
//!   if all threads of a block agree on it and its evaluation cannot fault or panic;
//! - the threads that fail it do nothing observable. Before the test there are only declarations of
//!   immutable locals with *quiet* values: no faults, and no arithmetic that panics in debug
//!   builds. The guarded code is the rest of the body.
//!
//! Only top-level statements are examined. In a condition, only the terms before the first one that
//! is not quiet are examined.

use std::collections::{HashMap, HashSet};

use super::Writer;
use super::lane_index::LaneIndices;
use sarek_ir::analysis::linear::{Guard, Relation};
use sarek_ir::analysis::regions::{Place, Plan, Values};
use sarek_ir::facts::{Hazard, Reads, Work};
use sarek_ir::{Axis, Block, Builtin, ExprId, Kernel, LocalId, ParamId, Stmt, StmtId, Value};

/// The guards that were removed from a body.
#[derive(Default)]
pub struct Trim {
    /// Declarations of fixed locals, which bounds may use.
    pub fixed: Vec<StmtId>,
    /// Threads beyond these bounds do nothing.
    pub bounds: Vec<Bound>,
    /// The values of the removed tests for the threads that are left.
    pub known: HashMap<ExprId, bool>,
}

/// An index that a test compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// The index in the launch.
    Global(Axis),
    /// The index in the block.
    Thread(Axis),
}

/// A bound for the threads that have something to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    pub index: Index,
    pub limit: Limit,
}

/// The upper limit of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The index is below this value.
    Below(ExprId),
    /// The index is zero.
    First,
}

impl Trim {
    /// The guards of a kernel.
    pub fn of(kernel: &Kernel, values: &Values) -> Trim {
        let ids: Vec<StmtId> = kernel.block(kernel.body).collect();
        Finder::new(kernel, values, None, &|_| true).found(&ids)
    }
}

impl Writer<'_> {
    /// The guards of a region.
    pub fn trim_of_region(&self, plan: &Plan, stmts: &[StmtId]) -> Trim {
        let is_of_all = |param| self.is_param_of_all(param);
        Finder::new(self.kernel, self.values, Some(plan), &is_of_all).found(stmts)
    }

    /// The guards of a branch that lanes take if a condition holds. The condition stays a test.
    pub fn trim_of_branch(&self, plan: &Plan, cond: ExprId) -> Trim {
        let is_of_all = |param| self.is_param_of_all(param);
        let mut finder = Finder::new(self.kernel, self.values, Some(plan), &is_of_all);
        finder.test(cond, true);
        finder.trim
    }
}

struct Finder<'a> {
    kernel: &'a Kernel,
    values: &'a Values,
    /// The split of the body, if the statements are one of its regions.
    region: Option<&'a Plan>,
    /// True for parameters that have one value in all lanes.
    is_of_all: &'a dyn Fn(ParamId) -> bool,
    /// Locals that hold a fixed value.
    fixed: HashSet<LocalId>,
    trim: Trim,
}

impl<'a> Finder<'a> {
    fn new(
        kernel: &'a Kernel,
        values: &'a Values,
        region: Option<&'a Plan>,
        is_of_all: &'a dyn Fn(ParamId) -> bool,
    ) -> Finder<'a> {
        Finder {
            kernel,
            values,
            region,
            is_of_all,
            fixed: HashSet::new(),
            trim: Trim::default(),
        }
    }

    /// The guards before a statement that ends the search.
    fn found(mut self, ids: &[StmtId]) -> Trim {
        self.body(ids);
        self.trim
    }

    fn body(&mut self, ids: &[StmtId]) {
        for &id in ids {
            let stmt = self.kernel.stmt(id);
            let goes_on = if let Stmt::Let {
                local,
                init: Some(init),
            } = stmt
            {
                self.declare(id, local, init)
            } else if let Stmt::If {
                cond,
                then,
                otherwise,
            } = stmt
                && otherwise.is_empty()
            {
                if self.only_returns(then) {
                    // Threads that return in a region must be absent from later regions, too.
                    self.region.is_none() && self.test(cond, false)
                } else {
                    // If other statements follow, the threads that fail the test run them.
                    ids.last() == Some(&id) && self.test(cond, true)
                }
            } else {
                false
            };
            if !goes_on {
                return;
            }
        }
    }

    /// True for a declaration that tests may precede and follow.
    fn declare(&mut self, id: StmtId, local: LocalId, init: ExprId) -> bool {
        if self.kernel.locals[local.index()].mutable || !self.is_quiet(init) {
            return false;
        }
        if self.region.is_some_and(|r| r.place(local) == Place::Lanes) {
            return false;
        }
        if self.is_fixed(init) {
            self.fixed.insert(local);
            self.trim.fixed.push(id);
        }
        true
    }

    fn only_returns(&self, block: Block) -> bool {
        let mut stmts = self.kernel.block(block).map(|id| self.kernel.stmt(id));
        stmts.next() == Some(Stmt::Return) && stmts.next().is_none()
    }

    /// Removes tests from a condition that is `wanted` for the threads that go on. Returns true if
    /// all of the condition is quiet.
    fn test(&mut self, cond: ExprId, wanted: bool) -> bool {
        let comparison = match Guard::of(self.kernel, cond, wanted) {
            Guard::Both { lhs, rhs } => return self.test(lhs, wanted) && self.test(rhs, wanted),
            Guard::Compare(comparison) => comparison.of_integers(self.kernel, wanted),
            Guard::Either { .. } | Guard::Not(_) | Guard::Local(_) | Guard::Other => None,
        };
        let Some(comparison) = comparison else {
            return self.is_quiet(cond);
        };
        let is_zero = |e| self.kernel.literal(e) == Some(Value::Usize(0));
        match (comparison.strictly_ordered(), comparison.relation) {
            (Some([less, more]), _) => self.bound(cond, wanted, less, Limit::Below(more)),
            (None, Relation::Eq) if wanted && is_zero(comparison.rhs) => {
                self.bound(cond, wanted, comparison.lhs, Limit::First)
            }
            (None, _) => self.is_quiet(cond),
        }
    }

    /// Removes `cond` if it compares an index with a fixed value. Returns true if the search may go
    /// on.
    fn bound(&mut self, cond: ExprId, wanted: bool, index: ExprId, limit: Limit) -> bool {
        let fixed = match limit {
            Limit::Below(bound) => self.is_fixed(bound),
            Limit::First => true,
        };
        match self.index(index) {
            Some(index) if fixed => {
                self.trim.bounds.push(Bound { index, limit });
                self.trim.known.insert(cond, wanted);
                true
            }
            Some(_) | None => self.is_quiet(cond),
        }
    }

    /// The index that an expression denotes.
    fn index(&self, expr: ExprId) -> Option<Index> {
        let mut indices = LaneIndices {
            kernel: self.kernel,
            values: self.values,
            agreed: &|_| false,
        };
        let index = indices.index(expr).filter(|index| index.offset.is_zero());
        index.and_then(|index| match index.id {
            Builtin::GlobalIdx(axis) => Some(Index::Global(axis)),
            Builtin::ThreadIdx(axis) => Some(Index::Thread(axis)),
            Builtin::BlockIdx(_)
            | Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::GlobalThreadId
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => None,
        })
    }

    /// True if all threads of a block agree on the value, and it is quiet.
    fn is_fixed(&self, expr: ExprId) -> bool {
        let mut parts = self.kernel.exprs_in([expr]);
        self.is_quiet(expr)
            && parts.all(|part| match self.kernel.expr(part).facts().reads {
                Reads::Local(local) => {
                    let once = |r: &Plan| r.place(local) == Place::Once;
                    self.fixed.contains(&local) || self.region.is_some_and(once)
                }
                Reads::Id(builtin) => builtin.is_uniform(),
                Reads::Memory(_) | Reads::Faults => false,
                Reads::Operands | Reads::Constant | Reads::Len(_) => true,
                Reads::Param(param) => (self.is_of_all)(param),
            })
    }

    /// True if the evaluation can neither fault nor panic.
    fn is_quiet(&self, expr: ExprId) -> bool {
        self.kernel.exprs_in([expr]).all(|part| {
            let is_simple = match self.kernel.expr(part).facts().work {
                Work::Leaf | Work::Operator | Work::ShortCircuit => true,
                Work::Load | Work::Call(_) | Work::Compound => false,
            };
            is_simple && self.kernel.hazard(part) == Hazard::None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axes of the bounds found in a body, and the number of locals that bounds may use.
    fn found(body: &str) -> (Vec<Axis>, usize) {
        let source =
            format!("unsafe fn k(n: usize, m: usize, s: &[u32], o: &mut [u32]) {{ {body} }}");
        let expansion = crate::expand::kernel(
            proc_macro2::TokenStream::new(),
            source.parse().expect("the source is tokens"),
        );
        let kernel = expansion.kernel.expect("the source is a kernel");
        let trim = Trim::of(&kernel, &Values::of(&kernel));
        assert_eq!(trim.bounds.len(), trim.known.len());
        let axes = trim.bounds.iter().map(|bound| match bound.index {
            Index::Global(axis) | Index::Thread(axis) => axis,
        });
        let axes = axes.collect();
        (axes, trim.fixed.len())
    }

    #[test]
    fn guards_of_the_rest_are_taken_out() {
        let i = "let i = global_idx_x(); let j = global_idx_y();";
        let x = (vec![Axis::X], 0);
        let both = (vec![Axis::X, Axis::Y], 0);
        for (body, due) in [
            ("if i < n { o[i] = 1; }", &x),
            ("if thread_idx_x() < n { o[i] = 1; }", &x),
            ("let t = thread_idx_x(); if t == 0 { o[i] = 1; }", &x),
            ("if n > i { o[i] = 1; }", &x),
            ("if i >= n { return; } o[i] = 1;", &x),
            (
                "if n <= i { return; } if j >= m { return; } o[i] = 1;",
                &both,
            ),
            ("if i >= n || j >= s.len() { return; } o[i] = 1;", &both),
            (
                "if i < n && i != m && j < m && s[i] > 0 { o[i] = 1; }",
                &both,
            ),
        ] {
            assert_eq!(&found(&format!("{i}{body}")), due, "{body}");
        }
        let halved = "let n = s.len() / 2; if global_idx_z() < n { o[n] = 1; }";
        assert_eq!(found(halved), (vec![Axis::Z], 1));
    }

    #[test]
    fn other_guards_stay() {
        for body in [
            // Other statements before, after or in an `else`.
            "o[i] = 2; if i < n { o[i] = 1; }",
            "if i < n { o[i] = 1; } o[i] = 2;",
            "if i < n { o[i] = 1; } else { o[i] = 2; }",
            "if i >= n { o[i] = 2; return; } o[i] = 1;",
            // A fault or panic is possible before the test.
            "let v = s[i]; if i < n { o[i] = v; }",
            "let d = n / m; if i < d { o[i] = 1; }",
            "let d = n - m; if i < d { o[i] = 1; }",
            "if s[i] > 0 && i < n { o[i] = 1; }",
            // The remaining threads are those above the bound, or some on each side.
            "if i > n { o[i] = 1; }",
            "if i < n { return; } o[i] = 1;",
            "if i < n || i == m { o[i] = 1; }",
            "if i >= n && i != m { return; } o[i] = 1;",
            // The bound is not fixed, or the test is no bound of an index.
            "if i < global_idx_y() { o[i] = 1; }",
            "if thread_idx_x() == 1 { o[i] = 1; }",
            "let mut b = n; b = m; if i < b { o[i] = 1; }",
        ] {
            let (bounds, _) = found(&format!("let i = global_idx_x(); {body}"));
            assert_eq!(bounds, vec![], "{body}");
        }
    }
}
