//! The parameter types of a launch, and a check by rustc that type names in a kernel refer to the
//! primitives. An alias such as `type f32 = f64;` would give the user's function another meaning
//! than the kernel.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use sarek_ir::{Access, Scalar};
use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::diagnostics::Errors;
use crate::lower::scalar_tokens;
use crate::parse::{Argument, ArgumentKind, ElementType, SimdType, scalar_type, simd_type};
use crate::tokens::at;
use crate::tokens::names::located;

/// Checks each type name in the function with an identity function to the primitive.
pub fn audit(item: &syn::ItemFn, krate: &TokenStream) -> TokenStream {
    let mut named = Named::default();
    named.visit_item_fn(item);
    named.audits(krate)
}

/// The same for a body alone.
pub fn audit_block(block: &syn::Block, krate: &TokenStream) -> TokenStream {
    let mut named = Named::default();
    named.visit_block(block);
    named.audits(krate)
}

impl Named {
    fn audits(&self, krate: &TokenStream) -> TokenStream {
        let named = self;
        let each = |(i, (ty, scalar)): (usize, &(syn::TypePath, Scalar))| {
            let span = Span::mixed_site().located_at(ty.span());
            let name: Ident = format_ident!("__type_{i}", span = span);
            let scalar = scalar_tokens(*scalar, krate);
            quote_spanned!(span=> const _: fn(#ty) -> #scalar = |#name| #name;)
        };
        let vectors = named.simd.iter().map(|(ty, simd)| {
            let span = Span::mixed_site().located_at(ty.span());
            let name = format_ident!("{}", simd.name());
            quote_spanned!(span=> const _: fn(#ty) -> #krate::#name = |__vector| __vector;)
        });
        let audits: TokenStream = named.found.iter().enumerate().map(each).collect();
        quote!(#audits #(#vectors)*)
    }
}

/// The scalar types that a function names, each spelling once.
#[derive(Default)]
struct Named {
    found: Vec<(syn::TypePath, Scalar)>,
    simd: Vec<(syn::TypePath, SimdType)>,
    seen: Vec<String>,
}

impl Visit<'_> for Named {
    fn visit_type_path(&mut self, path: &syn::TypePath) {
        syn::visit::visit_type_path(self, path);
        let text = path.to_token_stream().to_string();
        if self.seen.contains(&text) {
            return;
        }
        self.seen.push(text);
        if let Some(simd) = simd_type(&path.path).filter(|_| path.qself.is_none()) {
            self.simd.push((path.clone(), simd));
            return;
        }
        let mut errors = Errors::default();
        let scalar = scalar_type(&syn::Type::Path(path.clone()), &mut errors);
        // Errors are discarded: lowering reports a type that is no scalar.
        errors.finish();
        if let Some(scalar) = scalar {
            self.found.push((path.clone(), scalar));
        }
    }
}

/// The parameter type of a launch for this argument, with the argument's span.
pub(super) fn argument(argument: &Argument, krate: &TokenStream) -> TokenStream {
    let span = located(&argument.name).span();
    let krate = at(krate, span);
    let element = |elem: &ElementType| match elem {
        ElementType::Scalar(scalar) => at(&scalar_tokens(*scalar, &krate), span),
        ElementType::Other(ty) => ty.to_token_stream(),
    };
    match &argument.kind {
        ArgumentKind::Scalar(ty) => at(&scalar_tokens(*ty, &krate), span),
        ArgumentKind::Value(ty) => ty.to_token_stream(),
        ArgumentKind::Reference { .. } | ArgumentKind::Callable(_) => {
            unreachable!("a kernel takes no references to values, and nothing to call")
        }
        ArgumentKind::Slice { elem, access } => {
            let elem = element(elem);
            let mutable = (*access != Access::Read).then(|| quote_spanned!(span=> mut));
            quote_spanned!(span=> &'sarek #mutable #krate::Vector<#elem>)
        }
        ArgumentKind::View { elem, access, rank } => {
            let (elem, rank) = (element(elem), Literal::u32_unsuffixed(*rank));
            match access {
                Access::Write => {
                    quote_spanned!(span=> #krate::VectorViewMut<'sarek, #elem, #rank>)
                }
                Access::Read | Access::Atomic => {
                    quote_spanned!(span=> #krate::VectorView<'sarek, #elem, #rank>)
                }
            }
        }
    }
}
