//! Reads a local array as a value: the result of a function, a field of a struct, or an element
//! stored in a slice. An array is memory ([`super::array`]), so its value is a list of elements
//! that are read from there.

use sarek_ir::{Access, Argument, Compound, Expr, ExprId, LocalId, Memory};

use super::array::{index_chain, peeled};
use super::array_init::{ArrayInit, Start};
use super::length::Dim;
use crate::diagnostics::codes;
use crate::lower::{Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// A row of an array of which a function receives a copy.
pub(in crate::lower) struct LentRow {
    pub copy: Memory,
    of: Memory,
    start: Start,
    span: SourceRange,
}

/// The maximum number of elements that are read one by one.
const MOST: u64 = 256;

impl Lowerer<'_> {
    /// `m[i]` of an array of arrays, as a value. `None` for any other index.
    pub(in crate::lower) fn row_value(&mut self, e: &syn::ExprIndex) -> Option<Value> {
        let (base, mut indices) = index_chain(&e.expr);
        indices.push(&e.index);
        let (memory, _) = self.find_memory(peeled(base))?;
        if !self.has_rows(memory) || indices.len() >= self.rank(memory) {
            return None;
        }
        let start = self.start(memory, &indices, e.range());
        Some(self.array_copy(memory, start, indices.len(), e.range()))
    }

    /// True if the memory may be an array of arrays that can be copied.
    fn has_rows(&self, memory: Memory) -> bool {
        match memory {
            Memory::Local(_) => true,
            Memory::Shared(_) => self.kernel.access(memory) != Access::Atomic,
            Memory::Slice(_) | Memory::Table(_) => false,
        }
    }

    /// The row that `&mut m[i]` borrows: the array, and the indices.
    pub(in crate::lower) fn lent_row<'e>(
        &mut self,
        expr: &'e syn::Expr,
    ) -> Option<(Memory, Vec<&'e syn::Expr>)> {
        let (base, indices) = index_chain(expr);
        let (memory, _) = self.find_memory(base)?;
        let is_row = !indices.is_empty() && indices.len() < self.rank(memory);
        (is_row && self.has_rows(memory)).then_some((memory, indices))
    }

    /// Copies a row that a function may change, and records how to copy it back.
    pub(in crate::lower) fn lend_row(
        &mut self,
        memory: Memory,
        indices: &[&syn::Expr],
        span: SourceRange,
    ) -> LentRow {
        let (of, start) = (memory, self.start(memory, indices, span));
        let dims = self.shape(memory).unwrap_or_default()[indices.len()..].to_vec();
        let elem = self.element_type(memory);
        let copy = self.new_array("row", elem, dims.clone(), span);
        let plan = ArrayInit::From(memory, start, dims);
        self.fill(copy, Start::default(), plan, elem, span);
        LentRow {
            copy,
            of,
            start,
            span,
        }
    }

    /// Copies back the elements that a function may have changed.
    pub(in crate::lower) fn put_back(&mut self, row: &LentRow) {
        let dims = self.shape(row.copy).unwrap_or_default().to_vec();
        let (plan, elem) = (
            ArrayInit::From(row.copy, Start::default(), dims),
            self.element_type(row.of),
        );
        self.fill(row.of, row.start, plan, elem, row.span);
    }

    /// The array at `start` as a value. `indices` is the number of dimensions that lead to it.
    pub(in crate::lower) fn array_copy(
        &mut self,
        memory: Memory,
        start: Start,
        indices: usize,
        span: SourceRange,
    ) -> Value {
        let dims = self.shape(memory).unwrap_or_default()[indices..].to_vec();
        let lens: Option<Vec<u64>> = dims.iter().map(Dim::known).collect();
        match lens.filter(|lens| lens.iter().product::<u64>() <= MOST) {
            Some(lens) => Value::Scalar(self.elements(memory, start, &lens, span)),
            None => {
                let name = self.kernel.memory_name(memory).to_string();
                self.errors.at(
                    codes::MEMORY_AS_VALUE,
                    span,
                    format!(
                        "the array `{name}` cannot be used as a value: its length is unknown or above {MOST}"
                    ),
                    format!("index it, or pass it to a function as `&mut {name}`"),
                );
                Value::Never
            }
        }
    }

    /// A value that is an array of elements of this type: a leaf.
    pub(in crate::lower) fn array_given(
        &mut self,
        expr: &syn::Expr,
        elem: Ty,
        dims: &[Dim],
    ) -> Option<ExprId> {
        let value = self.scalar_or_never(expr)?;
        let of = |elem, dim: &Dim| self.types.array(elem, dim.clone());
        let ty = dims.iter().rev().fold(elem, of);
        self.unify(ty, self.ty(value), expr.range());
        Some(self.reusable(value))
    }

    /// Stores the elements of an array value: a leaf.
    pub(in crate::lower) fn fill_from_value(
        &mut self,
        (to, elem): (Memory, Ty),
        start: Start,
        value: ExprId,
        dims: &[Dim],
        span: SourceRange,
    ) {
        let [dim, rest @ ..] = dims else {
            return self.store(to, start, value, elem);
        };
        self.repeated(dim.length, span, |this, k| {
            let (base, index) = (this.copy(value), this.copy(k));
            let of = this.types.element(this.ty(value));
            let site = None;
            let part = this.compound(Compound::Index { base, index, site }, of, span);
            let part = match rest {
                [] => part,
                _ => this.reusable(part),
            };
            let start = this.advanced_by(start, k, rest, span);
            this.fill_from_value((to, elem), start, part, rest, span);
        });
    }

    /// Copies a value that is known to be an array into an unnamed array, so that it can be passed
    /// as a slice. `None` if it is not known to be an array.
    pub(in crate::lower) fn lent_value(
        &mut self,
        value: ExprId,
        span: SourceRange,
    ) -> Option<Memory> {
        // A constant is passed where it stands.
        if let Expr::Link(_) = self.kernel.expr(value) {
            return None;
        }
        let (elem, dim) = self.types.as_array(self.ty(value))?;
        if self.types.as_array(elem).is_some() {
            return None;
        }
        let (value, dims) = (self.reusable(value), [dim]);
        let memory = self.new_array("array", elem, dims.to_vec(), span);
        self.fill_from_value((memory, elem), Start::default(), value, &dims, span);
        Some(memory)
    }

    /// `&mut local` as an argument. An array is passed as a slice, and copied back after the call.
    pub(in crate::lower) fn lent_local(
        &mut self,
        local: LocalId,
        is_to_function: bool,
        lent: &mut Vec<(Memory, LocalId, SourceRange)>,
        span: SourceRange,
    ) -> Argument {
        let ty = self.local_types[local.index()];
        let len = self.types.as_array(ty).and_then(|(_, dim)| dim.known());
        if !is_to_function || len.is_none_or(|len| len > MOST) {
            return Argument::Local(local);
        }
        let value = self.read(local, span);
        match self.lent_value(value, span) {
            Some(memory) => {
                self.may_change(memory);
                lent.push((memory, local, span));
                Argument::Memory(memory)
            }
            None => Argument::Local(local),
        }
    }

    /// The elements of a memory from `start` on, as an array of these lengths.
    pub(in crate::lower) fn elements(
        &mut self,
        memory: Memory,
        start: Start,
        lens: &[u64],
        span: SourceRange,
    ) -> ExprId {
        let [len, rest @ ..] = lens else {
            let index = self.index(start, span);
            let load = Expr::Load {
                memory,
                index,
                site: None,
            };
            let ty = self.element_type(memory);
            return self.expr(load, ty, span);
        };
        let stride: u64 = rest.iter().product();
        let items = (0..*len).map(|k| {
            let number = start.number + k * stride;
            self.elements(memory, Start { number, ..start }, rest, span)
        });
        let items: Vec<ExprId> = items.collect();
        let ty = self.types.array(self.ty(items[0]), Dim::fixed(*len));
        let items = self.kernel.push_list(&items);
        self.compound(Compound::Array { items }, ty, span)
    }
}
