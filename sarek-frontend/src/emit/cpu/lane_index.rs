//! Indices of lanes, as linear forms.
//!
//! The ids that differ between lanes are the atoms of a form. A value on which the lanes agree is a symbol; the
//! user of the form says which values these are. Only sums are followed: an index in a difference or a product may
//! wrap between the first and the last lane.

use sarek_ir::analysis::linear::{Affine, Atom, Form, Poly, Source, Symbol, read};
use sarek_ir::analysis::regions::Values;
use sarek_ir::{Axis, BinaryOp, Builtin, ExprId, Kernel, LocalId, Scalar};

/// Reads the indices of one kernel.
pub struct LaneIndices<'a> {
    pub kernel: &'a Kernel,
    /// The initialisers of locals.
    pub values: &'a Values,
    /// True for a value on which the lanes agree.
    pub agreed: &'a dyn Fn(ExprId) -> bool,
}

/// An index: an id of the lane plus an offset on which the lanes agree.
pub struct LaneIndex {
    /// The id.
    pub id: Builtin,
    /// The offset.
    pub offset: Poly,
}

impl LaneIndex {
    /// True if the index of the next lane along an axis is larger by one.
    pub fn is_along(&self, axis: Axis) -> bool {
        match self.id {
            Builtin::GlobalThreadId => axis == Axis::X,
            Builtin::ThreadIdx(of) | Builtin::GlobalIdx(of) => of == axis,
            Builtin::BlockIdx(_)
            | Builtin::BlockDim(_)
            | Builtin::GridDim(_)
            | Builtin::GlobalDim(_)
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => false,
        }
    }
}

impl LaneIndices<'_> {
    /// The index that an expression denotes.
    pub fn index(&mut self, expr: ExprId) -> Option<LaneIndex> {
        let form = read(self, expr)?.form;
        match form.terms() {
            [(Atom::Id(id), factor)] if factor.as_constant() == Some(1) => Some(LaneIndex {
                id: *id,
                offset: form.base.clone(),
            }),
            _ => None,
        }
    }

    /// A symbol for a value on which the lanes agree.
    fn agreed(&self, id: ExprId) -> Option<Affine> {
        let symbol = Poly::symbol(Symbol::Opaque(id, false));
        (self.agreed)(id).then(|| Affine::of(Form::of(symbol)))
    }
}

impl Source for LaneIndices<'_> {
    type Coefficient = Poly;

    fn kernel(&self) -> &Kernel {
        self.kernel
    }

    fn symbol(&mut self, id: ExprId, _: Symbol) -> Option<Affine> {
        self.agreed(id)
    }

    fn id(&mut self, id: ExprId, builtin: Builtin) -> Option<Affine> {
        let agreed = self.agreed(id);
        Some(agreed.unwrap_or_else(|| Affine::atom(Atom::Id(builtin))))
    }

    fn local(&mut self, id: ExprId, local: LocalId) -> Option<Affine> {
        let is_fixed = !self.kernel.locals[local.index()].mutable;
        let agreed = self.agreed(id);
        agreed.or_else(|| read(self, self.values.get(local).filter(|_| is_fixed)?))
    }

    fn opaque(&mut self, id: ExprId) -> Option<Affine> {
        self.agreed(id)
    }

    fn wrapped(&mut self, exact: Affine, op: BinaryOp, _: Scalar) -> Option<Affine> {
        let agreed = exact.form.uniform().is_some();
        (agreed || op == BinaryOp::Add).then_some(exact)
    }

    fn cast(&mut self, value: Affine, _: Scalar, _: Scalar) -> Option<Affine> {
        let agreed = value.form.uniform().is_some();
        agreed.then_some(value)
    }

    fn passes(&mut self, _: ExprId, _: ExprId) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarek_ir::analysis::linear::Guard;
    use sarek_ir::{Expr, Stmt};

    /// The index on the left of the only condition of a body, if arguments are agreed on.
    fn index_of(body: &str) -> Option<(Builtin, Option<i128>)> {
        let source =
            format!("unsafe fn k(n: usize, m: usize, s: &[u32], o: &mut [u32]) {{ {body} }}");
        let tokens = source.parse().expect("the source is tokens");
        let expansion = crate::expand::kernel(proc_macro2::TokenStream::new(), tokens);
        let kernel = expansion.kernel.expect("the source is a kernel");
        let conds = kernel.stmts.iter().filter_map(|stmt| match stmt {
            Stmt::If { cond, .. } => Some(*cond),
            _ => None,
        });
        let comparison = match conds.map(|cond| Guard::of(&kernel, cond, true)).next() {
            Some(Guard::Compare(comparison)) => comparison,
            other => panic!("{other:?}"),
        };
        let is_argument = |e| matches!(kernel.expr(e), Expr::Param(_));
        let mut indices = LaneIndices {
            kernel: &kernel,
            values: &Values::of(&kernel),
            agreed: &is_argument,
        };
        let index = indices.index(comparison.lhs)?;
        Some((index.id, index.offset.as_constant()))
    }

    #[test]
    fn sums_are_indices() {
        let x = Builtin::GlobalIdx(Axis::X);
        for (index, due) in [
            ("i", (x, Some(0))),
            ("i + 2", (x, Some(2))),
            ("1 + i + 2", (x, Some(3))),
            ("i + n", (x, None)),
            ("n * 2 + i", (x, None)),
            ("thread_idx_y() + 1", (Builtin::ThreadIdx(Axis::Y), Some(1))),
        ] {
            let body =
                format!("let i = global_idx_x(); let at = {index}; if at < m {{ o[i] = 1; }}");
            assert_eq!(index_of(&body), Some(due), "{index}");
        }
    }

    #[test]
    fn others_are_not() {
        for index in [
            "i - 1",
            "2 * i",
            "i + i",
            "i + global_idx_y()",
            "i + s.len()",
            "i as u32 as usize",
            "n",
            "i / 2",
        ] {
            let body =
                format!("let i = global_idx_x(); let at = {index}; if at < m {{ o[i] = 1; }}");
            assert_eq!(index_of(&body), None, "{index}");
        }
    }
}
