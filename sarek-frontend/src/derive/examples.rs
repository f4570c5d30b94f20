//! Values of a type, by which rustc tells a derived `PartialEq` from another one.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, Field, Fields, Variant};

/// The constant with the values: one for each variant. If one variant alone has fields, it is the first.
pub fn of(data: &Data, krate: &TokenStream) -> TokenStream {
    let examples = quote!(#krate::Examples);
    let (mut names, mut firsts) = (vec![], vec![]);
    let mut value = |name: &TokenStream, fields: &Fields| {
        let members = fields.iter().enumerate().map(|(at, field)| {
            let member = match &field.ident {
                Some(name) => name.to_token_stream(),
                None => syn::Index::from(at).to_token_stream(),
            };
            let name = format_ident!("__first{}", names.len(), span = Span::mixed_site());
            let of_field = of_field(field, krate);
            firsts.push(quote!(#examples::first(#of_field)));
            names.push(name.clone());
            quote!(#member: #name)
        });
        let members: Vec<TokenStream> = members.collect();
        quote!(#name { #(#members),* })
    };
    let are_whole = |fields: &Fields| {
        let each = fields.iter().map(|field| of_field(field, krate));
        quote!(true #(&& #examples::is_first_whole(#each))*)
    };
    let (values, first, all) = match data {
        Data::Struct(data) => {
            let whole = are_whole(&data.fields);
            let only = value(&quote!(Self), &data.fields);
            (vec![only], whole.clone(), whole)
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
            let each = with.into_iter().chain(without.into_iter().take(1));
            let values = each.map(|of| {
                let name = &of.ident;
                value(&quote!(Self::#name), &of.fields)
            });
            (values.collect(), first, all)
        }
        Data::Union(_) => return TokenStream::new(),
    };
    quote! {
        const __EXAMPLES: #examples<Self> = match (#(#firsts,)*) {
            (#(::core::option::Option::Some(#names),)*) => #examples::each([#(#values),*], #first, #all),
            #[allow(unreachable_patterns)]
            _ => #examples::NONE,
        };
    }
}

fn of_field(field: &Field, krate: &TokenStream) -> TokenStream {
    let ty = super::scalars::qualified(&field.ty);
    quote!(<#ty as #krate::KernelType>::__EXAMPLES)
}
