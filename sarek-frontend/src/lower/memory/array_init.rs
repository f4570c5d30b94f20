//! Initializers of whole arrays, and the stores that fill an array.

use proc_macro2::Span;
use sarek_ir::{BinaryOp, Expr, ExprId, Length, Memory, Scalar, Stmt};

use super::array::peeled;
use super::length::Dim;
use crate::lower::{Lowerer, Ty};
use crate::tokens::range::{Ranged, SourceRange};

/// The maximum number of elements that are stored one by one. More elements need a loop.
const UNROLLED: u64 = 4;

/// A plan: the source of a whole array.
pub(in crate::lower) enum ArrayInit<'s> {
    /// One element.
    Scalar(&'s syn::Expr),
    /// One evaluated element: a leaf.
    Value(ExprId),
    /// A value that is an array: the result of a call, or a field.
    Given(&'s syn::Expr, Vec<Dim>),
    /// The same, evaluated: a leaf.
    GivenValue(ExprId, Vec<Dim>),
    /// `[a, b, …]`
    List(Vec<ArrayInit<'s>>),
    /// `[a; n]`
    Repeat(Box<ArrayInit<'s>>, Dim),
    /// Another array, or a row of it.
    Copy(Memory, Vec<&'s syn::Expr>, Vec<Dim>),
    /// The same, with its start computed.
    From(Memory, Start, Vec<Dim>),
}

impl<'s> ArrayInit<'s> {
    /// The plan for an array of these dimensions. If the plan has fewer dimensions, its elements
    /// are themselves arrays.
    pub fn of(self, dims: &[Dim]) -> ArrayInit<'s> {
        match (self, dims) {
            (ArrayInit::List(items), [_, rest @ ..]) => {
                ArrayInit::List(items.into_iter().map(|item| item.of(rest)).collect())
            }
            (ArrayInit::Repeat(item, dim), [_, rest @ ..]) => {
                ArrayInit::Repeat(Box::new(item.of(rest)), dim)
            }
            (ArrayInit::Scalar(expr), [_, ..]) if !matches!(peeled(expr), syn::Expr::Lit(_)) => {
                ArrayInit::Given(expr, dims.to_vec())
            }
            (plan, _) => plan,
        }
    }

    /// The dimensions of the array; none for a scalar.
    pub fn dims(&self) -> Vec<Dim> {
        match self {
            ArrayInit::Scalar(_) | ArrayInit::Value(_) => vec![],
            ArrayInit::List(items) => {
                let mut dims = vec![Dim::fixed(items.len() as u64)];
                dims.extend(items.first().map(ArrayInit::dims).unwrap_or_default());
                dims
            }
            ArrayInit::Repeat(item, dim) => {
                let mut dims = vec![dim.clone()];
                dims.extend(item.dims());
                dims
            }
            ArrayInit::Copy(_, _, dims)
            | ArrayInit::From(_, _, dims)
            | ArrayInit::Given(_, dims)
            | ArrayInit::GivenValue(_, dims) => dims.clone(),
        }
    }

    /// True if the plan reads elements of existing arrays.
    fn has_rows(&self) -> bool {
        match self {
            ArrayInit::Scalar(_)
            | ArrayInit::Value(_)
            | ArrayInit::Given(..)
            | ArrayInit::GivenValue(..) => false,
            ArrayInit::List(items) => items.iter().any(ArrayInit::has_rows),
            ArrayInit::Repeat(item, _) => item.has_rows(),
            ArrayInit::Copy(..) | ArrayInit::From(..) => true,
        }
    }
}

/// The offset of an array in a memory: an optional leaf plus a number.
#[derive(Clone, Copy, Default)]
pub(in crate::lower) struct Start {
    pub leaf: Option<ExprId>,
    pub number: u64,
}

impl Lowerer<'_> {
    /// Evaluates all expressions of the plan, in order. The target of its stores may be a row that
    /// the plan reads whole. It may not be one of the rows in a list, so those are read into a copy
    /// now.
    pub(in crate::lower) fn settled<'s>(
        &mut self,
        plan: ArrayInit<'s>,
        span: SourceRange,
    ) -> ArrayInit<'s> {
        match plan {
            ArrayInit::Scalar(expr) => {
                let value = self.scalar(expr);
                ArrayInit::Value(self.reusable(value))
            }
            ArrayInit::List(items) if items.iter().any(ArrayInit::has_rows) => {
                self.gathered(ArrayInit::List(items), span)
            }
            ArrayInit::List(items) => {
                let items = items.into_iter().map(|item| self.settled(item, span));
                ArrayInit::List(items.collect())
            }
            ArrayInit::Repeat(item, dim) => {
                ArrayInit::Repeat(Box::new(self.settled(*item, span)), dim)
            }
            ArrayInit::Copy(memory, indices, dims) => {
                let span = indices
                    .last()
                    .map_or_else(Span::call_site, |i| i.range().first);
                let start = self.start(memory, &indices, span.into());
                ArrayInit::From(memory, start, dims)
            }
            ArrayInit::Given(expr, dims) => {
                let elem = self.types.any();
                match self.array_given(expr, elem, &dims) {
                    Some(value) => ArrayInit::GivenValue(value, dims),
                    None => ArrayInit::List(vec![]),
                }
            }
            ArrayInit::Value(_) | ArrayInit::GivenValue(..) | ArrayInit::From(..) => plan,
        }
    }

    /// Evaluates a plan into an array of its own.
    fn gathered<'s>(&mut self, plan: ArrayInit<'s>, span: SourceRange) -> ArrayInit<'s> {
        let (elem, dims) = (self.types.any(), plan.dims());
        let memory = self.new_array("rows", elem, dims.clone(), span);
        self.fill(memory, Start::default(), plan, elem, span);
        ArrayInit::From(memory, Start::default(), dims)
    }

    /// The start of the row with these indices.
    pub(in crate::lower) fn start(
        &mut self,
        memory: Memory,
        indices: &[&syn::Expr],
        span: SourceRange,
    ) -> Start {
        if indices.is_empty() {
            return Start::default();
        }
        let row = self.flat_index(memory, indices, span);
        let rest = self.shapes[&memory][indices.len()..].to_vec();
        let stride = self.stride(&rest, span);
        let start = self.plain(BinaryOp::Mul, row, stride, span);
        Start {
            leaf: Some(self.reusable(start)),
            number: 0,
        }
    }

    /// Stores the array that a plan describes.
    pub(in crate::lower) fn fill(
        &mut self,
        to: Memory,
        start: Start,
        plan: ArrayInit<'_>,
        elem: Ty,
        span: SourceRange,
    ) {
        match plan {
            ArrayInit::Scalar(expr) => {
                if let Some(value) = self.scalar_or_never(expr) {
                    self.store(to, start, value, elem);
                }
            }
            ArrayInit::Value(value) => {
                let value = self.copy(value);
                self.store(to, start, value, elem);
            }
            ArrayInit::List(items) => {
                let dims = items.first().map(ArrayInit::dims).unwrap_or_default();
                for (k, item) in items.into_iter().enumerate() {
                    let start = self.advanced(start, k as u64, &dims, span);
                    self.fill(to, start, item, elem, span);
                }
            }
            ArrayInit::Repeat(item, dim) => {
                let item = self.settled(*item, span);
                let dims = item.dims();
                self.repeated(dim.length, span, |this, k| {
                    let start = this.advanced_by(start, k, &dims, span);
                    let again = this.again(&item);
                    this.fill(to, start, again, elem, span);
                });
            }
            ArrayInit::GivenValue(value, dims) => {
                let value = self.copy(value);
                self.fill_from_value((to, elem), start, value, &dims, span);
            }
            ArrayInit::Given(..) | ArrayInit::Copy(..) => {
                let plan = self.settled(plan, span);
                self.fill(to, start, plan, elem, span);
            }
            ArrayInit::From(memory, from, dims) => {
                let ty = self.element_type(memory);
                self.unify(elem, ty, span);
                let total = self.total(&dims);
                self.repeated(total, span, |this, k| {
                    let index = this.advanced_by(from, k, &[], span);
                    let index = this.index(index, span);
                    let load = Expr::Load {
                        memory,
                        index,
                        site: None,
                    };
                    let value = this.expr(load, ty, span);
                    let to_start = this.advanced_by(start, k, &[], span);
                    this.store(to, to_start, value, elem);
                });
            }
        }
    }

    /// A copy of a settled plan.
    fn again<'s>(&mut self, plan: &ArrayInit<'s>) -> ArrayInit<'s> {
        match plan {
            ArrayInit::Value(value) => ArrayInit::Value(*value),
            ArrayInit::List(items) => {
                ArrayInit::List(items.iter().map(|i| self.again(i)).collect())
            }
            ArrayInit::Repeat(item, dim) => {
                ArrayInit::Repeat(Box::new(self.again(item)), dim.clone())
            }
            ArrayInit::From(memory, start, dims) => ArrayInit::From(*memory, *start, dims.clone()),
            ArrayInit::GivenValue(value, dims) => ArrayInit::GivenValue(*value, dims.clone()),
            ArrayInit::Scalar(_) | ArrayInit::Given(..) | ArrayInit::Copy(..) => {
                unreachable!("the plan is settled")
            }
        }
    }

    pub(in crate::lower) fn store(&mut self, to: Memory, start: Start, value: ExprId, elem: Ty) {
        let (found, span) = (self.ty(value), self.span(value));
        self.unify(elem, found, span);
        let index = self.index(start, span);
        let store = Stmt::Store {
            memory: to,
            index,
            value,
            site: None,
        };
        self.push(store, span);
    }

    pub(in crate::lower) fn index(&mut self, start: Start, span: SourceRange) -> ExprId {
        let number = sarek_ir::Value::Usize(start.number);
        match start.leaf {
            None => self.constant(number, span),
            Some(leaf) if start.number == 0 => self.copy(leaf),
            Some(leaf) => {
                let (leaf, number) = (self.copy(leaf), self.constant(number, span));
                self.plain(BinaryOp::Add, leaf, number, span)
            }
        }
    }

    /// `start + k * (product of dims)`
    pub(in crate::lower) fn advanced(
        &mut self,
        start: Start,
        k: u64,
        dims: &[Dim],
        span: SourceRange,
    ) -> Start {
        let known: Option<u64> = dims.iter().map(Dim::known).product();
        match known {
            Some(stride) => Start {
                number: start.number + k * stride,
                ..start
            },
            None => {
                let k = self.constant(sarek_ir::Value::Usize(k), span);
                self.advanced_by(start, k, dims, span)
            }
        }
    }

    /// The same for a leaf.
    pub(in crate::lower) fn advanced_by(
        &mut self,
        start: Start,
        k: ExprId,
        dims: &[Dim],
        span: SourceRange,
    ) -> Start {
        let k = self.copy(k);
        let literal = self.kernel.literal(k).and_then(sarek_ir::Value::as_int);
        let known: Option<u64> = dims.iter().map(Dim::known).product();
        if let (Some(k), Some(stride)) = (literal, known) {
            return self.advanced(start, k as u64, &[Dim::fixed(stride)], span);
        }
        let mut offset = k;
        if known != Some(1) {
            let stride = self.stride(dims, span);
            offset = self.plain(BinaryOp::Mul, offset, stride, span);
        }
        if let Some(leaf) = start.leaf {
            let leaf = self.copy(leaf);
            offset = self.plain(BinaryOp::Add, leaf, offset, span);
        }
        Start {
            leaf: Some(self.reusable(offset)),
            number: start.number,
        }
    }

    /// Runs `each` for `0..length`, in a loop if the length is large or not known here.
    pub(in crate::lower) fn repeated(
        &mut self,
        length: Length,
        span: SourceRange,
        mut each: impl FnMut(&mut Self, ExprId),
    ) {
        if let Length::Fixed(n @ 0..=UNROLLED) = length {
            for k in 0..n {
                let k = self.constant(sarek_ir::Value::Usize(k), span);
                each(self, k);
            }
            return;
        }
        let start = self.constant(sarek_ir::Value::Usize(0), span);
        let end = self.length_expr(length, span);
        let index = self.types.known(Scalar::Usize);
        let local = self.local("k", index, false);
        let frame = self.frame(None, false, false);
        let label = frame.label;
        let (block, (), _) = self.in_frame(frame, |this| {
            let k = this.read(local, span);
            each(this, k);
        });
        let body = self.close(block);
        let counted = Stmt::For {
            label,
            local,
            start,
            end,
            body,
        };
        self.push(counted, span);
    }
}
