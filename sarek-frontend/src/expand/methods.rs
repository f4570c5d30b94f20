//! The pipeline of methods: `#[device] impl` blocks, and the traits that such blocks implement.
//!
//! The items of a method are hidden among the items of its type. Those of a trait's method belong to
//! a struct of ours, its carrier, because the type may be of another crate. A trait declares the
//! items of its methods, too, and each impl forwards them to those of the carrier. A call finds them
//! through the trait, whether it knows the type or only a type parameter with that trait.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use sarek_ir::analysis::contract::is_cooperative;
use syn::spanned::Spanned;

use super::device::lower_body;
use super::operators;
use crate::diagnostics::{Errors, codes};
use crate::emit::function::{Owner, items};
use crate::emit::{
    error_gate, impls, literal_types, marks, method_items, reference, reported, types,
};
use crate::parse::{
    Callables, OperatorTrait, Own, Parameters, Signature, merged, named_scalar, own_generics,
    parameters, read_method,
};
use crate::tokens::range::Ranged;
use crate::tokens::{SelfType, plain_name};

/// True for a keyword that stands for a type or module, such as `Self`.
fn is_no_item(path: &syn::Path) -> bool {
    path.segments
        .last()
        .is_some_and(|name| syn::parse_str::<syn::Ident>(&name.ident.to_string()).is_err())
}

/// The impl block, with the items of its functions beside it.
pub fn of_impl(mut block: syn::ItemImpl, krate: &TokenStream, errors: &mut Errors) -> TokenStream {
    let of_trait = block.trait_.as_ref().map(|(path, _)| path.clone());
    let operator = of_trait.as_ref().and_then(OperatorTrait::of_path);
    if let (Some(_), None, syn::Type::Path(path)) = (&of_trait, operator, &*block.self_ty)
        && named_scalar(&path.path).is_some()
    {
        errors.at(
            codes::METHOD_DECLARATION,
            block.self_ty.range(),
            "a `#[device]` impl of a trait cannot be for a number",
            "wrap the number in a struct",
        );
        return TokenStream::new();
    }
    if let Some(path) = &of_trait
        && is_no_item(path)
    {
        errors.at(
            codes::METHOD_DECLARATION,
            path.range(),
            "this does not name a trait",
            "name a `#[device]` trait",
        );
        return TokenStream::new();
    }
    if let syn::Type::Path(path) = &*block.self_ty
        && is_no_item(&path.path)
    {
        errors.at(
            codes::METHOD_DECLARATION,
            path.range(),
            "this does not name a type",
            "name a type of your own",
        );
        return TokenStream::new();
    }
    let ty = block.self_ty.to_token_stream();
    let (generics, clause) = (
        block.generics.params.clone(),
        block.generics.where_clause.clone(),
    );
    let parameters = block.generics.clone();
    let (mut all, mut of_items) = (TokenStream::new(), vec![]);
    let self_type = of_trait
        .as_ref()
        .map(|of_trait| SelfType::of(&block, of_trait));
    for item in &mut block.items {
        let syn::ImplItem::Fn(function) = item else {
            continue;
        };
        let name = plain_name(&function.sig.ident);
        let method = match &of_trait {
            Some(path) => format!("{}_{name}", mangled(path.segments.last())),
            None => name.clone(),
        };
        let generic_by_itself = own_generics(&function.sig.generics);
        let all_generics = merged(&parameters, &generic_by_itself);
        let (strukt, instance) = instance(&ty, &method, &all_generics);
        let of_method = match &self_type {
            None => Owner {
                ty: ty.clone(),
                generics: quote!(<#generics>),
                clause: quote!(#clause),
                strukt: Some(strukt),
                instance,
                method: Some(method),
                own: Own::of(&generic_by_itself),
                is_erased: false,
            },
            Some(_) => {
                let all = Parameters::of(&all_generics);
                let declared = all.declared;
                Owner {
                    ty: instance.clone(),
                    generics: quote!(<#declared>),
                    clause: all.clause,
                    strukt: Some(strukt),
                    instance,
                    method: Some(method),
                    own: Own::default(),
                    is_erased: !Callables::are_in(&function.sig),
                }
            }
        };
        let read = method_items(
            function,
            &of_method,
            &parameters,
            self_type.as_ref(),
            krate,
            errors,
        );
        let Some((signature, items)) = read else {
            if of_trait.is_none() {
                let has_receiver = function.sig.receiver().is_some();
                all.extend(method_items::unread_items(&of_method, has_receiver));
            }
            continue;
        };
        let broken = items
            .is_none()
            .then(|| method_items::broken_method(&of_method, krate));
        if let (None, Some(broken)) = (&of_trait, &broken) {
            all.extend(method_items::stubs(broken, &signature, krate));
        }
        if of_trait.is_none() {
            let (vis, owner) = (quote!(pub), broken.as_ref().unwrap_or(&of_method));
            let through = method_items::through_receiver(owner, &signature, &vis, krate);
            all.extend(quote! {
                #[automatically_derived]
                #[allow(dead_code)]
                impl<#generics> #ty #clause { #through }
            });
        }
        if of_trait.is_some() {
            let own = items.as_ref().map(|_| &of_method);
            let encoded = impls::encode_method(&function.sig, &parameters, &block.self_ty, own);
            of_items.push(encoded);
        }
        all.extend(items);
    }
    let Some(path) = of_trait else {
        return quote!(#[allow(clippy::all)] #block #all);
    };
    if let Some(operator) = operator
        && !operators::has_output(&block, operator)
    {
        errors.at(
            codes::METHOD_DECLARATION,
            path.range(),
            "this is the name of an operator's trait, but the impl has no `Output`",
            "write `type Output = …;`, or give a trait of your own another name",
        );
        return quote!(#[allow(clippy::all)] #block);
    }
    if let Some(operator) = operator {
        let on_devices = operators::on_devices(&block, (&path, operator), &of_items, krate);
        return quote!(#[allow(clippy::all)] #block #on_devices #all);
    }
    let of_items = marks::if_marked(&path, &quote!(#(#of_items)*), krate);
    block.items.push(syn::ImplItem::Verbatim(of_items));
    let block = quote!(#[allow(clippy::all)] #block);
    let block = marks::known(&path, &block, krate);
    quote!(#block #all)
}

/// The trait, with the items that its methods have in each impl.
pub fn of_trait(mut item: syn::ItemTrait, krate: &TokenStream, errors: &mut Errors) -> TokenStream {
    let (mut all, mut methods, mut by_path) = (vec![], vec![], vec![]);
    let of_trait = itself(&item);
    let mut is_whole = true;
    for inner in &item.items {
        let syn::TraitItem::Fn(function) = inner else {
            continue;
        };
        if let Some(body) = &function.default {
            errors.at(
                codes::METHOD_DECLARATION,
                body.range(),
                "a method of a `#[device]` trait cannot have a default body",
                "write the body in each impl, or as a function, `fn twice<T: Trait>(of: &T)`",
            );
            is_whole = false;
            continue;
        }
        let Some(signature) = Signature::read_function(&function.sig, errors) else {
            is_whole = false;
            continue;
        };
        let own = own_generics(&function.sig.generics);
        let mut owner = Owner::of_trait_method(&function.sig.ident, &own);
        owner.is_erased = !Callables::are_in(&function.sig);
        let declared = method_items::declared(&owner, &signature, krate);
        let of_trait = (&of_trait, OperatorTrait::is_on_devices(&item.ident));
        by_path.push(method_items::by_path(&owner, &signature, of_trait, krate));
        methods.push(function.sig.clone());
        all.push(syn::TraitItem::Verbatim(declared));
    }
    let witness = is_whole.then(|| impls::witness(&item, krate));
    item.items.extend(all);
    let mark = marks::of_trait(&item, &methods);
    let by_path = marks::items_by_path(&item, &by_path);
    quote!(#item #mark #by_path #witness)
}

/// The trait as a bound, with its own parameters as arguments.
fn itself(item: &syn::ItemTrait) -> TokenStream {
    let (name, (_, arguments, _)) = (&item.ident, item.generics.split_for_impl());
    quote!(#name #arguments)
}

/// The type that represents a method: a struct beside its impl.
fn instance(ty: &TokenStream, method: &str, generics: &syn::Generics) -> (Ident, TokenStream) {
    let name = format!("__sarek_{}_{method}", mangled(ty));
    let span = Span::mixed_site().located_at(ty.span());
    let (name, names) = (Ident::new(&name, span), Parameters::of(generics).names);
    let instance = quote!(#name<#names>);
    (name, instance)
}

/// A type, or the last segment of a trait's path, as a part of a name.
fn mangled(tokens: impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let plain = text
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' });
    plain.collect()
}

fn has_types(generics: &syn::Generics) -> bool {
    generics.type_params().next().is_some()
}

/// The versions of a method with errors for rustc and for editors.
fn broken(function: &mut syn::ImplItemFn, errors: &Errors, krate: &TokenStream) {
    reported::with_editors(&mut function.sig, &mut function.block, errors, krate);
    let allowed = syn::parse_quote!(#[allow(unused, unexpected_cfgs)]);
    function.attrs.push(allowed);
}

/// The items of one method, whose body is annotated. A method with errors has none.
fn method_items(
    function: &mut syn::ImplItemFn,
    owner: &Owner,
    generics: &syn::Generics,
    self_type: Option<&SelfType>,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<(Signature, Option<TokenStream>)> {
    parameters::name_all(&mut function.sig, &mut function.block);
    let Some(mut signature) = read_method(&function.sig, generics, owner.ty.span(), errors) else {
        broken(function, errors, krate);
        return None;
    };
    signature.method.clone_from(&owner.method);
    let mut of_owner = generics.clone();
    if let Some(self_type) = self_type {
        signature.carrier = Some(owner.ty.clone());
        signature.own = Own::default();
        of_owner = signature.generics.clone();
        // The type `Self::Item` resolves only in the impl of a trait.
        signature.is_plain &= !self_type.has_types();
    }
    let mut lowered = lower_body(&mut function.block, &signature, krate, errors);
    if let Some(lowered) = &mut lowered {
        lowered.literal_types =
            literal_types::of(lowered, &signature, &function.sig, &function.block, krate);
    }
    let marks = lowered.as_ref().map(|l| &l.marks);
    let is_generic = has_types(&signature.generics);
    reference::annotate(&mut function.block, marks, is_generic, krate);
    let Some(mut lowered) = lowered else {
        broken(function, errors, krate);
        return Some((signature, None));
    };
    lowered.gate = error_gate::of_method(
        owner,
        &of_owner,
        &lowered,
        &function.sig,
        &function.block,
        krate,
    );
    let cooperative = is_cooperative(&lowered.kernel);
    let items = items(owner, &lowered, &signature, cooperative, krate);
    let items = match self_type {
        Some(self_type) => self_type.spelled_out(items),
        None => items,
    };
    let (types, audits) = (types::audit_block(&function.block, krate), &lowered.audits);
    let tokens = quote! {
        #items
        const _: () = { #(#audits)* #types };
    };
    Some((signature, Some(tokens)))
}
