//! What `#[device]` adds to a function: items that hold its IR, what it names, and its compiled body.
//!
//! Those of a free function belong to a struct of its name, those of a method to its type. What names
//! things of the user's stands where no item of this crate's making is in scope.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use sarek_ir::analysis::contract::Contract;
use sarek_ir::{Access, Argument as SarekArgument, Memory, ParamId};

use super::item::{LinkParts, checks, element_type, link_parts};
use super::nesting::Nesting;
use super::{constant, direct};
use crate::lower::{Callee, Lowered, scalar_tokens};
use crate::parse::{Argument, ArgumentKind, Parameters, Signature};

/// Where the items of a function stand.
pub struct Owner {
    /// The type.
    pub ty: TokenStream,
    /// `<T: Float, const N: usize>`
    pub generics: TokenStream,
    /// `where …`
    pub clause: TokenStream,
    /// The method's name; `None` for a free function.
    pub method: Option<String>,
}

impl Owner {
    fn name(&self, what: &str) -> Ident {
        let name = match &self.method {
            Some(method) => format!("__sarek_{what}_{method}"),
            None => format!("__sarek_{what}"),
        };
        Ident::new(&name, Span::mixed_site())
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
    let (linked, links, function, ir, body) = (
        owner.name("linked"),
        owner.name("links"),
        owner.name("function"),
        owner.name("ir"),
        owner.name("body"),
    );
    let LinkParts {
        constants,
        given,
        functions,
    } = link_parts(lowered, &linked, krate);
    let nesting = Nesting::of(lowered);
    let (value, nested_links) = match &nesting {
        Some(nesting) => {
            let depth = nesting.depth;
            let links = nesting.links(&given, &functions, krate);
            (quote!(Self::__sarek_links_at(#depth)), Some(links))
        }
        None => {
            let functions = quote!(functions: ::std::vec![#(#functions),*]);
            (
                quote!(#krate::ir::link::Links { #functions, ..#given }),
                None,
            )
        }
    };
    let data = constant::kernel(&lowered.kernel);
    let (params, stmts) = direct::function(lowered, is_cooperative);
    let yields = yields(signature);
    let (block_params, block_stmts) = direct::block(lowered, &yields, is_cooperative);
    let nest = nesting.as_ref().map(|_| {
        let (params, stmts) = direct::nested(lowered);
        quote! {
            #[allow(unused)]
            unsafe fn __sarek_nest<const CHECK: ::core::primitive::bool>(
                #params
            ) -> ::core::result::Result<#yields, direct::RawFault> {
                unsafe { #stmts }
            }
        }
    });
    let block = owner.name("block");
    let checks = checks(lowered, true);
    let (facts, infer) = (
        facts(owner, lowered, signature, is_cooperative, krate),
        infer(owner, signature, krate),
    );
    let items = quote! {
        #[automatically_derived]
        #[allow(dead_code, unreachable_code, non_upper_case_globals, clippy::all)]
        impl #generics #ty #clause {
            #constants
            #infer
            #nested_links

            #[doc(hidden)]
            pub fn #links() -> #krate::ir::link::Links {
                const {
                    use #krate::__private::direct;
                    #(#checks)*
                }
                #value
            }

            #[doc(hidden)]
            pub fn #function() -> #krate::ir::link::Function {
                #krate::ir::link::Function { ir: Self::#ir, links: Self::#links() }
            }
        }

        #facts

        const _: () = {
            use ::std::borrow::Cow;
            use #krate::__private::{direct, ir};

            #[automatically_derived]
            #[allow(dead_code, non_upper_case_globals, clippy::all)]
            impl #generics #ty #clause {
                #[doc(hidden)]
                pub const #ir: &'static ir::Kernel = &#data;

                #nest

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused)]
                pub unsafe fn #body<const CHECK: ::core::primitive::bool>(
                    #params
                ) -> ::core::result::Result<#yields, direct::RawFault> {
                    unsafe { #stmts }
                }

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused)]
                pub unsafe fn #block<const CHECK: ::core::primitive::bool, const FULL: ::core::primitive::bool>(
                    #block_params
                ) -> ::core::result::Result<(), direct::RawFault> {
                    unsafe { #block_stmts }
                }
            }
        };
    };
    among_callees(lowered, &items)
}

/// Items that name the functions called by their aliases.
pub(super) fn among_callees(lowered: &Lowered, items: &TokenStream) -> TokenStream {
    let mut seen = BTreeSet::new();
    let fresh = |callee: &&Callee| callee.method.is_none() && seen.insert(callee.alias.to_string());
    let callees: Vec<&Callee> = lowered.callees.iter().filter(fresh).collect();
    if callees.is_empty() {
        return items.clone();
    }
    let stand_ins = callees.iter().map(|callee| callee.stand_in());
    let imports = callees.iter().map(|callee| callee.import());
    let marked = callees.iter().map(|callee| callee.is_marked());
    // A function that is not marked leaves its alias to the stand-in around.
    quote! {
        const _: () = {
            #(#stand_ins)*
            {
                #(#imports)*
                const _: () = { #(#marked)* };
                #items
            }
        };
    }
}

/// What holds of all instances, which callers ask where nothing can be inferred.
fn facts(
    owner: &Owner,
    lowered: &Lowered,
    signature: &Signature,
    is_cooperative: bool,
    krate: &TokenStream,
) -> TokenStream {
    let takes = takes(lowered, krate);
    let (takes_name, sites, collective, uniform, mutates) = (
        owner.name("takes"),
        owner.name("sites"),
        owner.name("collective"),
        owner.name("uniform"),
        owner.name("mutates"),
    );
    let nesting = Nesting::of(lowered);
    let count = match &nesting {
        Some(nesting) => nesting.sites(),
        None => lowered.sites(),
    };
    let collectives = lowered.callees.iter().map(|callee| callee.collective());
    let asked = asked(lowered, krate);
    let changes = signature.arguments.first().is_some_and(|a| match a.kind {
        ArgumentKind::Reference { mutable, .. } => mutable,
        ArgumentKind::Scalar(_)
        | ArgumentKind::Value(_)
        | ArgumentKind::Slice { .. }
        | ArgumentKind::View { .. } => false,
    });
    let Owner {
        ty,
        generics,
        clause,
        ..
    } = owner;
    let parameters = &lowered.parameters.bare;
    // Those of a type's methods may need what the type is bound by.
    let of_types = lowered.callees.iter().any(|callee| callee.method.is_some());
    let levels = nesting.as_ref().map(Nesting::levels);
    let (generics, clause) = match (&owner.method, of_types) {
        (None, false) => (quote!(<#parameters>), TokenStream::new()),
        (None, true) | (Some(_), _) => (generics.clone(), clause.clone()),
    };
    let is_device = owner.method.is_none().then(|| {
        quote! {
            #[automatically_derived]
            #[allow(dead_code, non_upper_case_globals, clippy::all)]
            impl <#parameters> #ty {
                #[doc(hidden)]
                pub const __sarek_is_device: ::core::primitive::bool = true;
            }
        }
    });
    quote! {
        #is_device

        #[automatically_derived]
        #[allow(dead_code, non_upper_case_globals, clippy::all)]
        impl #generics #ty #clause {
            #levels

            #[doc(hidden)]
            pub const #sites: ::core::primitive::u32 = #count;

            #[doc(hidden)]
            pub const #collective: ::core::primitive::bool = #is_cooperative #(|| #collectives)*;

            #[doc(hidden)]
            pub const #uniform: &'static [::core::primitive::bool] = &[#(#asked),*];

            #[doc(hidden)]
            pub const #takes_name: &'static [::core::primitive::bool] = &[#(#takes),*];

            #[doc(hidden)]
            pub const #mutates: ::core::primitive::bool = #changes;
        }
    }
}

/// For each parameter: may it be lent a shared array? What the function calls may be lent it in turn.
fn takes(lowered: &Lowered, krate: &TokenStream) -> Vec<TokenStream> {
    let kernel = &lowered.kernel;
    let own = |(param, takes): (u32, &bool)| {
        let given = kernel.calls.iter().flat_map(|call| {
            let callee = &lowered.callees[call.function.index()];
            let args = call.args.iter().enumerate();
            let memory = SarekArgument::Memory(Memory::Slice(ParamId(param)));
            let args = args.filter(move |(_, arg)| **arg == memory);
            args.map(move |(at, _)| (callee.takes(), at))
        });
        let given = given.filter(|_| !lowered.is_unsafe);
        let given = given.map(|(takes, at)| quote!(#krate::__private::direct::asks(#takes, #at)));
        quote!(#takes #(&& #given)*)
    };
    (0..).zip(&lowered.takes).map(own).collect()
}

/// What tells rustc which instance a call is of, by its arguments, and which type it yields.
fn infer(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let (name, yields) = (owner.name("infer"), yields(signature));
    let parameters = Parameters::of(&signature.generics);
    let own: Vec<String> = match &owner.method {
        // Of a method, the type tells the instance.
        Some(_) => vec![],
        None => {
            let names = parameters.names.clone().into_iter();
            names.map(|token| token.to_string()).collect()
        }
    };
    let tells = |ty: &TokenStream| mentions(ty, &own);
    let types = signature.arguments.iter().map(|a| told_type(a, krate));
    let types: Vec<TokenStream> = types.collect();
    if !types.iter().any(tells) {
        return quote! {
            #[doc(hidden)]
            pub fn #name<__A>(_: __A) -> (::core::marker::PhantomData<Self>, #yields) {
                ::core::unreachable!("only its type is asked for")
            }
        };
    }
    let any = |i: usize| Ident::new(&format!("__A{i}"), Span::mixed_site());
    let each = types.iter().enumerate().map(|(i, ty)| match tells(ty) {
        true => ty.clone(),
        false => any(i).to_token_stream(),
    });
    let others = types.iter().enumerate().filter(|(_, ty)| !tells(ty));
    let others = others.map(|(i, _)| any(i));
    quote! {
        #[doc(hidden)]
        pub fn #name<#(#others),*>(_: (#(#each,)*)) -> (::core::marker::PhantomData<Self>, #yields) {
            ::core::unreachable!("only its type is asked for")
        }
    }
}

/// The type that an argument has among those that infer an instance: of a slice, that of its elements.
fn told_type(argument: &Argument, krate: &TokenStream) -> TokenStream {
    match &argument.kind {
        ArgumentKind::Scalar(scalar) => scalar_tokens(*scalar, krate),
        ArgumentKind::Value(ty) => quote!(#ty),
        ArgumentKind::Reference { of, .. } => quote!(#of),
        ArgumentKind::Slice { elem, .. } => element_type(elem, krate),
        ArgumentKind::View { .. } => unreachable!("a function takes no views"),
    }
}

fn mentions(tokens: &TokenStream, names: &[String]) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident.to_string()),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn yields(signature: &Signature) -> TokenStream {
    match &signature.yields {
        Some(ty) => quote!(#ty),
        None => quote!(()),
    }
}

/// For each parameter: must all threads of a block give the same?
fn asked(lowered: &Lowered, krate: &TokenStream) -> Vec<TokenStream> {
    let parts = Contract::by_parameter(&lowered.kernel).into_iter();
    let each = parts.map(|parts| {
        let barrier = parts.barrier;
        let calls = parts
            .calls
            .iter()
            .map(|call| lowered.callee(*call).collective());
        let arguments = parts.arguments.iter().map(|(call, at)| {
            let (uniform, at) = (lowered.callee(*call).uniform(), *at as usize);
            quote!(#krate::__private::direct::asks(#uniform, #at))
        });
        quote!(#barrier #(|| #calls)* #(|| #arguments)*)
    });
    each.collect()
}

/// What a free function's struct implements.
pub fn implements(owner: &Owner, krate: &TokenStream) -> TokenStream {
    let Owner {
        ty,
        generics,
        clause,
        ..
    } = owner;
    quote! {
        #[automatically_derived]
        unsafe impl #generics #krate::DeviceFn for #ty #clause {
            const IR: &'static #krate::ir::Kernel = Self::__sarek_ir;
            const SITES: ::core::primitive::u32 = Self::__sarek_sites;
            const COLLECTIVE: ::core::primitive::bool = Self::__sarek_collective;
            const UNIFORM: &'static [::core::primitive::bool] = Self::__sarek_uniform;

            fn links() -> #krate::ir::link::Links {
                Self::__sarek_links()
            }
        }
    }
}

/// The items of a function with errors, so that its callers do not fail for want of them.
pub fn broken(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let Owner {
        ty,
        generics,
        clause,
        ..
    } = owner;
    let direct = quote!(#krate::__private::direct);
    let params = |lanes: &dyn Fn(TokenStream) -> TokenStream, together: bool| -> Vec<TokenStream> {
        let each = signature.arguments.iter();
        let shared = |ty| match (lanes(ty), together) {
            (lanes, true) => quote!(&#lanes),
            (alone, false) => alone,
        };
        let each = each.map(|argument| match &argument.kind {
            ArgumentKind::Scalar(scalar) => shared(scalar_tokens(*scalar, krate)),
            ArgumentKind::Value(ty) => shared(quote!(#ty)),
            ArgumentKind::Reference { of, mutable } => match mutable {
                true => {
                    let of = lanes(quote!(#of));
                    quote!(&mut #of)
                }
                false => shared(quote!(#of)),
            },
            ArgumentKind::Slice { elem, access } => {
                let elem = element_type(elem, krate);
                match access {
                    Access::Read | Access::Write => quote!(#direct::Output<'_, #elem>),
                    Access::Atomic => quote!(&[#direct::Atomic<#elem>]),
                }
            }
            ArgumentKind::View { .. } => unreachable!("a function takes no views"),
        });
        each.collect()
    };
    let lanes = |ty: TokenStream| quote!([::core::mem::MaybeUninit<#ty>]);
    let (alone, together) = (params(&|ty| ty, false), params(&lanes, true));
    let (infer, yields) = (infer(owner, signature, krate), yields(signature));
    let parameters = Parameters::of(&signature.generics).bare;
    quote! {
        #[automatically_derived]
        #[allow(unused, non_upper_case_globals, clippy::all)]
        impl<#parameters> #ty {
            pub const __sarek_is_device: ::core::primitive::bool = true;
            pub const __sarek_sites: ::core::primitive::u32 = 0;
            pub const __sarek_collective: ::core::primitive::bool = false;
            pub const __sarek_uniform: &'static [::core::primitive::bool] = &[];
            pub const __sarek_takes: &'static [::core::primitive::bool] = &[true; 16];
        }

        #[automatically_derived]
        #[allow(unused, clippy::all)]
        impl #generics #ty #clause {
            #infer

            #[doc(hidden)]
            pub unsafe fn __sarek_body<const CHECK: ::core::primitive::bool>(
                _: &#direct::Block,
                _: [::core::primitive::usize; 3],
                _: [::core::primitive::usize; 3],
                _: ::core::primitive::u32,
                _: (#(#alone,)*),
            ) -> ::core::result::Result<#yields, #direct::RawFault> {
                ::core::unreachable!()
            }

            #[doc(hidden)]
            pub unsafe fn __sarek_block<const CHECK: ::core::primitive::bool, const FULL: ::core::primitive::bool>(
                _: &#direct::Block,
                _: [::core::primitive::usize; 3],
                _: [::core::primitive::usize; 3],
                _: &#direct::Scratch,
                _: ::core::primitive::u32,
                _: &[::core::primitive::bool],
                _: (#(#together,)*),
                _: &mut [::core::mem::MaybeUninit<#yields>],
            ) -> ::core::result::Result<(), #direct::RawFault> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        unsafe impl #generics #krate::DeviceFn for #ty #clause {
            const IR: &'static #krate::ir::Kernel = &#krate::ir::Kernel::EMPTY;
            const SITES: ::core::primitive::u32 = 0;
            const COLLECTIVE: ::core::primitive::bool = false;
            const UNIFORM: &'static [::core::primitive::bool] = &[];

            fn links() -> #krate::ir::link::Links {
                ::core::default::Default::default()
            }
        }
    }
}
