//! The hidden items of an impl of a `#[device]` trait.
//!
//! Only the trait knows its declarations. The macro with the trait's name (see [`super::marks`])
//! therefore combines the trait's methods and those of the impl in one call of the macro behind
//! this module. If a method is not in the trait, or has a plainly different signature, rustc
//! reports the user's own item. The hidden items of such a method are left out, since rustc would
//! report the same error for them.
//!
//! A macro of the user's may have the trait's name. The tokens that pass through it therefore
//! contain no generated `unsafe`, which would be allowed wherever that macro puts it. The items are
//! made after it, and are the same few for any tokens.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use sarek_ir::Scalar;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    FnArg, Generics, ItemTrait, ReceiverKind, ReturnType, Signature, Token, TraitItem, Type,
    braced, bracketed,
};

use super::dummy_types::{bounds, number};
use super::function::Owner;
use super::method_items::{forwarded, missing_method};
use crate::diagnostics::Errors;
use crate::parse::{Callables, Own, named_scalar, own_generics, read_method};
use crate::tokens::names::located;

/// Encodes a method of an impl for the macro of its trait: its signature, the impl's generics and
/// type, and the place of the method's items. A method with errors has no such items.
pub fn encode_method(
    written: &Signature,
    generics: &Generics,
    ty: &Type,
    own: Option<&Owner>,
) -> TokenStream {
    let clause = &generics.where_clause;
    let span = Span::mixed_site().located_at(ty.span());
    let items_place = own.map(|own| {
        let method = own.method.as_ref().map(|name| Ident::new(name, span));
        let instance = &own.instance;
        quote!(#method #instance)
    });
    quote!(#written { #generics [#clause] [#ty] #items_place })
}

/// The items of the methods that match the trait, and substitutes for those of the others.
pub fn fitting(tokens: TokenStream) -> TokenStream {
    // Tokens that no expansion wrote are ignored.
    let Ok(joined) = syn::parse2::<TraitImpl>(tokens) else {
        return TokenStream::new();
    };
    let each = joined.declared.iter().map(|declared| {
        let fits = |given: &&ImplMethod| {
            given.signature.ident == declared.ident && !differ(&given.signature, declared)
        };
        match joined.methods.iter().find(fits) {
            Some(given) => given.items(&joined.krate),
            None => {
                let own = own_generics(&declared.generics);
                let owner = Owner::of_trait_method(&declared.ident, &own);
                missing_method(&owner, &joined.krate)
            }
        }
    });
    each.collect()
}

/// An impl of the trait for the dummy type that audits use (see [`super::dummy_types`]), beside the
/// user's impls. The impl has `where` clauses for the supertraits and the bounds of the associated
/// types, so it does not apply if they are not met. Returns `None` if the trait has items for which
/// no guess is possible. Its constants have no value, because the user's `unsafe` code may rely on
/// the values in the user's impls.
pub fn witness(item: &ItemTrait, krate: &TokenStream) -> Option<TokenStream> {
    // An `unsafe` trait makes demands that no guess can promise to meet.
    if !item.generics.params.is_empty() || item.unsafety.is_some() {
        return None;
    }
    let (mut items, mut met) = (vec![], vec![]);
    let witness = quote!(#krate::__private::host::Witness);
    let supertraits = &item.supertraits;
    if !supertraits.is_empty() {
        // With a binder, rustc reports no error for an unmet bound.
        met.push(quote!(for<'__sarek> #witness: #supertraits));
    }
    for inner in &item.items {
        items.push(match inner {
            TraitItem::Fn(function) => {
                let sig = &function.sig;
                let own = own_generics(&sig.generics);
                let hidden = missing_method(&Owner::of_trait_method(&sig.ident, &own), krate);
                quote!(#sig { ::core::unreachable!() } #hidden)
            }
            TraitItem::Type(of) if of.generics.params.is_empty() => {
                let (name, bounds) = (&of.ident, &of.bounds);
                let guess = number(bounds.iter()).ty();
                if !bounds.is_empty() {
                    met.push(quote!(for<'__sarek> #guess: #bounds));
                }
                quote!(type #name = #guess;)
            }
            TraitItem::Const(of) => {
                let (name, ty) = (&of.ident, &of.ty);
                quote!(const #name: #ty = ::core::panic!("a guess has no value");)
            }
            _ => return None,
        });
    }
    let name = located(&item.ident);
    Some(quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        #[allow(warnings, clippy::all)]
        impl #name for #witness where #(#met),* { #(#items)* }
    })
}

/// The path of the façade crate, the trait's methods and the impl's methods.
struct TraitImpl {
    krate: TokenStream,
    declared: Vec<Signature>,
    methods: Vec<ImplMethod>,
}

/// A method as [`encode_method`] encodes it.
struct ImplMethod {
    signature: Signature,
    generics: Generics,
    ty: Type,
    items_place: Option<ItemsPlace>,
}

/// The place of a method's items.
struct ItemsPlace {
    method: Ident,
    instance: Type,
}

impl ImplMethod {
    /// The hidden items of the method.
    fn items(&self, krate: &TokenStream) -> TokenStream {
        let generic_by_itself = own_generics(&self.signature.generics);
        let mut owner = Owner::of_trait_method(&self.signature.ident, &generic_by_itself);
        owner.is_erased = !Callables::are_in(&self.signature);
        let own = self.items_place.as_ref().map(|items_place| {
            let (method, instance) = (items_place.method.to_string(), &items_place.instance);
            Owner {
                ty: quote!(#instance),
                generics: TokenStream::new(),
                clause: TokenStream::new(),
                method: Some(method),
                instance: quote!(#instance),
                strukt: None,
                own: Own::default(),
                is_erased: owner.is_erased,
            }
        });
        // Its errors were already reported at the method.
        let mut said = Errors::default();
        let read = read_method(&self.signature, &self.generics, self.ty.span(), &mut said);
        match read {
            Some(signature) => forwarded(&owner, own.as_ref(), &signature, krate),
            None => TokenStream::new(),
        }
    }
}

impl Parse for TraitImpl {
    fn parse(input: ParseStream) -> syn::Result<TraitImpl> {
        let (krate, declared);
        bracketed!(krate in input);
        bracketed!(declared in input);
        let krate = krate.parse()?;
        let declared = declared.parse_terminated(Signature::parse, Token![;])?;
        let mut methods = vec![];
        while !input.is_empty() {
            methods.push(input.parse()?);
        }
        Ok(TraitImpl {
            krate,
            declared: declared.into_iter().collect(),
            methods,
        })
    }
}

impl Parse for ImplMethod {
    fn parse(input: ParseStream) -> syn::Result<ImplMethod> {
        let signature = input.parse()?;
        let (of, clause, ty);
        braced!(of in input);
        let mut generics: Generics = of.parse()?;
        bracketed!(clause in of);
        generics.where_clause = clause.parse()?;
        bracketed!(ty in of);
        let ty = ty.parse()?;
        let items_place = match of.is_empty() {
            true => None,
            false => Some(ItemsPlace {
                method: of.parse()?,
                instance: of.parse()?,
            }),
        };
        Ok(ImplMethod {
            signature,
            generics,
            ty,
            items_place,
        })
    }
}

/// True if two signatures of a method plainly differ, whatever the type names in them refer to.
fn differ(a: &Signature, b: &Signature) -> bool {
    let own = |of: &Signature| own_generics(&of.generics).params.len();
    let inputs = a.inputs.iter().zip(&b.inputs);
    own(a) != own(b)
        || bounds_differ(&a.generics, &b.generics)
        || a.inputs.len() != b.inputs.len()
        || inputs.into_iter().any(|(a, b)| arguments_differ(a, b))
        || match (&a.output, &b.output) {
            (ReturnType::Default, ReturnType::Default) => false,
            (ReturnType::Type(_, a), ReturnType::Type(_, b)) => types_differ(a, b),
            (ReturnType::Type(_, ty), ReturnType::Default)
            | (ReturnType::Default, ReturnType::Type(_, ty)) => is_scalar(ty),
        }
}

/// True if the impl demands a number where the trait does not.
fn bounds_differ(given: &Generics, declared: &Generics) -> bool {
    let pairs = given.type_params().zip(declared.type_params());
    pairs.into_iter().any(|(given_param, declared_param)| {
        let asked = number(bounds(given, &given_param.ident));
        number(bounds(declared, &declared_param.ident)).lacks(asked)
    })
}

fn arguments_differ(a: &FnArg, b: &FnArg) -> bool {
    match (a, b) {
        (FnArg::Typed(a), FnArg::Typed(b)) => types_differ(&a.ty, &b.ty),
        (FnArg::Receiver(a), FnArg::Receiver(b)) => match (&a.kind, &b.kind) {
            (ReceiverKind::Reference(.., a), ReceiverKind::Reference(.., b)) => {
                a.is_some() != b.is_some()
            }
            (ReceiverKind::Value, ReceiverKind::Reference(..))
            | (ReceiverKind::Reference(..), ReceiverKind::Value) => true,
            _ => false,
        },
        (FnArg::Receiver(_), FnArg::Typed(_)) | (FnArg::Typed(_), FnArg::Receiver(_)) => true,
    }
}

/// True if two types certainly differ. Scalars are recognized by name; another name may refer to
/// any type.
fn types_differ(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Reference(a), Type::Reference(b)) => {
            a.mutability.is_some() != b.mutability.is_some() || types_differ(&a.elem, &b.elem)
        }
        (Type::Slice(a), Type::Slice(b)) => types_differ(&a.elem, &b.elem),
        (Type::Path(a), Type::Path(b)) => {
            let scalars = named_scalar(&a.path).zip(named_scalar(&b.path));
            scalars.is_some_and(|(a, b)| a != b)
        }
        (a, Type::Reference(_) | Type::Slice(_)) => is_scalar(a),
        (Type::Reference(_) | Type::Slice(_), b) => is_scalar(b),
        _ => false,
    }
}

fn is_scalar(ty: &Type) -> bool {
    scalar(ty).is_some()
}

fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Path(ty) => named_scalar(&ty.path),
        _ => None,
    }
}
