//! Values of a type, by which rustc tells a derived `PartialEq` from another one.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, Fields, Variant};

/// The constant with the values: one for each variant. If one variant alone has fields, it is the first.
pub fn of(data: &Data, krate: &TokenStream) -> TokenStream {
    let example = |ty: &syn::Type| quote!(<#ty as #krate::KernelType>::__EXAMPLES);
    let value = |name: &TokenStream, fields: &Fields| {
        let fields = fields.iter().enumerate().map(|(at, field)| {
            let member = match &field.ident {
                Some(name) => name.to_token_stream(),
                None => syn::Index::from(at).to_token_stream(),
            };
            let example = example(&field.ty);
            quote!(#member: #example.first())
        });
        quote!(#name { #(#fields),* })
    };
    let are_whole = |fields: &Fields| {
        let each = fields.iter().map(|field| example(&field.ty));
        quote!(true #(&& #each.is_first_whole())*)
    };
    let (values, first, all) = match data {
        Data::Struct(data) => {
            let whole = are_whole(&data.fields);
            (
                vec![value(&quote!(Self), &data.fields)],
                whole.clone(),
                whole,
            )
        }
        Data::Enum(data) => {
            let (with, without): (Vec<&Variant>, Vec<&Variant>) =
                data.variants.iter().partition(|of| !of.fields.is_empty());
            let all = with.iter().map(|of| are_whole(&of.fields));
            let all = quote!(true #(&& #all)*);
            let first = match with.len() {
                0 | 1 => all.clone(),
                _ => quote!(false),
            };
            // All without fields contain the same.
            let values = with
                .into_iter()
                .chain(without.into_iter().take(1))
                .map(|of| {
                    let name = &of.ident;
                    value(&quote!(Self::#name), &of.fields)
                });
            (values.collect(), first, all)
        }
        Data::Union(_) => return TokenStream::new(),
    };
    quote! {
        const __EXAMPLES: #krate::__private::Examples<Self> =
            #krate::__private::Examples::each([#(#values),*], #first, #all);
    }
}
