//! Writes operations on values of several parts, as plain Rust whose types rustc infers.
//!
//! Operands of operators and methods go through `host::Number`, which only numbers implement. A
//! type of the user's that implements `Add` would have another meaning in the kernel.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use sarek_ir::facts::Reads;
use sarek_ir::{
    Compound, CompoundId, Expr, ExprId, HELD, Intrinsic, Kernel, List, LocalId, Memory, NameId,
    ParamId, PlaceId, Root, SiteId, Step, Value, ViewPart,
};

use super::names::{located, param_name, rust_type};
use super::tree::kept_name;
use super::{Writer, mixed};
use crate::lower::{made, member, part_of_variant};

impl Writer<'_> {
    /// The type of a local, or of its elements if it is an array. It is `_` for a type that only
    /// rustc knows.
    pub(super) fn element_type(&self, id: LocalId, local: &sarek_ir::Local) -> TokenStream {
        match self.is_foreign(id) {
            true => mixed!(_),
            false => rust_type(self.kernel.local_scalar(local)),
        }
    }

    /// True if the local is neither a scalar nor an array of scalars.
    pub(super) fn is_foreign(&self, local: LocalId) -> bool {
        let ty = match self.kernel.array(local) {
            Some((elem, _)) => elem,
            None => self.kernel.locals[local.index()].ty,
        };
        ty.as_scalar().is_none()
    }

    /// `let local = init;` with a type that rustc infers.
    pub(super) fn declare_foreign(
        &self,
        local: LocalId,
        init: Option<ExprId>,
        span: Span,
    ) -> TokenStream {
        let mutable = self.kernel.locals[local.index()].mutable;
        let mutable = (init.is_none() || mutable).then(|| mixed!(mut));
        let name = self.local(local);
        match init.map(|init| self.expr(init)) {
            Some(init) => {
                let init = self.known(init);
                quote_spanned!(span=> let #mutable #name = #init;)
            }
            None if self.is_pointer(local) => {
                let (value, ty) = (kept_name(local), self.pointer_type(local));
                quote_spanned! {span=>
                    let mut #value = ::core::mem::MaybeUninit::uninit();
                    let #name: #ty = ::core::mem::MaybeUninit::as_mut_ptr(&mut #value);
                }
            }
            None => quote_spanned!(span=> let #mutable #name;),
        }
    }

    /// The type of a local's pointer. rustc infers its element type.
    pub(super) fn pointer_type(&self, local: LocalId) -> TokenStream {
        let ty = self.nested(local, mixed!(_));
        mixed!(*mut #ty)
    }

    /// The operand of an operator: a number.
    pub(super) fn operand(&self, id: ExprId) -> TokenStream {
        self.operand_at(id, located(self.lowered.expr_span(id)))
    }

    /// The same, with errors reported at `span`. rustc merges two errors of one type at one place.
    pub(super) fn operand_at(&self, id: ExprId, span: Span) -> TokenStream {
        self.operand_of(id, self.expr(id), span)
    }

    /// The same for the tokens of an expression.
    pub(super) fn operand_of(&self, id: ExprId, value: TokenStream, span: Span) -> TokenStream {
        let is_known = self.kernel.type_of(id).as_scalar().is_some();
        match self.kernel.expr(id) {
            _ if is_known => value,
            Expr::Literal(_) => value,
            _ => {
                let value = at_leaf(value, span);
                quote_spanned!(span=> __host::Number::__number(#value))
            }
        }
    }

    /// A method of a number whose type rustc infers.
    pub(super) fn foreign_call(
        &self,
        intrinsic: Intrinsic,
        args: &[ExprId],
        span: Span,
    ) -> TokenStream {
        let name = Ident::new(intrinsic.name(), span);
        let args: Vec<TokenStream> = args.iter().map(|a| self.operand(*a)).collect();
        match intrinsic {
            _ if intrinsic.row().extension => {
                quote_spanned!(span=> __host::Float::#name(#(#args),*))
            }
            Intrinsic::Clamp => quote_spanned!(span=> __host::clamp(#(#args),*)),
            // For integers these are methods of a trait.
            Intrinsic::Min => quote_spanned!(span=> __host::Number::__min(#(#args),*)),
            Intrinsic::Max => quote_spanned!(span=> __host::Number::__max(#(#args),*)),
            _ => {
                let (receiver, rest) = (&args[0], &args[1..]);
                quote_spanned!(span=> __host::Number::__number(#receiver).#name(#(#rest),*))
            }
        }
    }

    pub(super) fn compound(&self, id: CompoundId, span: Span) -> TokenStream {
        match &self.kernel.compounds[id.index()] {
            Compound::Field { base, name } => {
                let (base, name) = (self.expr(*base), self.member(*name, span));
                quote_spanned!(span=> (#base).#name)
            }
            Compound::Index { base, index, site } => {
                let (array, of) = match self.constant_part(*base) {
                    Some(part) => (part, mixed!(<[_]>)),
                    // This function takes an array, not any slice, because rustc may not know the
                    // type yet.
                    None => {
                        let base = self.expr(*base);
                        (mixed!(&#base), mixed!(__host::array))
                    }
                };
                self.element_of_part(&array, (*index, *site), span, (&of, &mixed!(*)))
            }
            Compound::IsVariant { value, variant } => {
                let (value, path) = (self.expr(*value), self.path(id));
                match self.kernel.name(*variant) == HELD {
                    true => quote_spanned!(span=> #path((#value))),
                    false => quote_spanned!(span=> ::core::matches!(#value, #path)),
                }
            }
            Compound::Payload { value, .. } => {
                let (value, pattern) = (self.expr(*value), self.path(id));
                let otherwise = mixed!(::core::hint::unreachable_unchecked());
                let part = part_of_variant(&value, pattern, &otherwise, span);
                quote_spanned!(span=> (#part))
            }
            Compound::Construct {
                fields,
                rest,
                variant,
            } => self.construct(id, variant.is_some(), fields, *rest, span),
            Compound::Array { items } => {
                let items = self.kernel.list(*items).map(|item| self.expr(item));
                quote_spanned!(span=> [#(#items),*])
            }
            Compound::Repeat { value } => {
                let (value, count) = (self.expr(*value), self.path(id));
                quote_spanned!(span=> [#value; #count])
            }
            Compound::Len { base } => {
                let base = self.type_only(*base, span);
                quote_spanned!(span=> __host::len_of(|| #base))
            }
            Compound::At { view, indices } => self.at(*view, *indices, span),
        }
    }

    /// An element of the array behind a reference; with another `prefix`, a reference to the
    /// element. `of` is the path of the functions that access it.
    fn element_of_part(
        &self,
        array: &TokenStream,
        (index, site): (ExprId, Option<SiteId>),
        span: Span,
        (of, prefix): (&TokenStream, &TokenStream),
    ) -> TokenStream {
        let check = self.part_check(site, mixed!(#of::len(__array)));
        let part = self.indexed(
            index,
            check,
            span,
            &|index| mixed!(#prefix #of::get_unchecked(__array, #index)),
        );
        quote_spanned!(span=> { let __array = #array; #part })
    }

    /// A reference to a part of a constant, so that the program contains the constant once. `None`
    /// for a part of another value.
    fn constant_part(&self, id: ExprId) -> Option<TokenStream> {
        let span = located(self.lowered.expr_span(id));
        if let Expr::Link(_) = self.kernel.expr(id) {
            let constant = self.expr(id);
            return Some(quote_spanned!(span=> const { &#constant }));
        }
        let Expr::Compound(compound) = self.kernel.expr(id) else {
            return None;
        };
        match &self.kernel.compounds[compound.index()] {
            Compound::Field { base, name } => {
                let (base, name) = (self.constant_part(*base)?, self.member(*name, span));
                Some(quote_spanned!(span=> &(#base).#name))
            }
            Compound::Index { base, index, site } => {
                let array = self.constant_part(*base)?;
                let way = (&mixed!(<[_]>), &mixed!());
                Some(self.element_of_part(&array, (*index, *site), span, way))
            }
            Compound::IsVariant { .. }
            | Compound::Payload { .. }
            | Compound::Construct { .. }
            | Compound::Array { .. }
            | Compound::Repeat { .. }
            | Compound::Len { .. }
            | Compound::At { .. } => None,
        }
    }

    /// An expression of the same type that is never evaluated. It contains no fault tests, and
    /// lanes may disagree on it.
    fn type_only(&self, id: ExprId, span: Span) -> TokenStream {
        match self.kernel.expr(id).facts().reads {
            Reads::Local(local) => self.type_of_variable(local),
            Reads::Memory(memory) => self.type_of_element(memory),
            Reads::Operands => self.type_of_result(id, span),
            Reads::Constant | Reads::Param(_) | Reads::Len(_) | Reads::Id(_) | Reads::Faults => {
                self.expr(id)
            }
        }
    }

    fn type_of_element(&self, memory: Memory) -> TokenStream {
        match memory {
            Memory::Local(local) => {
                let array = self.type_of_variable(local);
                let first = self.lengths(local).into_iter().map(|_| mixed!([0]));
                mixed!(#array #(#first)*)
            }
            Memory::Table(_) => unreachable!("constants are named by links"),
            Memory::Slice(_) | Memory::Shared(_) => {
                let load = self.load(memory, &mixed!(0));
                mixed!((#load))
            }
        }
    }

    fn type_of_result(&self, id: ExprId, span: Span) -> TokenStream {
        let Expr::Compound(compound) = self.kernel.expr(id) else {
            return self.expr(id);
        };
        match &self.kernel.compounds[compound.index()] {
            Compound::Field { base, name } => {
                let (base, name) = (self.type_only(*base, span), self.member(*name, span));
                mixed!((#base).#name)
            }
            Compound::Index { base, .. } => {
                let base = self.type_only(*base, span);
                mixed!((#base)[0])
            }
            Compound::Payload { value, .. } => {
                let (value, pattern) = (self.type_only(*value, span), self.path(compound));
                let otherwise = mixed!(::core::unreachable!());
                part_of_variant(&value, pattern, &otherwise, span)
            }
            Compound::IsVariant { .. }
            | Compound::Construct { .. }
            | Compound::Array { .. }
            | Compound::Repeat { .. }
            | Compound::Len { .. }
            | Compound::At { .. } => self.expr(id),
        }
    }

    /// The same for a local, which may have no variable outside of the loops over lanes.
    fn type_of_variable(&self, local: LocalId) -> TokenStream {
        match self.frame {
            Some(frame) if frame.once && self.is_kept_whole(local) => {
                let array = frame.array(local);
                mixed!((*__host::LaneStorage::any(&#array)))
            }
            Some(_) | None => self.variable(local),
        }
    }

    /// The position of a view's element. The last stride is 1 in launches that proved every
    /// provable check.
    fn at(&self, view: ParamId, indices: List, span: Span) -> TokenStream {
        let rank = indices.len;
        let part = |part| param_name(Kernel::view_param(view, rank, part));
        let offset = part(ViewPart::Offset);
        let indices = self.kernel.list(indices).zip(0..).map(|(index, d)| {
            let (index, stride) = (self.expr(index), part(ViewPart::Stride(d)));
            match d + 1 == rank {
                true if self.proved => index,
                true => mixed!(#index * (if __CHECK { #stride } else { 1 })),
                false => mixed!(#index * #stride),
            }
        });
        quote_spanned!(span=> (#offset #(+ #indices)*))
    }

    fn construct(
        &self,
        id: CompoundId,
        is_variant: bool,
        fields: &[(NameId, ExprId)],
        rest: Option<ExprId>,
        span: Span,
    ) -> TokenStream {
        let Some(path) = self.lowered.paths.get(&id) else {
            let values = fields.iter().map(|(_, value)| self.expr(*value));
            return quote_spanned!(span=> (#(#values,)*));
        };
        if self.lowered.units.contains(&id) {
            return path.clone();
        }
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| (self.kernel.name(*name), self.expr(*value)));
        let rest = rest.map(|rest| {
            let rest = self.expr(rest);
            mixed!(..#rest)
        });
        let fields: Vec<(&str, TokenStream)> = fields.collect();
        let made = made(path, is_variant, &fields, rest, span);
        quote_spanned!(span=> (#made))
    }

    /// `place = value`; pointers lead along the projections to the place.
    pub(super) fn update(&self, place: PlaceId, value: ExprId, span: Span) -> TokenStream {
        let place = &self.kernel.places[place.index()];
        let value = self.expr(value);
        let root = match place.root {
            Root::Local(local) => {
                let local = self.variable(local);
                mixed!(let __place = &raw mut #local;)
            }
            Root::Element {
                memory,
                index,
                site,
            } => {
                let check = self.bounds_check(site, memory, index);
                let place = self.element_place(memory, &mixed!(__index));
                let index = self.expr(index);
                mixed! {
                    let __index: __usize = #index;
                    #check
                    let __place = #place;
                }
            }
            Root::Param(param) => {
                let place = self.referent(param);
                mixed!(let __place = #place;)
            }
        };
        let steps = place.steps.iter().map(|step| match *step {
            Step::Field(name) => {
                let name = self.member(name, span);
                mixed!(let __place = &raw mut (*__place).#name;)
            }
            Step::Index { index, site } => {
                let index = self.expr(index);
                let check = self.part_check(site, mixed!(__host::array_len(__place)));
                mixed! {
                    let __index: __usize = #index;
                    #check
                    let __place = __host::array_element(__place, __index);
                }
            }
        });
        quote_spanned! {span=> {
            let __value = #value;
            #root
            #(#steps)*
            *__place = __value;
        }}
    }

    /// The test of `__index` against the length of an array inside of a value.
    fn part_check(&self, site: Option<SiteId>, len: TokenStream) -> Option<TokenStream> {
        let test = |site| self.test(site, mixed!(__index >= #len), mixed!(__index as __u64));
        site.and_then(test)
    }

    /// The path by which the source names the type or variant of the operation.
    fn path(&self, id: CompoundId) -> &TokenStream {
        match self.lowered.paths.get(&id) {
            Some(path) => path,
            None => unreachable!("the lowering kept the path of it"),
        }
    }

    fn member(&self, name: NameId, span: Span) -> syn::Member {
        member(self.kernel.name(name), span)
    }
}

/// A number whose type rustc infers. Any type of value is accepted, since rustc may be about to
/// reject the program.
pub(super) fn foreign_literal(value: Value) -> TokenStream {
    let negative = |negative: bool, literal: Literal| match negative {
        true => mixed!((-#literal)),
        false => mixed!(#literal),
    };
    match value {
        Value::I64(v) => negative(v < 0, Literal::u64_unsuffixed(v.unsigned_abs())),
        Value::U64(v) => negative(false, Literal::u64_unsuffixed(v)),
        Value::F64(bits) => {
            let v = f64::from_bits(bits);
            negative(v.is_sign_negative(), Literal::f64_unsuffixed(v.abs()))
        }
        Value::Bool(_)
        | Value::I8(_)
        | Value::U8(_)
        | Value::I16(_)
        | Value::U16(_)
        | Value::I32(_)
        | Value::U32(_)
        | Value::Usize(_)
        | Value::F16(_)
        | Value::Bf16(_)
        | Value::F32(_) => super::names::literal(value),
    }
}

/// Moves a value to the user's span, if it is a single name or a dereferenced kept value.
fn at_leaf(value: TokenStream, span: Span) -> TokenStream {
    let mut tokens = value.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => {
            let inner = group.stream().into_iter();
            let is_place = inner.clone().count() == 2
                && inner
                    .clone()
                    .next()
                    .is_some_and(|star| star.to_string() == "*");
            let inner = match is_place {
                true => inner.map(|token| moved(token, span)).collect(),
                false => group.stream(),
            };
            moved(Group::new(Delimiter::Parenthesis, inner).into(), span).into()
        }
        (Some(name), None) => moved(name, span).into(),
        (None, _) | (Some(_), Some(_)) => value,
    }
}

/// The token with its hygiene unchanged, at another place.
fn moved(mut token: TokenTree, span: Span) -> TokenTree {
    token.set_span(token.span().located_at(span));
    token
}
