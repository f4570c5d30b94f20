//! Holds the type that rustc compiles to the one that the derive saw: another attribute, below the derive, may have changed it since.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Fields, ImplGenerics, TypeGenerics, WhereClause};

use super::layout::Tags;

/// A function that nobody calls, which takes the type apart: it has these fields and no others, of these types.
pub fn fields(
    item: &DeriveInput,
    (impl_generics, ty_generics, where_clause): (
        &ImplGenerics<'_>,
        &TypeGenerics<'_>,
        Option<&WhereClause>,
    ),
) -> TokenStream {
    let name = &item.ident;
    let arms: Vec<TokenStream> = match &item.data {
        Data::Struct(data) => vec![arm(&quote!(#name), &data.fields)],
        Data::Enum(data) => {
            let variants = data.variants.iter().map(|variant| {
                let ident = &variant.ident;
                arm(&quote!(#name::#ident), &variant.fields)
            });
            variants.collect()
        }
        Data::Union(_) => vec![],
    };
    quote! {
        #[allow(dead_code, deprecated, clippy::all)]
        fn __same #impl_generics (__of: #name #ty_generics) #where_clause {
            match __of {
                #(#arms)*
            }
        }
    }
}

/// Statements of a constant in the type's impl: each variant has the tag that the derive takes it to have. A value of another tag, or of
/// none, is an error of the constant's.
pub fn tags(data: &DataEnum, krate: &TokenStream) -> TokenStream {
    let mut tags = Tags::default();
    let each = data.variants.iter().map(|variant| {
        let (ident, tag) = (&variant.ident, tags.next(variant));
        quote! {{
            let tagged = #krate::__private::layout::tagged::<Self>(#tag);
            // SAFETY: a tag is all that is read; rustc tells of one that no variant has.
            #[allow(unreachable_patterns, deprecated)]
            match unsafe { &*::core::mem::MaybeUninit::as_ptr(&tagged) } {
                Self::#ident { .. } => {}
                _ => ::core::panic!("another attribute changes this enum behind the derive"),
            }
        }}
    });
    quote!(#(#each)*)
}

/// `Name { x: __0, y: __1 } => { … }`
fn arm(path: &TokenStream, fields: &Fields) -> TokenStream {
    let members = fields.members();
    let names: Vec<_> = (0..fields.len()).map(|i| format_ident!("__{i}")).collect();
    let types = fields.iter().map(|field| &field.ty);
    quote! {
        #path { #(#members: #names),* } => {
            #(let _: #types = #names;)*
        }
    }
}
