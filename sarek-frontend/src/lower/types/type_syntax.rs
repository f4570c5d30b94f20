//! Types in the source, and types as tokens for rustc.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{NameId, Scalar, Type, TypeDef, TypeLinkId};

use super::{GenericArg, Hole, Literal, LiteralField, Named, Node};
use crate::diagnostics::codes;
use crate::lower::calls::instantiate::any_literal;
use crate::lower::desugar::variant::part_of_variant;
use crate::lower::{Lowerer, Ty};
use crate::parse::{ElementType, scalar_type, simd_type};
use crate::tokens::names;
use crate::tokens::range::Ranged;

/// The enums of core that kernels recognize by name.
pub(in crate::lower) const OPTION: &str = "::core::option::Option";
pub(in crate::lower) const RESULT: &str = "::core::result::Result";

impl Lowerer<'_> {
    /// The type that the source writes. `None` if it is invalid, which is reported.
    pub(in crate::lower) fn written_type(&mut self, ty: &syn::Type) -> Option<Ty> {
        match ty {
            syn::Type::Infer(_) => Some(self.types.any()),
            syn::Type::Paren(inner) => self.written_type(&inner.elem),
            syn::Type::Group(inner) => self.written_type(&inner.elem),
            syn::Type::Tuple(tuple) => {
                let types: Option<Vec<Ty>> =
                    tuple.elems.iter().map(|t| self.written_type(t)).collect();
                Some(self.types.tuple(types?))
            }
            syn::Type::Array(array) => {
                let elem = self.written_type(&array.elem)?;
                let len = self.dimension(&array.len)?;
                Some(self.types.array(elem, len))
            }
            syn::Type::Path(path) if path.qself.is_none() => {
                match ElementType::read(ty, self.errors)? {
                    ElementType::Scalar(scalar) => Some(self.types.known(scalar)),
                    ElementType::Other(_) => {
                        let ty = self.written_path(&path.path)?;
                        if let Node::Named(named) = self.types.node(ty)
                            && named.args.is_empty()
                        {
                            self.complete_types
                                .insert(crate::tokens::path_text(&named.path));
                        }
                        Some(ty)
                    }
                }
            }
            other => {
                scalar_type(other, self.errors);
                None
            }
        }
    }

    /// The type that a path names.
    pub(in crate::lower) fn written_path(&mut self, path: &syn::Path) -> Option<Ty> {
        if let Some(simd) = simd_type(path) {
            return Some(self.simd_ty(simd));
        }
        let mut plain = path.clone();
        let last = plain.segments.last_mut()?;
        let arguments = std::mem::replace(&mut last.arguments, syn::PathArguments::None);
        let args = match arguments {
            syn::PathArguments::None => vec![],
            syn::PathArguments::AngleBracketed(list) => {
                let args: Option<Vec<GenericArg>> =
                    list.args.iter().map(|a| self.written_argument(a)).collect();
                args?
            }
            syn::PathArguments::Parenthesized(list) => {
                let instead = "call the function by its name";
                self.errors
                    .unsupported(codes::TYPE, list.range(), "this type is", instead);
                return None;
            }
        };
        Some(self.types.named(canonical(&plain), args))
    }

    fn written_argument(&mut self, argument: &syn::GenericArgument) -> Option<GenericArg> {
        match argument {
            syn::GenericArgument::Type(ty) => self.written_type(ty).map(GenericArg::Type),
            syn::GenericArgument::Const(value) => Some(GenericArg::Const(value.to_token_stream())),
            other => {
                let instead = "write a type or a constant";
                self.errors.unsupported(
                    codes::TYPE,
                    other.range(),
                    "this generic argument is",
                    instead,
                );
                None
            }
        }
    }

    /// The name of a field or variant.
    pub(in crate::lower) fn name_id(&mut self, name: &str) -> NameId {
        let name = name.strip_prefix("r#").unwrap_or(name);
        let found = self.kernel.names.iter().position(|known| known == name);
        let at = found.unwrap_or_else(|| {
            self.kernel.names.to_mut().push(name.to_string().into());
            self.kernel.names.len() - 1
        });
        NameId(at as u32)
    }

    /// A generic argument of `Option` or `Result`.
    pub(in crate::lower) fn core_argument(&self, ty: Ty, position: usize) -> Option<Ty> {
        match self.types.node(ty) {
            Node::Named(named) if is_core(named) => match named.args.get(position) {
                Some(GenericArg::Type(ty)) => Some(*ty),
                Some(GenericArg::Const(_)) | None => None,
            },
            _ => None,
        }
    }

    // Final types.

    /// The IR type. `None` if it is unknown.
    pub(in crate::lower) fn ir_type(&mut self, ty: Ty) -> Option<Type> {
        if let Some(scalar) = self.types.resolve(ty) {
            return Some(scalar.into());
        }
        let def = match self.types.node(ty).clone() {
            Node::Known(_) | Node::Any | Node::Int | Node::Float | Node::Same(_) => return None,
            Node::Array(elem, dim) => TypeDef::Array {
                elem: self.ir_type(elem)?,
                len: dim.length,
            },
            Node::Tuple(types) => {
                let types: Option<Vec<Type>> = types.iter().map(|t| self.ir_type(*t)).collect();
                TypeDef::Tuple(types?.into())
            }
            Node::Named(_) => TypeDef::Link(self.type_link(ty)?),
            Node::Hole(Hole::Field { of, name }) => {
                let text = self.kernel.name(name).to_string();
                if let Node::Tuple(types) = self.types.node(of)
                    && let Some(part) = text.parse().ok().and_then(|i: usize| types.get(i))
                {
                    let part = *part;
                    return self.ir_type(part);
                }
                let of = self.ir_type(of)?;
                TypeDef::Field { of, name }
            }
            Node::Hole(Hole::Element { of }) => {
                if let Node::Array(elem, _) = *self.types.node(of) {
                    return self.ir_type(elem);
                }
                let of = self.ir_type(of)?;
                TypeDef::Element { of }
            }
            Node::Hole(Hole::Payload {
                of, variant, name, ..
            }) => {
                let of = self.ir_type(of)?;
                TypeDef::Payload { of, variant, name }
            }
            Node::Hole(Hole::Result(function)) => TypeDef::Result(function),
            Node::Hole(Hole::Parameter { of, index }) => TypeDef::Parameter { of, index },
            Node::Hole(Hole::Callable {
                of,
                callable,
                takes,
            }) => TypeDef::Callable {
                of,
                callable,
                takes,
            },
            Node::Hole(Hole::Constant(_) | Hole::Literal { .. }) => {
                TypeDef::Link(self.type_link(ty)?)
            }
        };
        Some(self.kernel.push_type(def))
    }

    /// The link of a named type. Types with the same text share one link.
    fn type_link(&mut self, ty: Ty) -> Option<TypeLinkId> {
        let krate = self.krate.clone();
        let (text, info) = match self.type_tokens(ty) {
            Some(tokens) => {
                // A vector's element type is only required to be an `Element`, as the launch
                // function requires.
                let info = match self.is_element(&tokens) {
                    true => quote!(<#tokens as #krate::Element>::__TYPE),
                    false => quote!(<#tokens as #krate::KernelType>::TYPE),
                };
                (tokens, info)
            }
            None => {
                let probe = self.probe(ty)?;
                let span = Span::mixed_site().located_at(probe.range().first);
                let krate = crate::tokens::at(&krate, span);
                let info = quote_spanned!(span=> #krate::KernelType::__type_of(|| #probe));
                (probe, info)
            }
        };
        let text = match (self.simd(ty), self.types.node(ty)) {
            (Some(simd), _) => simd.name(),
            (None, Node::Hole(Hole::Literal { float })) => {
                let (kind, mark) = (
                    ["integer", "float"][usize::from(*float)],
                    self.inferred_literal(ty)?,
                );
                format!("{{{kind} {mark}}}")
            }
            (None, _) => short(&crate::tokens::path_text(text)),
        };
        let found = self.kernel.type_links.iter().position(|t| *t == text);
        let at = found.unwrap_or_else(|| {
            self.kernel.type_links.to_mut().push(text.into());
            self.type_infos.push(info);
            self.kernel.type_links.len() - 1
        });
        Some(TypeLinkId(at as u32))
    }

    /// True for the type of a kernel's argument, or of its elements.
    fn is_element(&self, tokens: &TokenStream) -> bool {
        let text = tokens.to_string();
        let mut arguments = self.param_types.iter();
        let is_same = |ty: &Ty| self.type_tokens(*ty).is_some_and(|t| t.to_string() == text);
        !self.is_function && arguments.any(is_same)
    }

    /// The type as Rust code. `None` if it has no name or is unknown.
    pub(in crate::lower) fn type_tokens(&self, ty: Ty) -> Option<TokenStream> {
        if let Some(scalar) = self.types.resolve(ty) {
            return Some(scalar_tokens(scalar, &self.krate));
        }
        match self.types.node(ty) {
            Node::Array(elem, dim) => {
                let (elem, len) = (self.type_tokens(*elem)?, dim.tokens());
                Some(quote_spanned!(place(&elem)=> [#elem; #len]))
            }
            Node::Tuple(types) => {
                let types: Option<Vec<TokenStream>> =
                    types.iter().map(|t| self.type_tokens(*t)).collect();
                let types = types?;
                let span = types.first().map_or_else(Span::mixed_site, place);
                Some(quote_spanned!(span=> (#(#types,)*)))
            }
            Node::Named(named) if named.literal.is_some() && !self.is_probed(ty) => None,
            Node::Named(named) => {
                let args = named.args.iter().map(|arg| match arg {
                    GenericArg::Type(ty) => self.type_tokens(*ty),
                    GenericArg::Const(tokens) => Some(tokens.clone()),
                });
                let args: Vec<TokenStream> = args.collect::<Option<_>>()?;
                let path = &named.path;
                Some(match args.is_empty() {
                    true => path.clone(),
                    false => quote_spanned!(place(path)=> #path<#(#args),*>),
                })
            }
            Node::Hole(_)
            | Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Same(_) => None,
        }
    }

    /// A probe: an expression of the type that is never evaluated.
    pub(in crate::lower) fn probe(&self, ty: Ty) -> Option<TokenStream> {
        let host = {
            let krate = &self.krate;
            quote!(#krate::__private::host)
        };
        if let Some(tokens) = self.type_tokens(ty) {
            let tokens = match self.types.resolve(ty) {
                Some(_) => tokens,
                None => self.known_type(tokens),
            };
            return Some(quote!(#host::of_type::<#tokens>()));
        }
        if let Some(mark) = self.inferred_literal(ty) {
            let variable = names::literal_variable(mark);
            return Some(quote!(#host::typed_value(#variable)));
        }
        match self.types.node(ty) {
            Node::Array(elem, dim) => {
                // The known length is useful even without the element type.
                let elem = self.probe(*elem);
                let elem = elem.unwrap_or_else(|| quote!(::core::unreachable!()));
                let len = dim.tokens();
                Some(quote!([#elem; #len]))
            }
            Node::Tuple(types) => {
                let types: Option<Vec<TokenStream>> =
                    types.iter().map(|t| self.probe(*t)).collect();
                let types = types?;
                Some(quote!((#(#types,)*)))
            }
            Node::Named(named) if is_core(named) => {
                let args = named.args.iter().filter_map(|arg| match arg {
                    GenericArg::Type(ty) => Some(self.probe(*ty)),
                    GenericArg::Const(_) => None,
                });
                let args: Vec<TokenStream> = args.collect::<Option<_>>()?;
                match args.as_slice() {
                    [some] => Some(quote!(::core::option::Option::Some(#some))),
                    [ok, err] => Some(quote!(#host::either(#ok, #err))),
                    _ => None,
                }
            }
            Node::Named(named) => self.literal_probe(ty, named),
            Node::Hole(Hole::Field { of, name }) => {
                let (of, member) = (
                    self.probe(*of)?,
                    member(self.kernel.name(*name), Span::mixed_site()),
                );
                Some(quote!(#of.#member))
            }
            Node::Hole(Hole::Element { of }) => {
                let of = self.probe(*of)?;
                Some(quote!(#of[0]))
            }
            Node::Hole(Hole::Payload { of, pattern, .. }) => {
                let of = self.probe(*of)?;
                let (span, otherwise) = (place(pattern), quote!(::core::unreachable!()));
                let of = quote_spanned!(span=> (#of));
                Some(part_of_variant(&of, pattern, &otherwise, span))
            }
            Node::Hole(Hole::Result(function)) => self.callees[function.index()].probe(),
            Node::Hole(Hole::Constant(link)) => Some(self.links[link.index()].clone()),
            Node::Hole(Hole::Parameter { .. } | Hole::Callable { .. } | Hole::Literal { .. })
            | Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Same(_) => None,
        }
    }

    /// True while a probe of this type is being written.
    fn is_probed(&self, ty: Ty) -> bool {
        let probed = self.probed.borrow();
        probed.iter().any(|of| self.types.are_same(*of, ty))
    }

    /// A probe made from the struct literal that alone determines the type's arguments. Its values
    /// are never evaluated. `None` if the type occurs in the type of a field; `p[0] = p.x`, for
    /// instance, makes the type of `x` that of `p`'s elements.
    fn literal_probe(&self, of: Ty, named: &Named) -> Option<TokenStream> {
        let literal = named.literal.as_ref()?;
        if self.is_probed(of) {
            return None;
        }
        self.probed.borrow_mut().push(of);
        let probe = self.literal_with_fields(of, literal);
        self.probed.borrow_mut().pop();
        probe
    }

    /// True for a field with a literal whose type only this struct determines, if nothing else
    /// determines the struct's type. Any other literal then has the same type there.
    fn is_determined_alone(&self, of: Ty, field: &LiteralField) -> bool {
        self.types.holes_of(of) == 0
            && self.types.holes_of(field.ty) == 1
            && any_literal(&field.value).is_some()
    }

    fn literal_with_fields(&self, of: Ty, literal: &Literal) -> Option<TokenStream> {
        let span = Span::mixed_site().located_at(literal.path.range().first);
        let fields: Option<Vec<(&str, TokenStream)>> = (literal.fields.iter())
            .map(|field| {
                let is_part = match self.types.node(field.ty) {
                    Node::Hole(Hole::Field { of: whole, .. } | Hole::Payload { of: whole, .. }) => {
                        self.types.are_same(*whole, of)
                    }
                    _ => false,
                };
                let value = match is_part {
                    true if self.is_determined_alone(of, field) => any_literal(&field.value)?,
                    true => self.typed_expr(&field.value)?,
                    false => self.probe(field.ty)?,
                };
                Some((self.kernel.name(field.name), value))
            })
            .collect();
        let is_variant = literal.variant.is_some();
        Some(made(&literal.path, is_variant, &fields?, None, span))
    }

    /// The type behind the error gate, if the function has a gate constant.
    pub(in crate::lower) fn known_type(&self, ty: TokenStream) -> TokenStream {
        match self.has_gate {
            true => {
                self.names_gate.set(true);
                names::known_type(&ty, &self.krate, place(&ty))
            }
            false => ty,
        }
    }
}

/// The place of a type in the source, at which rustc reports errors in it.
fn place(tokens: &TokenStream) -> Span {
    Span::mixed_site().located_at(tokens.range().first)
}

/// A field's name as tokens: an identifier, or a tuple's number.
pub(crate) fn member(name: &str, span: Span) -> syn::Member {
    match name.parse::<u32>() {
        Ok(index) => syn::Member::Unnamed(syn::Index { index, span }),
        Err(_) => {
            let ident = syn::parse_str::<Ident>(name);
            let mut ident = ident.unwrap_or_else(|_| Ident::new_raw(name, span));
            ident.set_span(span);
            syn::Member::Named(ident)
        }
    }
}

/// A constructor expression. A variant is constructed as in the source, so that rustc reports the
/// same errors for both.
pub(crate) fn made(
    path: &TokenStream,
    is_variant: bool,
    fields: &[(&str, TokenStream)],
    rest: Option<TokenStream>,
    span: Span,
) -> TokenStream {
    let values = fields.iter().map(|(_, value)| value);
    let mut positions = fields.iter().enumerate();
    let is_called = positions.all(|(i, (name, _))| *name == i.to_string());
    if is_variant && is_called && !fields.is_empty() {
        return quote_spanned!(span=> #path(#(#values),*));
    }
    let members = fields.iter().map(|(name, _)| member(name, span));
    quote_spanned!(span=> #path { #(#members: #values,)* #rest })
}

/// The text of a type, without the modules of core.
fn short(text: &str) -> String {
    ["primitive", "option", "result"]
        .iter()
        .fold(text.to_string(), |text, module| {
            text.replace(&format!("::core::{module}::"), "")
        })
}

/// `::core::primitive::f32`, which no item of the user's can shadow.
pub(crate) fn scalar_tokens(scalar: Scalar, krate: &TokenStream) -> TokenStream {
    let name = Ident::new(scalar.name(), Span::mixed_site());
    match scalar.is_half() {
        true => quote!(#krate::#name),
        false => quote_spanned!(Span::mixed_site()=> ::core::primitive::#name),
    }
}

fn is_core(named: &Named) -> bool {
    let path = crate::tokens::path_text(&named.path);
    path == OPTION || path == RESULT
}

/// The path, with `Option` and `Result` by their full names. If the source means other types of
/// these names, rustc reports that the types differ.
fn canonical(path: &syn::Path) -> TokenStream {
    let text = crate::tokens::path_text(path);
    let text = text.trim_start_matches("::");
    let tail = ["std::", "core::"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text);
    let span = path.range();
    match tail {
        "Option" | "option::Option" => quote_spanned!(span.first=> ::core::option::Option),
        "Result" | "result::Result" => quote_spanned!(span.first=> ::core::result::Result),
        _ => path.to_token_stream(),
    }
}
