//! The items that stand in place of the user's function.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use sarek_ir::Access;
use syn::ItemFn;

use super::{constant, direct, types};
use crate::lower::Lowered;
use crate::parse::{Argument, ArgumentKind, Signature};

/// What the expansion needs besides the lowered body.
pub struct Parts<'a> {
    /// The item as the user wrote it, its body annotated, see [`super::reference`].
    pub item: &'a ItemFn,
    /// What its signature says.
    pub signature: &'a Signature,
    /// Path of the façade crate.
    pub krate: &'a TokenStream,
    /// Which shapes the compiled body may take.
    pub shapes: direct::Shapes,
    /// Does the kernel fix its block size?
    pub fixed_block: bool,
    /// Does its body contain a `native!`?
    pub has_native: bool,
    /// Do the threads of a block work together?
    pub is_cooperative: bool,
}

/// The expansion of a kernel: the launch function, the struct of the same name, and what the struct
/// implements.
pub fn kernel(parts: &Parts<'_>, lowered: &Lowered, sources: &[(&str, String)]) -> TokenStream {
    let krate = parts.krate;
    let name = type_name(parts);
    let front = front(parts);
    let ir = constant::kernel(&lowered.kernel);
    let body = direct::body(lowered, parts.shapes);
    let links = links(lowered, &name);
    let values = link_constants(lowered, &name);
    let sources = sources
        .iter()
        .map(|(target, text)| (target, located_text(text)))
        .map(|(target, text)| quote!((#target, #text)));
    let reference = reference(parts, &lowered.audits);
    quote! {
        #front
        #links

        const _: () = {
            use ::std::borrow::Cow;
            use #krate::__private::{direct, ir};

            #[automatically_derived]
            impl #name {
                #[doc(hidden)]
                const IR: &'static ir::Kernel = &#ir;
                #[doc(hidden)]
                const LINK_VALUES: &'static [ir::Value] = &[#(#values),*];
            }

            #[automatically_derived]
            impl direct::DirectKernel for #name {
                #body
            }
        };

        #[automatically_derived]
        unsafe impl #krate::Kernel for #name {
            const DEF: #krate::__private::KernelDef = #krate::__private::KernelDef {
                ir: Self::IR,
                links: Self::LINK_VALUES,
                sources: &[#(#sources),*],
                direct: #krate::__private::direct::Direct::of::<Self>(),
            };

            #reference
        }
    }
}

/// The expansion of a kernel with errors: the same items, so that nothing else fails for want of
/// them, and the body, so that an editor goes on completing in it.
pub fn broken(parts: &Parts<'_>) -> TokenStream {
    let krate = parts.krate;
    let name = type_name(parts);
    let front = front(parts);
    let function = user_function(parts, &quote!(#[allow(unused)]));
    quote! {
        #front

        #[automatically_derived]
        unsafe impl #krate::Kernel for #name {
            const DEF: #krate::__private::KernelDef = #krate::__private::KernelDef::BROKEN;

            unsafe fn reference(
                _: &[#krate::__private::direct::DirectArg],
                _: &#krate::__private::direct::IndexSpace,
            ) {
                #function
            }
        }
    }
}

/// What stands in a text for the path of the user's file, which rustc fills in.
pub const FILE: &str = "\u{0}";

/// A text with the path of the user's file in it.
fn located_text(text: &str) -> TokenStream {
    match text.split_once(FILE) {
        Some((before, after)) => quote!(::core::concat!(#before, ::core::file!(), #after)),
        None => quote!(#text),
    }
}

/// The user's name without the user's lints.
fn located(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(Span::mixed_site().located_at(ident.span()));
    ident
}

fn type_name(parts: &Parts<'_>) -> Ident {
    located(&parts.signature.name)
}

/// The launch function, the struct, and its inherent functions.
fn front(parts: &Parts<'_>) -> TokenStream {
    let krate = parts.krate;
    let name = type_name(parts);
    let (vis, attrs) = (&parts.item.vis, outer_attributes(parts.item));
    let safety = parts.signature.is_unsafe.then(|| quote!(unsafe));
    let block = if parts.fixed_block {
        quote!(FixedBlock)
    } else {
        quote!(FreeBlock)
    };
    let names: Vec<Ident> = parts
        .signature
        .arguments
        .iter()
        .map(|a| located(&a.name))
        .collect();
    let types = parts
        .signature
        .arguments
        .iter()
        .map(|a| argument_type(a, krate));
    let values = parts.signature.arguments.iter().map(|argument| {
        let name = located(&argument.name);
        match argument.kind {
            ArgumentKind::Slice {
                access: Access::Atomic,
                ..
            } => quote!(#krate::__private::Arg::atomics(#name)),
            ArgumentKind::Slice {
                access: Access::Read | Access::Write,
                ..
            }
            | ArgumentKind::Scalar(_) => quote!(#krate::__private::Arg::from(#name)),
        }
    });
    quote! {
        #(#attrs)*
        #vis #safety fn #name<'sarek>(
            #(#names: #types),*
        ) -> #krate::Launch<'sarek, #krate::__private::#block> {
            unsafe { #krate::Launch::new::<#name>([#(#values),*]) }
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types, clippy::exhaustive_structs)]
        #vis struct #name {}

        #[automatically_derived]
        #[allow(dead_code)]
        impl #name {
            /// The kernel as data.
            #vis fn ir() -> &'static #krate::ir::Kernel {
                <#name as #krate::Kernel>::ir()
            }

            /// The kernel's source text for a target: `cuda`, `opencl` or `wgsl`.
            #vis fn source(target: &::core::primitive::str) -> #krate::Result<::std::string::String> {
                <#name as #krate::Kernel>::source(target)
            }

            /// What each backend would do with the kernel.
            #vis fn explain() -> ::std::string::String {
                <#name as #krate::Kernel>::explain()
            }
        }
    }
}

/// The attributes that describe the function to its callers; the others belong to its body.
fn outer_attributes(item: &ItemFn) -> Vec<&syn::Attribute> {
    const OUTER: [&str; 3] = ["doc", "deprecated", "allow"];
    item.attrs
        .iter()
        .filter(|a| OUTER.iter().any(|o| a.path().is_ident(o)))
        .collect()
}

fn argument_type(argument: &Argument, krate: &TokenStream) -> TokenStream {
    match argument.kind {
        ArgumentKind::Scalar(ty) => direct::rust_type(ty),
        ArgumentKind::Slice { elem, access } => {
            let elem = direct::rust_type(elem);
            let mutable = (access != Access::Read).then(|| quote!(mut));
            quote!(&'sarek #mutable #krate::Vector<#elem>)
        }
    }
}

/// The constants that only rustc can evaluate, where the user's paths mean what they say.
fn links(lowered: &Lowered, name: &Ident) -> TokenStream {
    if lowered.links.is_empty() {
        return TokenStream::new();
    }
    let types: Vec<_> = lowered
        .kernel
        .links
        .iter()
        .map(|l| direct::rust_type(l.ty.scalar()))
        .collect();
    let paths = &lowered.links;
    quote! {
        #[automatically_derived]
        impl #name {
            #[doc(hidden)]
            const LINKED: (#(#types,)*) = (#(#paths,)*);
        }
    }
}

/// Each link as a `Value`; the IR crate is in scope as `ir`.
fn link_constants(lowered: &Lowered, name: &Ident) -> Vec<TokenStream> {
    use sarek_ir::Scalar;
    let each = |(i, link): (usize, &sarek_ir::Link)| {
        let i = Literal::usize_unsuffixed(i);
        let constant = quote!(#name::LINKED.#i);
        match link.ty.scalar() {
            Scalar::Bool => quote!(ir::Value::Bool(#constant)),
            Scalar::I8 => quote!(ir::Value::I8(#constant)),
            Scalar::U8 => quote!(ir::Value::U8(#constant)),
            Scalar::I16 => quote!(ir::Value::I16(#constant)),
            Scalar::U16 => quote!(ir::Value::U16(#constant)),
            Scalar::I32 => quote!(ir::Value::I32(#constant)),
            Scalar::U32 => quote!(ir::Value::U32(#constant)),
            Scalar::I64 => quote!(ir::Value::I64(#constant)),
            Scalar::U64 => quote!(ir::Value::U64(#constant)),
            Scalar::Usize => quote!(ir::Value::Usize(#constant as ::core::primitive::u64)),
            Scalar::F32 => quote!(ir::Value::f32(#constant)),
            Scalar::F64 => quote!(ir::Value::f64(#constant)),
        }
    };
    lowered.kernel.links.iter().enumerate().map(each).collect()
}

/// The function as the user wrote it, with what inference found, under some more attributes.
fn user_function(parts: &Parts<'_>, attributes: &TokenStream) -> TokenStream {
    let item = parts.item;
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

/// Keeps rustc from knowing what the `&mut [T]` of a thread contain after a barrier.
fn launders(parts: &Parts<'_>) -> Vec<syn::Stmt> {
    let krate = parts.krate;
    let arguments = parts.signature.arguments.iter();
    let written = arguments.filter(|argument| match argument.kind {
        ArgumentKind::Slice { access, .. } => parts.is_cooperative && access == Access::Write,
        ArgumentKind::Scalar(_) => false,
    });
    let each = written.map(|argument| {
        let name = &argument.name;
        let call = quote_spanned!(name.span()=> #krate::__private::direct::launder(#name));
        syn::parse_quote_spanned!(name.span()=> let #name = #call;)
    });
    each.collect()
}

/// `Kernel::reference`, which calls the user's function, and tests that the function's names mean what
/// they were taken for.
fn reference(parts: &Parts<'_>, audits: &[TokenStream]) -> TokenStream {
    let krate = parts.krate;
    let name = &parts.item.sig.ident;
    let types = types::audit(parts.item);
    let arguments = parts
        .signature
        .arguments
        .iter()
        .enumerate()
        .map(|(i, argument)| {
            let i = Literal::usize_unsuffixed(i);
            match argument.kind {
                ArgumentKind::Scalar(_) => quote!(direct::scalar(__args, #i)),
                ArgumentKind::Slice { access, .. } => match access {
                    Access::Read => quote!(direct::input(__args, #i)),
                    Access::Write => quote!(direct::output(__args, #i).into_mut()),
                    Access::Atomic => quote!(direct::atomics(__args, #i)),
                },
            }
        });
    // What the text of a `native!` does to its operands, rustc does not see.
    let unseen = parts
        .has_native
        .then(|| quote!(#[allow(unused_mut, unused_assignments)]));
    let function = user_function(parts, &unseen.unwrap_or_default());
    let each = if parts.is_cooperative {
        quote!(for_each_block)
    } else {
        quote!(for_each_thread)
    };
    quote! {
        #[inline]
        unsafe fn reference(
            __args: &[#krate::__private::direct::DirectArg],
            __space: &#krate::__private::direct::IndexSpace,
        ) {
            #(#audits)*
            #types
            #function
            {
                use #krate::__private::direct;
                direct::#each(__space, || unsafe { #name(#(#arguments),*) });
            }
        }
    }
}
