//! The links of a kernel or function: types, constants and callees that only rustc knows.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::lower::{Lowered, constants_name};
use crate::parse::Signature;
use crate::tokens::at;

/// The parts of the `Links` of a kernel or function.
pub(super) struct LinkParts {
    /// Associated constants with the values of its constants, the facts of its callees and their fault sites.
    pub constants: TokenStream,
    /// All links except the functions.
    pub given: TokenStream,
    /// The called functions.
    pub functions: Vec<TokenStream>,
}

pub(super) fn link_parts(
    lowered: &Lowered,
    signature: &Signature,
    krate: &TokenStream,
) -> LinkParts {
    let (types, paths) = (&lowered.link_types, &lowered.links);
    let paths = paths.iter().enumerate();
    let paths = paths.map(|(i, path)| match lowered.open_links.contains(&i) {
        true => quote!(()),
        false => path.clone(),
    });
    let linked = (!types.is_empty()).then(|| {
        let (ty, value) = (quote!((#(#types,)*)), quote!((#(#paths,)*)));
        constant(signature, "linked", &ty, &value)
    });
    let literal_types = &lowered.literal_types;
    let callees = (!lowered.callees.is_empty()).then(|| {
        let count = Literal::usize_unsuffixed(lowered.callees.len());
        let facts = lowered.callees.iter().map(|callee| callee.own_facts());
        let (ty, value) = (
            quote!([#krate::__private::FunctionFacts; #count]),
            quote!({ #literal_types [#(#facts),*] }),
        );
        constant(signature, "callees", &ty, &value)
    });
    let functions = lowered.functions_of(&lowered.kernel.calls);
    let sites = (!functions.is_empty()).then(|| {
        let count = Literal::usize_unsuffixed(functions.len() + 1);
        let order = functions
            .iter()
            .map(|f| Literal::usize_unsuffixed(f.index()));
        let (facts, u32) = (&lowered.facts, quote!(::core::primitive::u32));
        constant(
            signature,
            "sites",
            &quote!([#u32; #count]),
            &quote!(#krate::__private::host::sites_before(&#facts, &[#(#order),*])),
        )
    });
    let values = link_constants(lowered, krate);
    let printers = lowered.printers.iter();
    let printers = printers.map(|printer| {
        quote_spanned! {Span::mixed_site()=>
            #krate::__private::ir::print::HostPrinter(|__values| { #literal_types #printer })
        }
    });
    let infos = &lowered.type_infos;
    let functions = lowered.callees.iter().map(|callee| callee.function());
    let preludes = &lowered.preludes;
    let given = quote! {(
        [#(#values),*],
        [#(#infos),*],
        [#(#krate::NativePrelude::named(&#preludes)),*],
        [#(#printers),*],
    )};
    LinkParts {
        constants: quote!(#linked #callees #sites),
        given,
        functions: functions.collect(),
    }
}

/// An associated constant, or a `const fn` if the method has generic parameters of its own.
fn constant(
    signature: &Signature,
    what: &str,
    ty: &TokenStream,
    value: &TokenStream,
) -> TokenStream {
    let name = constants_name(signature.method.as_deref(), signature.is_function, what);
    match signature.own.is_empty() {
        true => quote! {
            #[doc(hidden)]
            const #name: #ty = #value;
        },
        false => {
            let (own, clause) = (signature.own.declared(), signature.own.clause(None));
            quote! {
                #[doc(hidden)]
                const fn #name<#own>() -> #ty #clause {
                    #value
                }
            }
        }
    }
}

/// Each link as a list of the scalars that it consists of.
fn link_constants(lowered: &Lowered, krate: &TokenStream) -> Vec<TokenStream> {
    use sarek_ir::Type;
    let each = |(link_index, link): (usize, &sarek_ir::Link)| {
        let i = Literal::usize_unsuffixed(link_index);
        let path = &lowered.links[link_index];
        let span = Span::mixed_site().located_at(path.span());
        let krate = at(krate, span);
        let constant = match lowered.open_links.contains(&link_index) {
            true => quote!((#path)),
            false => {
                let linked = &lowered.linked;
                quote!(#linked.#i)
            }
        };
        match link.ty {
            Type::Compound(_) => {
                quote_spanned!(span=> #krate::Constant::leaves(&#constant))
            }
            Type::Scalar(_) => {
                quote_spanned!(span=> #krate::__private::leaf(#krate::ScalarArg::value(#constant)))
            }
        }
    };
    lowered.kernel.links.iter().enumerate().map(each).collect()
}
