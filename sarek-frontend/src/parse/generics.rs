//! Type parameters and constants of a kernel or function, as the expansion repeats them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics};

/// The parameters but for lifetimes, in the forms that items need.
pub struct Parameters {
    /// `T: Float, const N: usize`
    pub declared: TokenStream,
    /// `T, N`
    pub names: TokenStream,
    /// `where …`
    pub clause: TokenStream,
    /// The same without bounds.
    pub bare: TokenStream,
    /// The same with defaults, so that a type may be named without them.
    pub defaulted: TokenStream,
    /// The types among the names.
    pub types: Vec<syn::Ident>,
}

impl Parameters {
    /// Those of an item.
    pub fn of(generics: &Generics) -> Parameters {
        let own = generics.params.iter();
        let own: Vec<&GenericParam> = own
            .filter(|p| !matches!(p, GenericParam::Lifetime(_)))
            .collect();
        let names = own.iter().map(|p| match p {
            GenericParam::Type(p) => p.ident.to_token_stream(),
            GenericParam::Const(p) => p.ident.to_token_stream(),
            GenericParam::Lifetime(p) => p.lifetime.to_token_stream(),
        });
        let clause = &generics.where_clause;
        let bare = own.iter().map(|p| match p {
            GenericParam::Type(p) => p.ident.to_token_stream(),
            GenericParam::Const(p) => {
                let (name, ty) = (&p.ident, &p.ty);
                quote!(const #name: #ty)
            }
            GenericParam::Lifetime(p) => p.lifetime.to_token_stream(),
        });
        let bare: Vec<TokenStream> = bare.collect();
        let defaults = own.iter().zip(&bare).map(|(p, bare)| match p {
            GenericParam::Const(p) if is_bool(&p.ty) => quote!(#bare = false),
            GenericParam::Const(_) => quote!(#bare = 0),
            GenericParam::Type(_) | GenericParam::Lifetime(_) => quote!(#bare = ()),
        });
        Parameters {
            defaulted: quote!(#(#defaults),*),
            bare: quote!(#(#bare),*),
            names: quote!(#(#names),*),
            declared: quote!(#(#own),*),
            clause: quote!(#clause),
            types: generics.type_params().map(|p| p.ident.clone()).collect(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The field of a struct that has them.
    pub fn field(&self) -> TokenStream {
        let types = &self.types;
        match types.is_empty() {
            true => TokenStream::new(),
            false => quote!(__sarek: ::core::marker::PhantomData<fn() -> (#(#types,)*)>),
        }
    }
}

fn is_bool(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}
