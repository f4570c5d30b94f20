//! The items that `#[device]` adds to a function: its IR, its links and its compiled body.
//!
//! The items of a free function belong to a struct of the same name; those of a method belong to
//! its type. Items that contain the user's names stand where no generated `use` is in scope.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::analysis::contract::Contract;
use sarek_ir::analysis::exact;
use sarek_ir::{Argument as SarekArgument, CallId, Memory, ParamId};
use syn::spanned::Spanned;

use super::bounded_recursion::BoundedRecursion;
use super::callee_contracts::{Checks, checks};
use super::item::element_type;
use super::links::{LinkParts, link_parts};
use super::{cpu, encode, formula, marks, method_items, missing_device_attr, scope};
use crate::lower::{Callee, Lowered, scalar_tokens};
use crate::parse::{Argument, ArgumentKind, Callables, Own, Parameters, Signature};
use crate::tokens::{names, plain_name};

/// The type that the items of a function belong to.
#[derive(Clone)]
pub struct Owner {
    /// The type itself.
    pub ty: TokenStream,
    /// `<T: Float, const N: usize>`
    pub generics: TokenStream,
    /// `where …`
    pub clause: TokenStream,
    /// The method's name; `None` for a free function.
    pub method: Option<String>,
    /// The type that represents the function: `ty`, or a struct that the method has for itself.
    pub instance: TokenStream,
    /// The name of the method's own struct, if it has one.
    pub strukt: Option<Ident>,
    /// The method's own generic parameters, besides those of its type.
    pub own: Own,
    /// True for a trait method that is reached through the trait, by way of `instance`.
    pub is_erased: bool,
}

impl Owner {
    /// The struct of a free function.
    pub fn of(sig: &syn::Signature) -> Owner {
        let name = names::fn_type(&sig.ident);
        let callables = Callables::of(&sig.generics);
        let Parameters {
            declared, clause, ..
        } = Parameters::of(&callables.strip(&sig.generics));
        let names = callables.names(&sig.generics);
        let ty = quote!(#name<#names>);
        Owner {
            instance: ty.clone(),
            strukt: None,
            own: Own::default(),
            is_erased: false,
            ty,
            generics: quote!(<#declared>),
            clause,
            method: None,
        }
    }

    /// The owner of a trait method's items; `own` are the method's own generics.
    pub fn of_trait_method(name: &Ident, own: &syn::Generics) -> Owner {
        let own = Own::of(own);
        let arguments = own.arguments();
        let mut owner = Owner {
            ty: quote_spanned!(name.span()=> Self),
            generics: quote!(<>),
            clause: TokenStream::new(),
            method: Some(plain_name(name)),
            instance: TokenStream::new(),
            strukt: None,
            own,
            is_erased: false,
        };
        let device = owner.device();
        owner.instance = quote!(Self::#device #arguments);
        owner
    }

    pub(super) fn name(&self, what: &str) -> Ident {
        let name = match &self.method {
            Some(method) => format!("__sarek_{what}_{method}"),
            None => format!("__sarek_{what}"),
        };
        Ident::new(&name, Span::mixed_site().located_at(self.ty.span()))
    }

    /// The associated type that represents a trait's method in each impl. An impl without
    /// `#[device]` lacks this item, so the name itself tells the user what to do.
    pub(crate) fn device(&self) -> Ident {
        let method = self.method.as_deref().unwrap_or_default();
        let name = format!("{method}_needs_device_before_the_impl");
        Ident::new(&name, Span::mixed_site().located_at(self.ty.span()))
    }

    /// The path of one of the function's items, for code outside of its type.
    pub(super) fn item(&self, what: &str) -> TokenStream {
        let (ty, name, arguments) = (&self.ty, self.name(what), self.own.arguments());
        quote!(<#ty>::#name #arguments)
    }
}

/// All items of one function.
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
    let recursion = BoundedRecursion::of(lowered);
    let literal_types = &lowered.literal_types;
    let (value, nested_links) = match &recursion {
        Some(recursion) => {
            let depth = recursion.depth;
            let links = recursion.links(&given, &functions, literal_types, krate);
            (quote!(Self::__sarek_links_at(#depth)), Some(links))
        }
        None => {
            let links = quote!(#krate::__private::links(#given, [#(#functions),*]));
            (links, None)
        }
    };
    let data = encode::kernel(&lowered.kernel);
    let (params, stmts) = cpu::function(lowered, is_cooperative);
    let result_type = result_type(signature);
    let [result, block_result] = body_results(owner, signature, krate);
    let lane_body = {
        let arguments = owner.own.arguments_and(&quote!(__CHECK));
        quote!(<#ty>::#body #arguments)
    };
    let (block_params, block_stmts) = cpu::block(lowered, &result_type, is_cooperative, &lane_body);
    let nest = recursion.as_ref().map(|_| {
        let (params, stmts) = cpu::nested(lowered);
        quote! {
            #[allow(unused, dangerous_implicit_autorefs)]
            unsafe fn __sarek_nest<const __CHECK: ::core::primitive::bool>(
                #params
            ) -> ::core::result::Result<#result_type, __host::RawFault> {
                // SAFETY: as for the function's own body below.
                unsafe { #stmts }
            }
        }
    });
    let block = owner.name("block");
    let closed = owner.method.is_none() && lowered.parameters.is_empty();
    let checks = checks(lowered, true).among(closed, krate);
    let probing = checks.probing(&owner.name("probes"), &owner.own, krate);
    let Checks {
        standalone, inside, ..
    } = checks;
    let (facts, infer) = (
        facts(lowered, signature, is_cooperative, krate),
        infer(owner, signature, krate),
    );
    let levels = recursion.as_ref().map(BoundedRecursion::levels);
    let (own, own_clause) = (owner.own.declared(), owner.own.clause(None));
    let (strukt, instance) = instance(owner, lowered, krate);
    let scope = scope(krate);
    let items = quote! {
        #standalone

        #[automatically_derived]
        #[allow(dead_code, unreachable_code, non_upper_case_globals, clippy::all)]
        impl #generics #ty #clause {
            #constants
            #infer
            #nested_links
            #levels
            #probing

            #[doc(hidden)]
            fn #links<#own>() -> #krate::__private::ir::link::Links #own_clause {
                #inside
                #literal_types
                #value
            }

            #[doc(hidden)]
            const fn #facts_name<#own>() -> #krate::__private::FunctionFacts #own_clause {
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
                const #ir: &'static __ir::EncodedKernel = #data;

                #nest

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused, dangerous_implicit_autorefs)]
                pub unsafe fn #body<#own const __CHECK: ::core::primitive::bool>(
                    _: __host::Flag<__CHECK>,
                    #params
                ) -> #result #own_clause {
                    // SAFETY: see `emit::cpu`: unchecked accesses were tested by generated code, or
                    // proved for the launch.
                    unsafe { #stmts }
                }

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused, dangerous_implicit_autorefs)]
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

/// Wraps items in a block that imports the called functions under their aliases.
pub(super) fn among_callees(lowered: &Lowered, items: &TokenStream) -> TokenStream {
    let others = || lowered.callees.iter().filter(|callee| !callee.is_self);
    // Only after all tokens are generated is it known whether one of them names the constant.
    let gate = lowered.gate.as_ref();
    let gate = gate.filter(|_| lowered.names_gate.get());
    if others().next().is_none() && gate.is_none() {
        return items.clone();
    }
    let mut seen = BTreeSet::new();
    let fresh = |callee: &&Callee| seen.insert(callee.alias.to_string());
    let imports = others().filter(|callee| callee.method.is_none());
    let imports = imports.filter(fresh).map(Callee::import);
    let mut seen = BTreeSet::new();
    let traits = others().filter_map(|callee| {
        let (_, path) = callee.of_trait.as_ref()?;
        let fresh = seen.insert(names::trait_constant(path).to_string());
        fresh.then(|| marks::import(path))
    });
    let (stand_ins_of_traits, traits): (Vec<_>, Vec<_>) = traits.unzip();
    let stand_ins = missing_device_attr::stand_ins(others());
    let functions = others().find(|callee| callee.method.is_none());
    let kernels = functions.map(|callee| {
        let krate = &callee.krate;
        quote!(#[allow(unused_imports)] use #krate::CalledKernel as _;)
    });
    // The alias of a function without `#[device]` resolves to the stand-in in the outer block.
    quote! {
        const _: () = {
            #gate
            #stand_ins
            #(#stand_ins_of_traits)*
            #kernels
            {
                #(#traits)*
                #items
                // Behind the user's tokens, so that these do not see the macros that the imports
                // declare.
                #(#imports)*
            }
        };
    }
}

/// The facts that callers need, as an expression of type `FunctionFacts`.
fn facts(
    lowered: &Lowered,
    signature: &Signature,
    is_cooperative: bool,
    krate: &TokenStream,
) -> TokenStream {
    let sites = match BoundedRecursion::of(lowered) {
        Some(recursion) => recursion.sites(),
        None => lowered.sites(),
    };
    let collectives = lowered.callees.iter().map(|callee| callee.collective());
    let strips = cpu::has_strips(lowered, is_cooperative);
    let strips_of_callees = cpu::callees_with_strips(lowered);
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
    let result = formula::of_result(lowered, krate);
    quote! {
        #krate::__private::FunctionFacts {
            sites: #sites,
            collective: #is_cooperative #(|| #collectives)*,
            strips: #strips #(|| #strips_of_callees)*,
            exact: #is_exact #(&& #exacts)*,
            mutates: #mutates,
            uniform: #krate::__private::ParameterSet::new(&[#(#uniform),*]),
            agreed: #krate::__private::ParameterSet::new(&[#(#agreed),*]),
            takes: #krate::__private::ParameterSet::new(&[#(#takes),*]),
            result: #result,
        }
    }
}

/// The type that represents the function, with its impl of `DeviceFn`. The struct is present only
/// for a method that has one of its own.
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
        unsafe impl #generics #krate::__private::DeviceFn for #instance #clause {
            const IR: &'static #krate::__private::ir::EncodedKernel = <#ty>::#ir;
            const FACTS: #krate::__private::FunctionFacts = #facts();

            fn links() -> #krate::__private::ir::link::Links {
                #links()
            }

            #erased
        }
    };
    (strukt, implements)
}

/// For each parameter: true if a shared array may be passed for it. Every callee that receives the
/// parameter must accept a shared array, too.
fn takes(lowered: &Lowered, krate: &TokenStream) -> Vec<TokenStream> {
    let kernel = &lowered.kernel;
    let own = |(param, takes): (u32, &bool)| {
        let given = kernel.calls.iter().flat_map(|call| {
            let memory = SarekArgument::Memory(Memory::Slice(ParamId(param)));
            let callee = call.called.function();
            let callee = callee.map(|function| &lowered.callees[function.index()]);
            // Callable arguments take no slices.
            callee.into_iter().flat_map(move |callee| {
                let args = call.args.iter().enumerate();
                let args = args.filter(move |(_, arg)| **arg == memory);
                args.map(move |(at, _)| (callee.takes(), at))
            })
        });
        let given = given.filter(|_| !lowered.is_unsafe);
        let given =
            given.map(|(takes, at)| quote!(#krate::__private::ParameterSet::has(#takes, #at)));
        quote!(#takes #(&& #given)*)
    };
    (0..).zip(&lowered.takes).map(own).collect()
}

/// The function from whose signature rustc infers a call's instance and its result type.
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

/// The signature of this function, without bounds on its parameters.
pub(super) fn infer_signature(
    owner: &Owner,
    signature: &Signature,
    krate: &TokenStream,
) -> TokenStream {
    let (name, parameters) = (owner.name("infer"), owner.own.declared());
    let (told, result_type) = inferred(owner, signature, krate);
    quote!(fn #name<#parameters>(_: #told) -> #result_type)
}

/// The parameter type and the result type of this function.
pub(super) fn inferred(
    owner: &Owner,
    signature: &Signature,
    krate: &TokenStream,
) -> (TokenStream, TokenStream) {
    let (result_type, instance) = (result_type(signature), &owner.instance);
    let receiver = receiver_kind(owner, signature, krate);
    let result_type = quote! {
        (::core::marker::PhantomData<#instance>, #result_type, ::core::marker::PhantomData<#receiver>)
    };
    let own: Vec<String> = match &owner.method {
        // The type of a method is known already, so only its own parameters are inferred.
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
    (told, result_type)
}

/// The passing mode of a method's receiver, as a type.
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

/// The types of the arguments, from which rustc infers the type that has the operator.
pub(super) fn operand_types(signature: &Signature, krate: &TokenStream) -> TokenStream {
    let types = signature.given().into_iter().map(|a| told_type(a, krate));
    quote!((#(#types,)*))
}

/// The type of an argument for inferring an instance. For a slice or a view it is the element type.
fn told_type(argument: &Argument, krate: &TokenStream) -> TokenStream {
    match &argument.kind {
        ArgumentKind::Scalar(scalar) => scalar_tokens(*scalar, krate),
        ArgumentKind::Value(ty) => quote!(#ty),
        ArgumentKind::Reference { of, .. } => quote!(#of),
        ArgumentKind::Slice { elem, .. } | ArgumentKind::View { elem, .. } => {
            element_type(elem, krate)
        }
        ArgumentKind::Callable(of) => {
            let (takes, result_type) = (&of.takes, of.result_type.as_ref());
            let result_type = result_type.map_or_else(|| quote!(()), ToTokens::to_token_stream);
            quote!(fn(#(#takes),*) -> #result_type)
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

/// The result types of a function's compiled bodies: for one lane, and for all lanes. They name the
/// instance, so no other function's body has the same type.
pub(super) fn body_results(
    owner: &Owner,
    signature: &Signature,
    krate: &TokenStream,
) -> [TokenStream; 2] {
    let host = quote!(#krate::__private::host);
    let (instance, result_type) = (&owner.instance, result_type(signature));
    let receiver = receiver_kind(owner, signature, krate);
    let alone = result_type.clone();
    let together = quote!(::core::marker::PhantomData<#result_type>);
    [alone, together].map(|result_type| {
        let yielded = quote!(#host::Returned<#instance, #receiver, #result_type>);
        quote!(::core::result::Result<#yielded, #host::RawFault>)
    })
}

pub(super) fn result_type(signature: &Signature) -> TokenStream {
    match &signature.result_type {
        Some(ty) => quote!(#ty),
        None => quote!(()),
    }
}

/// For each parameter: true if all threads of a block must pass the same value.
struct Asked {
    /// Required by barriers.
    uniform: Vec<TokenStream>,
    /// Required for freedom from races.
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
                quote!(#krate::__private::ParameterSet::has(#set, #at))
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
        // A caller of an `unsafe fn` promises freedom from races.
        let arguments = if lowered.is_unsafe {
            vec![]
        } else {
            passed_on(Callee::agreed)
        };
        asked.agreed.push(quote!(#own #(|| #arguments)*));
    }
    asked
}
