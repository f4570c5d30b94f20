//! Guards against threads beyond the data, turned into bounds of the loop over threads.
//!
//! Kernels begin with `if i < n { … }` or `if i >= n { return }`, where `i` is a global index; regions between
//! barriers are often `if t < s { … }`, where `t` is a thread's index in its block. As a
//! test in the loop over threads it keeps LLVM from vectorising plainly; as the loop's end it costs nothing.
//!
//! A test is taken out of a body or region when
//! - it compares an index with a *fixed* value, or asks whether it is the first: one that all threads of a block agree on,
//!   and whose evaluation cannot fault or panic;
//! - the threads that fail it do nothing observable: what stands before it is declarations of
//!   immutable locals with *quiet* values (no faults, and no arithmetic that panics in debug builds), and
//!   what it guards is the rest of the body.
//!
//! Only top-level statements are looked at, and in a condition only what is tested before anything
//! that is not quiet.

use std::collections::{HashMap, HashSet};

use sarek_ir::analysis::regions::{Place, Plan, Values};
use sarek_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprId, Kernel, LocalId, Scalar, Stmt, StmtId, UnaryOp,
    Value,
};

/// What was taken out of a body.
#[derive(Default)]
pub struct Trim {
    /// Declarations of fixed locals: bounds may use them.
    pub fixed: Vec<StmtId>,
    /// Threads beyond these do nothing.
    pub bounds: Vec<Bound>,
    /// What the tests taken out yield for the threads that are left.
    pub known: HashMap<ExprId, bool>,
}

/// An index that tests compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// In the launch.
    Global(Axis),
    /// In the block.
    Thread(Axis),
}

/// Which threads have something to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    pub index: Index,
    pub limit: Limit,
}

/// What an index is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// It is below this value.
    Below(ExprId),
    /// It is zero.
    First,
}

impl Trim {
    /// The guards of a kernel.
    pub fn of(kernel: &Kernel, values: &Values) -> Trim {
        let ids: Vec<StmtId> = kernel.block(kernel.body).collect();
        Trim::find(kernel, values, None, &ids)
    }

    /// The guards of a region.
    pub fn of_region(kernel: &Kernel, values: &Values, plan: &Plan, stmts: &[StmtId]) -> Trim {
        Trim::find(kernel, values, Some(plan), stmts)
    }

    fn find(kernel: &Kernel, values: &Values, region: Option<&Plan>, ids: &[StmtId]) -> Trim {
        let mut finder = Finder {
            kernel,
            values,
            region,
            fixed: HashSet::new(),
            trim: Trim::default(),
        };
        // What was found before something that cannot be trimmed stands all the same.
        finder.body(ids);
        finder.trim
    }
}

/// Is this a number by which any integer can be divided: a constant, or a count of what runs?
pub fn can_divide(kernel: &Kernel, divisor: ExprId) -> bool {
    if let Expr::Builtin(builtin) = kernel.expr(divisor) {
        return builtin.is_count();
    }
    kernel.literal(divisor).is_some_and(|value| match value {
        Value::I8(v) => v != 0 && v != -1,
        Value::I16(v) => v != 0 && v != -1,
        Value::I32(v) => v != 0 && v != -1,
        Value::I64(v) => v != 0 && v != -1,
        Value::U8(v) => v != 0,
        Value::U16(v) => v != 0,
        Value::U32(v) => v != 0,
        Value::U64(v) | Value::Usize(v) => v != 0,
        Value::Bool(_) | Value::F16(_) | Value::Bf16(_) | Value::F32(_) | Value::F64(_) => false,
    })
}

struct Finder<'a> {
    kernel: &'a Kernel,
    values: &'a Values,
    /// How the body is split, if the statements are a region of it.
    region: Option<&'a Plan>,
    /// Locals that hold a fixed value.
    fixed: HashSet<LocalId>,
    trim: Trim,
}

impl Finder<'_> {
    fn body(&mut self, ids: &[StmtId]) {
        for &id in ids {
            let goes_on = match self.kernel.stmt(id) {
                Stmt::Let {
                    local,
                    init: Some(init),
                } => self.declare(id, local, init),
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } if otherwise.is_empty() => {
                    if self.only_returns(then) {
                        // Those that return from a region are missed in others.
                        self.region.is_none() && self.test(cond, false)
                    } else {
                        // What follows would run for the threads that fail the test.
                        ids.last() == Some(&id) && self.test(cond, true)
                    }
                }
                Stmt::Let { init: None, .. }
                | Stmt::If { .. }
                | Stmt::Assign { .. }
                | Stmt::Store { .. }
                | Stmt::Assert { .. }
                | Stmt::Loop { .. }
                | Stmt::For { .. }
                | Stmt::Break { .. }
                | Stmt::Continue { .. }
                | Stmt::Return
                | Stmt::Barrier
                | Stmt::Fence { .. }
                | Stmt::Panic { .. }
                | Stmt::Print { .. }
                | Stmt::Atomic { .. }
                | Stmt::Subgroup { .. }
                | Stmt::Update { .. }
                | Stmt::Call { .. }
                | Stmt::Native { .. } => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Is this a declaration before which, and after which, tests may be taken out?
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

    /// Takes tests out of a condition that is `wanted` for the threads that go on. Is all of the
    /// condition quiet?
    fn test(&mut self, cond: ExprId, wanted: bool) -> bool {
        let (all, below, above) = match wanted {
            true => (true, BinaryOp::Lt, BinaryOp::Gt),
            false => (false, BinaryOp::Ge, BinaryOp::Le),
        };
        match self.kernel.expr(cond) {
            Expr::And { lhs, rhs } if all => self.test(lhs, wanted) && self.test(rhs, wanted),
            Expr::Or { lhs, rhs } if !all => self.test(lhs, wanted) && self.test(rhs, wanted),
            Expr::Binary { op, lhs, rhs } if op == below => {
                self.bound(cond, wanted, lhs, Limit::Below(rhs))
            }
            Expr::Binary { op, lhs, rhs } if op == above => {
                self.bound(cond, wanted, rhs, Limit::Below(lhs))
            }
            Expr::Binary {
                op: BinaryOp::Eq,
                lhs,
                rhs,
            } if all && self.kernel.literal(rhs) == Some(Value::Usize(0)) => {
                self.bound(cond, wanted, lhs, Limit::First)
            }
            Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Binary { .. }
            | Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Divide { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => self.is_quiet(cond),
        }
    }

    /// Takes out `cond`, if it tells whether an index is below a fixed value.
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

    /// The index that an expression is.
    fn index(&self, expr: ExprId) -> Option<Index> {
        if let Expr::Local(local) = self.kernel.expr(expr) {
            let fixed = !self.kernel.locals[local.index()].mutable;
            return self.index(self.values.get(local).filter(|_| fixed)?);
        }
        Axis::ALL.into_iter().find_map(|axis| {
            let is = |builtin| self.kernel.expr(expr) == Expr::Builtin(builtin);
            let global = is(Builtin::GlobalIdx(axis)).then_some(Index::Global(axis));
            global.or(is(Builtin::ThreadIdx(axis)).then_some(Index::Thread(axis)))
        })
    }

    /// Do all threads of a block agree on the value, and is it quiet?
    fn is_fixed(&self, expr: ExprId) -> bool {
        let itself = match self.kernel.expr(expr) {
            Expr::Local(local) => {
                let once = |r: &Plan| r.place(local) == Place::Once;
                self.fixed.contains(&local) || self.region.is_some_and(once)
            }
            Expr::Builtin(builtin) => builtin.is_uniform(),
            Expr::Literal(_)
            | Expr::Link(_)
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
            | Expr::Faulted => self.is_quiet(expr),
        };
        itself
            && self
                .kernel
                .operands(expr)
                .into_iter()
                .all(|e| self.is_fixed(e))
    }

    fn is_float(&self, expr: ExprId) -> bool {
        let ty = self.kernel.type_of(expr).as_scalar();
        ty.is_some_and(Scalar::is_float)
    }

    /// Can the evaluation neither fault nor panic?
    fn is_quiet(&self, expr: ExprId) -> bool {
        let float = self.is_float(expr);
        let itself = match self.kernel.expr(expr) {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. } => true,
            Expr::Unary { op, .. } => match op {
                UnaryOp::Not => true,
                UnaryOp::Neg => float,
            },
            Expr::Binary { op, .. } => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Shr => {
                    float
                }
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge => true,
            },
            Expr::Divide { rhs, .. } => can_divide(self.kernel, rhs),
            Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        };
        itself
            && self
                .kernel
                .operands(expr)
                .into_iter()
                .all(|e| self.is_quiet(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axes of the bounds that are found in a body, and how many locals bounds may use.
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
            // Something is done before, after, or otherwise.
            "o[i] = 2; if i < n { o[i] = 1; }",
            "if i < n { o[i] = 1; } o[i] = 2;",
            "if i < n { o[i] = 1; } else { o[i] = 2; }",
            "if i >= n { o[i] = 2; return; } o[i] = 1;",
            // It may fault or panic before.
            "let v = s[i]; if i < n { o[i] = v; }",
            "let d = n / m; if i < d { o[i] = 1; }",
            "let d = n - m; if i < d { o[i] = 1; }",
            "if s[i] > 0 && i < n { o[i] = 1; }",
            // The other threads are those at work, or some of each.
            "if i > n { o[i] = 1; }",
            "if i < n { return; } o[i] = 1;",
            "if i < n || i == m { o[i] = 1; }",
            "if i >= n && i != m { return; } o[i] = 1;",
            // The bound varies, or is no bound of a global index.
            "if i < global_idx_y() { o[i] = 1; }",
            "if thread_idx_x() == 1 { o[i] = 1; }",
            "let mut b = n; b = m; if i < b { o[i] = 1; }",
        ] {
            let (bounds, _) = found(&format!("let i = global_idx_x(); {body}"));
            assert_eq!(bounds, vec![], "{body}");
        }
    }
}
