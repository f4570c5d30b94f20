//! Scrutinees: a value that was evaluated once, or an array, with projections to a part of it.

use proc_macro2::TokenStream;
use sarek_ir::{
    BinaryOp, Compound, Expr, ExprId, Length, Memory, NameId, Scalar, Value as Constant,
};
use syn::visit::Visit;

use super::pattern::Bound;
use crate::diagnostics::codes;
use crate::lower::compound::Constructor;
use crate::lower::memory::array_init::{ArrayInit, Start};
use crate::lower::memory::length::Dim;
use crate::lower::types::Node;
use crate::lower::{Binding, Lowerer, Ty};
use crate::tokens::range::{Ranged, SourceRange};

/// A value, or a part of one, that a pattern is matched against.
#[derive(Clone)]
pub(in crate::lower) struct Scrutinee {
    base: Base,
    parts: Vec<Part>,
    ty: Ty,
    /// True if the value may hold references in the source.
    lent: bool,
}

/// The root of the projections.
#[derive(Clone)]
enum Base {
    /// A value: a leaf.
    Value(ExprId),
    /// An operand that is read once, where it stands.
    Once(ExprId),
    /// An array in the thread's own memory, or a part of one.
    Array(Memory, Start, Vec<Dim>),
    /// An element of such an array.
    Element(Memory, Start),
    /// Some of the elements of an array that is a value. It has no parts.
    Elements(Vec<Scrutinee>),
}

/// A projection.
#[derive(Clone)]
struct Part {
    step: Step,
    ty: Ty,
}

#[derive(Clone)]
enum Step {
    Field(NameId),
    /// A field of a variant, by the pattern that binds it.
    Payload(NameId, TokenStream, NameId),
    /// An element of an array: a leaf.
    Element(ExprId),
}

/// The position of an element in an array.
#[derive(Clone, Copy)]
pub(in crate::lower) enum Position {
    /// The number of elements before it.
    First(u64),
    /// Its distance from the end: the last element has distance 1.
    Last(u64),
}

impl Lowerer<'_> {
    /// Evaluates an expression for these patterns. `None` if control does not get past it.
    pub(in crate::lower) fn matched<'p>(
        &mut self,
        expr: &syn::Expr,
        pats: impl IntoIterator<Item = &'p syn::Pat>,
    ) -> Option<Scrutinee> {
        if self.yields_array(expr) {
            return self.array(expr, false);
        }
        let is_indexed = pats.into_iter().any(has_slice);
        self.value_subject(expr, is_indexed)
    }

    /// The same for a destructuring assignment, whose targets may be among the operands of the
    /// value.
    pub(in crate::lower) fn taken_apart(&mut self, expr: &syn::Expr) -> Option<Scrutinee> {
        match self.yields_array(expr) {
            true => self.array(expr, true),
            false => self.value_subject(expr, true),
        }
    }

    fn value_subject(&mut self, expr: &syn::Expr, is_indexed: bool) -> Option<Scrutinee> {
        let value = self.scalar_or_never(expr)?;
        let mut base = self.reusable(value);
        if is_indexed {
            base = self.indexable(base);
        }
        let subject = self.leaf_subject(base);
        Some(match self.may_lend(expr) {
            true => subject.lent(),
            false => subject,
        })
    }

    /// True if the value may hold references in the source.
    fn may_lend(&mut self, expr: &syn::Expr) -> bool {
        match crate::lower::memory::array::peeled(expr) {
            syn::Expr::Tuple(tuple) => tuple.elems.iter().any(|elem| self.may_lend(elem)),
            syn::Expr::Reference(_) => true,
            other => self.may_be_reference(other),
        }
    }

    /// The value of a leaf as a scrutinee.
    pub(in crate::lower) fn leaf_subject(&mut self, leaf: ExprId) -> Scrutinee {
        Scrutinee {
            base: Base::Value(leaf),
            parts: vec![],
            ty: self.ty(leaf),
            lent: false,
        }
    }

    /// An operand of an expression that the frontend writes. One that is no leaf is read once.
    pub(in crate::lower) fn operand_subject(&mut self, operand: ExprId) -> Scrutinee {
        let mut subject = self.leaf_subject(operand);
        if !self.kernel.is_fixed_leaf(operand) {
            subject.base = Base::Once(operand);
        }
        subject
    }

    /// An array. One of the thread's own is used in place unless it must be copied; any other is
    /// made.
    fn array(&mut self, expr: &syn::Expr, copied: bool) -> Option<Scrutinee> {
        let span = expr.range();
        let (memory, dims) = match self.plan(expr)? {
            ArrayInit::Copy(memory @ Memory::Local(_), indices, dims)
                if indices.is_empty() && !copied =>
            {
                (memory, dims)
            }
            plan => {
                let (elem, dims) = (self.types.any(), plan.dims());
                let memory = self.new_array("array", elem, dims.clone(), span);
                self.fill(memory, Start::default(), plan, elem, span);
                (memory, dims)
            }
        };
        Some(self.array_subject(memory, Start::default(), dims))
    }

    fn array_subject(&mut self, memory: Memory, start: Start, dims: Vec<Dim>) -> Scrutinee {
        let mut ty = self.element_type(memory);
        for dim in dims.iter().rev() {
            ty = self.types.array(ty, dim.clone());
        }
        let base = match dims.is_empty() {
            true => Base::Element(memory, start),
            false => Base::Array(memory, start, dims),
        };
        Scrutinee {
            base,
            parts: vec![],
            ty,
            lent: false,
        }
    }

    /// The type of a scrutinee.
    pub(in crate::lower) fn subject_type(&self, subject: &Scrutinee) -> Ty {
        subject.ty
    }

    // Parts.

    /// A field of a tuple.
    pub(in crate::lower) fn tuple_part(&mut self, of: &Scrutinee, position: usize) -> Scrutinee {
        self.part(of, None, &position.to_string())
    }

    /// A field of a constructor's value; for a variant, with the pattern that binds the field.
    pub(in crate::lower) fn part(
        &mut self,
        of: &Scrutinee,
        constructor: Option<(&Constructor, TokenStream)>,
        text: &str,
    ) -> Scrutinee {
        let name = self.name_id(text);
        let variant = constructor.and_then(|(c, pattern)| Some((c.variant?, pattern)));
        let (step, ty) = match variant {
            None => (Step::Field(name), self.types.field(of.ty, name, text)),
            Some((variant, pattern)) => {
                let ty = self.part_type(of.ty, Some((variant, &pattern)), name);
                (Step::Payload(variant, pattern, name), ty)
            }
        };
        of.followed_by(step, ty)
    }

    /// An element of an array. `None` if the scrutinee is no array, which is reported, or if rustc
    /// will report that it has no such element.
    pub(in crate::lower) fn element_part(
        &mut self,
        of: &Scrutinee,
        position: Position,
        span: SourceRange,
    ) -> Option<Scrutinee> {
        let index = self.position(of, position, span)?;
        if let Base::Array(memory, start, dims) = &of.base {
            let start = self.advanced_by(*start, index, &dims[1..], span);
            return Some(self.array_subject(*memory, start, dims[1..].to_vec()));
        }
        let ty = self.element_of(of.ty, span)?;
        let index = self.reusable(index);
        Some(of.followed_by(Step::Element(index), ty))
    }

    /// The elements of an array without the first and the last ones.
    pub(in crate::lower) fn middle_part(
        &mut self,
        of: &Scrutinee,
        (first, last): (u64, u64),
        span: SourceRange,
    ) -> Option<Scrutinee> {
        let known = match self.length_of(of) {
            Some(Length::Fixed(n)) => Some(n),
            Some(Length::Link(_) | Length::Launch(_)) | None => None,
        };
        let Some(count) = known.and_then(|n| n.checked_sub(first + last)) else {
            self.errors.at(
                codes::PATTERN,
                span,
                "the length of this array is not known here",
                "write `..` without a name, and index the array",
            );
            return None;
        };
        if count == 0 {
            self.errors.at(
                codes::ARRAY_LENGTH,
                span,
                "kernels do not support empty arrays",
                "drop the name, and the `..`",
            );
            return None;
        }
        if let Base::Array(memory, start, dims) = &of.base {
            let start = self.advanced(*start, first, &dims[1..], span);
            let mut dims = dims.clone();
            dims[0] = Dim::fixed(count);
            return Some(self.array_subject(*memory, start, dims));
        }
        let elements = first..first + count;
        let elements = elements.map(|i| self.element_part(of, Position::First(i), span));
        let elements = elements.collect::<Option<Vec<_>>>()?;
        let ty = self.types.array(elements[0].ty, Dim::fixed(count));
        Some(Scrutinee {
            base: Base::Elements(elements),
            parts: vec![],
            ty,
            lent: of.lent,
        })
    }

    /// The number of elements in an array, if it is known here.
    fn length_of(&self, array: &Scrutinee) -> Option<Length> {
        match self.types.node(array.ty) {
            Node::Array(_, dim) => Some(dim.length),
            Node::Any
            | Node::Known(_)
            | Node::Int
            | Node::Float
            | Node::Tuple(_)
            | Node::Named(_)
            | Node::Hole(_)
            | Node::Same(_) => None,
        }
    }

    /// A position as an index.
    fn position(
        &mut self,
        of: &Scrutinee,
        position: Position,
        span: SourceRange,
    ) -> Option<ExprId> {
        let back = match position {
            Position::First(i) => return Some(self.constant(Constant::Usize(i), span)),
            Position::Last(back) => back,
        };
        let length = match self.length_of(of) {
            Some(Length::Fixed(n)) => {
                let index = Constant::Usize(n.checked_sub(back)?);
                return Some(self.constant(index, span));
            }
            Some(length) => self.length_expr(length, span),
            None => {
                let base = self.read_subject(of, span);
                let ty = self.types.known(Scalar::Usize);
                self.compound(Compound::Len { base }, ty, span)
            }
        };
        let back = self.constant(Constant::Usize(back), span);
        Some(self.plain(BinaryOp::Sub, length, back, span))
    }

    // Values.

    /// The value of a scrutinee.
    pub(in crate::lower) fn read_subject(
        &mut self,
        subject: &Scrutinee,
        span: SourceRange,
    ) -> ExprId {
        let mut value = match &subject.base {
            Base::Value(leaf) => self.copy(*leaf),
            Base::Once(value) => *value,
            Base::Element(memory, start) => {
                let (memory, elem) = (*memory, self.element_type(*memory));
                let index = self.index(*start, span);
                let site = None;
                let load = Expr::Load {
                    memory,
                    index,
                    site,
                };
                self.expr(load, elem, span)
            }
            Base::Elements(elements) => {
                let items = elements.iter().map(|e| self.read_subject(e, span));
                let items: Vec<ExprId> = items.collect();
                let items = self.kernel.push_list(&items);
                self.compound(Compound::Array { items }, subject.ty, span)
            }
            Base::Array(..) => self.array_as_value(subject.ty, span),
        };
        for part in &subject.parts {
            value = match &part.step {
                Step::Field(name) => {
                    let (base, name) = (value, *name);
                    self.compound(Compound::Field { base, name }, part.ty, span)
                }
                Step::Payload(variant, pattern, name) => {
                    let payload = Compound::Payload {
                        value,
                        variant: *variant,
                        name: *name,
                    };
                    self.compound_by(payload, pattern.clone(), part.ty, span)
                }
                Step::Element(index) => {
                    let (base, index, site) = (value, self.copy(*index), None);
                    self.compound(Compound::Index { base, index, site }, part.ty, span)
                }
            };
        }
        value
    }

    /// A stand-in for an array in a place that needs a value.
    fn array_as_value(&mut self, ty: Ty, span: SourceRange) -> ExprId {
        if self.errors.count() == 0 {
            self.errors.unsupported(
                codes::PATTERN,
                span,
                "this pattern of an array is",
                "write a pattern for each of its elements, as in `[a, b]`",
            );
        }
        self.expr(Expr::Faulted, ty, span)
    }

    /// True for an array that no expression can denote.
    pub(in crate::lower) fn is_whole_array(&self, subject: &Scrutinee) -> bool {
        matches!(subject.base, Base::Array(..) | Base::Elements(_))
    }

    /// True for an array in memory, which is copied element by element.
    pub(in crate::lower) fn is_array_in_place(&self, subject: &Scrutinee) -> bool {
        matches!(subject.base, Base::Array(..))
    }

    /// Binds a name of a pattern that is known to match.
    pub(in crate::lower) fn bind_name(&mut self, bound: &Bound) {
        let (span, name) = (bound.ident.range(), bound.ident.to_string());
        if let Base::Array(memory, start, dims) = &bound.subject.base {
            let elem = self.types.any();
            let copy = self.new_array(&name, elem, dims.clone(), span);
            let plan = ArrayInit::From(*memory, *start, dims.clone());
            self.fill(copy, Start::default(), plan, elem, span);
            return self.bind(&bound.ident, Binding::Memory(copy));
        }
        let value = self.read_subject(&bound.subject, span);
        let local = self.local(&name, self.ty(value), bound.mutable);
        let init = Some(value);
        self.push(sarek_ir::Stmt::Let { local, init }, span);
        if bound.subject.lent {
            self.lent.insert(local);
        }
        self.bind(&bound.ident, Binding::Local(local));
    }
}

impl Scrutinee {
    /// The same value, which may hold references in the source.
    pub(in crate::lower) fn lent(mut self) -> Scrutinee {
        self.lent = true;
        self
    }

    /// True if `&` may stand before a pattern for it.
    pub(in crate::lower) fn is_lent(&self) -> bool {
        self.lent
    }

    fn followed_by(&self, step: Step, ty: Ty) -> Scrutinee {
        let mut subject = self.clone();
        subject.parts.push(Part { step, ty });
        subject.ty = ty;
        subject
    }
}

/// True if a pattern contains a slice pattern.
fn has_slice(pat: &syn::Pat) -> bool {
    struct Slices(bool);
    impl Visit<'_> for Slices {
        fn visit_pat_slice(&mut self, _: &syn::PatSlice) {
            self.0 = true;
        }
    }
    let mut slices = Slices(false);
    slices.visit_pat(pat);
    slices.0
}
