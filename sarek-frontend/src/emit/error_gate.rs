//! The error gate: a constant that has a value only if the user's function type checks. Its
//! initializer contains the function once more, as a closure.
//!
//! The types in compiled bodies depend on this constant (`host::if_type_checked`). If a call is wrong, rustc
//! reports it where the user wrote it, and reports nothing about the code generated from it. Errors
//! in the closure have the same text and place as those in the function, so rustc prints them once.

use proc_macro2::{Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{FnArg, Generics, ReturnType};

use super::dummy_types;
use super::function::Owner;
use crate::lower::Lowered;
use crate::parse::{Parameters, merged, named_scalar, parameter_name};
use crate::tokens::names::gate;

/// The gate constant of a function, if its compiled body depends on it.
pub fn of(
    lowered: &Lowered,
    sig: &syn::Signature,
    body: &syn::Block,
    krate: &TokenStream,
) -> Option<TokenStream> {
    is_asked(lowered, sig).then(|| {
        let function = Function::of(lowered, sig, body);
        match function.is_generic() {
            false => function.declared(&gate(Span::mixed_site())),
            true => {
                let names = Parameters::of(&function.generics).names;
                let (audit, found) = (function.audit(&quote!(__audit)), quote!(__audit::<#names>));
                by_witness(&function.generics, Some(audit), &found, krate)
            }
        }
    })
}

/// The gate constant of a method: an item of the owner. `of_type` are the generics of the owner.
pub fn of_method(
    owner: &Owner,
    of_type: &Generics,
    lowered: &Lowered,
    sig: &syn::Signature,
    body: &syn::Block,
    krate: &TokenStream,
) -> Option<TokenStream> {
    let (ty, own) = (&owner.ty, owner.name("gate"));
    let mut function = Function::of(lowered, sig, body);
    function.drop_parameters(of_type);
    let is_generic = function.is_generic() || !of_type.params.is_empty();
    is_asked(lowered, sig).then(|| {
        let (item, constant) = match is_generic {
            false => {
                let name = gate(Span::mixed_site());
                let value = quote!(const #name: ::core::primitive::bool = <#ty>::#own;);
                (function.declared(&own), value)
            }
            true => {
                let all = merged(of_type, &function.generics);
                let names = Parameters::of(&function.generics).names;
                let found = quote!(<#ty>::#own::<#names>);
                let value = by_witness(&all, None, &found, krate);
                (function.audit(&own.to_token_stream()), value)
            }
        };
        let (parameters, clause) = (&of_type.params, &of_type.where_clause);
        quote! {
            #[automatically_derived]
            #[allow(dead_code, non_upper_case_globals)]
            impl<#parameters> #ty #clause {
                #[doc(hidden)]
                #item
            }
            #constant
        }
    })
}

/// True if types in the compiled body may depend on the gate constant.
fn is_asked(lowered: &Lowered, sig: &syn::Signature) -> bool {
    let kernel = &lowered.kernel;
    let calls = lowered.callees.iter().any(|callee| callee.has_gate);
    let tells = !lowered.inferred_literals.is_empty();
    let surely = calls || tells || yields_named(&sig.output);
    if surely {
        lowered.names_gate.set(true);
    }
    let links = !kernel.type_links.is_empty() || !kernel.compounds.is_empty();
    lowered.has_gate && (surely || links)
}

/// True if only rustc knows the result type. The body may yield a value of another type.
fn yields_named(output: &ReturnType) -> bool {
    match output {
        ReturnType::Type(_, ty) => {
            matches!(&**ty, syn::Type::Path(ty) if named_scalar(&ty.path).is_none())
        }
        ReturnType::Default => false,
    }
}

/// The user's function as a closure.
struct Function {
    closure: TokenStream,
    generics: Generics,
}

impl Function {
    fn of(lowered: &Lowered, sig: &syn::Signature, body: &syn::Block) -> Function {
        let (inputs, generics) = dummy_types::named(sig);
        let inputs = inputs.iter().map(|input| match input {
            FnArg::Typed(typed) => typed.to_token_stream(),
            FnArg::Receiver(receiver) => {
                let ty = match &receiver.kind {
                    syn::ReceiverKind::Reference(and, _, mutability) => {
                        quote!(#and #mutability Self)
                    }
                    _ => quote!(Self),
                };
                let own = &receiver.self_token;
                quote!(mut #own: #ty)
            }
        });
        let output = match &sig.output {
            ReturnType::Default => quote!(-> ()),
            output => quote!(#output),
        };
        let body = match lowered.is_unsafe {
            true => quote!({ unsafe #body }),
            false => quote!(#body),
        };
        let closure = quote!(|#(#inputs),*| #output #body);
        Function {
            closure: match sig.receiver() {
                Some(_) => without_receiver(closure),
                None => closure,
            },
            generics,
        }
    }

    /// Drops the parameters that its owner declares, too.
    fn drop_parameters(&mut self, of_owner: &Generics) {
        let declared: Vec<_> = of_owner.params.iter().map(parameter_name).collect();
        let declared: Vec<_> = declared.iter().map(ToString::to_string).collect();
        let params = std::mem::take(&mut self.generics.params).into_iter();
        let is_own =
            |param: &syn::GenericParam| !declared.contains(&parameter_name(param).to_string());
        self.generics.params = params.filter(is_own).collect();
    }

    fn is_generic(&self) -> bool {
        !self.generics.params.is_empty()
    }

    fn declared(&self, name: &Ident) -> TokenStream {
        let (closure, allowed) = (&self.closure, allowed());
        quote! {
            #allowed
            const #name: ::core::primitive::bool = {
                let _ = #closure;
                true
            };
        }
    }

    /// A function that returns the closure as an opaque type. Types cannot depend on a constant of
    /// a generic function, but they can depend on whether an opaque type is `Sized`.
    fn audit(&self, name: &TokenStream) -> TokenStream {
        let (closure, allowed) = (&self.closure, allowed());
        let (generics, clause) = (&self.generics.params, &self.generics.where_clause);
        let sized = quote_spanned!(Span::mixed_site()=> impl ::core::marker::Sized);
        quote! {
            #allowed
            fn #name<#generics>() -> #sized #clause {
                #closure
            }
        }
    }
}

/// The gate constant of a generic function, evaluated with guessed generic arguments.
fn by_witness(
    generics: &Generics,
    audit: Option<TokenStream>,
    found: &TokenStream,
    krate: &TokenStream,
) -> TokenStream {
    let name = gate(Span::mixed_site());
    let guesses = dummy_types::arguments(generics, krate);
    let each = guesses
        .iter()
        .map(|arguments| quote!(<__Function<#(#arguments),*>>::__OK));
    let parameters = Parameters::of(generics);
    let field = parameters.field();
    let Parameters {
        bare,
        declared,
        names,
        clause,
        ..
    } = parameters;
    let allowed = allowed();
    quote! {
        #allowed
        const #name: ::core::primitive::bool = {
            use #krate::__private::host::TypeCheckFallback as _;
            #audit
            struct __Function<#bare> { #field }
            impl<#declared> __Function<#names> #clause {
                const __OK: ::core::primitive::bool = #krate::__private::host::type_checked(#found);
            }
            #(#each)&*
        };
    }
}

pub(super) fn allowed() -> TokenStream {
    quote! {
        #[allow(
            warnings,
            arithmetic_overflow,
            overflowing_literals,
            unconditional_panic,
            clippy::all
        )]
    }
}

/// Renames `self` to `__self`, since no closure takes `self`. A path such as `self::area` stays.
pub(super) fn without_receiver(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut renamed = vec![];
    while let Some(token) = tokens.next() {
        renamed.push(match token {
            TokenTree::Group(group) => {
                let inner = without_receiver(group.stream());
                let mut copy = Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                TokenTree::Group(copy)
            }
            TokenTree::Ident(ident) if ident == "self" && !is_joined(tokens.peek()) => {
                TokenTree::Ident(Ident::new("__self", ident.span()))
            }
            other => other,
        });
    }
    renamed.into_iter().collect()
}

/// True if the token is the first colon of `::`.
fn is_joined(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}
