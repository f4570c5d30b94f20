//! The items that replace the user's function.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use sarek_ir::Access;
use syn::ItemFn;
use syn::spanned::Spanned;

use super::callee_contracts::{Checks, checks};
use super::function::among_callees;
use super::links::{LinkParts, link_parts};
use super::{collected, cpu, encode, fn_type, reported, scope, types};
use crate::diagnostics::Errors;
use crate::lower::{Lowered, scalar_tokens};
use crate::parse::{ArgumentKind, ElementType, Item, Own, Parameters, Shapes, Signature};
use crate::tokens::at;
use crate::tokens::names::{self, located};

/// The inputs of the expansion besides the lowered body.
pub struct Parts<'a> {
    /// The item as the user wrote it, its body annotated, see [`super::reference`].
    pub item: &'a ItemFn,
    /// The parsed signature.
    pub signature: &'a Signature,
    /// Path of the façade crate.
    pub krate: &'a TokenStream,
    /// The loop shapes that the compiled body may take. `None` if the build selects them.
    pub shapes: Option<Shapes>,
    /// True if the kernel fixes its block size.
    pub fixed_block: bool,
    /// The environments that the kernel's text needs.
    pub environments: &'a [String],
    /// True if launches may be optimized.
    pub optimize: bool,
    /// True if the body contains a `native!`.
    pub has_native: bool,
    /// True if the threads of a block cooperate in the kernel itself.
    pub is_cooperative: bool,
    /// For each callee: a constant that is true if threads cooperate in it.
    pub collective: Vec<TokenStream>,
}

impl Parts<'_> {
    fn parameters(&self) -> Parameters {
        Parameters::of(&self.signature.generics)
    }
}

/// The expansion of a kernel: the launch function, the struct of the same name, and what the struct
/// implements.
pub fn kernel(parts: &Parts<'_>, lowered: &Lowered, sources: &[(&str, String)]) -> TokenStream {
    let krate = parts.krate;
    let name = type_name(parts);
    let front = front(parts);
    let ir = encode::kernel(&lowered.kernel);
    let body = cpu::body(lowered, parts.shapes);
    let links = links(parts, lowered, &name);
    let sources = sources
        .iter()
        .map(|(target, text)| (target, located_text(text)))
        .map(|(target, text)| quote!((#target, #text)));
    let (environments, optimize) = (parts.environments, parts.optimize);
    let scope = scope(krate);
    let (reference, audits) = (reference(parts), &lowered.audits);
    // In a separate item, so that rustc names no generated item if one of them fails.
    let audits = (!audits.is_empty()).then(|| quote!(const _: () = { #(#audits)* };));
    let Parameters {
        declared,
        names,
        clause,
        ..
    } = parts.parameters();
    let items = quote! {
        #links
        #audits

        const _: () = {
            #scope

            #[automatically_derived]
            impl<#declared> __host::DirectKernel for #name<#names> #clause {
                #body
            }
        };

        // SAFETY: IR and compiled body are made of the same lowered function.
        #[automatically_derived]
        unsafe impl<#declared> #krate::Kernel for #name<#names> #clause {
            const DEF: #krate::__private::KernelDef = {
                use #krate::__private::{host as __host, ir as __ir};
                #krate::__private::KernelDef {
                    ir: #ir,
                    links: Self::links,
                    sources: &[#(#sources),*],
                    direct: __host::Direct::of::<Self>(),
                    environments: &[#(#environments),*],
                    optimize: #optimize,
                }
            };

            #reference
        }
    };
    let items = among_callees(lowered, &items);
    let collected = collected::items(&parts.signature.name, &name, &parts.parameters(), krate);
    quote!(#front #items #collected)
}

/// The expansion of a kernel with errors. It has the same items, so no further errors follow.
/// The function stays for rustc, and for editors, which go on completing in it.
pub fn broken(parts: &Parts<'_>, errors: &Errors) -> TokenStream {
    let krate = parts.krate;
    let name = type_name(parts);
    let front = front(parts);
    let allowed = quote!(#[allow(unused, unconditional_panic, arithmetic_overflow)]);
    let for_rustc = reported::item(parts.item, errors, krate);
    let for_rustc = user_function(parts, &for_rustc, &allowed);
    let for_editors = user_function(parts, parts.item, &allowed);
    let Parameters {
        declared,
        names,
        clause,
        ..
    } = parts.parameters();
    quote! {
        #front

        // SAFETY: the kernel has errors, so the crate never runs.
        #[automatically_derived]
        unsafe impl<#declared> #krate::Kernel for #name<#names> #clause {
            const DEF: #krate::__private::KernelDef = #krate::__private::KernelDef::BROKEN;

            #[allow(unexpected_cfgs)]
            unsafe fn reference(
                _: &[#krate::__private::host::DirectArg],
                _: &#krate::__private::host::IndexSpace,
            ) {
                #[cfg(rust_analyzer)]
                #for_editors
                #[cfg(not(rust_analyzer))]
                #for_rustc
            }
        }
    }
}

/// Placeholder in a text for the path of the user's file, which rustc fills in.
pub const FILE: &str = "\u{0}";

/// Inserts the path of the user's file into a text.
fn located_text(text: &str) -> TokenStream {
    match text.split_once(FILE) {
        Some((before, after)) => {
            let file = encode::file();
            quote!(::core::concat!(#before, #file, #after))
        }
        None => quote!(#text),
    }
}

fn type_name(parts: &Parts<'_>) -> TokenStream {
    names::fn_type(&parts.signature.name)
}

/// The launch function, the struct, and its inherent functions.
fn front(parts: &Parts<'_>) -> TokenStream {
    let krate = parts.krate;
    let (own, name) = (&parts.signature.name, type_name(parts));
    let (vis, attrs) = (&parts.item.vis, outer_attributes(parts.item));
    let safety = parts.signature.is_unsafe.then(|| quote!(unsafe));
    let block = if parts.fixed_block {
        quote!(FixedBlock)
    } else {
        quote!(FreeBlock)
    };
    let names = parts.signature.arguments.iter().map(|a| located(&a.name));
    let mut names: Vec<Ident> = names.collect();
    // rustc reports duplicate parameter names at the user's function, so this one renames them.
    for i in 1..names.len() {
        if names[..i].contains(&names[i]) {
            names[i] = format_ident!("__arg{i}", span = names[i].span());
        }
    }
    let types = parts
        .signature
        .arguments
        .iter()
        .map(|a| types::argument(a, krate));
    let arguments = parts.signature.arguments.iter();
    let values = arguments.zip(&names).map(|(argument, name)| {
        let element = |ty: TokenStream, method: &str| {
            let span = Span::mixed_site().located_at(ty.span());
            let (krate, method) = (at(krate, span), Ident::new(method, span));
            quote_spanned!(span=> <#ty as #krate::Element>::#method(#name))
        };
        match &argument.kind {
            ArgumentKind::Slice {
                access: Access::Atomic,
                ..
            } => quote!(#krate::__private::Arg::atomics(#name)),
            ArgumentKind::Value(ty) => element(quote!(#ty), "__value"),
            ArgumentKind::View {
                elem: ElementType::Other(ty),
                access: Access::Write,
                ..
            } => element(quote!(#ty), "__view_mut"),
            ArgumentKind::View {
                elem: ElementType::Other(ty),
                ..
            } => element(quote!(#ty), "__view"),
            ArgumentKind::View { .. } => quote!(#krate::__private::Arg::view(#name)),
            ArgumentKind::Reference { .. } | ArgumentKind::Callable(_) => {
                unreachable!("a kernel takes no references to values, and nothing to call")
            }
            ArgumentKind::Slice {
                elem: ElementType::Other(ty),
                access: Access::Read,
            } => element(quote!(#ty), "__read"),
            ArgumentKind::Slice {
                elem: ElementType::Other(ty),
                access: Access::Write,
            } => element(quote!(#ty), "__write"),
            ArgumentKind::Slice {
                access: Access::Read | Access::Write,
                ..
            }
            | ArgumentKind::Scalar(_) => {
                quote!(<#krate::__private::Arg<'_> as ::core::convert::From<_>>::from(#name))
            }
        }
    });
    let parameters = parts.parameters();
    let collected = collected::instance(&name, &parameters, krate);
    let own = located(own);
    let strukt = fn_type::declared(
        &own,
        vis,
        &parameters.bare,
        &parameters,
        &own.to_token_stream(),
    );
    let Parameters {
        declared,
        names: generics,
        clause,
        ..
    } = parameters;
    // A view consists of several parameters.
    let (mut items, mut param) = (vec![], 0);
    for argument in &parts.signature.arguments {
        if argument.item.is_some() {
            items.push(Literal::u32_unsuffixed(param));
        }
        param += argument.kind.params();
    }
    // If the type of an argument is wrong, calls with any argument types cause no further errors.
    let broken = !parts.signature.unread.is_empty();
    let (values, given) = match broken {
        true => {
            let given: Vec<_> = names.iter().zip(types).collect();
            let each = parts.item.sig.inputs.iter().map(|input| {
                let known = given.iter().find(|(name, _)| binds(input, name));
                known.map_or_else(
                    || quote!(_: impl ::core::marker::Sized),
                    |(name, ty)| quote!(#name: #ty),
                )
            });
            (quote!(), quote!(#(#each),*))
        }
        false => (quote!(#(#values),*), quote!(#(#names: #types),*)),
    };
    let new = ["new", "vouched"][usize::from(parts.signature.is_unsafe)];
    let new = Ident::new(new, Span::call_site());
    let call = quote!(#krate::Launch::#new::<#name<#generics>>([#values]));
    let (launch, call) = match items.is_empty() {
        true => (quote!(Launch<'sarek, #krate::__private::#block>), call),
        false => (
            quote!(Ready<'sarek>),
            quote!(#krate::Launch::<#krate::__private::#block>::over_items(#call, &[#(#items),*])),
        ),
    };
    // Only the name has the user's span: rustc reports a duplicate name there.
    let here = at(&vis.to_token_stream(), own.span());
    let function = quote_spanned! {own.span()=>
        #here #safety fn #own<'sarek, #declared>(#given) -> #krate::#launch #clause {
            #collected
            // SAFETY: the arguments have the parameters' types, since this function takes them; its
            // callers make the promises that an `unsafe fn` requires.
            unsafe { #call }
        }
    };
    quote! {
        #(#attrs)*
        #function

        #strukt

        #[automatically_derived]
        #[allow(dead_code)]
        impl<#declared> #name<#generics> #clause {
            /// The kernel as data.
            #vis fn ir() -> &'static #krate::__private::ir::Kernel {
                <Self as #krate::Kernel>::ir()
            }

            /// The kernel's source text for a target: `cuda`, `opencl` or `wgsl`.
            #vis fn source(target: &::core::primitive::str) -> #krate::Result<::std::string::String> {
                <Self as #krate::Kernel>::source(target)
            }

            /// What each backend would do with the kernel.
            #vis fn explain() -> ::std::string::String {
                <Self as #krate::Kernel>::explain()
            }
        }
    }
}

fn binds(input: &syn::FnArg, name: &Ident) -> bool {
    match input {
        syn::FnArg::Typed(typed) => {
            matches!(&*typed.pat, syn::Pat::Ident(pat) if pat.ident == *name)
        }
        syn::FnArg::Receiver(_) => false,
    }
}

/// The attributes that describe the function to its callers. The others belong to its body.
fn outer_attributes(item: &ItemFn) -> Vec<&syn::Attribute> {
    const OUTER: [&str; 3] = ["doc", "deprecated", "allow"];
    item.attrs
        .iter()
        .filter(|a| OUTER.iter().any(|o| a.path().is_ident(o)))
        .collect()
}

pub(super) fn element_type(elem: &ElementType, krate: &TokenStream) -> TokenStream {
    match elem {
        ElementType::Scalar(scalar) => scalar_tokens(*scalar, krate),
        ElementType::Other(ty) => ty.to_token_stream(),
    }
}

/// The links and checks of the kernel. They stand where the user's paths resolve as written.
fn links(parts: &Parts<'_>, lowered: &Lowered, name: &TokenStream) -> TokenStream {
    let krate = parts.krate;
    let LinkParts {
        constants,
        given,
        functions,
    } = link_parts(lowered, parts.signature, krate);
    let parameters = parts.parameters();
    let literal_types = &lowered.literal_types;
    let checks = checks(lowered, false).among(parameters.is_empty(), krate);
    let probing = checks.probing(&format_ident!("__probes"), &Own::default(), krate);
    let Checks {
        standalone, inside, ..
    } = checks;
    let Parameters {
        declared,
        names,
        clause,
        ..
    } = parameters;
    quote! {
        #standalone

        #[automatically_derived]
        #[allow(unused, clippy::all)]
        impl<#declared> #name<#names> #clause {
            #constants

            #[doc(hidden)]
            fn links() -> #krate::__private::ir::link::Links {
                #inside
                #literal_types
                #krate::__private::links(#given, [#(#functions),*])
            }

            #probing
        }
    }
}

/// The user's function with the inferred types spelled out, and with additional attributes.
fn user_function(parts: &Parts<'_>, item: &ItemFn, attributes: &TokenStream) -> TokenStream {
    const LINTS: [&str; 4] = ["allow", "expect", "warn", "deny"];
    let lints = item
        .attrs
        .iter()
        .filter(|a| LINTS.iter().any(|l| a.path().is_ident(l)));
    let (signature, body) = (&item.sig, &item.block);
    let mut body = body.clone();
    body.stmts.splice(0..0, launders(parts));
    quote_spanned! {signature.ident.span()=>
        #(#lints)*
        #[allow(clippy::all)]
        #attributes
        #signature #body
    }
}

/// Statements that keep rustc from assuming the contents of `&mut [T]` unchanged after a barrier.
fn launders(parts: &Parts<'_>) -> Vec<syn::Stmt> {
    let krate = parts.krate;
    let may_cooperate = parts.is_cooperative || !parts.collective.is_empty();
    let arguments = parts.signature.arguments.iter();
    let written = arguments.filter(|argument| match argument.kind {
        // In a kernel over items, the user's function takes elements and its threads work alone.
        ArgumentKind::Slice { access, .. } => {
            may_cooperate && access == Access::Write && argument.item.is_none()
        }
        ArgumentKind::Scalar(_)
        | ArgumentKind::Value(_)
        | ArgumentKind::View { .. }
        | ArgumentKind::Callable(_)
        | ArgumentKind::Reference { .. } => false,
    });
    let each = written.map(|argument| {
        let name = &argument.name;
        let call = quote_spanned!(name.span()=> #krate::__private::host::launder(#name));
        syn::parse_quote_spanned!(name.span()=> let #name = #call;)
    });
    each.collect()
}

/// `Kernel::reference`, which calls the user's function.
fn reference(parts: &Parts<'_>) -> TokenStream {
    let krate = parts.krate;
    let name = &parts.item.sig.ident;
    let types = types::audit(parts.item, parts.krate);
    let mut next = 0;
    let arguments = parts.signature.arguments.iter();
    let arguments: Vec<TokenStream> = arguments
        .map(|argument| {
            let i = Literal::u32_unsuffixed(next);
            next += argument.kind.params();
            match argument.kind {
                ArgumentKind::View { access, .. } => match access {
                    Access::Write => quote!(__host::view_mut(__args, #i)),
                    Access::Read | Access::Atomic => quote!(__host::view(__args, #i)),
                },
                ArgumentKind::Scalar(_) => quote!(__host::scalar(__args, #i)),
                ArgumentKind::Value(_) => quote!(__host::value(__args, #i)),
                ArgumentKind::Reference { .. } | ArgumentKind::Callable(_) => {
                    unreachable!("a kernel takes no references to values, and nothing to call")
                }
                ArgumentKind::Slice { access, .. } => {
                    let slice = match access {
                        Access::Read => quote!(__host::input(__args, #i)),
                        Access::Write => {
                            quote!(__host::RawSliceMut::into_mut(__host::output(__args, #i)))
                        }
                        Access::Atomic => quote!(__host::atomics(__args, #i)),
                    };
                    match argument.item {
                        None => slice,
                        Some(Item::Value) => quote!(#slice[__host::ids::item_id()]),
                        Some(Item::Shared) => quote!(&#slice[__host::ids::item_id()]),
                        Some(Item::Mutable) => quote!(&mut #slice[__host::ids::item_id()]),
                    }
                }
            }
        })
        .collect();
    // rustc does not see the accesses of a `native!` text to its operands.
    let unseen = parts
        .has_native
        .then(|| quote!(#[allow(unused_mut, unused_assignments)]));
    let function = user_function(parts, parts.item, &unseen.unwrap_or_default());
    let parameters = parts.parameters();
    let generics = &parameters.names;
    let turbofish = (!parameters.is_empty()).then(|| quote!(::<#generics>));
    let run = |each: TokenStream| {
        let arguments = arguments.clone();
        // SAFETY: the arguments are those of the parameters by contract of `reference`, and threads run one at a time.
        quote!(__host::#each(__space, || unsafe { #name #turbofish(#(#arguments),*) });)
    };
    let (alone, together) = (run(quote!(for_each_thread)), run(quote!(for_each_block)));
    // SAFETY: the kernel is safe, or its caller made a promise; its arrays are its own.
    let together = quote!(unsafe { #together });
    let collective = &parts.collective;
    let each = match (parts.is_cooperative, collective.is_empty()) {
        (true, _) => together,
        (false, true) => alone,
        (false, false) => quote!(if const { #(#collective)||* } { #together } else { #alone }),
    };
    quote! {
        #[inline]
        unsafe fn reference(
            __args: &[#krate::__private::host::DirectArg],
            __space: &#krate::__private::host::IndexSpace,
        ) {
            #types
            #function
            {
                use #krate::__private::host as __host;
                #each
            }
        }
    }
}
