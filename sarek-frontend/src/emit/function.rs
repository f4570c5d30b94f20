//! What `#[device]` adds to a function: items that hold its IR, what it names, and its compiled body.
//!
//! Those of a free function belong to a struct of its name, those of a method to its type. What names
//! things of the user's stands where no item of this crate's making is in scope.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use sarek_ir::Access;

use super::item::{element_type, link_parts};
use super::{constant, direct};
use crate::lower::Lowered;
use crate::parse::{ArgumentKind, Signature};

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
    let (linked, links, sites, collective, function, ir, body) = (
        owner.name("linked"),
        owner.name("links"),
        owner.name("sites"),
        owner.name("collective"),
        owner.name("function"),
        owner.name("ir"),
        owner.name("body"),
    );
    let (constants, value) = link_parts(lowered, &linked, krate);
    let mutates = owner.name("mutates");
    let changes = signature.arguments.first().is_some_and(|a| match a.kind {
        ArgumentKind::Reference { mutable, .. } => mutable,
        ArgumentKind::Scalar(_)
        | ArgumentKind::Value(_)
        | ArgumentKind::Slice { .. }
        | ArgumentKind::View { .. } => false,
    });
    let checks = &lowered.checks;
    let count = lowered.sites();
    let collectives = lowered.callees.iter().map(|callee| callee.collective());
    let data = constant::kernel(&lowered.kernel);
    let (params, stmts) = direct::function(lowered, is_cooperative);
    let yields = match &signature.yields {
        Some(ty) => quote!(#ty),
        None => quote!(()),
    };
    quote! {
        #[automatically_derived]
        #[allow(dead_code, non_upper_case_globals, clippy::all)]
        impl #generics #ty #clause {
            #constants

            #[doc(hidden)]
            pub const #sites: ::core::primitive::u32 = #count;

            #[doc(hidden)]
            pub const #collective: ::core::primitive::bool = #is_cooperative #(|| #collectives)*;

            #[doc(hidden)]
            pub const #mutates: ::core::primitive::bool = #changes;

            #[doc(hidden)]
            pub fn #links() -> #krate::ir::link::Links {
                const { #(#checks)* }
                #value
            }

            #[doc(hidden)]
            pub fn #function() -> #krate::ir::link::Function {
                #krate::ir::link::Function { ir: Self::#ir, links: Self::#links() }
            }
        }

        const _: () = {
            use ::std::borrow::Cow;
            use #krate::__private::{direct, ir};

            #[automatically_derived]
            #[allow(dead_code, non_upper_case_globals, clippy::all)]
            impl #generics #ty #clause {
                #[doc(hidden)]
                pub const #ir: &'static ir::Kernel = &#data;

                #[doc(hidden)]
                #[inline(always)]
                #[allow(unused, unsafe_op_in_unsafe_fn)]
                pub unsafe fn #body<const CHECK: ::core::primitive::bool>(
                    #params
                ) -> ::core::result::Result<#yields, direct::RawFault> {
                    unsafe { #stmts }
                }
            }
        };
    }
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
    let params = signature
        .arguments
        .iter()
        .map(|argument| match &argument.kind {
            ArgumentKind::Scalar(scalar) => direct::rust_type(*scalar),
            ArgumentKind::Value(ty) => quote!(#ty),
            ArgumentKind::Reference { of, mutable } => match mutable {
                true => quote!(&mut #of),
                false => quote!(#of),
            },
            ArgumentKind::Slice { elem, access } => {
                let elem = element_type(elem);
                match access {
                    Access::Read | Access::Write => quote!(#direct::Output<'_, #elem>),
                    Access::Atomic => quote!(&[#direct::Atomic<#elem>]),
                }
            }
            ArgumentKind::View { .. } => unreachable!("a function takes no views"),
        });
    let yields = match &signature.yields {
        Some(ty) => quote!(#ty),
        None => quote!(()),
    };
    quote! {
        #[automatically_derived]
        #[allow(unused, clippy::all)]
        impl #generics #ty #clause {
            #[doc(hidden)]
            pub unsafe fn __sarek_body<const CHECK: ::core::primitive::bool>(
                _: &#direct::Block,
                _: [::core::primitive::usize; 3],
                _: [::core::primitive::usize; 3],
                _: ::core::primitive::u32,
                #(_: #params),*
            ) -> ::core::result::Result<#yields, #direct::RawFault> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        unsafe impl #generics #krate::DeviceFn for #ty #clause {
            const IR: &'static #krate::ir::Kernel = &#krate::ir::Kernel::EMPTY;
            const SITES: ::core::primitive::u32 = 0;
            const COLLECTIVE: ::core::primitive::bool = false;

            fn links() -> #krate::ir::link::Links {
                ::core::default::Default::default()
            }
        }
    }
}
