//! The pipeline of a kernel, from the attribute's tokens to the expansion.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use sarek_ir::analysis::contract::is_cooperative;

use super::{Expansion, configured, unread};
use crate::diagnostics::{Errors, codes};
use crate::emit::{self, Parts, literal_types, reference};
use crate::lower::{self, Lowered};
use crate::parse::{
    Attribute, Named, Signature, body_items, body_recovery, depth, is_nameless, parameters,
    reserved, strip_items, superstep,
};
use crate::tokens::range::Ranged;

/// Expands `#[kernel(attribute)] item`.
pub fn kernel(attribute: TokenStream, item: TokenStream) -> Expansion {
    let mut errors = Errors::default();
    if !depth::is_bounded(&attribute, &mut errors) || !depth::is_bounded(&item, &mut errors) {
        return unread(errors, item);
    }
    reserved::check(&item, &mut errors);
    let options = attribute.clone();
    let attribute = Attribute::parse(attribute, &mut errors);
    let krate = match &attribute.krate {
        Some(named) => named.path.to_token_stream(),
        None => quote!(::sarek),
    };
    let claim = attribute.krate.as_ref().map(Named::claim);
    if let Some((_, span)) = attribute.inline {
        errors.at(
            codes::OPTION,
            span,
            "`inline` is an option of `#[device]`",
            "drop it: functions do not call kernels",
        );
    }
    if let Some((_, span)) = attribute.intrinsic {
        errors.at(
            codes::OPTION,
            span,
            "`intrinsic` is an option of `#[device]`",
            "drop it",
        );
    }
    let mut item: syn::ItemFn = match body_recovery::parse(&item, &mut errors) {
        Ok(item) => item,
        // It is meant to be a function, but is not valid Rust.
        Err(error) if has_function(&item) => {
            errors.unparsed(error, &item);
            return unread(errors, item);
        }
        Err(error) => {
            errors.at(
                codes::PLACE,
                error.span(),
                format!("`#[kernel]` is not on a function ({error})"),
                "put it on a free `fn` with a body",
            );
            return unread(errors, item);
        }
    };
    if is_nameless(&item.sig.generics) {
        return unread(errors, item.into_token_stream());
    }
    if let Some(tokens) = configured_first(&mut item, &krate, &options) {
        errors.finish();
        return Expansion {
            tokens,
            errors: vec![],
            kernel: None,
        };
    }
    if errors.is_empty()
        && let Some(tokens) = configured::variants(
            &item.to_token_stream(),
            &quote!(#[#krate::kernel(#options)]),
        )
    {
        errors.finish();
        return Expansion {
            tokens,
            errors: vec![],
            kernel: None,
        };
    }
    item_attributes(&item, &mut errors);
    parameters::name_all(&mut item.sig, &mut item.block);
    let Some(signature) = Signature::read(&item, &mut errors) else {
        let item = emit::reported::item(&item, &errors, &krate);
        let (reports, errors) = errors.finish();
        // The signature cannot be launched, but an editor can still use the function itself.
        let tokens = quote!(#reports #[allow(unused, clippy::all)] #item);
        return Expansion {
            tokens,
            errors,
            kernel: None,
        };
    };
    strip_items(&mut item.sig);
    if let (true, Some(span)) = (signature.is_over_items(), attribute.block_span) {
        errors.at(
            codes::ITEM_KERNEL,
            span,
            "a kernel over items cannot choose its blocks",
            "drop `block`",
        );
    }
    let mut lowered = lower_item(&mut item, &signature, &attribute, &krate, &mut errors);
    if let Some(lowered) = &mut lowered {
        lowered.literal_types =
            literal_types::of(lowered, &signature, &item.sig, &item.block, &krate);
    }
    let types = lowered.as_ref().map(|l| &l.marks);
    let is_generic = item.sig.generics.type_params().next().is_some();
    reference::annotate(&mut item.block, types, is_generic, &krate);
    let requires = &attribute.requires;
    let required: Vec<syn::Stmt> = requires
        .iter()
        .map(|condition| syn::parse_quote!(let _: bool = #condition;))
        .collect();
    item.block.stmts.splice(0..0, required);
    let parts = Parts {
        item: &item,
        signature: &signature,
        krate: &krate,
        shapes: attribute.shapes,
        // Also if its value was refused: then launches that rely on it are no mistakes.
        fixed_block: attribute.block_span.is_some(),
        environments: &attribute.environments,
        optimize: !signature.is_unsafe && attribute.optimize.is_none_or(|(allowed, _)| allowed),
        has_native: lowered
            .as_ref()
            .is_some_and(|l| !l.kernel.natives.is_empty()),
        is_cooperative: lowered.as_ref().is_some_and(|l| is_cooperative(&l.kernel)),
        collective: lowered
            .iter()
            .flat_map(|l| l.callees.iter().map(|callee| callee.collective()))
            .collect(),
    };
    match lowered {
        Some(mut lowered) if errors.is_empty() => {
            lowered.gate = emit::error_gate::of(&lowered, &item.sig, &item.block, &krate);
            let sources = sources(&lowered.kernel);
            let tokens = emit::kernel(&parts, &lowered, &sources);
            Expansion {
                tokens: quote!(#tokens #claim),
                errors: errors.finish().1,
                kernel: Some(lowered.kernel),
            }
        }
        _ => {
            let item = emit::broken(&parts, &errors);
            let (reports, errors) = errors.finish();
            Expansion {
                tokens: quote!(#reports #item),
                errors,
                kernel: None,
            }
        }
    }
}

/// True if the tokens are a function or meant to be one. The contents of closures and of other
/// items are groups, which are not searched.
fn has_function(item: &TokenStream) -> bool {
    let mut tokens = item.clone().into_iter();
    let is_other = |ident: &proc_macro2::Ident| OTHER_ITEMS.iter().any(|other| ident == other);
    let item = tokens.find_map(|token| match token {
        proc_macro2::TokenTree::Ident(ident) if ident == "fn" => Some(true),
        proc_macro2::TokenTree::Ident(ident) if is_other(&ident) => Some(false),
        _ => None,
    });
    item == Some(true)
}

/// Keywords that begin items other than functions.
const OTHER_ITEMS: [&str; 9] = [
    "struct", "enum", "union", "trait", "impl", "mod", "static", "type", "use",
];

/// Parses and lowers `#[kernel(attribute)] item` without writing an expansion.
///
/// # Errors
/// The errors that [`kernel`] reports.
pub fn lowered(attribute: TokenStream, item: TokenStream) -> Result<sarek_ir::Kernel, Vec<String>> {
    let mut errors = Errors::default();
    let attribute = Attribute::parse(attribute, &mut errors);
    let kernel = syn::parse2::<syn::ItemFn>(item)
        .map_err(|error| errors.push(error))
        .ok()
        .and_then(|mut item| {
            item_attributes(&item, &mut errors);
            parameters::name_all(&mut item.sig, &mut item.block);
            let signature = Signature::read(&item, &mut errors)?;
            let krate = quote!(::sarek);
            lower_item(&mut item, &signature, &attribute, &krate, &mut errors)
        });
    let (_, errors) = errors.finish();
    kernel
        .map(|l| l.kernel)
        .filter(|_| errors.is_empty())
        .ok_or(errors)
}

/// Lowers and checks the body, and marks it for [`reference::annotate`].
fn lower_item(
    item: &mut syn::ItemFn,
    signature: &Signature,
    attribute: &Attribute,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<Lowered> {
    let supersteps = superstep::expand(&mut item.block, krate);
    reference::mark(&mut item.block);
    let body = body_items::written_out(&item.block, errors);
    let mut lowered = lower::lower(signature, &body, attribute, krate, errors)?;
    lowered.audit_macros(&supersteps, krate);
    if signature.is_over_items() {
        works_alone(&lowered, errors)?;
    }
    checked(lowered, signature, errors)
}

/// Makes rustc evaluate `#[cfg]` and `#[cfg_attr]` below `#[kernel]` before the kernel is read.
/// Returns the item with these attributes first and `#[kernel]` after them, or `None` if there are
/// none.
fn configured_first(
    item: &mut syn::ItemFn,
    krate: &TokenStream,
    options: &TokenStream,
) -> Option<TokenStream> {
    let is_cfg = |a: &syn::Attribute| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr");
    let (cfgs, others): (Vec<_>, Vec<_>) = std::mem::take(&mut item.attrs)
        .into_iter()
        .partition(is_cfg);
    item.attrs = others;
    (!cfgs.is_empty()).then(|| quote!(#(#cfgs)* #[#krate::kernel(#options)] #item))
}

fn item_attributes(item: &syn::ItemFn, errors: &mut Errors) {
    const KNOWN: [&str; 6] = ["doc", "deprecated", "allow", "expect", "warn", "deny"];
    if let Err(error) = item.modifiers.require_empty() {
        errors.push(error);
    }
    for attr in &item.attrs {
        if let syn::AttrStyle::Inner(_) = attr.style {
            let instead = "write it before the function";
            errors.unsupported(
                codes::ATTRIBUTE,
                attr.range(),
                "an attribute inside the body is",
                instead,
            );
            continue;
        }
        if !KNOWN.iter().any(|k| attr.path().is_ident(k)) {
            errors.unsupported(
                codes::ATTRIBUTE,
                attr.range(),
                "this attribute is",
                "remove it",
            );
        }
    }
}

/// Reports barriers, subgroup operations and shared arrays in a kernel over items.
fn works_alone(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    let mut stmts = lowered.kernel.stmts.iter();
    let together = stmts.position(|stmt| stmt.facts().effect.is_cooperative());
    let span = match together {
        Some(at) => lowered.stmt_spans[at],
        None if !lowered.kernel.shared.is_empty() => lowered.name.span().into(),
        None => return Some(()),
    };
    errors.at(
        codes::ITEM_KERNEL,
        span,
        "the threads of a kernel over items cannot work together",
        "take slices instead of items to use barriers, shared arrays and subgroups",
    );
    None
}

/// Runs the checks that rustc cannot make.
fn checked(mut lowered: Lowered, signature: &Signature, errors: &mut Errors) -> Option<Lowered> {
    crate::check::well_formed(&lowered, errors)?;
    let phases = crate::check::barriers(&lowered, false, errors);
    crate::check::strict(&lowered, errors)?;
    if !signature.is_unsafe {
        let found = crate::check::races(&mut lowered, phases.is_some(), errors)?;
        lowered
            .kernel
            .preconditions
            .to_mut()
            .extend(found.preconditions);
        lowered.constant_bounds = found.constants;
    }
    phases.map(|()| lowered)
}

/// The kernel's text in each dialect that can express it, if the kernel is closed. Its file name is
/// [`emit::FILE`].
fn sources(kernel: &sarek_ir::Kernel) -> Vec<(&'static str, String)> {
    use sarek_ir::write;
    if !kernel.is_closed() {
        return vec![];
    }
    let mut kernel = kernel.clone();
    kernel.file = emit::FILE.into();
    let text = |dialect: &'static dyn write::Dialect| {
        let variant = write::default_variant(&kernel, dialect);
        Some((
            dialect.name(),
            write::render(&kernel, dialect, &variant).ok()?.text,
        ))
    };
    write::DIALECTS.iter().filter_map(|d| text(*d)).collect()
}
