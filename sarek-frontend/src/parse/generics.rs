//! The type and const parameters of a kernel or function, in the forms that its expansion repeats.

use super::Callables;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::HashSet;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{GenericParam, Generics, Token, TypeParamBound};

/// The parameters without lifetimes, in the forms that items need.
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
    /// The names of the type parameters.
    pub types: Vec<syn::Ident>,
}

/// True if a type parameter is named `_`. syn accepts that name, and rustc reports it.
pub fn is_nameless(generics: &Generics) -> bool {
    generics
        .params
        .iter()
        .any(|param| matches!(param, GenericParam::Type(param) if param.ident == "_"))
}

/// The same for a field.
pub fn is_nameless_field(field: &syn::Field) -> bool {
    field.ident.as_ref().is_some_and(|name| name == "_")
}

/// The same for an item, including everything inside it.
pub fn has_nameless(item: &syn::Item) -> bool {
    struct Search(bool);
    impl Visit<'_> for Search {
        fn visit_generics(&mut self, generics: &Generics) {
            self.0 |= is_nameless(generics);
        }

        fn visit_field(&mut self, field: &syn::Field) {
            self.0 |= is_nameless_field(field);
            syn::visit::visit_field(self, field);
        }
    }
    let mut search = Search(false);
    search.visit_item(item);
    search.0
}

impl Parameters {
    /// The parameters of an item.
    pub fn of(generics: &Generics) -> Parameters {
        let generics = &without_lifetimes(generics);
        let own = generics.params.iter();
        let own: Vec<&GenericParam> = own.collect();
        let names = own.iter().map(|p| parameter_name(p));
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

    /// The names of type parameters with a bound by one of these traits, which are recognized by
    /// name.
    pub fn numbers(generics: &Generics, traits: &[&str]) -> HashSet<String> {
        let found = trait_bounds(generics).filter(|(_, bound)| {
            let last = bound.segments.last();
            last.is_some_and(|last| traits.iter().any(|name| last.ident == name))
        });
        found.map(|(ty, _)| ty).collect()
    }

    /// The trait bounds of type parameters, each with the parameter's name.
    pub fn bounds(generics: &Generics) -> Vec<(String, syn::Path)> {
        let each = trait_bounds(generics).map(|(ty, bound)| (ty, bound.clone()));
        each.collect()
    }

    /// True if there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The field of a struct with these parameters.
    pub fn field(&self) -> TokenStream {
        let types = &self.types;
        match types.is_empty() {
            true => TokenStream::new(),
            false => quote!(__sarek: ::core::marker::PhantomData<fn() -> (#(#types,)*)>),
        }
    }
}

fn trait_bounds(generics: &Generics) -> impl Iterator<Item = (String, &syn::Path)> {
    let own = generics
        .type_params()
        .map(|param| (param.ident.to_string(), &param.bounds));
    let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
    let more = predicates.filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(of) => {
            Some((of.bounded_ty.to_token_stream().to_string(), &of.bounds))
        }
        _ => None,
    });
    own.chain(more).flat_map(|(ty, bounds)| {
        let traits = bounds.iter().filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => Some(&bound.path),
            _ => None,
        });
        traits.map(move |path| (ty.clone(), path))
    })
}

/// A method's own type and const parameters, besides those of its type, in the forms that its items
/// repeat.
#[derive(Clone, Default)]
pub struct Own {
    declared: Vec<TokenStream>,
    names: Vec<TokenStream>,
    predicates: Vec<TokenStream>,
}

impl Own {
    /// All parameters that a method declares, except lifetimes.
    pub fn of(generics: &Generics) -> Own {
        let generics = &without_lifetimes(generics);
        let own = generics.params.iter();
        let (declared, names) = own
            .map(|param| (param.to_token_stream(), parameter_name(param)))
            .unzip();
        let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
        let of_types = predicates.filter(|p| matches!(p, syn::WherePredicate::Type(_)));
        Own {
            declared,
            names,
            predicates: of_types.map(ToTokens::to_token_stream).collect(),
        }
    }

    /// True if there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// `T: Float, const N: usize,`
    pub fn declared(&self) -> TokenStream {
        let declared = &self.declared;
        quote!(#(#declared,)*)
    }

    /// `::<T, N>`, if there are parameters.
    pub fn arguments(&self) -> Option<TokenStream> {
        let names = &self.names;
        (!self.is_empty()).then(|| quote!(::<#(#names),*>))
    }

    /// The arguments, followed by another one: `::<T, N, other>`.
    pub fn arguments_and(&self, other: &TokenStream) -> TokenStream {
        let names = self.names.iter();
        quote!(::<#(#names,)* #other>)
    }

    /// `where …`, with one more predicate.
    pub fn clause(&self, more: Option<TokenStream>) -> Option<TokenStream> {
        let all: Vec<&TokenStream> = self.predicates.iter().chain(&more).collect();
        (!all.is_empty()).then(|| quote!(where #(#all),*))
    }

    /// The names of the parameters.
    pub fn names(&self) -> &[TokenStream] {
        &self.names
    }
}

/// The generics without lifetimes and their bounds. Expansions use lifetimes of their own.
fn without_lifetimes(generics: &Generics) -> Generics {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_type_param_mut(&mut self, param: &mut syn::TypeParam) {
            param.bounds = bounds(&param.bounds);
        }

        fn visit_predicate_type_mut(&mut self, predicate: &mut syn::PredicateType) {
            predicate.bounds = bounds(&predicate.bounds);
        }
    }
    let mut own = generics.clone();
    let params = own.params.into_iter();
    own.params = params
        .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        .collect();
    if let Some(clause) = &mut own.where_clause {
        let predicates = std::mem::take(&mut clause.predicates).into_iter();
        clause.predicates = predicates
            .filter(|predicate| !matches!(predicate, syn::WherePredicate::Lifetime(_)))
            .collect();
    }
    Strip.visit_generics_mut(&mut own);
    own
}

type Bounds = Punctuated<TypeParamBound, Token![+]>;

fn bounds(all: &Bounds) -> Bounds {
    let kept = all.iter().cloned();
    kept.filter(|bound| !matches!(bound, TypeParamBound::Lifetime(_)))
        .collect()
}

/// The parameters of a type's impl, followed by those of a method.
pub fn merged(of_type: &Generics, own: &Generics) -> Generics {
    let mut all = of_type.clone();
    all.params.extend(own.params.iter().cloned());
    if let Some(clause) = &own.where_clause {
        let predicates = clause.predicates.iter().cloned();
        all.make_where_clause().predicates.extend(predicates);
    }
    all
}

/// The name of a generic parameter, as an argument.
pub fn parameter_name(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}

fn is_bool(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("bool"))
}

/// A method's own generic parameters, except lifetimes and callable parameters.
pub fn own_generics(generics: &syn::Generics) -> syn::Generics {
    without_lifetimes(&Callables::of(generics).strip(generics))
}
