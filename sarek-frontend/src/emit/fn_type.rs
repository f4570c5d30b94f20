//! The struct that carries a function's associated items; it has the function's name.
//!
//! The struct stands in a module of its own and is imported beside the function. If two functions
//! have the same name, rustc therefore reports one error, at the second name. Each expansion
//! continues with its own struct.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Visibility;

use crate::parse::Parameters;
use crate::tokens::ends;
use crate::tokens::names::{fn_module, located};

/// The struct's declaration with these parameters, and its import. The import takes the span of the
/// function's head, so that rustc merges its error about a duplicate name with that of the
/// function.
pub fn declared(
    name: &Ident,
    vis: &Visibility,
    declared: &TokenStream,
    parameters: &Parameters,
    head: &TokenStream,
) -> TokenStream {
    let (mut own, mut imported) = (fn_module(name), name.clone());
    let [first, last] = ends(head).unwrap_or([name.span(); 2]);
    let (field, strukt) = (parameters.field(), located(name));
    // If another module uses a private struct, rustc shows the start of the declaration and of the
    // import.
    let declaration = quote_spanned! {strukt.span()=>
        #[doc(hidden)]
        mod #own {
            #[allow(non_camel_case_types, dead_code, clippy::exhaustive_structs)]
            pub struct #strukt<#declared> { #field }
        }
    };
    own.set_span(first);
    imported.set_span(last);
    quote! {
        #declaration
        #[doc(hidden)]
        #[allow(unused_imports, unreachable_pub)]
        #vis use #own::#imported;
    }
}
