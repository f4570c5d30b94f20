//! Types that a generic function's parameters may be, so that rustc type checks it apart from its callers.
//!
//! Which types the bounds mean is a guess by their names: a function whose bounds they do not meet is not audited
//! (`direct::Unaudited`).

use std::collections::HashMap;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericArgument, GenericParam, Generics, Ident, PathArguments, Type, TypeParamBound,
};

use crate::parse::{CallableType, Callables};

/// The inputs with a name for each `impl Trait` among them, and the generics with these.
pub fn named(sig: &syn::Signature) -> (Vec<FnArg>, Generics) {
    let mut names = Names(sig.generics.clone());
    let mut inputs: Vec<FnArg> = sig.inputs.iter().cloned().collect();
    for input in &mut inputs {
        names.visit_fn_arg_mut(input);
    }
    (inputs, names.0)
}

/// Gives `impl Trait` names among the generics.
struct Names(Generics);

impl VisitMut for Names {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(of) = ty {
            let name = format_ident!("Impl{}", self.0.params.len());
            let bounds = &of.bounds;
            self.0.params.push(syn::parse_quote!(#name: #bounds));
            *ty = syn::parse_quote!(#name);
            return;
        }
        syn::visit_mut::visit_type_mut(self, ty);
    }
}

/// Arguments for the parameters, lifetimes left out. `None` if nothing is known that a bound is met by.
pub fn arguments(generics: &Generics) -> Option<Vec<TokenStream>> {
    let mut predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
    if predicates.any(|p| matches!(p, syn::WherePredicate::Lifetime(_))) {
        return None;
    }
    let callables = Callables::of(generics);
    let mut known = HashMap::new();
    let mut all = vec![];
    for param in &generics.params {
        let (name, argument) = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Const(param) => {
                let is_bool = matches!(&param.ty, Type::Path(ty) if ty.path.is_ident("bool"));
                (
                    &param.ident,
                    if is_bool { quote!(false) } else { quote!(1) },
                )
            }
            GenericParam::Type(param) => {
                let name = &param.ident;
                let argument = match callables.read(&syn::parse_quote!(#name)) {
                    Some(callable) => function(&callable, &known),
                    None => number(bounds(generics, name))?,
                };
                (name, argument)
            }
        };
        known.insert(name.to_string(), argument.clone());
        all.push(argument);
    }
    Some(all)
}

/// All bounds of a type parameter.
fn bounds<'g>(generics: &'g Generics, name: &'g Ident) -> impl Iterator<Item = &'g TypeParamBound> {
    let declared = generics.type_params().filter(move |p| p.ident == *name);
    let declared = declared.flat_map(|p| &p.bounds);
    let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
    let more = predicates.filter_map(move |predicate| match predicate {
        syn::WherePredicate::Type(of) => {
            let is_of = matches!(&of.bounded_ty, Type::Path(ty) if ty.path.is_ident(name));
            is_of.then_some(&of.bounds)
        }
        _ => None,
    });
    declared.chain(more.flatten())
}

/// A number's type, by the names of its traits.
fn number<'b>(bounds: impl Iterator<Item = &'b TypeParamBound>) -> Option<TokenStream> {
    let mut is_float = false;
    for bound in bounds {
        let TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let last = bound.path.segments.last()?;
        is_float |= last.ident == "Float";
        // Of `Add<Output = T>`, the operand is the type itself.
        if let PathArguments::AngleBracketed(list) = &last.arguments {
            let is_output = |a: &GenericArgument| matches!(a, GenericArgument::AssocType(_));
            list.args.iter().all(is_output).then_some(())?;
        }
    }
    Some(match is_float {
        true => quote!(::core::primitive::f32),
        false => quote!(::core::primitive::i32),
    })
}

/// A function's type, of what is called.
fn function(of: &CallableType, known: &HashMap<String, TokenStream>) -> TokenStream {
    let takes = of.takes.iter().map(ToTokens::to_token_stream);
    let yields = of.yields.iter().map(|ty| quote!(-> #ty));
    replaced(quote!(fn(#(#takes),*) #(#yields)*), known)
}

/// The tokens with others in place of some names.
pub(super) fn replaced(tokens: TokenStream, known: &HashMap<String, TokenStream>) -> TokenStream {
    let each = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let inner = replaced(group.stream(), known);
            TokenTree::Group(Group::new(group.delimiter(), inner)).into()
        }
        TokenTree::Ident(ident) => match known.get(&ident.to_string()) {
            Some(argument) => argument.clone(),
            None => ident.into_token_stream(),
        },
        other => other.into(),
    });
    each.collect()
}
