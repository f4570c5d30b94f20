//! The way of a `#[device]` function, as [`crate::expand`] is that of a kernel.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

use crate::check;
use crate::diagnostics::Errors;
use crate::emit::function::{Owner, broken, implements, items};
use crate::emit::{nesting, reference, types};
use crate::expand::{Expansion, is_cooperative};
use crate::lower::{self, Lowered};
use crate::parse::{Attribute, Parameters, Signature, superstep};

/// Expands `#[device(attribute)] item`.
pub fn device(attribute: TokenStream, item: TokenStream) -> Expansion {
    let mut errors = Errors::default();
    let attribute = Attribute::parse(attribute, &mut errors);
    if attribute.block.is_some() {
        errors.at(Span::call_site(), "`block` is an option of `#[kernel]`");
    }
    let krate = match &attribute.krate {
        Some(path) => path.to_token_stream(),
        None => quote!(::sarek),
    };
    let (tokens, kernel) = match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(function)) => free(function, attribute.inline, &krate, &mut errors),
        Ok(syn::Item::Impl(block)) => {
            if let Some((_, span)) = attribute.inline {
                errors.at(span, "`inline` is an option of free functions");
            }
            (methods(block, &krate, &mut errors), None)
        }
        Ok(other) => {
            let message = "`#[device]` stands on a function or an `impl` block";
            errors.at(other.span(), message);
            (item, None)
        }
        Err(error) => {
            errors.push(error);
            (item, None)
        }
    };
    let (reports, errors) = errors.finish();
    Expansion {
        tokens: quote!(#reports #tokens),
        kernel: kernel.filter(|_| errors.is_empty()),
        errors,
    }
}

/// A function and what stands beside it.
fn free(
    mut item: syn::ItemFn,
    inline: Option<(u32, Span)>,
    krate: &TokenStream,
    errors: &mut Errors,
) -> (TokenStream, Option<sarek_ir::Kernel>) {
    let mut signature = Signature::read_function(&item.sig, errors);
    if let Some(signature) = &mut signature {
        signature.inline = inline.map(|(depth, _)| depth);
    }
    let lowered = signature
        .as_ref()
        .and_then(|s| lower_body(&mut item.block, s, krate, errors));
    let marks = lowered.as_ref().map(|l| &l.marks);
    reference::annotate(&mut item.block, marks, krate);
    if let (Some(lowered), Some((_, span))) = (&lowered, inline) {
        nesting::check(lowered, errors, span);
    }
    let owner = Owner::of(&item.sig);
    let strukt = strukt(&item);
    let (Some(signature), Some(lowered)) = (&signature, lowered) else {
        let items = signature.as_ref().map(|s| broken(&owner, s, krate));
        return (quote!(#[allow(unused)] #item #strukt #items), None);
    };
    let cooperative = is_cooperative(&lowered.kernel);
    let items = items(&owner, &lowered, signature, cooperative, krate);
    let implements = implements(&owner, krate);
    let (types, audits) = (types::audit(&item, krate), &lowered.audits);
    let tokens = quote! {
        #[allow(clippy::all)]
        #item
        #strukt
        #items
        #implements
        const _: () = { #(#audits)* #types };
    };
    (tokens, Some(lowered.kernel))
}

/// An impl block, and the items of its functions beside it.
fn methods(mut block: syn::ItemImpl, krate: &TokenStream, errors: &mut Errors) -> TokenStream {
    if let Some((path, _)) = &block.trait_ {
        let message = "`#[device]` stands on a type's own `impl` block: the methods of traits are not known to kernels";
        errors.at(path.span(), message);
        return quote!(#block);
    }
    let ty = block.self_ty.to_token_stream();
    let (generics, clause) = (
        block.generics.params.clone(),
        block.generics.where_clause.clone(),
    );
    let parameters = block.generics.clone();
    let mut all = TokenStream::new();
    for item in &mut block.items {
        let syn::ImplItem::Fn(function) = item else {
            continue;
        };
        let owner = Owner {
            ty: ty.clone(),
            generics: quote!(<#generics>),
            clause: quote!(#clause),
            method: Some(plain_name(&function.sig.ident)),
        };
        all.extend(method(function, owner, &parameters, krate, errors));
    }
    quote!(#[allow(clippy::all)] #block #all)
}

fn plain_name(name: &syn::Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").unwrap_or(&text).to_string()
}

/// The items of one method, whose body is annotated.
fn method(
    function: &mut syn::ImplItemFn,
    owner: Owner,
    generics: &syn::Generics,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<TokenStream> {
    if !function.sig.generics.params.is_empty() {
        let message = "a `#[device]` method is not generic by itself: make its type generic, or write a function";
        errors.at(function.sig.generics.span(), message);
        return None;
    }
    let mut signature = Signature::read_function(&function.sig, errors)?;
    signature.method.clone_from(&owner.method);
    signature.generics = generics.clone();
    let lowered = lower_body(&mut function.block, &signature, krate, errors);
    let marks = lowered.as_ref().map(|l| &l.marks);
    reference::annotate(&mut function.block, marks, krate);
    let lowered = lowered?;
    let cooperative = is_cooperative(&lowered.kernel);
    let items = items(&owner, &lowered, &signature, cooperative, krate);
    let (types, audits) = (types::audit_block(&function.block, krate), &lowered.audits);
    Some(quote! {
        #items
        const _: () = { #(#audits)* #types };
    })
}

/// Lowers and checks a body, and marks it for [`reference::annotate`].
fn lower_body(
    body: &mut syn::Block,
    signature: &Signature,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<Lowered> {
    superstep::expand(body, krate);
    reference::mark(body);
    let mut lowered = lower::lower(signature, body, &Attribute::default(), krate, errors)?;
    check::well_formed(&lowered, errors)?;
    check::barriers(&lowered, true, errors)?;
    check::recursion(&lowered, errors)?;
    check::function_races(&mut lowered, signature.is_unsafe, errors)?;
    Some(lowered)
}

/// The struct that has the items of a free function.
fn strukt(item: &syn::ItemFn) -> TokenStream {
    let mut name = item.sig.ident.clone();
    name.set_span(Span::mixed_site().located_at(name.span()));
    let (vis, parameters) = (&item.vis, Parameters::of(&item.sig.generics));
    let declared = &parameters.defaulted;
    let field = parameters.field();
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, clippy::exhaustive_structs)]
        #vis struct #name<#declared> { #field }
    }
}

impl Owner {
    /// The struct of a free function.
    pub fn of(sig: &syn::Signature) -> Owner {
        let mut name = sig.ident.clone();
        name.set_span(Span::mixed_site().located_at(name.span()));
        let Parameters {
            declared,
            names,
            clause,
            ..
        } = Parameters::of(&sig.generics);
        Owner {
            ty: quote!(#name<#names>),
            generics: quote!(<#declared>),
            clause,
            method: None,
        }
    }
}
