//! Items of functions whose bodies stand elsewhere: declarations in a trait, forwarding items in
//! its impls, and substitutes for a function with errors.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use sarek_ir::Access;
use syn::spanned::Spanned;

use super::dummy_types::replaced;
use super::function::{
    Owner, body_results, infer, infer_signature, inferred, operand_types, result_type,
};
use super::item::element_type;
use crate::lower::{scalar_tokens, unnamed_name};
use crate::parse::{Argument, ArgumentKind, Signature};

/// Selects one of a function's two compiled bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// The body for one lane.
    Alone,
    /// The body for all lanes of a block. Its parameters and results are arrays of lanes.
    Together,
}

/// The parameter types of a compiled body, as full paths.
fn taken(signature: &Signature, body: Body, krate: &TokenStream) -> Vec<TokenStream> {
    let host = quote!(#krate::__private::host);
    let lanes = |ty: TokenStream| match body {
        Body::Alone => ty,
        Body::Together => quote!([::core::mem::MaybeUninit<#ty>]),
    };
    let shared = |ty: TokenStream| match body {
        Body::Alone => ty,
        Body::Together => {
            let lanes = lanes(ty);
            quote!(&#lanes)
        }
    };
    let mutable = |ty: TokenStream| {
        let lanes = lanes(ty);
        quote!(&mut #lanes)
    };
    let arguments = signature.given().into_iter();
    let one = |argument: &&Argument| match &argument.kind {
        ArgumentKind::Value(_) | ArgumentKind::Reference { .. } if is_receiver(argument) => {
            mutable(quote!(Self))
        }
        ArgumentKind::Scalar(scalar) => shared(scalar_tokens(*scalar, krate)),
        ArgumentKind::Value(ty) => shared(quote!(#ty)),
        ArgumentKind::Reference { of, mutable: true } => mutable(quote!(#of)),
        ArgumentKind::Reference { of, mutable: false } => shared(quote!(#of)),
        ArgumentKind::Slice { elem, access } | ArgumentKind::View { elem, access, .. } => {
            let elem = element_type(elem, krate);
            match (access, body) {
                (Access::Read | Access::Write, Body::Alone) => {
                    quote!(#host::RawSliceMut<'_, #elem>)
                }
                (Access::Read | Access::Write, Body::Together) => {
                    quote!(#host::Slices<'_, #elem>)
                }
                (Access::Atomic, _) => quote!(&[#host::Atomic<#elem>]),
            }
        }
        ArgumentKind::Callable(of) => {
            let takes: Vec<_> = of.takes.iter().map(ToTokens::to_token_stream).collect();
            let result_type = of.result_type.as_ref().map(ToTokens::to_token_stream);
            of.body_type(&takes, result_type.as_ref(), &host)
        }
    };
    // The parts of a view are the same for all lanes.
    let usize_ty = quote!(::core::primitive::usize);
    let each = arguments.flat_map(|argument| {
        let parts = (1..argument.kind.params()).map(|_| usize_ty.clone());
        std::iter::once(one(&argument)).chain(parts)
    });
    each.collect()
}

fn is_receiver(argument: &Argument) -> bool {
    argument.name == "self"
}

/// The signatures of a function's compiled bodies, for one lane and for all lanes of a block,
/// without bounds on their parameters.
fn bodies(owner: &Owner, signature: &Signature, krate: &TokenStream) -> [TokenStream; 2] {
    let host = quote!(#krate::__private::host);
    let (body, block) = (owner.name("body"), owner.name("block"));
    let result_type = result_type(signature);
    let [on_body, on_block] = body_results(owner, signature, krate);
    let own = owner.own.declared();
    let alone = taken(signature, Body::Alone, krate);
    let together = taken(signature, Body::Together, krate);
    [
        quote! {
            unsafe fn #body<#own const __CHECK: ::core::primitive::bool>(
                _: #host::Flag<__CHECK>,
                __block: &#host::Block,
                __thread: [::core::primitive::usize; 3],
                __dim: [::core::primitive::usize; 3],
                __base: ::core::primitive::u32,
                __args: (#(#alone,)*),
            ) -> #on_body
        },
        quote! {
            unsafe fn #block<#own const __CHECK: ::core::primitive::bool, const __FULL: ::core::primitive::bool>(
                _: #host::Flag<__CHECK>,
                _: #host::Flag<__FULL>,
                __block: &#host::Block,
                __lanes: [::core::primitive::usize; 3],
                __dim: [::core::primitive::usize; 3],
                __scratch: &#host::Scratch,
                __base: ::core::primitive::u32,
                __active: &[::core::primitive::bool],
                __args: (#(#together,)*),
                __result: &mut [::core::mem::MaybeUninit<#result_type>],
            ) -> #on_block
        },
    ]
}

/// Functions that reach the items of a method through its receiver, for calls whose source does not
/// name the receiver's type. They forward to the items found through the type. `None` if the
/// function has no receiver.
pub fn through_receiver(
    owner: &Owner,
    signature: &Signature,
    vis: &TokenStream,
    krate: &TokenStream,
) -> Option<TokenStream> {
    let is_method = signature.arguments.first().is_some_and(is_receiver);
    let method = owner.method.as_ref().filter(|_| is_method)?;
    let host = quote!(#krate::__private::host);
    let span = Span::mixed_site().located_at(owner.ty.span());
    let (infer, body_of, body) = (
        Ident::new(&unnamed_name(method), span),
        owner.name("body_of"),
        owner.name("body"),
    );
    let (own, names) = (owner.own.declared(), owner.own.names());
    let clause = owner.own.clause(Some(quote!(Self: ::core::marker::Sized)));
    let (told, yielded) = inferred(owner, signature, krate);
    let taken = taken(signature, Body::Alone, krate);
    let [result, _] = body_results(owner, signature, krate);
    Some(quote! {
        #[doc(hidden)]
        #[allow(clippy::all)]
        #vis fn #infer<#own>(self, _: #told) -> #yielded #clause {
            ::core::unreachable!("only its type is asked for")
        }
        #[doc(hidden)]
        #[inline(always)]
        #[allow(clippy::all)]
        #vis unsafe fn #body_of<#own const __CHECK: ::core::primitive::bool>(
            self,
            __check: #host::Flag<__CHECK>,
            __block: &#host::Block,
            __thread: [::core::primitive::usize; 3],
            __dim: [::core::primitive::usize; 3],
            __base: ::core::primitive::u32,
            __args: (#(#taken,)*),
        ) -> #result #clause {
            // SAFETY: both have one contract.
            unsafe { Self::#body::<#(#names,)* __CHECK>(__check, __block, __thread, __dim, __base, __args) }
        }
    })
}

/// The hidden items of a trait's method, as the trait declares them. Only the associated type has
/// no default: rustc would list every missing item beside the user's own methods.
pub fn declared(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let (device, own, clause) = (owner.device(), owner.own.declared(), owner.own.clause(None));
    let sized = owner.own.clause(Some(quote!(Self: ::core::marker::Sized)));
    let infer = infer_signature(owner, signature, krate);
    let [body, block] = bodies(owner, signature, krate);
    let through_receiver = through_receiver(owner, signature, &TokenStream::new(), krate);
    let [on_body, on_block] = match owner.is_erased {
        true => on_instance(owner, krate),
        false => [(); 2].map(|()| quote!(::core::unreachable!())),
    };
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        type #device<#own>: #krate::__private::DeviceFn #clause;
        #[doc(hidden)]
        #infer #sized {
            ::core::unreachable!()
        }
        #[doc(hidden)]
        #[inline(always)]
        #[allow(unused, clippy::all)]
        #body #sized {
            #on_body
        }
        #[doc(hidden)]
        #[inline(always)]
        #[allow(unused, clippy::all)]
        #block #sized {
            #on_block
        }
        #through_receiver
    }
}

/// The hidden items of a trait's method, for calls through the trait's path: methods of a value that
/// stands for a type `__S` with that trait. See [`super::marks::items_by_path`].
pub fn by_path(
    owner: &Owner,
    signature: &Signature,
    (of_trait, is_operator): (&TokenStream, bool),
    krate: &TokenStream,
) -> TokenStream {
    let host = quote!(#krate::__private::host);
    let (infer, body, block) = (owner.name("infer"), owner.name("body"), owner.name("block"));
    let (own, names) = (owner.own.declared(), owner.own.names());
    let clause = owner.own.clause(None);
    let (mut told, yielded) = inferred(owner, signature, krate);
    if is_operator {
        told = operand_types(signature, krate);
    }
    let result_type = result_type(signature);
    let [on_body, on_block] = body_results(owner, signature, krate);
    let alone = taken(signature, Body::Alone, krate);
    let together = taken(signature, Body::Together, krate);
    let items = quote! {
        pub fn #infer<#own>(self, _: #told) -> #yielded #clause {
            ::core::unreachable!("only its type is asked for")
        }
        #[inline(always)]
        #[allow(unused)]
        pub unsafe fn #body<#own const __CHECK: ::core::primitive::bool>(
            self,
            __check: #host::Flag<__CHECK>,
            __block: &#host::Block,
            __thread: [::core::primitive::usize; 3],
            __dim: [::core::primitive::usize; 3],
            __base: ::core::primitive::u32,
            __args: (#(#alone,)*),
        ) -> #on_body #clause {
            // SAFETY: both have one contract.
            unsafe {
                <Self as #of_trait>::#body::<#(#names,)* __CHECK>(__check, __block, __thread, __dim, __base, __args)
            }
        }
        #[inline(always)]
        #[allow(unused)]
        pub unsafe fn #block<#own const __CHECK: ::core::primitive::bool, const __FULL: ::core::primitive::bool>(
            self,
            __check: #host::Flag<__CHECK>,
            __full: #host::Flag<__FULL>,
            __block: &#host::Block,
            __lanes: [::core::primitive::usize; 3],
            __dim: [::core::primitive::usize; 3],
            __scratch: &#host::Scratch,
            __base: ::core::primitive::u32,
            __active: &[::core::primitive::bool],
            __args: (#(#together,)*),
            __result: &mut [::core::mem::MaybeUninit<#result_type>],
        ) -> #on_block #clause {
            // SAFETY: the same.
            unsafe {
                <Self as #of_trait>::#block::<#(#names,)* __CHECK, __FULL>(
                    __check, __full,
                    __block, __lanes, __dim, __scratch, __base, __active, __args, __result,
                )
            }
        }
    };
    replaced(items, &[("Self".to_owned(), quote!(__S))].into())
}

/// Calls a method's compiled bodies through the associated type that each impl defines.
fn on_instance(owner: &Owner, krate: &TokenStream) -> [TokenStream; 2] {
    let (device, names) = (owner.device(), owner.own.names());
    let instance = quote!(<Self::#device<#(#names),*> as #krate::__private::DeviceFn>);
    [
        quote! {
            // SAFETY: both have one contract; inside, `same` checks that the types are those of the
            // impl's method.
            unsafe { #instance::__body::<__CHECK, _, _>(__block, __thread, __dim, __base, __args) }
        },
        quote! {
            // SAFETY: the same.
            unsafe {
                #instance::__block::<__CHECK, __FULL, _, _, _>(
                    __block, __lanes, __dim, __scratch, __base, __active, __args, __result,
                )
            }
        },
    ]
}

/// The functions that these calls reach.
pub fn erased(owner: &Owner, krate: &TokenStream) -> TokenStream {
    let host = quote!(#krate::__private::host);
    let (ty, names) = (&owner.ty, owner.own.names());
    let (body, block) = (owner.name("body"), owner.name("block"));
    quote! {
        #[inline(always)]
        unsafe fn __body<const __CHECK: ::core::primitive::bool, __A, __R>(
            __block: &#host::Block,
            __thread: [::core::primitive::usize; 3],
            __dim: [::core::primitive::usize; 3],
            __base: ::core::primitive::u32,
            __args: __A,
        ) -> ::core::result::Result<__R, #host::RawFault> {
            // SAFETY: the contract is that of the body, and `same` checks the types.
            unsafe {
                let __args = #host::same(__args);
                let __check = #host::Flag::<__CHECK>;
                let __yielded =
                    <#ty>::#body::<#(#names,)* __CHECK>(__check, __block, __thread, __dim, __base, __args);
                ::core::result::Result::map(__yielded, |__value| #host::same(__value))
            }
        }

        #[inline(always)]
        unsafe fn __block<
            const __CHECK: ::core::primitive::bool,
            const __FULL: ::core::primitive::bool,
            __A,
            __R,
            __Y,
        >(
            __block: &#host::Block,
            __lanes: [::core::primitive::usize; 3],
            __dim: [::core::primitive::usize; 3],
            __scratch: &#host::Scratch,
            __base: ::core::primitive::u32,
            __active: &[::core::primitive::bool],
            __args: __A,
            __result: &mut [::core::mem::MaybeUninit<__R>],
        ) -> ::core::result::Result<__Y, #host::RawFault> {
            // SAFETY: the same.
            unsafe {
                let __args = #host::same(__args);
                let __result = #host::same(__result);
                let (__check, __full) = (#host::Flag::<__CHECK>, #host::Flag::<__FULL>);
                let __yielded = <#ty>::#block::<#(#names,)* __CHECK, __FULL>(
                    __check, __full,
                    __block, __lanes, __dim, __scratch, __base, __active, __args, __result,
                );
                ::core::result::Result::map(__yielded, |__value| #host::same(__value))
            }
        }
    }
}

/// The associated type for a method that the impl lacks or declares differently, so that rustc
/// reports no other missing item.
pub fn missing_method(owner: &Owner, krate: &TokenStream) -> TokenStream {
    let (device, own) = (owner.device(), &owner.own);
    // The parameters are renamed, since the impl may have parameters of the same names as the
    // trait.
    let names = own.names().iter().enumerate();
    let names = names.map(|(i, name)| {
        (
            name.to_string(),
            format_ident!("__P{i}").into_token_stream(),
        )
    });
    let names = names.collect();
    let declared = replaced(own.declared(), &names);
    let clause = own.clause(None).map(|clause| replaced(clause, &names));
    quote!(type #device<#declared> = #krate::__private::host::Unmarked #clause;)
}

/// The items of an impl's method, which forward to those of `own` on its carrier. `own` is
/// `None` for a method with errors. A method with callable parameters also needs functions with the
/// trait's signatures, because the types of callables have no names.
pub fn forwarded(
    owner: &Owner,
    own: Option<&Owner>,
    signature: &Signature,
    krate: &TokenStream,
) -> TokenStream {
    let (device, declared, clause) = (owner.device(), owner.own.declared(), owner.own.clause(None));
    let instance = match own {
        Some(own) => own.instance.clone(),
        None => quote!(#krate::__private::host::Unmarked),
    };
    let found = quote!(type #device<#declared> = #instance #clause;);
    if owner.is_erased {
        return found;
    }
    let call = |what: &str, arguments: TokenStream| match own {
        Some(own) => {
            let (ty, name) = (&own.ty, own.name(what));
            // SAFETY: the trait's function has the contract of the one that it calls.
            quote!(unsafe { <#ty>::#name::<#arguments })
        }
        None => quote!(::core::unreachable!()),
    };
    let on_body = call(
        "body",
        quote!(
            __CHECK
                > (
                    __host::Flag::<__CHECK>,
                    __block,
                    __thread,
                    __dim,
                    __base,
                    __args
                )
        ),
    );
    let on_block = call(
        "block",
        quote! {
            __CHECK, __FULL>(
                __host::Flag::<__CHECK>, __host::Flag::<__FULL>,
                __block, __lanes, __dim, __scratch, __base, __active, __args, __result,
            )
        },
    );
    let infer = infer_signature(owner, signature, krate);
    let [body, block] = bodies(owner, signature, krate);
    quote! {
        #found
        #infer #clause {
            ::core::unreachable!("only its type is asked for")
        }
        #[inline(always)]
        #[allow(unused, clippy::all)]
        #body #clause {
            use #krate::__private::host as __host;
            #on_body
        }
        #[inline(always)]
        #[allow(unused, clippy::all)]
        #block #clause {
            use #krate::__private::host as __host;
            #on_block
        }
    }
}

/// The items of a function with errors, so that their absence causes no errors in its callers.
pub fn broken(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let Owner {
        ty,
        generics,
        clause,
        ..
    } = owner;
    let stubs = stubs(owner, signature, krate);
    quote! {
        #stubs

        // SAFETY: the function has errors, so the crate never runs.
        #[automatically_derived]
        unsafe impl #generics #krate::__private::DeviceFn for #ty #clause {
            const IR: &'static #krate::__private::ir::EncodedKernel = #krate::__private::ir::EncodedKernel::EMPTY;
            const FACTS: #krate::__private::FunctionFacts = #krate::__private::FunctionFacts::NONE;

            fn links() -> #krate::__private::ir::link::Links {
                ::core::default::Default::default()
            }
        }
    }
}

/// The items of a function whose signature has errors, which were reported. Their error type keeps
/// rustc from reporting the errors that follow from it in calls.
pub fn unread_items(owner: &Owner, has_receiver: bool) -> TokenStream {
    let Owner {
        ty,
        generics,
        clause,
        ..
    } = owner;
    // No type has this name. The expansion reports an error besides, so rustc treats the unknown
    // name as an error type and reports nothing.
    let error = Ident::new("__NotRead", Span::mixed_site());
    let items = ["infer", "body", "block"].map(|what| owner.name(what));
    let span = Span::mixed_site().located_at(owner.ty.span());
    let method = owner.method.as_ref().filter(|_| has_receiver);
    let through = method.map(|method| {
        let (infer, body) = (
            Ident::new(&unnamed_name(method), span),
            owner.name("body_of"),
        );
        quote! {
            pub fn #infer(self, _: impl ::core::marker::Sized) -> #error {
                ::core::unreachable!()
            }
            pub fn #body<__F, __B, __T, __D, __S, __A>(
                self, _: __F, _: __B, _: __T, _: __D, _: __S, _: __A,
            ) -> #error {
                ::core::unreachable!()
            }
        }
    });
    quote! {
        #[automatically_derived]
        #[doc(hidden)]
        #[allow(unused, non_upper_case_globals, clippy::all)]
        impl #generics #ty #clause {
            #(pub const #items: #error = ();)*
            #through
        }
    }
}

/// The owner of a method with errors, which has no struct of its own.
pub fn broken_method(owner: &Owner, krate: &TokenStream) -> Owner {
    Owner {
        instance: quote!(#krate::__private::host::Unmarked),
        ..owner.clone()
    }
}

/// The items that calls need, without bodies.
pub fn stubs(owner: &Owner, signature: &Signature, krate: &TokenStream) -> TokenStream {
    let (ty, generics, clause) = (&owner.ty, &owner.generics, &owner.clause);
    let infer = infer(owner, signature, krate);
    let [body, block] = bodies(owner, signature, krate);
    let own_clause = owner.own.clause(None);
    quote! {
        #[automatically_derived]
        #[allow(unused, clippy::all)]
        impl #generics #ty #clause {
            #infer

            #[doc(hidden)]
            pub #body #own_clause {
                ::core::unreachable!()
            }

            #[doc(hidden)]
            pub #block #own_clause {
                ::core::unreachable!()
            }
        }
    }
}
