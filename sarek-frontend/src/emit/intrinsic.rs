//! The declaration of a `#[device(intrinsic)]` function, with which rustc checks host functions.

use proc_macro2::TokenStream;
use quote::quote;

use super::function::Owner;
use crate::lower::scalar_tokens;
use crate::parse::{ArgumentKind, Signature, named_scalar};

/// The impl of `Intrinsic` for the type of an intrinsic's name; `None` for other functions.
pub fn items(owner: &Owner, signature: &Signature, krate: &TokenStream) -> Option<TokenStream> {
    let name = signature.intrinsic.as_deref()?;
    let args = signature
        .arguments
        .iter()
        .map(|argument| match argument.kind {
            ArgumentKind::Scalar(scalar) => Some(scalar_tokens(scalar, krate)),
            ArgumentKind::Value(_)
            | ArgumentKind::Reference { .. }
            | ArgumentKind::Slice { .. }
            | ArgumentKind::View { .. }
            | ArgumentKind::Callable(_) => None,
        });
    let args: Vec<TokenStream> = args.collect::<Option<_>>()?;
    let result = match &signature.result_type {
        Some(syn::Type::Path(path)) => scalar_tokens(named_scalar(&path.path)?, krate),
        Some(_) | None => return None,
    };
    let (ty, facts) = (&owner.ty, owner.item("facts"));
    Some(quote! {
        #[automatically_derived]
        impl #krate::intrinsic::Intrinsic for #ty {
            const NAME: &'static ::core::primitive::str = #name;
            type Args = (#(#args,)*);
            type Result = #result;
        }

        const _: () = ::core::assert!(
            !#facts().collective,
            "an intrinsic cannot have barriers, shared arrays or subgroup operations",
        );
    })
}
