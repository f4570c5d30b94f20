//! Audits of names that kernels recognize by their text: rustc checks that each name resolves to
//! the assumed item.
//!
//! - A function, or a trait method of a type, is compared with the item itself: each function has a
//!   type of its own.
//! - A method may be shadowed by one that rustc tries earlier (`len` of an array takes `&self`, so
//!   a trait's `len(self)` comes first). A probe therefore calls it on each form of the receiver
//!   that rustc tries earlier. A trait gives all types a method of that name, so another method
//!   found there makes the call ambiguous.
//! - A macro is imported under another name, under which a glob import brings the assumed macro,
//!   too. rustc reports the name if the two differ.
//!
//! The generated names that rustc prints in its errors contain the code of that mistake.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use sarek_ir::{ExprId, Scalar};
use syn::spanned::Spanned;

use super::receiver::{Asked, Lent, OF_ARRAYS, Receiver};
use super::types::{Known, Node};
use super::{Lowered, Lowerer, path_text};
use crate::emit::at;

impl Lowerer<'_> {
    /// Makes rustc check that a path resolves to the façade's function of that name.
    pub(super) fn hold_of_facade(&mut self, path: &syn::Path, generics: &TokenStream) {
        if let Some(last) = path.segments.last() {
            let (krate, name) = (&self.krate, &last.ident);
            self.hold_function(path, &quote!(#krate::#name), generics);
        }
    }

    /// Makes rustc check that a path resolves to a function. If a bare name resolves to nothing,
    /// rustc reports the call alone. A macro of that name satisfies the import, and the function
    /// itself is in an outer scope.
    pub(super) fn hold_function(
        &mut self,
        path: &syn::Path,
        function: &TokenStream,
        generics: &TokenStream,
    ) {
        // One test for all calls.
        if !self.held.insert(path_text(path)) {
            return;
        }
        let span = Span::mixed_site().located_at(path.span());
        let (function, generics) = (at(function, span), at(generics, span));
        let audit = match path.get_ident() {
            None => self.same(&quote!(#function #generics), &quote!(#path #generics), span),
            Some(name) => {
                let (name, alias) = (
                    Ident::new(&name.to_string(), span),
                    Ident::new("__sarek_built_in", span),
                );
                let same = self.same(
                    &quote!(#function #generics),
                    &quote!(#alias #generics),
                    span,
                );
                quote_spanned! {span=>
                    {
                        #[allow(unused_imports)]
                        use #function as #alias;
                        {
                            #[allow(unused_macros)]
                            macro_rules! #name { () => {}; }
                            #[allow(unused_imports)]
                            use #name as #alias;
                            #same
                        }
                    }
                }
            }
        };
        self.audits.push(audit);
    }

    /// Makes rustc check that `Some`, `None`, `Ok` or `Err` is core's.
    pub(super) fn hold_variant(&mut self, name: &Ident, variant: &TokenStream) {
        let text = name.to_string();
        if !self.held.insert(text.clone()) {
            return;
        }
        let span = Span::mixed_site().located_at(name.span());
        let audit = match text.as_str() {
            // A constant of the user's takes no generic arguments.
            "None" => {
                quote_spanned!(span=> const _: ::core::option::Option<()> = #name::<()>;)
            }
            text => {
                let arguments = match text {
                    "Some" => quote_spanned!(span=> ::<()>),
                    _ => quote_spanned!(span=> ::<(), ()>),
                };
                let known = at(variant, span);
                self.same(&quote!(#known #arguments), &quote!(#name #arguments), span)
            }
        };
        self.audits.push(audit);
    }

    /// A test that two paths name one function: the assumed one, and the one in the source.
    fn same(&self, known: &TokenStream, named: &TokenStream, span: Span) -> TokenStream {
        let krate = at(&self.krate, span);
        quote_spanned!(span=> const _: () = #krate::named(#known, #named);)
    }

    /// Makes rustc check that `f32::sqrt` is that function of the type.
    pub(super) fn hold_associated(&mut self, on: Scalar, path: &syn::Path, ids: &[ExprId]) {
        let Some(last) = path.segments.last() else {
            return;
        };
        if self.in_body {
            return; // the table wrote the path, not the user
        }
        let name = last.ident.to_string();
        let krate = &self.krate;
        let (ty, function) = (super::scalar_tokens(on, krate), &last.ident);
        let known = match (trait_of(&name, on), ids.first().map(|id| self.ty(*id))) {
            (Some(of_trait), _) => {
                let of_trait = of_trait.path(krate);
                quote!(<#ty as #of_trait>::#function)
            }
            (None, Some(from)) if name == "from" => {
                // For another source type, the impl depends on that type.
                let Some(from) = self.types.resolve(from) else {
                    return;
                };
                let from = super::scalar_tokens(from, krate);
                quote!(<#ty as ::core::convert::From<#from>>::#function)
            }
            (None, _) => quote!(<#ty>::#function),
        };
        let span = Span::mixed_site().located_at(path.span());
        if self.held.insert(format!("{known}{}", path_text(path))) {
            let audit = self.same(&at(&known, span), &quote!(#path), span);
            self.audits.push(audit);
        }
    }

    /// Makes rustc check that a macro is the one that kernels recognize by its name.
    pub(super) fn hold_macro(&mut self, path: &syn::Path) {
        if self.held.insert(format!("{}!", path_text(path))) {
            let audit = item_audit(path, &self.krate);
            self.audits.push(audit);
        }
    }

    /// Makes rustc check that a method of a value is the one that kernels support.
    pub(super) fn hold_method(&mut self, e: &syn::ExprMethodCall, receiver: ExprId) {
        let (ty, name) = (self.ty(receiver), &e.method);
        let text = name.to_string();
        let mut lent: &[Lent] = &[];
        let is_length = ["len", "is_empty"].contains(&text.as_str());
        let takes_reference = ["is_some", "is_none", "is_ok", "is_err"].contains(&text.as_str());
        let of_trait = match (self.types.look(ty), self.types.node(ty)) {
            (Known::Scalar(on), _) => trait_of(&text, on),
            (Known::Parameter, _) => self.trait_of_parameter(ty, &text),
            (_, Node::Array(..) | Node::Hole(_)) if is_length => {
                lent = &OF_ARRAYS;
                None
            }
            (_, Node::Named(_) | Node::Hole(_)) if takes_reference => {
                lent = &[Lent::Not];
                None
            }
            _ if self.packed(ty).is_some() => swizzles(&text),
            (Known::Foreign, _) => return self.hold_unknown_method(name),
            _ => None,
        };
        if let Some(of_trait) = of_trait {
            self.ask(Asked::of(Receiver::Value(ty), of_trait, name));
        }
        for lent in lent {
            let receiver = Receiver::Value(ty);
            self.ask(Asked::before(receiver, *lent, e));
        }
    }

    /// For a number whose type only rustc knows: checks trait methods on each type that it may
    /// have.
    fn hold_unknown_method(&mut self, name: &Ident) {
        for on in Scalar::ALL {
            // A `usize` would be known here.
            let has = (on.is_int() && on != Scalar::Usize) || on.is_float();
            let stands = sarek_ir::Intrinsic::method(&name.to_string(), on).is_some();
            let converts = converts(&name.to_string()) && !on.is_half();
            if has
                && (stands || converts)
                && let Some(of_trait) = trait_of(&name.to_string(), on)
            {
                let ty = self.types.known(on);
                let asked = Asked::of(Receiver::Value(ty), of_trait, name);
                self.ask(asked.with_traits());
            }
        }
    }

    /// Makes rustc check that bounds named `Num`, `Int` or `Float` are the façade's.
    pub(super) fn hold_bounds(&mut self) {
        for (_, bound) in self.bounds.clone() {
            let last = bound.segments.last();
            let is_number = last.is_some_and(|last| NUMBERS.iter().any(|name| last.ident == name));
            if is_number && self.held.insert(path_text(&bound)) {
                let audit = item_audit(&bound, &self.krate);
                self.audits.push(audit);
            }
        }
    }

    /// The façade's trait whose bound gives a type parameter a method, if another bound may give a
    /// method of that name, too.
    fn trait_of_parameter(&self, ty: super::Ty, name: &str) -> Option<Trait> {
        let Node::Named(named) = self.types.node(ty) else {
            return None;
        };
        let text = path_text(&named.path);
        let bounds = self.bounds.iter().filter(|(of, _)| *of == text);
        let names =
            bounds.map(|(_, bound)| bound.segments.last().map(|last| last.ident.to_string()));
        let names: Vec<String> = names.flatten().collect();
        if names.iter().all(|name| HARMLESS.contains(&name.as_str())) {
            return None;
        }
        let is_float = names.iter().any(|name| name == "Float");
        Some(match name {
            _ if name.starts_with("to_") => Trait::Num,
            "min" | "max" | "clamp" if !is_float => Trait::Ord,
            "count_ones" | "leading_zeros" | "trailing_zeros" | "wrapping_add" | "wrapping_sub"
            | "wrapping_mul" => Trait::Int,
            _ => match sarek_ir::Intrinsic::method(name, Scalar::F32) {
                Some(intrinsic) if intrinsic.is_elementary() => Trait::Elementary,
                _ => Trait::Float,
            },
        })
    }
}

/// The façade's number traits.
pub(super) const NUMBERS: [&str; 3] = ["Num", "Int", "Float"];

/// Bounds that give no methods that kernels support, except the façade's own.
const HARMLESS: [&str; 11] = [
    "Num",
    "Int",
    "Float",
    "Scalar",
    "KernelType",
    "Element",
    "Copy",
    "Clone",
    "Send",
    "Sync",
    "Default",
];

/// A trait with methods that the types do not have themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trait {
    /// `sarek::Num`
    Num,
    /// `sarek::Int`
    Int,
    /// `sarek::Float`
    Float,
    /// Functions that `sarek::Float` includes.
    Elementary,
    /// `sarek::Swizzle2`, `Swizzle3`, `Swizzle4`
    Swizzle(u8),
    /// `core::cmp::Ord`
    Ord,
    /// `core::iter::Iterator`
    Iterator,
}

impl Trait {
    pub(super) fn path(self, krate: &TokenStream) -> TokenStream {
        match self {
            Trait::Num => quote!(#krate::Num),
            Trait::Int => quote!(#krate::Int),
            Trait::Float => quote!(#krate::Float),
            Trait::Elementary => quote!(#krate::__private::host::Elementary),
            Trait::Swizzle(2) => quote!(#krate::Swizzle2),
            Trait::Swizzle(3) => quote!(#krate::Swizzle3),
            Trait::Swizzle(_) => quote!(#krate::Swizzle4),
            Trait::Ord => quote!(::core::cmp::Ord),
            Trait::Iterator => quote!(::core::iter::Iterator),
        }
    }
}

/// The trait that gives a scalar a supported method. Other methods are inherent, and these come
/// first.
fn trait_of(name: &str, on: Scalar) -> Option<Trait> {
    const OF_HALVES: [&str; 14] = [
        "to_f32",
        "to_f64",
        "to_bits",
        "is_nan",
        "is_infinite",
        "is_finite",
        "is_normal",
        "signum",
        "is_sign_positive",
        "is_sign_negative",
        "copysign",
        "max",
        "min",
        "clamp",
    ];
    match name {
        _ if name.ends_with("_const") || name.starts_with("from") => None,
        _ if on.is_half() && OF_HALVES.contains(&name) => None,
        "rsqrt" => Some(Trait::Float),
        "min" | "max" | "clamp" => on.is_int().then_some(Trait::Ord),
        "to_bits" | "to_degrees" | "to_radians" => None,
        _ if converts(name) => Some(Trait::Num),
        _ if on.is_half() => Some(Trait::Float),
        _ => None,
    }
}

/// True for a conversion of `sarek::Num`, such as `to_f32`.
fn converts(name: &str) -> bool {
    const TO: [&str; 7] = ["i32", "u32", "i64", "u64", "usize", "f32", "f64"];
    name.strip_prefix("to_").is_some_and(|to| TO.contains(&to))
}

/// The trait of a swizzle.
fn swizzles(name: &str) -> Option<Trait> {
    let letters = || name.chars().map(|letter| "xyzw".find(letter));
    let is_one = name.len() > 1 && letters().all(|at| at.is_some());
    let most = letters().flatten().max()?;
    is_one.then(|| Trait::Swizzle(most.max(1) as u8 + 1))
}

impl Lowered {
    /// Makes rustc check that these macros, which were expanded already, are the ones that kernels
    /// recognize by their names.
    pub fn hold_macros(&mut self, named: &[syn::Path], krate: &TokenStream) {
        // One test for all uses of a path.
        let first: BTreeMap<String, &syn::Path> = named.iter().map(|p| (path_text(p), p)).collect();
        let audits = first.values().map(|path| item_audit(path, krate));
        self.audits.extend(audits);
    }
}

/// A test that a macro or a trait is the one that kernels recognize by its name.
fn item_audit(path: &syn::Path, krate: &TokenStream) -> TokenStream {
    let span = Span::mixed_site().located_at(path.span());
    let Some(last) = path.segments.last() else {
        return TokenStream::new();
    };
    let name = super::plain_name(&last.ident);
    // Core's `panic` is another macro with the same effect.
    let is_of_core = name == "panic" && path.segments[0].ident == "core";
    let prefix = if is_of_core { "core_" } else { "" };
    let alias = Ident::new(&format!("SRK0316_{prefix}{name}"), span);
    let krate = at(krate, span);
    // If there is no item of that name, rustc reports only its use.
    let stand_in = path.get_ident().map(|name| {
        let name = Ident::new(&name.to_string(), span);
        quote_spanned!(span=> fn #name() {})
    });
    quote_spanned! {span=>
        #[allow(unused, nonstandard_style)]
        const _: () = {
            #stand_in
            use #path as #alias;
            {
                use #krate::__private::known::*;
                use #alias as __sarek_known;
            }
        };
    }
}
