//! Arrays: local arrays, whole-array expressions, and elements of arrays of arrays.
//!
//! An array is memory, not a value. An expression for a whole array becomes an [`ArrayInit`], whether it
//! is a literal, a repeat, the name of another array or a row. Filling an array by a plan becomes
//! stores. An array of arrays is stored flat. Each index is checked against its own dimension; a
//! memory of one dimension is checked by the access itself.

use sarek_ir::{Access, BinaryOp, Expr, ExprId, Memory, Scalar, SiteId, SiteKind, Stmt};

use super::array_init::{ArrayInit, Start};
use super::length::Dim;
use crate::diagnostics::codes;
use crate::lower::stmt::takes_apart;
use crate::lower::{Binding, Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// The expression inside parentheses.
pub(in crate::lower) fn peeled(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(e) => peeled(&e.expr),
        syn::Expr::Group(e) => peeled(&e.expr),
        other => other,
    }
}

/// Splits `base[i][j]` into its base and indices.
pub(in crate::lower) fn index_chain(expr: &syn::Expr) -> (&syn::Expr, Vec<&syn::Expr>) {
    match peeled(expr) {
        syn::Expr::Index(e) => {
            let (base, mut indices) = index_chain(&e.expr);
            indices.push(&e.index);
            (base, indices)
        }
        other => (other, vec![]),
    }
}

impl Lowerer<'_> {
    // Elements.

    /// The dimensions of a memory. `None` for a slice, whose only dimension is not constant.
    pub(in crate::lower) fn shape(&self, memory: Memory) -> Option<&[Dim]> {
        self.shapes.get(&memory).map(Vec::as_slice)
    }

    /// The number of indices that lead to an element.
    pub(in crate::lower) fn rank(&self, memory: Memory) -> usize {
        if let Memory::Slice(param) = memory
            && let Some(rank) = self.views.get(&param)
        {
            return *rank as usize;
        }
        self.shape(memory).map_or(1, <[Dim]>::len)
    }

    /// Flattens one index per dimension to an index into memory. For a memory of one dimension also
    /// returns the site that checks the index.
    pub(in crate::lower) fn element_index(
        &mut self,
        memory: Memory,
        indices: &[&syn::Expr],
        span: SourceRange,
    ) -> (ExprId, Option<SiteId>) {
        match indices {
            [index] if self.rank(memory) == 1 => {
                self.literal_in_bounds(memory, 0, index);
                let index = self.scalar(index);
                self.expect(index, Scalar::Usize);
                (index, Some(self.site(SiteKind::Index(memory), span)))
            }
            _ => (self.flat_index(memory, indices, span), None),
        }
    }

    /// `(bounded(i) * columns + bounded(j)) * …`
    pub(in crate::lower) fn flat_index(
        &mut self,
        memory: Memory,
        indices: &[&syn::Expr],
        span: SourceRange,
    ) -> ExprId {
        let dims = self.shape(memory).unwrap_or_default().to_vec();
        let mut flat: Option<ExprId> = None;
        for (axis, (index, dim)) in indices.iter().zip(dims).enumerate() {
            self.literal_in_bounds(memory, axis, index);
            let mark = self.mark();
            let at = self.scalar(index);
            self.expect(at, Scalar::Usize);
            if self.mark() > mark
                && let Some(before) = flat
                && !self.kernel.is_fixed_leaf(before)
            {
                flat = Some(self.spill_at(mark, before));
            }
            let len = self.length_expr(dim.length, span);
            let site = self.site(SiteKind::Dimension(memory, axis as u32), index.range());
            let bounded = Expr::Bounded {
                index: at,
                len,
                site: Some(site),
            };
            let bounded = self.known(bounded, Scalar::Usize, span);
            flat = Some(match flat {
                None => bounded,
                Some(before) => {
                    let columns = self.length_expr(dim.length, span);
                    let row = self.plain(BinaryOp::Mul, before, columns, span);
                    self.plain(BinaryOp::Add, row, bounded, span)
                }
            });
        }
        flat.expect("an element has an index")
    }

    /// Reports a literal index beyond a known length.
    fn literal_in_bounds(&mut self, memory: Memory, axis: usize, index: &syn::Expr) {
        let Some(len) = self.shape(memory).and_then(|dims| dims[axis].known()) else {
            return;
        };
        if let syn::Expr::Lit(lit) = peeled(index)
            && let syn::Lit::Int(int) = &lit.lit
            && int.base10_parse::<u64>().is_ok_and(|i| i >= len)
        {
            let name = self.kernel.memory_name(memory);
            self.errors.at(
                codes::INDEX,
                int.range(),
                format!("index {int} is out of bounds: `{name}` has {len} elements here"),
                format!("use an index below {len}"),
            );
        }
    }

    /// Reports an index chain that does not lead to one element.
    pub(in crate::lower) fn check_rank(
        &mut self,
        memory: Memory,
        given: usize,
        span: SourceRange,
    ) -> Option<()> {
        let rank = self.rank(memory);
        if given == rank {
            return Some(());
        }
        let name = self.kernel.memory_name(memory).to_string();
        let wanted: String = ["i", "j", "k", "l"]
            .iter()
            .cycle()
            .take(rank)
            .map(|i| format!("[{i}]"))
            .collect();
        let s = if rank == 1 { "" } else { "s" };
        self.errors.at(
            codes::INDEX,
            span,
            format!("`{name}` has {rank} dimension{s}"),
            format!("write `{name}{wanted}`"),
        );
        None
    }

    /// `array.len()`: the outermost dimension.
    pub(in crate::lower) fn len(&mut self, memory: Memory, span: SourceRange) -> ExprId {
        match self.shape(memory) {
            Some([outer, _, ..]) => {
                let length = outer.length;
                self.length_expr(length, span)
            }
            Some(_) | None => self.known(Expr::Len(memory), Scalar::Usize, span),
        }
    }

    // Whole arrays.

    /// Lowers a `let` of a local array. `None` for any other `let`.
    pub(in crate::lower) fn array_let(&mut self, local: &syn::Local) -> Option<Value> {
        let (pat, declared) = match &local.pat {
            syn::Pat::Type(typed) if matches!(*typed.ty, syn::Type::Array(_)) => {
                (&*typed.pat, Some(&*typed.ty))
            }
            syn::Pat::Type(typed) => (&*typed.pat, None),
            other => (other, None),
        };
        if takes_apart(pat) {
            return None;
        }
        let init = local.init.as_ref();
        if declared.is_none() && !init.is_some_and(|init| self.yields_array(&init.expr)) {
            return None;
        }
        if let Some((token, _)) = init.and_then(|init| init.diverge.as_ref()) {
            self.errors
                .unsupported(codes::PATTERN, token.span, "`let … else` is", "use `if`");
        }
        let declared = match declared {
            Some(ty) => match self.array_type(ty) {
                Some(declared) => Some(declared),
                None => return Some(Value::Unit),
            },
            None => None,
        };
        let syn::Pat::Ident(pat) = pat else {
            let what = "this pattern for an array is";
            self.errors
                .unsupported(codes::PATTERN, pat.range(), what, "bind a plain name");
            return Some(Value::Unit);
        };
        if pat.by_ref.is_some() || pat.subpat.is_some() {
            let what = "this pattern for an array is";
            self.errors
                .unsupported(codes::PATTERN, pat.range(), what, "bind a plain name");
        }
        self.bind_array(pat, declared, init.map(|init| &*init.expr));
        Some(Value::Unit)
    }

    fn bind_array(
        &mut self,
        pat: &syn::PatIdent,
        declared: Option<(Vec<Dim>, Ty)>,
        init: Option<&syn::Expr>,
    ) -> Option<()> {
        let plan = match init {
            Some(init) if self.yields_array(init) => {
                let plan = self.plan(init)?;
                Some(match &declared {
                    Some((dims, _)) => plan.of(dims),
                    None => plan,
                })
            }
            Some(init) => return self.bind_array_value(pat, declared, init),
            None => None,
        };
        let elem = self.types.any();
        let mut dims = plan.as_ref().map(ArrayInit::dims);
        if let Some((wanted, ty)) = declared {
            self.unify(elem, ty, pat.ident.range());
            if let (Some(dims), Some(init)) = (&dims, init) {
                self.same_dims(&wanted, dims, init.range());
            }
            dims = Some(wanted);
        }
        let dims = dims.expect("a type or a value tells the dimensions");
        let memory = self.new_array(&pat.ident.to_string(), elem, dims, pat.ident.range());
        if let Some(plan) = plan {
            let span = init.map_or(pat.ident.range(), Ranged::range);
            self.fill(memory, Start::default(), plan, elem, span);
        }
        self.bind(&pat.ident, Binding::Memory(memory));
        Some(())
    }

    pub(in crate::lower) fn new_array(
        &mut self,
        name: &str,
        elem: Ty,
        dims: Vec<Dim>,
        span: SourceRange,
    ) -> Memory {
        let length = self.total(&dims);
        let local = self.local(name, elem, true);
        let memory = Memory::Local(local);
        self.arrays.push((local, length));
        self.shapes.insert(memory, dims);
        self.push(Stmt::Let { local, init: None }, span);
        memory
    }

    /// `&[a, b]` as an argument: an unnamed array that is passed to the call.
    pub(in crate::lower) fn lent_array(&mut self, array: &syn::Expr) -> Option<Memory> {
        let plan = self.plan(array)?;
        let elem = self.types.any();
        let memory = self.new_array("array", elem, plan.dims(), array.range());
        self.fill(memory, Start::default(), plan, elem, array.range());
        Some(memory)
    }

    /// Binds a local array that is a part of another value, or a result of control flow.
    fn bind_array_value(
        &mut self,
        pat: &syn::PatIdent,
        declared: Option<(Vec<Dim>, Ty)>,
        init: &syn::Expr,
    ) -> Option<()> {
        let (dims, elem) = declared?;
        let value = self.scalar_or_never(init)?;
        let mut ty = elem;
        for dim in dims.iter().rev() {
            ty = self.types.array(ty, dim.clone());
        }
        self.unify(ty, self.ty(value), init.range());
        let local = self.local(&pat.ident.to_string(), ty, pat.mutability.is_some());
        let init = Some(value);
        self.push(Stmt::Let { local, init }, pat.ident.range());
        self.bind(&pat.ident, Binding::Local(local));
        Some(())
    }

    /// `array = value`, if the left side is a whole array; `None` otherwise.
    pub(in crate::lower) fn array_assign(&mut self, e: &syn::ExprAssign) -> Option<Value> {
        let (base, indices) = index_chain(&e.left);
        let (memory, elem) = self.find_memory(base)?;
        match memory {
            Memory::Local(_) => {}
            Memory::Shared(_) if !indices.is_empty() => {}
            Memory::Shared(_) | Memory::Slice(_) | Memory::Table(_) => return None,
        }
        if indices.len() >= self.rank(memory) {
            return None;
        }
        if self.kernel.access(memory) == Access::Atomic {
            self.atomic_misuse(memory, e.left.range());
            return Some(Value::Unit);
        }
        let rest = self.shapes[&memory][indices.len()..].to_vec();
        if !self.yields_array(&e.right) {
            if let Some(value) = self.array_given(&e.right, elem, &rest) {
                let start = self.start(memory, &indices, e.left.range());
                self.fill_from_value((memory, elem), start, value, &rest, e.range());
            }
            return Some(Value::Unit);
        }
        let Some(plan) = self.plan(&e.right) else {
            return Some(Value::Unit);
        };
        let plan = plan.of(&rest);
        self.same_dims(&rest, &plan.dims(), e.right.range());
        let plan = self.settled(plan, e.right.range());
        let start = self.start(memory, &indices, e.left.range());
        self.fill(memory, start, plan, elem, e.range());
        Some(Value::Unit)
    }

    /// True for an expression whose result is a whole array.
    pub(in crate::lower) fn yields_array(&mut self, expr: &syn::Expr) -> bool {
        match peeled(expr) {
            syn::Expr::Array(_) | syn::Expr::Repeat(_) => true,
            other => {
                let (base, indices) = index_chain(other);
                match self.find_memory(base) {
                    Some((memory @ Memory::Local(_), _)) => indices.len() < self.rank(memory),
                    Some((memory @ Memory::Shared(_), _)) => {
                        !indices.is_empty() && indices.len() < self.rank(memory)
                    }
                    Some((Memory::Slice(_) | Memory::Table(_), _)) | None => false,
                }
            }
        }
    }

    pub(in crate::lower) fn plan<'s>(&mut self, expr: &'s syn::Expr) -> Option<ArrayInit<'s>> {
        match peeled(expr) {
            syn::Expr::Array(e) => {
                let items: Vec<ArrayInit<'s>> = e
                    .elems
                    .iter()
                    .map(|e| self.plan(e))
                    .collect::<Option<_>>()?;
                // Uses the dimensions of the first item with the most of them.
                let dims = items.iter().rev().map(ArrayInit::dims);
                let Some(dims) = dims.max_by_key(Vec::len) else {
                    self.errors.at(
                        codes::ARRAY_LENGTH,
                        e.range(),
                        "kernels do not support empty arrays",
                        "give it at least one element",
                    );
                    return None;
                };
                let items: Vec<ArrayInit<'s>> =
                    items.into_iter().map(|item| item.of(&dims)).collect();
                for (item, elem) in items.iter().zip(&e.elems) {
                    self.same_dims(&dims, &item.dims(), elem.range())?;
                }
                Some(ArrayInit::List(items))
            }
            syn::Expr::Repeat(e) => {
                let item = self.plan(&e.expr)?;
                Some(ArrayInit::Repeat(Box::new(item), self.dimension(&e.len)?))
            }
            other if self.yields_array(other) => {
                let (base, indices) = index_chain(other);
                let (memory, _) = self.find_memory(base)?;
                if self.kernel.access(memory) == Access::Atomic {
                    self.atomic_misuse(memory, other.range());
                    return None;
                }
                let dims = self.shapes[&memory][indices.len()..].to_vec();
                Some(ArrayInit::Copy(memory, indices, dims))
            }
            other => Some(ArrayInit::Scalar(other)),
        }
    }

    fn same_dims(&mut self, wanted: &[Dim], found: &[Dim], span: SourceRange) -> Option<()> {
        let same = wanted.len() == found.len() && wanted.iter().zip(found).all(|(a, b)| a.same(b));
        if !same {
            let text = |dims: &[Dim]| match dims {
                [] => "a scalar".to_string(),
                dims => {
                    let dims: String = dims.iter().map(|d| format!("[{}]", d.text())).collect();
                    format!("an array of {dims}")
                }
            };
            self.errors.at(
                codes::MISMATCH,
                span,
                format!(
                    "mismatched types: expected {}, found {}",
                    text(wanted),
                    text(found)
                ),
                "use a value of that type",
            );
        }
        same.then_some(())
    }

    /// Splits `[[T; n]; m]` into its dimensions and element type.
    fn array_type(&mut self, ty: &syn::Type) -> Option<(Vec<Dim>, Ty)> {
        match ty {
            syn::Type::Paren(ty) => self.array_type(&ty.elem),
            syn::Type::Group(ty) => self.array_type(&ty.elem),
            syn::Type::Array(array) => {
                let mut dims = vec![self.dimension(&array.len)?];
                let (inner, elem) = self.array_type(&array.elem)?;
                dims.extend(inner);
                Some((dims, elem))
            }
            syn::Type::Infer(_) => Some((vec![], self.types.any())),
            other => {
                let ty = self.written_type(other)?;
                Some((vec![], ty))
            }
        }
    }
}
