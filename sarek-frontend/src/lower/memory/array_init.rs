//! Initializers of whole arrays, and the stores that fill an array.

use proc_macro2::Span;
use sarek_ir::{BinaryOp, Expr, ExprId, Length, Memory, Scalar, Stmt};
use syn::spanned::Spanned;

use super::array::peeled;
use super::length::Dim;
use crate::lower::{Lowerer, Ty};

/// The maximum number of elements that are stored one by one. More elements need a loop.
const UNROLLED: u64 = 4;

/// A plan: the source of a whole array.
pub(in crate::lower) enum Plan<'s> {
    /// One element.
    Scalar(&'s syn::Expr),
    /// One evaluated element: a leaf.
    Value(ExprId),
    /// A value that is an array: the result of a call, or a field.
    Given(&'s syn::Expr, Vec<Dim>),
    /// The same, evaluated: a leaf.
    GivenValue(ExprId, Vec<Dim>),
    /// `[a, b, …]`
    List(Vec<Plan<'s>>),
    /// `[a; n]`
    Repeat(Box<Plan<'s>>, Dim),
    /// Another array, or a row of it.
    Copy(Memory, Vec<&'s syn::Expr>, Vec<Dim>),
    /// The same, with its start computed.
    From(Memory, Start, Vec<Dim>),
}

impl<'s> Plan<'s> {
    /// The plan for an array of these dimensions. If the plan has fewer dimensions, its elements
    /// are themselves arrays.
    pub fn of(self, dims: &[Dim]) -> Plan<'s> {
        match (self, dims) {
            (Plan::List(items), [_, rest @ ..]) => {
                Plan::List(items.into_iter().map(|item| item.of(rest)).collect())
            }
            (Plan::Repeat(item, dim), [_, rest @ ..]) => Plan::Repeat(Box::new(item.of(rest)), dim),
            (Plan::Scalar(expr), [_, ..]) if !matches!(peeled(expr), syn::Expr::Lit(_)) => {
                Plan::Given(expr, dims.to_vec())
            }
            (plan, _) => plan,
        }
    }

    /// The dimensions of the array; none for a scalar.
    pub fn dims(&self) -> Vec<Dim> {
        match self {
            Plan::Scalar(_) | Plan::Value(_) => vec![],
            Plan::List(items) => {
                let mut dims = vec![Dim::fixed(items.len() as u64)];
                dims.extend(items.first().map(Plan::dims).unwrap_or_default());
                dims
            }
            Plan::Repeat(item, dim) => {
                let mut dims = vec![dim.clone()];
                dims.extend(item.dims());
                dims
            }
            Plan::Copy(_, _, dims)
            | Plan::From(_, _, dims)
            | Plan::Given(_, dims)
            | Plan::GivenValue(_, dims) => dims.clone(),
        }
    }

    /// True if the plan reads elements of existing arrays.
    fn has_rows(&self) -> bool {
        match self {
            Plan::Scalar(_) | Plan::Value(_) | Plan::Given(..) | Plan::GivenValue(..) => false,
            Plan::List(items) => items.iter().any(Plan::has_rows),
            Plan::Repeat(item, _) => item.has_rows(),
            Plan::Copy(..) | Plan::From(..) => true,
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
    pub(in crate::lower) fn settled<'s>(&mut self, plan: Plan<'s>, span: Span) -> Plan<'s> {
        match plan {
            Plan::Scalar(expr) => {
                let value = self.scalar(expr);
                Plan::Value(self.reusable(value))
            }
            Plan::List(items) if items.iter().any(Plan::has_rows) => {
                self.gathered(Plan::List(items), span)
            }
            Plan::List(items) => {
                let items = items.into_iter().map(|item| self.settled(item, span));
                Plan::List(items.collect())
            }
            Plan::Repeat(item, dim) => Plan::Repeat(Box::new(self.settled(*item, span)), dim),
            Plan::Copy(memory, indices, dims) => {
                let span = indices.last().map_or_else(Span::call_site, |i| i.span());
                let start = self.start(memory, &indices, span);
                Plan::From(memory, start, dims)
            }
            Plan::Given(expr, dims) => {
                let elem = self.types.any();
                match self.array_given(expr, elem, &dims) {
                    Some(value) => Plan::GivenValue(value, dims),
                    None => Plan::List(vec![]),
                }
            }
            Plan::Value(_) | Plan::GivenValue(..) | Plan::From(..) => plan,
        }
    }

    /// Evaluates a plan into an array of its own.
    fn gathered<'s>(&mut self, plan: Plan<'s>, span: Span) -> Plan<'s> {
        let (elem, dims) = (self.types.any(), plan.dims());
        let memory = self.new_array("rows", elem, dims.clone(), span);
        self.fill(memory, Start::default(), plan, elem, span);
        Plan::From(memory, Start::default(), dims)
    }

    /// The start of the row with these indices.
    pub(in crate::lower) fn start(
        &mut self,
        memory: Memory,
        indices: &[&syn::Expr],
        span: Span,
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
        plan: Plan<'_>,
        elem: Ty,
        span: Span,
    ) {
        match plan {
            Plan::Scalar(expr) => {
                if let Some(value) = self.scalar_or_never(expr) {
                    self.store(to, start, value, elem);
                }
            }
            Plan::Value(value) => {
                let value = self.copy(value);
                self.store(to, start, value, elem);
            }
            Plan::List(items) => {
                let dims = items.first().map(Plan::dims).unwrap_or_default();
                for (k, item) in items.into_iter().enumerate() {
                    let start = self.advanced(start, k as u64, &dims, span);
                    self.fill(to, start, item, elem, span);
                }
            }
            Plan::Repeat(item, dim) => {
                let item = self.settled(*item, span);
                let dims = item.dims();
                self.repeated(dim.length, span, |this, k| {
                    let start = this.advanced_by(start, k, &dims, span);
                    let again = this.again(&item);
                    this.fill(to, start, again, elem, span);
                });
            }
            Plan::GivenValue(value, dims) => {
                let value = self.copy(value);
                self.fill_from_value((to, elem), start, value, &dims, span);
            }
            Plan::Given(..) | Plan::Copy(..) => {
                let plan = self.settled(plan, span);
                self.fill(to, start, plan, elem, span);
            }
            Plan::From(memory, from, dims) => {
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
    fn again<'s>(&mut self, plan: &Plan<'s>) -> Plan<'s> {
        match plan {
            Plan::Value(value) => Plan::Value(*value),
            Plan::List(items) => Plan::List(items.iter().map(|i| self.again(i)).collect()),
            Plan::Repeat(item, dim) => Plan::Repeat(Box::new(self.again(item)), dim.clone()),
            Plan::From(memory, start, dims) => Plan::From(*memory, *start, dims.clone()),
            Plan::GivenValue(value, dims) => Plan::GivenValue(*value, dims.clone()),
            Plan::Scalar(_) | Plan::Given(..) | Plan::Copy(..) => {
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

    pub(in crate::lower) fn index(&mut self, start: Start, span: Span) -> ExprId {
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
        span: Span,
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
        span: Span,
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
        span: Span,
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
