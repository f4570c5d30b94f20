//! Dummy types for a generic function's parameters, so that rustc type checks the function
//! independently of its callers.
//!
//! A dummy type is guessed from the names of the bounds. If some name is unknown, several guesses
//! are tried. A function whose bounds no guess meets is not checked (`host::TypeCheckFallback`).

use std::collections::HashMap;

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericArgument, GenericParam, Generics, Ident, PathArguments, Type, TypeParamBound,
};

use crate::parse::{CallableType, Callables};

/// Gives each `impl Trait` input a named type parameter. Returns the inputs and the generics with
/// these parameters.
pub fn named(sig: &syn::Signature) -> (Vec<FnArg>, Generics) {
    let mut names = Names(sig.generics.clone());
    let mut inputs: Vec<FnArg> = sig.inputs.iter().cloned().collect();
    for input in &mut inputs {
        names.visit_fn_arg_mut(input);
    }
    (inputs, names.0)
}

/// Replaces `impl Trait` types by new type parameters in the generics.
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

/// Lists of generic arguments without lifetimes. Each list is a separate guess.
pub fn arguments(generics: &Generics, krate: &TokenStream) -> Vec<Vec<TokenStream>> {
    let callables = Callables::of(generics);
    let is_certain = |name: &Ident| {
        callables.read(&syn::parse_quote!(#name)).is_some()
            || number(bounds(generics, name)).is_certain
    };
    let is_certain = generics.type_params().all(|p| is_certain(&p.ident));
    let guesses: &[Guess] = match is_certain {
        true => &[Guess::Number],
        false => &[Guess::Number, Guess::Float, Guess::Witness],
    };
    let each = guesses.iter().map(|guess| guessed(generics, *guess, krate));
    each.collect()
}

/// A guess for a parameter that has a bound of unknown name.
#[derive(Clone, Copy)]
enum Guess {
    /// A number type that meets the bounds of known name.
    Number,
    /// A float type: a trait of the user's may have impls only for floats.
    Float,
    /// The type that implements all `#[device]` traits, see [`super::impls::witness`].
    Witness,
}

fn guessed(generics: &Generics, guess: Guess, krate: &TokenStream) -> Vec<TokenStream> {
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
                    None => match (number(bounds(generics, name)), guess) {
                        (number, Guess::Number) => number.ty(),
                        (number, _) if number.is_certain => number.ty(),
                        (_, Guess::Float) => quote!(::core::primitive::f32),
                        (_, Guess::Witness) => quote!(#krate::__private::host::Witness),
                    },
                };
                (name, argument)
            }
        };
        known.insert(name.to_string(), argument.clone());
        all.push(argument);
    }
    all
}

/// All bounds of a type parameter, from its declaration and the where clause.
pub(super) fn bounds<'g>(
    generics: &'g Generics,
    name: &'g Ident,
) -> impl Iterator<Item = &'g TypeParamBound> {
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

/// A kind of number, derived from the names of trait bounds.
#[derive(Clone, Copy)]
pub(super) struct Number {
    is_float: bool,
    is_int: bool,
    /// True if numbers implement traits of all these names.
    is_certain: bool,
}

impl Number {
    pub(super) fn ty(self) -> TokenStream {
        match self.is_float {
            true => quote!(::core::primitive::f32),
            false => quote!(::core::primitive::i32),
        }
    }

    /// True if it certainly lacks a property of `other`: being a float or an integer.
    pub(super) fn lacks(self, other: Number) -> bool {
        let is_less = other.is_float && !self.is_float || other.is_int && !self.is_int;
        self.is_certain && is_less
    }
}

/// The names of traits that numbers implement, except for operators.
const OF_NUMBERS: [&str; 12] = [
    "Num",
    "Int",
    "Float",
    "Element",
    "KernelType",
    "Copy",
    "Clone",
    "Sized",
    "Send",
    "Sync",
    "PartialEq",
    "PartialOrd",
];

pub(super) fn number<'b>(bounds: impl Iterator<Item = &'b TypeParamBound>) -> Number {
    let mut found = Number {
        is_float: false,
        is_int: false,
        is_certain: true,
    };
    for bound in bounds {
        let last = match bound {
            TypeParamBound::Trait(bound) => bound.path.segments.last(),
            TypeParamBound::Lifetime(_) => continue,
            _ => None,
        };
        let Some(last) = last else {
            found.is_certain = false;
            continue;
        };
        found.is_float |= last.ident == "Float";
        found.is_int |= last.ident == "Int";
        found.is_certain &= match &last.arguments {
            PathArguments::None => OF_NUMBERS.iter().any(|name| last.ident == name),
            // In `Add<Output = T>` the operand has its default, the type itself.
            PathArguments::AngleBracketed(list) => {
                let is_output = |a: &GenericArgument| matches!(a, GenericArgument::AssocType(_));
                list.args.iter().all(is_output)
            }
            PathArguments::Parenthesized(_) => true,
        };
    }
    found
}

/// The function pointer type for a callable parameter.
fn function(of: &CallableType, known: &HashMap<String, TokenStream>) -> TokenStream {
    let takes = of.takes.iter().map(ToTokens::to_token_stream);
    let result_type = of.result_type.iter().map(|ty| quote!(-> #ty));
    replaced(quote!(fn(#(#takes),*) #(#result_type)*), known)
}

/// Replaces some names by other tokens. A name behind `::` belongs to another path and stays.
pub(super) fn replaced(tokens: TokenStream, known: &HashMap<String, TokenStream>) -> TokenStream {
    let (mut all, mut colons) = (TokenStream::new(), 0);
    for token in tokens {
        let before = std::mem::take(&mut colons);
        match token {
            TokenTree::Group(group) => {
                let inner = replaced(group.stream(), known);
                all.append(Group::new(group.delimiter(), inner));
            }
            TokenTree::Ident(ident) => match known.get(&ident.to_string()) {
                Some(argument) if before < 2 => all.extend(argument.clone()),
                _ => all.append(ident),
            },
            TokenTree::Punct(punct) => {
                if punct.as_char() == ':' {
                    colons = before + 1;
                }
                all.append(punct);
            }
            TokenTree::Literal(literal) => all.append(literal),
        }
    }
    all
}
