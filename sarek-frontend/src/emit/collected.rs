//! Registers kernels for `cargo sarek check`, which sets `SAREK_COLLECT` while rustc runs.
//!
//! Other builds contain nothing of it. `SAREK_INSTANCES` names instances of generic kernels, such as `k::<f32, 16>`, separated by semicolons. rustc
//! gets its value by `option_env!`, so that cargo builds the crate anew when it changes.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::parse::Parameters;

/// True if this build registers kernels.
fn is_requested() -> bool {
    std::env::var_os("SAREK_COLLECT").is_some()
}

/// The items that register a kernel, if this build does.
pub fn items(
    name: &Ident,
    ty: &TokenStream,
    parameters: &Parameters,
    krate: &TokenStream,
) -> TokenStream {
    if !is_requested() {
        return quote!();
    }
    let instances = std::env::var("SAREK_INSTANCES").unwrap_or_default();
    registered(name, ty, parameters.is_empty(), &instances, krate)
}

/// The statement of a launch function that registers its instance, if this build registers kernels.
pub fn instance(ty: &TokenStream, parameters: &Parameters, krate: &TokenStream) -> TokenStream {
    if !is_requested() || parameters.is_empty() {
        return quote!();
    }
    let names = &parameters.names;
    quote!(#krate::__private::instance::<#ty<#names>>();)
}

fn registered(
    name: &Ident,
    ty: &TokenStream,
    is_closed: bool,
    instances: &str,
    krate: &TokenStream,
) -> TokenStream {
    if is_closed {
        return quote!(#krate::__private::collect!(#ty););
    }
    let instances = instances.split(';').filter_map(|instance| {
        let path: syn::Path = syn::parse_str(instance.trim()).ok()?;
        let last = path.segments.last()?;
        let arguments = &last.arguments;
        (last.ident == *name && !arguments.is_none())
            .then(|| quote!(#krate::__private::collect!(#ty #arguments);))
    });
    quote! {
        #krate::__private::collect!(generic #name);
        #(#instances)*
        const _: ::core::option::Option<&'static ::core::primitive::str> = ::core::option_env!("SAREK_INSTANCES");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::format_ident;

    #[test]
    fn a_generic_kernel_is_registered_at_the_instances_of_its_name() {
        let (name, ty, krate) = (format_ident!("k"), quote!(m::k), quote!(::sarek));
        let text = |closed, instances| {
            let tokens = registered(&name, &ty, closed, instances, &krate);
            tokens.to_string().replace(' ', "")
        };
        assert_eq!(text(true, ""), "::sarek::__private::collect!(m::k);");
        let several = text(false, "k::<f32, 16>; other::<u8>; a::k::<Vec<u8>>; k");
        assert!(several.starts_with("::sarek::__private::collect!(generick);"));
        for instance in ["(m::k::<f32,16>);", "(m::k::<Vec<u8>>);"] {
            assert!(several.contains(instance), "{several}");
        }
        assert_eq!(several.matches("collect!").count(), 3, "{several}");
    }
}
