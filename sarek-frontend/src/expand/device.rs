//! The pipeline of a `#[device]` function, as [`super::kernel`] is that of a kernel.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use sarek_ir::analysis::contract::is_cooperative;
use syn::spanned::Spanned;

use super::{Expansion, configured, methods, unread};
use crate::check;
use crate::diagnostics::{Errors, Mistake, codes};
use crate::emit::function::{Owner, items};
use crate::emit::method_items::{broken, unread_items};
use crate::emit::{
    bounded_recursion, error_gate, fn_type, intrinsic, literal_types, reference, reported, types,
};
use crate::lower::{self, Lowered};
use crate::parse::{
    ArgumentKind, Attribute, Named, Parameters, Signature, body_items, body_recovery, depth,
    has_nameless, named_scalar, parameters, reserved, superstep,
};
use crate::tokens::plain_name;
use crate::tokens::range::Ranged;

/// Expands `#[device(attribute)] item`.
pub fn device(attribute: TokenStream, item: TokenStream) -> Expansion {
    let mut errors = Errors::default();
    if !depth::is_bounded(&attribute, &mut errors) || !depth::is_bounded(&item, &mut errors) {
        return unread(errors, item);
    }
    reserved::check(&item, &mut errors);
    let options = attribute.clone();
    let attribute = Attribute::parse(attribute, &mut errors);
    if attribute.block.is_some() {
        errors.at(
            codes::OPTION,
            Span::call_site(),
            "`block` is an option of `#[kernel]`",
            "drop it: a function has the block of the kernel that calls it",
        );
    }
    if let Some(span) = attribute.environments_span {
        errors.at(
            codes::OPTION,
            span,
            "`env` is an option of `#[kernel]`",
            "name it in the kernels that call the function",
        );
    }
    if let Some((_, span)) = attribute.optimize {
        errors.at(
            codes::OPTION,
            span,
            "`optimize` is an option of `#[kernel]`",
            "drop it: a function is optimized with the kernel that calls it",
        );
    }
    if let Some(span) = attribute.strict {
        errors.at(
            codes::OPTION,
            span,
            "`strict` is an option of `#[kernel]`",
            "drop it: a function is as strict as the kernel that calls it",
        );
    }
    if let Some(condition) = attribute.requires.first() {
        errors.at(
            codes::OPTION,
            condition.range(),
            "`requires` is an option of `#[kernel]`",
            "let the kernels that call the function require it, or assert it in the function",
        );
    }
    let krate = match &attribute.krate {
        Some(named) => named.path.to_token_stream(),
        None => quote!(::sarek),
    };
    let claim = attribute.krate.as_ref().map(Named::claim);
    if errors.is_empty()
        && let Some(tokens) = configured::variants(&item, &quote!(#[#krate::device(#options)]))
    {
        errors.finish();
        return Expansion {
            tokens,
            errors: vec![],
            kernel: None,
        };
    }
    let (tokens, kernel) = match body_recovery::parse::<syn::Item>(&item, &mut errors) {
        Ok(read) if has_nameless(&read) => return unread(errors, item),
        Ok(syn::Item::Fn(function)) => free(function, &attribute, &krate, &mut errors),
        Ok(syn::Item::Impl(block)) => {
            if let Some((_, span)) = attribute.inline {
                errors.at(
                    codes::OPTION,
                    span,
                    "`inline` is an option of free functions",
                    "drop it, or write the method as a function",
                );
            }
            if let Some((_, span)) = attribute.intrinsic {
                errors.at(
                    codes::OPTION,
                    span,
                    "`intrinsic` is an option of free functions",
                    "write the method as a function",
                );
            }
            (methods::of_impl(block, &krate, &mut errors), None)
        }
        Ok(syn::Item::Trait(item)) => (methods::of_trait(item, &krate, &mut errors), None),
        Ok(other) => {
            errors.at(
                codes::PLACE,
                other.range(),
                "`#[device]` is not on a function, an `impl` block or a trait",
                "write it before each function",
            );
            (item, None)
        }
        Err(error) => {
            errors.unparsed(error, &item);
            (item, None)
        }
    };
    let (reports, errors) = errors.finish();
    Expansion {
        tokens: quote!(#reports #tokens #claim),
        kernel: kernel.filter(|_| errors.is_empty()),
        errors,
    }
}

/// A free function, and the items beside it.
fn free(
    mut item: syn::ItemFn,
    attribute: &Attribute,
    krate: &TokenStream,
    errors: &mut Errors,
) -> (TokenStream, Option<sarek_ir::Kernel>) {
    let inline = attribute.inline;
    parameters::name_all(&mut item.sig, &mut item.block);
    if let Some(span) = of_a_type(&item.sig) {
        let what = "`#[device]` is on a single method";
        let mistake = Mistake::new(
            codes::PLACE,
            what,
            "write `#[device]` before the `impl` block",
        );
        let mistake = mistake
            .because("the macro adds the method's items for devices beside the `impl` block");
        errors.report(span, &mistake);
        return (item.to_token_stream(), None);
    }
    let mut signature = Signature::read_function(&item.sig, errors);
    if let Some(signature) = &mut signature {
        signature.inline = inline.map(|(depth, _)| depth);
        if let Some((name, _)) = &attribute.intrinsic {
            let own = || plain_name(&item.sig.ident);
            signature.intrinsic = Some(name.clone().unwrap_or_else(own));
            intrinsic_signature(&item.sig, signature, errors);
        }
    }
    let lowered = signature.as_ref().and_then(|signature| {
        let mut lowered = lower_body(&mut item.block, signature, krate, errors)?;
        lowered.literal_types =
            literal_types::of(&lowered, signature, &item.sig, &item.block, krate);
        Some(lowered)
    });
    let marks = lowered.as_ref().map(|l| &l.marks);
    let is_generic = item.sig.generics.type_params().next().is_some();
    reference::annotate(&mut item.block, marks, is_generic, krate);
    if let (Some(lowered), Some((_, span))) = (&lowered, inline) {
        bounded_recursion::check(lowered, errors, span);
    }
    let owner = Owner::of(&item.sig);
    let strukt = strukt(&item);
    let (Some(signature), Some(mut lowered)) = (&signature, lowered) else {
        let items = match &signature {
            Some(signature) => broken(&owner, signature, krate),
            None => unread_items(&owner, false),
        };
        reported::with_editors(&mut item.sig, &mut item.block, errors, krate);
        let allowed = quote!(#[allow(unused, unexpected_cfgs)]);
        return (quote!(#allowed #item #strukt #items), None);
    };
    lowered.gate = error_gate::of(&lowered, &item.sig, &item.block, krate);
    let cooperative = is_cooperative(&lowered.kernel);
    let items = items(&owner, &lowered, signature, cooperative, krate);
    let intrinsic = intrinsic::items(&owner, signature, krate);
    let (types, audits) = (types::audit(&item, krate), &lowered.audits);
    let tokens = quote! {
        #[allow(clippy::all)]
        #item
        #strukt
        #items
        #intrinsic
        const _: () = { #(#audits)* #types };
    };
    (tokens, Some(lowered.kernel))
}

/// The place where a signature mentions `self` or `Self`, which shows that it stands in an `impl`.
/// No items can stand beside such a function.
fn of_a_type(sig: &syn::Signature) -> Option<Span> {
    fn own(tokens: TokenStream) -> Option<Span> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) => own(group.stream()),
            TokenTree::Ident(ident) if ident == "self" || ident == "Self" => Some(ident.span()),
            _ => None,
        })
    }
    let (inputs, output) = (&sig.inputs, &sig.output);
    own(quote!(#inputs #output))
}

/// Reports an intrinsic with parameters or a result that are no scalars. The text of every target
/// can express scalars.
fn intrinsic_signature(sig: &syn::Signature, signature: &Signature, errors: &mut Errors) {
    if !sig.generics.params.is_empty() {
        errors.at(
            codes::FUNCTION_PARAMETER,
            sig.generics.range(),
            "an intrinsic cannot be generic",
            "use the type that its texts are written for",
        );
    }
    for (argument, input) in signature.arguments.iter().zip(&sig.inputs) {
        match argument.kind {
            ArgumentKind::Scalar(_) => {}
            ArgumentKind::Value(_)
            | ArgumentKind::Reference { .. }
            | ArgumentKind::Slice { .. }
            | ArgumentKind::View { .. }
            | ArgumentKind::Callable(_) => {
                errors.at(
                    codes::FUNCTION_PARAMETER,
                    input.span(),
                    "an intrinsic takes scalars by value",
                    "pass the parts of other values one by one",
                );
            }
        }
    }
    let scalar = match &signature.result_type {
        Some(syn::Type::Path(path)) => named_scalar(&path.path),
        Some(_) | None => None,
    };
    if scalar.is_none() {
        errors.at(
            codes::FUNCTION_PARAMETER,
            sig.output.range(),
            "an intrinsic must return a scalar",
            "write one intrinsic for each part",
        );
    }
}

/// Lowers and checks a body, and marks it for [`reference::annotate`].
pub(crate) fn lower_body(
    body: &mut syn::Block,
    signature: &Signature,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<Lowered> {
    let supersteps = superstep::expand(body, krate);
    reference::mark(body);
    let written = body_items::written_out(body, errors);
    let mut lowered = lower::lower(signature, &written, &Attribute::default(), krate, errors)?;
    lowered.audit_macros(&supersteps, krate);
    check::well_formed(&lowered, errors)?;
    check::barriers(&lowered, true, errors)?;
    check::recursion(&lowered, errors)?;
    check::callables(&lowered, errors)?;
    check::function_races(&mut lowered, signature.is_unsafe, errors)?;
    Some(lowered)
}

/// The struct that carries the items of a free function.
fn strukt(item: &syn::ItemFn) -> TokenStream {
    let parameters = Parameters::of(&item.sig.generics);
    let (vis, sig) = (&item.vis, &item.sig);
    let head = quote!(#vis #sig);
    fn_type::declared(&sig.ident, vis, &parameters.defaulted, &parameters, &head)
}
