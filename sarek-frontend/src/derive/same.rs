//! Checks that rustc compiles the type that the derive saw. Another attribute, below the derive,
//! may have changed it since.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Fields, ImplGenerics, TypeGenerics, WhereClause};

use super::layout::Tags;
use super::repr::Repr;

/// A function that is never called and destructures the type: the type must have exactly these
/// fields, of these types.
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

/// Statements for a constant in the type's impl that check the tag of each variant. A variant with
/// another tag is an error in the constant's evaluation, and so is a tag without a variant.
/// The tags of an enum without fields are rustc's.
pub fn tags(data: &DataEnum, repr: &Repr, krate: &TokenStream) -> TokenStream {
    if data.variants.iter().all(|v| v.fields.is_empty()) {
        return TokenStream::new();
    }
    let ty = repr.tag_type();
    let mut tags = Tags::default();
    let each = data.variants.iter().map(|variant| {
        let (ident, tag) = (&variant.ident, tags.next(variant));
        quote! {{
            let tagged = #krate::__private::layout::tagged::<Self, #ty>(#tag);
            // SAFETY: only the tag is read; rustc reports a tag that no variant has.
            #[allow(unreachable_patterns, deprecated)]
            match unsafe { &*::core::mem::MaybeUninit::as_ptr(&tagged) } {
                Self::#ident { .. } => {}
                _ => ::core::panic!("another attribute changes this enum after the derive"),
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
