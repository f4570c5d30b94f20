//! `shared_array::<T, N>()` and `shared_slice::<T>(len)`: each call makes one array.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{
    Builtin, Compound, CompoundId, Expr, ExprId, Intrinsic, Length, Memory, Scalar, SharedArray,
    SharedId, SiteKind, Stmt,
};

use super::array::peeled;
use super::length::Dim;
use crate::diagnostics::{Mistake, codes};
use crate::lower::{Binding, Known, Lowerer, Ty, Value};
use crate::parse::atomic_type;
use crate::tokens::range::{Ranged, SourceRange};

/// The element type between the angle brackets.
struct Element {
    ty: Ty,
    atomic: bool,
    /// The dimensions of an element that is an array.
    dims: Vec<Dim>,
}

impl Element {
    fn plain(ty: Ty, atomic: bool) -> Element {
        Element {
            ty,
            atomic,
            dims: vec![],
        }
    }
}

impl Lowerer<'_> {
    /// Lowers a `let` of a shared array. `None` for any other `let`.
    pub(in crate::lower) fn shared_let(&mut self, local: &syn::Local) -> Option<Value> {
        let init = local.init.as_ref()?;
        let syn::Expr::Call(call) = peeled(&init.expr) else {
            return None;
        };
        let syn::Expr::Path(path) = &*call.func else {
            return None;
        };
        let is_slice = self.shared_maker(&path.path)?;
        self.shared_place(path.range());
        let syn::Pat::Ident(pat) = &local.pat else {
            let instead = "bind a plain name, without a type";
            self.errors.unsupported(
                codes::SHARED_FORM,
                local.pat.range(),
                "this pattern for a shared array is",
                instead,
            );
            return Some(Value::Unit);
        };
        if let Some((token, _)) = &init.diverge {
            self.errors
                .unsupported(codes::PATTERN, token.span, "`let … else` is", "use `if`");
        }
        let made = if is_slice {
            self.shared_slice(call, &path.path)
        } else {
            self.shared_array(call, &path.path)
        };
        self.audit_shared(&path.path, is_slice);
        if let Some((element, len, dims)) = made {
            let name = crate::tokens::plain_name(&pat.ident);
            let id = self.new_shared(name, &element, len);
            if let Some(dims) = dims {
                self.shapes.insert(Memory::Shared(id), dims);
            }
            self.bind(&pat.ident, Binding::Memory(Memory::Shared(id)));
        }
        Some(Value::Unit)
    }

    /// Reports such a call outside of a `let`. `None` for another function.
    pub(in crate::lower) fn stray_shared_array(&mut self, path: &syn::Path) -> Option<Value> {
        let is_slice = self.shared_maker(path)?;
        let (name, example) = if is_slice {
            ("shared_slice", "let buf = shared_slice::<f32>(n);")
        } else {
            ("shared_array", "let tile = shared_array::<f32, 256>();")
        };
        self.errors.at(
            codes::SHARED_FORM,
            path.range(),
            format!("the result of `{name}` is not bound to a name"),
            format!("write `{example}`"),
        );
        Some(Value::Never)
    }

    /// True for `shared_slice`, false for `shared_array`, `None` for other functions.
    fn shared_maker(&mut self, path: &syn::Path) -> Option<bool> {
        let is_slice = match path.segments.last()?.ident.to_string().as_str() {
            "shared_array" => false,
            "shared_slice" => true,
            _ => return None,
        };
        let mut plain = path.clone();
        for segment in &mut plain.segments {
            segment.arguments = syn::PathArguments::None;
        }
        self.is_of_facade(&plain).then_some(is_slice)
    }

    /// Reports a place that some threads of a block may not pass exactly once.
    fn shared_place(&mut self, span: SourceRange) {
        if self.blocks.len() > 1 {
            self.errors.at(
                codes::SHARED_PLACE,
                span,
                "a shared array is created inside an `if` or a loop",
                "create it at the start of the kernel",
            );
        }
    }

    fn new_shared(&mut self, name: String, element: &Element, len: Length) -> SharedId {
        self.kernel.shared.to_mut().push(SharedArray {
            name: name.into(),
            // A placeholder until all types are known.
            elem: Scalar::Bool.into(),
            len,
            atomic: element.atomic,
        });
        self.shared_types.push(element.ty);
        SharedId(self.kernel.shared.len() as u32 - 1)
    }

    /// Makes rustc check that the function is the façade's.
    fn audit_shared(&mut self, path: &syn::Path, is_slice: bool) {
        let mut plain = path.clone();
        if let Some(last) = plain.segments.last_mut() {
            last.arguments = syn::PathArguments::None;
        }
        let f32_ty = quote!(::core::primitive::f32);
        let generics = match is_slice {
            true => quote!(::<#f32_ty>),
            false => quote!(::<#f32_ty, 1>),
        };
        self.audit_of_facade(&plain, &generics);
    }

    fn shared_array(
        &mut self,
        call: &syn::ExprCall,
        path: &syn::Path,
    ) -> Option<(Element, Length, Option<Vec<Dim>>)> {
        if let Some(argument) = call.args.first() {
            self.errors.at(
                codes::SHARED_FORM,
                argument.range(),
                "`shared_array` takes no arguments",
                "write its length as a constant, `shared_array::<f32, 256>()`, or use `shared_slice::<f32>(len)` for a \
                 length known at the launch",
            );
            return None;
        }
        let wanted = "write the type and the length: `shared_array::<f32, 256>()`";
        let [elem, len] = self.generics(path, wanted)?;
        let element = self.shared_element(elem)?;
        let len = match len {
            syn::GenericArgument::Const(len) => len.clone(),
            syn::GenericArgument::Type(syn::Type::Path(len)) => syn::Expr::Path(syn::ExprPath {
                attrs: vec![],
                qself: len.qself.clone(),
                path: len.path.clone(),
            }),
            other => {
                let what = "this is not a length";
                self.errors
                    .at(codes::SHARED_FORM, other.range(), what, wanted);
                return None;
            }
        };
        let mut dims = vec![self.dimension(&len)?];
        dims.extend(element.dims.iter().cloned());
        let len = self.total(&dims);
        Some((element, len, Some(dims)))
    }

    fn shared_slice(
        &mut self,
        call: &syn::ExprCall,
        path: &syn::Path,
    ) -> Option<(Element, Length, Option<Vec<Dim>>)> {
        let wanted = "write the type: `shared_slice::<f32>(len)`";
        let [elem] = self.generics(path, wanted)?;
        let element = self.shared_element(elem)?;
        let [len] = call.args.iter().collect::<Vec<_>>()[..] else {
            self.errors.at(
                codes::SHARED_FORM,
                call.range(),
                "`shared_slice` takes one argument",
                "pass its length",
            );
            return None;
        };
        let mark = self.mark();
        let id = self.scalar(len);
        self.expect(id, Scalar::Usize);
        let known = if self.mark() > mark {
            Err(len.range())
        } else {
            self.launch_known(id)
        };
        match known {
            Ok(known) if element.dims.is_empty() => Some((element, Length::Launch(known), None)),
            Ok(known) => {
                let (len, dims) = self.rows(known, id, &element.dims, len.range());
                Some((element, len, Some(dims)))
            }
            Err(span) => {
                self.errors.at(
                    codes::SHARED_LENGTH,
                    span,
                    "the length of a shared slice depends on more than the launch",
                    "compute it from scalar arguments, lengths, `block_dim_x()` and other extents, and constants",
                );
                None
            }
        }
    }

    /// The number of elements in `rows` arrays, and the dimensions. The product saturates, so a
    /// size that is too large stays too large.
    fn rows(
        &mut self,
        known: ExprId,
        rows: ExprId,
        each: &[Dim],
        span: SourceRange,
    ) -> (Length, Vec<Dim>) {
        let columns = self.stride(each, span);
        let args = self.kernel.push_list(&[known, columns]);
        let intrinsic = Intrinsic::SaturatingMul;
        let total = self.known(Expr::Call { intrinsic, args }, Scalar::Usize, span);
        let rows = self.reusable(rows);
        let mut dims = vec![Dim::of_launch(rows)];
        dims.extend(each.iter().cloned());
        (Length::Launch(total), dims)
    }

    fn generics<'p, const N: usize>(
        &mut self,
        path: &'p syn::Path,
        wanted: &str,
    ) -> Option<[&'p syn::GenericArgument; N]> {
        let arguments = match &path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(list) => list.args.iter().collect(),
            syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => vec![],
        };
        let arguments: Result<[_; N], _> = arguments.try_into();
        if arguments.is_err() {
            let what = "the element type of the array is not written here";
            self.errors
                .at(codes::SHARED_FORM, path.range(), what, wanted);
        }
        arguments.ok()
    }

    fn shared_element(&mut self, argument: &syn::GenericArgument) -> Option<Element> {
        let syn::GenericArgument::Type(ty) = argument else {
            self.errors.at(
                codes::SHARED_FORM,
                argument.range(),
                "this is not a type",
                "write the type of the elements",
            );
            return None;
        };
        self.shared_element_type(ty)
    }

    fn shared_element_type(&mut self, ty: &syn::Type) -> Option<Element> {
        match ty {
            syn::Type::Paren(inner) => return self.shared_element_type(&inner.elem),
            syn::Type::Group(inner) => return self.shared_element_type(&inner.elem),
            syn::Type::Array(array) => {
                let dim = self.dimension(&array.len)?;
                let mut element = self.shared_element_type(&array.elem)?;
                element.dims.insert(0, dim);
                return Some(element);
            }
            _ => {}
        }
        if let Some(scalar) = atomic_type(ty, self.errors) {
            let ty = self.types.known(scalar?);
            return Some(Element::plain(ty, true));
        }
        let element = self.written_type(ty)?;
        let text = ty.to_token_stream().to_string();
        let open = text.split_whitespace().any(|word| word == "_");
        let known = match open {
            // The array is declared where nothing can infer the type of `_`.
            true => Known::Nothing,
            false => self.types.look(element),
        };
        let (what, instead) = match known {
            Known::Scalar(Scalar::Bool) => ("bool", "use `u32`"),
            Known::Scalar(Scalar::Usize) => ("usize", "use `u32` or `u64`"),
            Known::Scalar(_) => return Some(Element::plain(element, false)),
            Known::Compound | Known::Foreign | Known::Parameter => {
                self.any_bits(ty);
                let krate = &self.krate;
                self.has_size(ty, &quote!(<#ty as #krate::KernelType>::TYPE));
                return Some(Element::plain(element, false));
            }
            Known::Int | Known::Float | Known::Nothing => {
                self.errors.at(
                    codes::SHARED_ELEMENT,
                    ty.range(),
                    "the type of the array's elements is not known",
                    "write it",
                );
                return None;
            }
        };
        let what = format!("a shared array of `{what}` is");
        self.errors
            .unsupported(codes::SHARED_ELEMENT, ty.range(), &what, instead);
        None
    }

    /// Makes rustc check that the elements of a memory have a nonzero size. Applies if the element
    /// type differs between instances.
    pub(in crate::lower) fn has_size(&mut self, ty: &syn::Type, described: &TokenStream) {
        if !self.mentions_parameter(&ty.to_token_stream()) {
            return;
        }
        let message = Mistake::new(
            codes::EMPTY_TYPE,
            "elements of this type have no size, so no device can tell them apart",
            "use a type of at least one byte",
        )
        .to_string();
        let (krate, span) = (&self.krate, Span::mixed_site().located_at(ty.range().first));
        let scalars = quote!(#krate::__private::ir::TypeInfo::scalars(&#described));
        self.checks
            .push(quote_spanned!(span=> ::core::assert!(#scalars > 0, #message);));
    }

    /// Makes rustc check that any bits are a value of the type.
    fn any_bits(&mut self, ty: &syn::Type) {
        let message = Mistake::new(
            codes::SHARED_ELEMENT,
            "not all bit patterns are values of this type: it contains a `bool`, a `usize` or an enum",
            "use numbers",
        )
        .to_string();
        let (krate, span) = (&self.krate, Span::mixed_site().located_at(ty.range().first));
        let holds = quote!(#krate::__private::ir::TypeInfo::takes_any_bits(&<#ty as #krate::KernelType>::TYPE));
        let check = quote_spanned!(span=> ::core::assert!(#holds, #message));
        if self.mentions_parameter(&ty.to_token_stream()) {
            self.checks.push(quote!(#check;));
        } else {
            self.audits
                .push(quote_spanned!(span=> const _: () = #check;));
        }
    }

    /// The same for a field of a known value; an error with the place of any other operation.
    fn launch_known_field(
        &mut self,
        id: ExprId,
        compound: CompoundId,
    ) -> Result<ExprId, SourceRange> {
        let (ty, span) = (self.ty(id), self.span(id));
        match self.kernel.compounds[compound.index()] {
            Compound::Field { base, name } => {
                let base = self.launch_known(base)?;
                Ok(self.compound(Compound::Field { base, name }, ty, span))
            }
            Compound::IsVariant { .. }
            | Compound::Index { .. }
            | Compound::Payload { .. }
            | Compound::Construct { .. }
            | Compound::Array { .. }
            | Compound::Repeat { .. }
            | Compound::Len { .. }
            | Compound::At { .. } => Err(span),
        }
    }

    /// Replaces locals in the expression by their values, if all of it is known before a launch.
    /// Otherwise returns the place of the unknown part.
    pub(in crate::lower) fn launch_known(&mut self, id: ExprId) -> Result<ExprId, SourceRange> {
        let span = self.span(id);
        let mut expr = self.kernel.expr(id);
        match expr {
            Expr::Literal(_) | Expr::Link(_) | Expr::Param(_) => return Ok(self.copy(id)),
            Expr::Len(Memory::Shared(shared)) => {
                return match self.kernel.shared[shared.index()].len {
                    Length::Launch(len) => self.launch_known(len),
                    Length::Fixed(_) | Length::Link(_) => Ok(self.copy(id)),
                };
            }
            Expr::Len(Memory::Local(local)) => {
                let array = self.arrays.iter().find(|(l, _)| *l == local);
                let (_, length) = *array.expect("a local with a length is an array");
                return Ok(self.length_expr(length, span));
            }
            Expr::Len(Memory::Slice(_) | Memory::Table(_)) => return Ok(self.copy(id)),
            Expr::Builtin(builtin) => match builtin {
                Builtin::BlockDim(_) | Builtin::GridDim(_) | Builtin::GlobalDim(_) => {
                    return Ok(self.copy(id));
                }
                Builtin::ThreadIdx(_)
                | Builtin::BlockIdx(_)
                | Builtin::GlobalIdx(_)
                | Builtin::GlobalThreadId
                | Builtin::SubgroupSize
                | Builtin::SubgroupLane => return Err(span),
            },
            Expr::Local(local) => {
                if self.kernel.locals[local.index()].mutable {
                    return Err(span);
                }
                let lets = self.kernel.stmts.iter().filter_map(|stmt| {
                    let Stmt::Let { local, init } = *stmt else {
                        return None;
                    };
                    Some((local, init?))
                });
                let init = lets
                    .into_iter()
                    .find(|(of, _)| *of == local)
                    .map(|(_, init)| init);
                return init
                    .ok_or(span)
                    .and_then(|init| self.launch_known(init).map_err(|_| span));
            }
            Expr::Compound(compound) => return self.launch_known_field(id, compound),
            Expr::Load { .. } | Expr::Bounded { .. } | Expr::Faulted => return Err(span),
            Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. } => {}
        }
        let operands = self.kernel.operands(id).into_iter();
        let operands: Vec<ExprId> = operands
            .map(|operand| self.launch_known(operand))
            .collect::<Result<_, _>>()?;
        if let Expr::Divide { site, .. } = &mut expr {
            *site = Some(self.site(SiteKind::Divisor, span));
        }
        let expr = self.kernel.with_operands(expr, &operands);
        let ty = self.ty(id);
        Ok(self.expr(expr, ty, span))
    }
}
