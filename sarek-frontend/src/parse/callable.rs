//! Callable parameters of `#[device]` functions: `f: impl Fn(f32) -> f32`, or `f: F` where `F:
//! Fn(f32) -> f32`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, Ident, PathArguments, ReturnType, Type, TypeParamBound};

use crate::diagnostics::{Errors, codes};
use crate::tokens::range::Ranged;

/// The type of a callable parameter.
#[derive(Clone)]
pub struct CallableType {
    /// The trait by which it is called.
    pub kind: CallableKind,
    /// Its parameter types.
    pub takes: Vec<Type>,
    /// Its result type, if that is not `()`.
    pub result_type: Option<Type>,
}

/// The trait of core by which a value is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallableKind {
    /// `Fn`
    Fn,
    /// `FnMut`
    FnMut,
    /// `FnOnce`
    FnOnce,
}

impl CallableKind {
    fn of(name: &Ident) -> Option<CallableKind> {
        let all = [CallableKind::Fn, CallableKind::FnMut, CallableKind::FnOnce];
        all.into_iter().find(|kind| name == kind.name())
    }

    fn name(self) -> &'static str {
        match self {
            CallableKind::Fn => "Fn",
            CallableKind::FnMut => "FnMut",
            CallableKind::FnOnce => "FnOnce",
        }
    }

    /// The trait, by a path that no item of the user's can shadow.
    pub fn path(self) -> TokenStream {
        let name = Ident::new(self.name(), proc_macro2::Span::mixed_site());
        quote!(::core::ops::#name)
    }
}

impl CallableType {
    /// Reads the bounds, if one of them is a callable trait.
    pub fn of<'b>(bounds: impl IntoIterator<Item = &'b TypeParamBound>) -> Option<CallableType> {
        bounds.into_iter().find_map(|bound| {
            let TypeParamBound::Trait(bound) = bound else {
                return None;
            };
            let last = bound.path.segments.last()?;
            let kind = CallableKind::of(&last.ident)?;
            let PathArguments::Parenthesized(list) = &last.arguments else {
                return None;
            };
            let result_type = match &list.output {
                ReturnType::Default => None,
                ReturnType::Type(_, ty) if is_unit(ty) => None,
                ReturnType::Type(_, ty) => Some((**ty).clone()),
            };
            let takes = list.inputs.iter().map(|input| input.ty.clone()).collect();
            Some(CallableType {
                kind,
                takes,
                result_type,
            })
        })
    }

    /// The type in compiled bodies: it takes a tuple, and may return a fault. `None` stands for
    /// `()`.
    pub fn body_type(
        &self,
        takes: &[TokenStream],
        result_type: Option<&TokenStream>,
        host: &TokenStream,
    ) -> TokenStream {
        let path = self.kind.path();
        let result_type = result_type.map_or_else(|| quote!(()), Clone::clone);
        quote!(impl #path(#host::Call, (#(#takes,)*)) -> ::core::result::Result<#result_type, #host::RawFault>)
    }

    /// Reports parameter and result types that are references. Returns `None` if there are some.
    pub fn check(&self, errors: &mut Errors) -> Option<()> {
        for ty in self.takes.iter().chain(&self.result_type) {
            if let Type::Reference(reference) = ty {
                errors.at(
                    codes::FUNCTION_PARAMETER,
                    reference.range(),
                    "a callable parameter takes and returns values, not references",
                    "capture the value that it refers to",
                );
                return None;
            }
        }
        Some(())
    }
}

/// The type parameters of a function that are callable, by their names.
pub struct Callables {
    found: Vec<(Ident, CallableType)>,
}

impl Callables {
    /// Finds the callable type parameters of a function.
    pub fn of(generics: &Generics) -> Callables {
        let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
        let found = generics.type_params().filter_map(|param| {
            let bounds = predicates.clone().filter_map(|p| match p {
                syn::WherePredicate::Type(p) if is_named(&p.bounded_ty, &param.ident) => {
                    Some(&p.bounds)
                }
                _ => None,
            });
            let all = param.bounds.iter().chain(bounds.flatten());
            Some((param.ident.clone(), CallableType::of(all)?))
        });
        Callables {
            found: found.collect(),
        }
    }

    /// True if a function has callable parameters.
    pub fn are_in(sig: &syn::Signature) -> bool {
        let own = Callables::of(&sig.generics);
        sig.inputs
            .iter()
            .any(|input| matches!(input, syn::FnArg::Typed(of) if own.read(&of.ty).is_some()))
    }

    /// The callable type that a parameter type denotes: `impl Fn(f32)`, `F`, or a reference to one.
    pub fn read(&self, ty: &Type) -> Option<CallableType> {
        match ty {
            Type::Paren(inner) => self.read(&inner.elem),
            Type::Group(inner) => self.read(&inner.elem),
            Type::Reference(reference) => self.read(&reference.elem),
            Type::ImplTrait(of) => CallableType::of(&of.bounds),
            ty => {
                let of = self.found.iter().find(|(name, _)| is_named(ty, name));
                of.map(|(_, callable)| callable.clone())
            }
        }
    }

    fn has(&self, name: &Ident) -> bool {
        self.found.iter().any(|(found, _)| found == name)
    }

    /// The generics without callable parameters, which the items beside a function do not depend
    /// on.
    pub fn strip(&self, generics: &Generics) -> Generics {
        let mut generics = generics.clone();
        let kept = std::mem::take(&mut generics.params).into_iter();
        let kept = kept.filter(|param| match param {
            GenericParam::Type(param) => !self.has(&param.ident),
            GenericParam::Const(_) | GenericParam::Lifetime(_) => true,
        });
        generics.params = kept.collect();
        if let Some(clause) = &mut generics.where_clause {
            let kept = std::mem::take(&mut clause.predicates).into_iter();
            let is_of = |ty: &Type| self.found.iter().any(|(name, _)| is_named(ty, name));
            let kept = kept.filter(|predicate| match predicate {
                syn::WherePredicate::Type(predicate) => !is_of(&predicate.bounded_ty),
                _ => true,
            });
            clause.predicates = kept.collect();
        }
        generics
    }

    /// The names of all parameters, with `()` in place of callable ones.
    pub fn names(&self, generics: &Generics) -> TokenStream {
        let names = generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) if self.has(&param.ident) => Some(quote!(())),
            GenericParam::Type(param) => Some(param.ident.to_token_stream()),
            GenericParam::Const(param) => Some(param.ident.to_token_stream()),
            GenericParam::Lifetime(_) => None,
        });
        let names: Vec<TokenStream> = names.collect();
        quote!(#(#names),*)
    }
}

fn is_named(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident(name))
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_tell_what_is_called() {
        let item: syn::ItemFn = syn::parse_quote! {
            fn f<T: Float, F: Fn(T) -> T + Copy, G, const N: usize>(a: T, f: F, g: &mut G, h: impl FnOnce()) where G: FnMut(T, u32), T: Copy {}
        };
        let generics = &item.sig.generics;
        let callables = Callables::of(generics);
        let kinds = item.sig.inputs.iter().map(|input| match input {
            syn::FnArg::Typed(typed) => callables.read(&typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let kinds: Vec<_> = kinds
            .map(|c| c.map(|c| (c.kind, c.takes.len(), c.result_type.is_some())))
            .collect();
        let expected = [
            None,
            Some((CallableKind::Fn, 1, true)),
            Some((CallableKind::FnMut, 2, false)),
            Some((CallableKind::FnOnce, 0, false)),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(
            callables.names(generics).to_string(),
            quote!(T, (), (), N).to_string()
        );
        let left = callables.strip(generics);
        let clause = left.where_clause.to_token_stream().to_string();
        assert_eq!(left.params.len(), 2);
        assert_eq!(clause, quote!(where T: Copy).to_string());
    }
}
