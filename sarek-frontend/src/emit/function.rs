//! What `#[device]` adds to a function: items that hold its IR, what it names, and its compiled body.
//!
//! Those of a free function belong to a struct of its name, those of a method to its type. What names
//! things of the user's stands where no item of this crate's making is in scope.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use sarek_ir::analysis::contract::Contract;
use sarek_ir::analysis::exact;
use sarek_ir::{Argument as SarekArgument, CallId, Memory, ParamId};
use syn::spanned::Spanned;

use super::bounded_recursion::Nesting;
use super::checks::{Checks, checks};
use super::item::{LinkParts, element_type, link_parts};
use super::{cpu, encode, marks, method_items, missing_device_attr, scope};
use crate::lower::{Callee, Lowered, path_text, scalar_tokens};
use crate::parse::{Argument, ArgumentKind, Own, Parameters, Signature};

/// Where the items of a function stand.
#[derive(Clone)]
pub struct Owner {
    /// The type.
    pub ty: TokenStream,
    /// `<T: Float, const N: usize>`
    pub generics: TokenStream,
    /// `where …`
    pub clause: TokenStream,
    /// The method's name; `None` for a free function.
    pub method: Option<String>,
    /// The type that stands for the function: `ty`, or one that a method has for itself.
    pub instance: TokenStream,
    /// The name of that struct of a method's.
    pub strukt: Option<Ident>,
    /// Of a method, what it is generic by besides its type.
    pub own: Own,
    /// Is it a method of a trait that is reached through the trait by way of `instance`?
    pub is_erased: bool,
}

impl Owner {
    pub(super) fn name(&self, what: &str) -> Ident {
        let name = match &self.method {
            Some(method) => format!("__sarek_{what}_{method}"),
            None => format!("__sarek_{what}"),
        };
        Ident::new(&name, Span::mixed_site().located_at(self.ty.span()))
    }

    /// What stands for a trait's method in each impl. An impl without `#[device]` misses it, by a name that says so.
    pub(crate) fn device(&self) -> Ident {
        let method = self.method.as_deref().unwrap_or_default();
        let name = format!("{method}_needs_device_before_the_impl");
        Ident::new(&name, Span::mixed_site().located_at(self.ty.span()))
    }

    /// One of the function's items from outside of its type.
    pub(super) fn item(&self, what: &str) -> TokenStream {
        let (ty, name, arguments) = (&self.ty, self.name(what), self.own.arguments());
        quote!(<#ty>::#name #arguments)
    }
}

/// The items of one function.
pub fn items(
    owner: &Owner,
    lowered: &Lowered,
    signature: &Signature,
    is_cooperative: bool,
    krate: &TokenStream,
) -> TokenStream {
    let Owner {
        ty,
        generics,
        clause,
        ..
    } = owner;
    let (links, facts_name, ir, body) = (
        owner.name("links"),
        owner.name("facts"),
        owner.name("ir"),
        owner.name("body"),
    );
    let LinkParts {
        constants,
        given,
        functions,
    } = link_parts(lowered, signature, krate);
    let nesting = Nesting::of(lowered);
    let told = &lowered.told;
    let (value, nested_links) = match &nesting {
        Some(nesting) => {
            let depth = nesting.depth;
            let links = nesting.links(&given, &functions, told, krate);
            (quote!(Self::__sarek_links_at(#depth)), Some(links))
        }
        None => {
            let links = quote!(#krate::__private::links(#given, [#(#functions),*]));
            (links, None)
        }
    };
    let data = encode::kernel(&lowered.kernel);
    let (params, stmts) = cpu::function(lowered, is_cooperative);
    let yields = yields(signature);
    let [result, block_result] = body_results(owner, signature, krate);
    let (block_params, block_stmts) = cpu::block(lowered, &yields, is_cooperative);
    let nest = nesting.as_ref().map(|_| {
        let (params, stmts) = cpu::nested(lowered);
        quote! {
            #[allow(unused)]
            unsafe fn __sarek_nest<const __CHECK: ::core::primitive::bool>(
                #params
            ) -> ::core::result::Result<#yields, __host::RawFault> {
                // SAFETY: as for the function's own body below.
                unsafe { #stmts }
            }
        }
    });
    let block = owner.name("block");
    let closed = owner.method.is_none() && lowered.parameters.is_empty();
    let checks = checks(lowered, true).among(closed, krate);
    let probing = checks.probing(&owner.name("probes"), &owner.own, krate);
    let Checks { alone, inside, .. } = checks;
    let (facts, infer) = (
        facts(lowered, signature, is_cooperative, krate),
        infer(owner, signature, krate),
    );
    let levels = nesting.as_ref().map(Nesting::levels);
    let (own, own_clause) = (owner.own.declared(), owner.own.clause(None));
    let (strukt, instance) = instance(owner, lowered, krate);
    let scope = scope(krate);
    let items = quote! {
        #alone

        #[automatically_derived]
        #[allow(dead_code, unreachable_code, non_upper_case_globals, clippy::all)]
        impl #generics #ty #clause {
            #constants
            #infer
            #nested_links
            #levels
            #probing

            #[doc(hidden)]
            fn #links<#own>() -> #krate::ir::link::Links #own_clause {
                #inside
                #told
                #value
            }

            #[doc(hidden)]
            const fn #facts_name<#own>() -> #krate::FunctionFacts #own_clause {
                #facts
            }
        }

        #instance

        const _: () = {
            #scope

            #[automatically_derived]
            #[allow(dead_code, non_upper_case_globals, clippy::all)]
            impl #generics #ty #clause {
                #[doc(hidden)]
                const #ir: &'static __ir::Packed = #data;

                #nest

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused)]
                pub unsafe fn #body<#own const __CHECK: ::core::primitive::bool>(
                    _: __host::Flag<__CHECK>,
                    #params
                ) -> #result #own_clause {
                    // SAFETY: as `direct` says: what is unchecked was tested by code of its making, or proved for the launch.
                    unsafe { #stmts }
                }

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused)]
                pub unsafe fn #block<#own const __CHECK: ::core::primitive::bool, const __FULL: ::core::primitive::bool>(
                    _: __host::Flag<__CHECK>,
                    _: __host::Flag<__FULL>,
                    #block_params
                ) -> #block_result #own_clause {
                    // SAFETY: the same, for all lanes of a block together.
                    unsafe { #block_stmts }
                }
            }
        };
    };
    let items = among_callees(lowered, &items);
    quote!(#strukt #items)
}

/// Items that name the functions called by their aliases.
pub(super) fn among_callees(lowered: &Lowered, items: &TokenStream) -> TokenStream {
    let others = || lowered.callees.iter().filter(|callee| !callee.is_self);
    // Once all tokens are there, it is known whether one of them is its name.
    let audited = lowered.audited.as_ref();
    let audited = audited.filter(|_| lowered.names_audit.get());
    if others().next().is_none() && audited.is_none() {
        return items.clone();
    }
    let mut seen = BTreeSet::new();
    let fresh = |callee: &&Callee| seen.insert(callee.alias.to_string());
    let imports = others().filter(|callee| callee.method.is_none());
    let imports = imports.filter(fresh).map(Callee::import);
    let mut seen = BTreeSet::new();
    let traits = others().filter_map(|callee| {
        let path = callee.of_trait.as_ref()?;
        let fresh = seen.insert(path_text(path));
        fresh.then(|| marks::asked(path, &callee.krate))
    });
    let stand_ins = missing_device_attr::stand_ins(others());
    let functions = others().find(|callee| callee.method.is_none());
    let kernels = functions.map(|callee| {
        let krate = &callee.krate;
        quote!(#[allow(unused_imports)] use #krate::CalledKernel as _;)
    });
    // A function that is not marked leaves its alias to the stand-in around.
    quote! {
        const _: () = {
            #audited
            #stand_ins
            #(#traits)*
            #kernels
            {
                #items
                // Behind the user's tokens, which know nothing of their macros.
                #(#imports)*
            }
        };
    }
}

/// What callers have to know, as an expression.
fn facts(
    lowered: &Lowered,
    signature: &Signature,
    is_cooperative: bool,
    krate: &TokenStream,
) -> TokenStream {
    let sites = match Nesting::of(lowered) {
        Some(nesting) => nesting.sites(),
        None => lowered.sites(),
    };
    let collectives = lowered.callees.iter().map(|callee| callee.collective());
    let is_exact = exact::strays(&lowered.kernel).is_empty();
    let exacts = lowered.callees.iter().map(|callee| callee.exact());
    let mutates = signature.arguments.first().is_some_and(|a| match a.kind {
        ArgumentKind::Reference { mutable, .. } => mutable,
        ArgumentKind::Scalar(_)
        | ArgumentKind::Value(_)
        | ArgumentKind::Slice { .. }
        | ArgumentKind::Callable(_)
        | ArgumentKind::View { .. } => false,
    });
    let (Asked { uniform, agreed }, takes) = (asked(lowered, krate), takes(lowered, krate));
    quote! {
        #krate::FunctionFacts {
            sites: #sites,
            collective: #is_cooperative #(|| #collectives)*,
            exact: #is_exact #(&& #exacts)*,
            mutates: #mutates,
            uniform: #krate::ParameterSet::new(&[#(#uniform),*]),
            agreed: #krate::ParameterSet::new(&[#(#agreed),*]),
            takes: #krate::ParameterSet::new(&[#(#takes),*]),
        }
    }
}

/// What stands for the function, a free function's own struct or one of a method's: that struct, and what it implements.
fn instance(
    owner: &Owner,
    lowered: &Lowered,
    krate: &TokenStream,
) -> (Option<TokenStream>, TokenStream) {
    let (ty, instance, parameters) = (&owner.ty, &owner.instance, &lowered.parameters);
    let (declared, bare, clause) = (&parameters.declared, &parameters.bare, &parameters.clause);
    let (generics, clause, strukt) = match &owner.strukt {
        None => (owner.generics.clone(), owner.clause.clone(), None),
        Some(name) => {
            let field = parameters.field();
            let strukt = quote! {
                #[doc(hidden)]
                #[allow(non_camel_case_types, dead_code, clippy::all)]
                pub struct #name<#bare> { #field }
            };
            (quote!(<#declared>), clause.clone(), Some(strukt))
        }
    };
    let (ir, links, facts) = (owner.name("ir"), owner.item("links"), owner.item("facts"));
    let erased = owner.is_erased.then(|| method_items::erased(owner, krate));
    let implements = quote! {
        // SAFETY: IR and compiled body are made of the same lowered function, and the facts count its sites.
        #[automatically_derived]
        #[allow(clippy::all)]
        unsafe impl #generics #krate::DeviceFn for #instance #clause {
            const IR: &'static #krate::ir::Packed = <#ty>::#ir;
            const FACTS: #krate::FunctionFacts = #facts();

            fn links() -> #krate::ir::link::Links {
                #links()
            }

            #erased
        }
    };
    (strukt, implements)
}

/// For each parameter: may it be lent a shared array? What the function calls may be lent it in turn.
fn takes(lowered: &Lowered, krate: &TokenStream) -> Vec<TokenStream> {
    let kernel = &lowered.kernel;
    let own = |(param, takes): (u32, &bool)| {
        let given = kernel.calls.iter().flat_map(|call| {
            let memory = SarekArgument::Memory(Memory::Slice(ParamId(param)));
            let callee = call.called.function();
            let callee = callee.map(|function| &lowered.callees[function.index()]);
            // What the function is given takes no slices.
            callee.into_iter().flat_map(move |callee| {
                let args = call.args.iter().enumerate();
                let args = args.filter(move |(_, arg)| **arg == memory);
                args.map(move |(at, _)| (callee.takes(), at))
            })
        });
        let given = given.filter(|_| !lowered.is_unsafe);
        let given = given.map(|(takes, at)| quote!(#krate::ParameterSet::has(#takes, #at)));
        quote!(#takes #(&& #given)*)
    };
    (0..).zip(&lowered.takes).map(own).collect()
}

/// What tells rustc which instance a call is of, by its arguments, and which type it yields.
pub(super) fn infer(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let (infer, clause) = (
        infer_signature(owner, signature, krate),
        owner.own.clause(None),
    );
    quote! {
        #[doc(hidden)]
        pub #infer #clause {
            ::core::unreachable!("only its type is asked for")
        }
    }
}

/// Its signature, without what its parameters are bound by.
pub(super) fn infer_signature(
    owner: &Owner,
    signature: &Signature,
    krate: &TokenStream,
) -> TokenStream {
    let (name, parameters) = (owner.name("infer"), owner.own.declared());
    let (told, yields) = inferred(owner, signature, krate);
    quote!(fn #name<#parameters>(_: #told) -> #yields)
}

/// What it takes and yields.
pub(super) fn inferred(
    owner: &Owner,
    signature: &Signature,
    krate: &TokenStream,
) -> (TokenStream, TokenStream) {
    let (yields, instance) = (yields(signature), &owner.instance);
    let receiver = receiver_kind(owner, signature, krate);
    let yields = quote! {
        (::core::marker::PhantomData<#instance>, #yields, ::core::marker::PhantomData<#receiver>)
    };
    let own: Vec<String> = match &owner.method {
        // Of a method, its type is known.
        Some(_) => owner.own.names().iter().map(ToString::to_string).collect(),
        None => {
            let names = Parameters::of(&signature.generics).names.into_iter();
            names.map(|token| token.to_string()).collect()
        }
    };
    let is_called = |a: &Argument| matches!(a.kind, ArgumentKind::Callable(_));
    let tells = |a: &Argument| is_called(a) || mentions(&told_type(a, krate), &own);
    let arguments = signature.given();
    let any = quote!(impl ::core::marker::Sized);
    let told = match arguments.iter().any(|a| tells(a)) {
        true => {
            let each = arguments.iter().flat_map(|a| {
                let first = match tells(a) {
                    true => told_type(a, krate),
                    false => any.clone(),
                };
                let parts = (1..a.kind.params()).map(|_| any.clone());
                std::iter::once(first).chain(parts)
            });
            quote!((#(#each,)*))
        }
        false => any,
    };
    (told, yields)
}

/// How a method takes its receiver, as a type.
fn receiver_kind(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let first = signature.arguments.first();
    let receiver = first.filter(|a| owner.method.is_some() && a.name == "self");
    let Some(receiver) = receiver else {
        return quote!(());
    };
    let host = quote!(#krate::__private::host);
    match receiver.kind {
        ArgumentKind::Reference { mutable: true, .. } => quote!(#host::ByMutable),
        ArgumentKind::Reference { mutable: false, .. } => quote!(#host::ByShared),
        ArgumentKind::Scalar(_)
        | ArgumentKind::Value(_)
        | ArgumentKind::Slice { .. }
        | ArgumentKind::Callable(_)
        | ArgumentKind::View { .. } => quote!(#host::ByValue),
    }
}

/// The type that an argument has among those that infer an instance: of a slice or a view, that of its elements.
fn told_type(argument: &Argument, krate: &TokenStream) -> TokenStream {
    match &argument.kind {
        ArgumentKind::Scalar(scalar) => scalar_tokens(*scalar, krate),
        ArgumentKind::Value(ty) => quote!(#ty),
        ArgumentKind::Reference { of, .. } => quote!(#of),
        ArgumentKind::Slice { elem, .. } | ArgumentKind::View { elem, .. } => {
            element_type(elem, krate)
        }
        ArgumentKind::Callable(of) => {
            let (takes, yields) = (&of.takes, of.yields.as_ref());
            let yields = yields.map_or_else(|| quote!(()), ToTokens::to_token_stream);
            quote!(fn(#(#takes),*) -> #yields)
        }
    }
}

fn mentions(tokens: &TokenStream, names: &[String]) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident.to_string()),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The result types of a function's compiled bodies, that for one lane and that for all. No body of another function has them.
pub(super) fn body_results(
    owner: &Owner,
    signature: &Signature,
    krate: &TokenStream,
) -> [TokenStream; 2] {
    let host = quote!(#krate::__private::host);
    let (instance, yields) = (&owner.instance, yields(signature));
    let receiver = receiver_kind(owner, signature, krate);
    let alone = yields.clone();
    let together = quote!(::core::marker::PhantomData<#yields>);
    [alone, together].map(|yields| {
        let yielded = quote!(#host::Yielded<#instance, #receiver, #yields>);
        quote!(::core::result::Result<#yielded, #host::RawFault>)
    })
}

pub(super) fn yields(signature: &Signature) -> TokenStream {
    match &signature.yields {
        Some(ty) => quote!(#ty),
        None => quote!(()),
    }
}

/// For each parameter: must all threads of a block give the same?
struct Asked {
    /// For barriers.
    uniform: Vec<TokenStream>,
    /// For races.
    agreed: Vec<TokenStream>,
}

fn asked(lowered: &Lowered, krate: &TokenStream) -> Asked {
    let mut asked = Asked {
        uniform: vec![],
        agreed: vec![],
    };
    let each = (0..)
        .map(ParamId)
        .zip(Contract::by_parameter(&lowered.kernel));
    for (param, parts) in each {
        let passed_on = |fact: fn(&Callee) -> TokenStream| {
            let asks = |(call, at): &(CallId, u32)| {
                let (set, at) = (fact(lowered.callee(*call)), *at as usize);
                quote!(#krate::ParameterSet::has(#set, #at))
            };
            parts.arguments.iter().map(asks).collect::<Vec<_>>()
        };
        let barrier = parts.barrier;
        let calls = parts
            .calls
            .iter()
            .map(|call| lowered.callee(*call).collective());
        let arguments = passed_on(Callee::uniform);
        asked
            .uniform
            .push(quote!(#barrier #(|| #calls)* #(|| #arguments)*));
        let own = lowered.agreed.contains(&param);
        // Whoever calls what is unsafe promises that it is free of races.
        let arguments = if lowered.is_unsafe {
            vec![]
        } else {
            passed_on(Callee::agreed)
        };
        asked.agreed.push(quote!(#own #(|| #arguments)*));
    }
    asked
}
