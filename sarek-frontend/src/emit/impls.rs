//! Which hidden items an impl of a `#[device]` trait gets.
//!
//! Only the trait knows what it declares; so the macro of its name (see [`super::marks`]) joins its methods and those of the impl
//! into one call of the macro behind this module. A method that the trait does not have, or plainly has by another signature,
//! rustc reports as the user wrote it. Of its hidden items it would say the same again: they are left out.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{FnArg, ReceiverKind, ReturnType, Signature, Token, Type, braced, bracketed};

use super::outline::not_given;
use crate::methods::{of_trait_method, own_generics};
use crate::parse::named_scalar;

/// The items of the methods that fit, and what stands for those of the others.
pub fn fitting(tokens: TokenStream) -> TokenStream {
    // Other tokens than an expansion's mean nothing.
    let Ok(joined) = syn::parse2::<Joined>(tokens) else {
        return TokenStream::new();
    };
    let each = joined.declared.iter().map(|declared| {
        let fits = |given: &&Given| {
            given.signature.ident == declared.ident && !differ(&given.signature, declared)
        };
        match joined.given.iter().find(fits) {
            Some(given) => given.items.clone(),
            None => {
                let own = own_generics(&declared.generics);
                let owner = of_trait_method(&declared.ident, &own);
                not_given(&owner, &joined.krate)
            }
        }
    });
    each.collect()
}

/// The path of the façade crate, the trait's methods, and those of the impl.
struct Joined {
    krate: TokenStream,
    declared: Vec<Signature>,
    given: Vec<Given>,
}

/// A method of the impl, with its hidden items for a body.
struct Given {
    signature: Signature,
    items: TokenStream,
}

impl Parse for Joined {
    fn parse(input: ParseStream) -> syn::Result<Joined> {
        let (krate, methods);
        bracketed!(krate in input);
        bracketed!(methods in input);
        let krate = krate.parse()?;
        let declared = methods.parse_terminated(Signature::parse, Token![;])?;
        let mut given = vec![];
        while !input.is_empty() {
            given.push(input.parse()?);
        }
        Ok(Joined {
            krate,
            declared: declared.into_iter().collect(),
            given,
        })
    }
}

impl Parse for Given {
    fn parse(input: ParseStream) -> syn::Result<Given> {
        let items;
        Ok(Given {
            signature: input.parse()?,
            items: {
                braced!(items in input);
                items.parse()?
            },
        })
    }
}

/// Are two signatures of a method plainly not the same, whatever the names of types in them mean?
fn differ(a: &Signature, b: &Signature) -> bool {
    let own = |of: &Signature| own_generics(&of.generics).params.len();
    let inputs = a.inputs.iter().zip(&b.inputs);
    own(a) != own(b)
        || a.inputs.len() != b.inputs.len()
        || inputs.into_iter().any(|(a, b)| arguments_differ(a, b))
        || match (&a.output, &b.output) {
            (ReturnType::Default, ReturnType::Default) => false,
            (ReturnType::Type(_, a), ReturnType::Type(_, b)) => types_differ(a, b),
            (ReturnType::Type(_, ty), ReturnType::Default)
            | (ReturnType::Default, ReturnType::Type(_, ty)) => is_scalar(ty),
        }
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

/// Scalars are known by their names; another name may be that of any type.
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
    matches!(ty, Type::Path(ty) if named_scalar(&ty.path).is_some())
}
