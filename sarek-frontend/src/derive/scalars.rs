//! The methods that take a value apart into its scalars and put it together again.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Fields};

use super::layout;
use super::repr::Repr;

/// The methods of `KernelType`. Nothing for an enum without fields whose layout is fixed: the default methods read its tag.
pub fn methods(item: &DeriveInput, repr: &Repr, krate: &TokenStream) -> TokenStream {
    let (of_scalars, leaves) = match &item.data {
        Data::Struct(data) => of_struct(&data.fields, krate),
        Data::Enum(data) => {
            let is_bare = data.variants.iter().all(|v| v.fields.is_empty());
            if repr.is_fixed && is_bare {
                return TokenStream::new();
            }
            of_enum(data, repr, krate)
        }
        Data::Union(_) => return TokenStream::new(),
    };
    let value = quote!(#krate::__private::ir::Value);
    quote! {
        fn __of_scalars(
            __scalars: &mut dyn ::core::iter::Iterator<Item = #value>,
        ) -> ::core::option::Option<Self> {
            #of_scalars
        }

        fn __leaves(&self) -> ::std::vec::Vec<::std::vec::Vec<#value>> {
            #leaves
        }
    }
}

fn of_struct(fields: &Fields, krate: &TokenStream) -> (TokenStream, TokenStream) {
    let read = read_fields(fields, krate);
    let members = fields.members();
    let types = fields.iter().map(|f| qualified(&f.ty));
    let leaves = quote! {
        #krate::__private::layout::joined([
            #(<#types as #krate::KernelType>::__leaves(&self.#members)),*
        ])
    };
    (quote!(::core::option::Option::Some(Self { #read })), leaves)
}

fn of_enum(data: &DataEnum, repr: &Repr, krate: &TokenStream) -> (TokenStream, TokenStream) {
    let layout = quote!(#krate::__private::layout);
    let tags = layout::tags(data, repr, krate);
    let each = data.variants.iter().zip(&tags);
    let read = each.map(|(variant, tag)| {
        let (ident, read) = (&variant.ident, read_fields(&variant.fields, krate));
        let types = variant.fields.iter().map(|f| &f.ty);
        quote! {
            if __tag == #tag {
                __found = ::core::option::Option::Some(Self::#ident { #read });
            } else {
                #(#layout::skip::<#types>(__scalars);)*
            }
        }
    });
    let of_scalars = quote! {
        let __tag = ::core::iter::Iterator::next(__scalars)?;
        let mut __found = ::core::option::Option::None;
        #(#read)*
        __found
    };
    let idents = data.variants.iter().map(|v| &v.ident);
    let payloads = data.variants.iter().filter(|v| !v.fields.is_empty());
    let payloads = payloads.map(|variant| {
        let (ident, members) = (&variant.ident, variant.fields.members());
        let names: Vec<_> = (0..variant.fields.len())
            .map(|i| format_ident!("__{i}"))
            .collect();
        let types: Vec<_> = variant.fields.iter().map(|f| qualified(&f.ty)).collect();
        quote! {
            match self {
                Self::#ident { #(#members: #names),* } => #layout::joined([
                    #(<#types as #krate::KernelType>::__leaves(#names)),*
                ]),
                #[allow(unreachable_patterns)]
                _ => #layout::joined([#(#layout::no_leaves::<#types>()),*]),
            }
        }
    });
    let leaves = quote! {
        let __tag = match self {
            #(Self::#idents { .. } => #tags,)*
        };
        #layout::joined([::std::vec![::std::vec![__tag]], #(#payloads),*])
    };
    (of_scalars, leaves)
}

/// `x: Type::__of_scalars(__scalars)?, …`
fn read_fields(fields: &Fields, krate: &TokenStream) -> TokenStream {
    let members = fields.members();
    let types = fields.iter().map(|f| qualified(&f.ty));
    quote!(#(#members: <#types as #krate::KernelType>::__of_scalars(__scalars)?,)*)
}

/// A type before `as` in a path: bounds need parentheses there.
pub fn qualified(ty: &syn::Type) -> TokenStream {
    match ty {
        syn::Type::TraitObject(_) | syn::Type::ImplTrait(_) => quote!((#ty)),
        _ => quote!(#ty),
    }
}
