//! Holds the type that rustc compiles to the one that the derive saw: another attribute, below the derive, may have changed it since.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, ImplGenerics, TypeGenerics, WhereClause};

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
