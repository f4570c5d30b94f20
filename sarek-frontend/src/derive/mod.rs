//! `#[derive(KernelType)]`: the fields and the layout of a type as data. [`kind`] is
//! `#[derive(Kind)]`.

mod examples;
pub mod kind;
mod layout;
mod repr;
mod same;
mod scalars;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Token};

use crate::diagnostics::{Errors, codes};
use crate::parse::{Named, Within, is_nameless, is_nameless_field};
use repr::{Repr, Shape};

/// Expands `#[derive(KernelType)] item`.
pub fn expand(item: TokenStream) -> TokenStream {
    both(item).0
}

/// The errors in `#[derive(KernelType)] item`.
pub fn messages(item: TokenStream) -> Vec<String> {
    both(item).1
}

fn both(item: TokenStream) -> (TokenStream, Vec<String>) {
    derived(item, implementation)
}

/// Expands a derive: the tokens of `implementation` with the reports of its errors, and the errors.
fn derived(
    item: TokenStream,
    implementation: impl FnOnce(&DeriveInput, &mut Errors) -> Option<TokenStream>,
) -> (TokenStream, Vec<String>) {
    let mut errors = Errors::default();
    if !crate::parse::depth::is_bounded(&item, &mut errors) {
        return errors.finish();
    }
    let written = item.clone();
    let tokens = match syn::parse2::<DeriveInput>(item) {
        // rustc reports that `_` is not a name.
        Ok(item) if is_nameless(&item.generics) || fields(&item.data).any(is_nameless_field) => {
            None
        }
        Ok(item) => implementation(&item, &mut errors),
        Err(error) => {
            errors.unparsed(error, &written);
            None
        }
    };
    let (reports, messages) = errors.finish();
    (quote!(#reports #tokens), messages)
}

fn implementation(item: &DeriveInput, errors: &mut Errors) -> Option<TokenStream> {
    let named = named(item, errors);
    let krate = match &named {
        Some(named) => named.path.to_token_stream(),
        None => quote!(::sarek),
    };
    let claim = named.map(|named| named.claim());
    parameters(item, errors);
    let (info, repr) = match &item.data {
        Data::Struct(data) => {
            let repr = Repr::of(item, Shape::Struct, errors);
            (layout::of_struct(item, &data.fields, &repr, &krate), repr)
        }
        Data::Enum(data) => {
            let bare = data.variants.iter().all(|v| v.fields.is_empty());
            let shape = if bare { Shape::Bare } else { Shape::Data };
            let repr = Repr::of(item, shape, errors);
            if data.variants.is_empty() {
                errors.at(
                    codes::EMPTY_TYPE,
                    item.ident.span(),
                    "an enum without variants has no value to store in a vector",
                    "give it a variant, or drop the derive",
                );
                return None;
            }
            let info = layout::of_enum(item, data, &repr, errors.is_empty(), &krate);
            (info, repr)
        }
        Data::Union(data) => {
            errors.at(
                codes::EMPTY_TYPE,
                data.union_token.span,
                "kernels do not support unions",
                "use a struct, or an enum with fields",
            );
            return None;
        }
    };
    // The trait is implemented nevertheless, so that one mistake is reported once.
    let fit = repr.tags_fit(item, errors);
    let implementation = implement(item, (&repr, errors.is_empty()), &krate, &info);
    Some(quote!(#implementation #fit #claim))
}

fn implement(
    item: &DeriveInput,
    (repr, is_right): (&Repr, bool),
    krate: &TokenStream,
    info: &TokenStream,
) -> TokenStream {
    let name = &item.ident;
    let of_values = bounded(item, |ty, krate| quote!(#ty: #krate::KernelType), krate);
    let (impl_generics, ty_generics, where_clause) = of_values.split_for_impl();
    let same = same::fields(item, (&impl_generics, &ty_generics, where_clause));
    // They take references to the fields, of which rustc complains if the layout is a wrong one.
    let scalars = is_right.then(|| scalars::methods(item, repr, krate));
    // rustc checks a bound of a lifetime where the trait is used, not here. So the type is one for values if it cannot be an element.
    let mut of_elements = bounded(
        item,
        |ty, krate| quote!(for<'__element> #ty: #krate::Element),
        krate,
    );
    let has_fields = matches!(item.data, Data::Enum(_)) || fields(&item.data).next().is_some();
    let needed = match (repr.is_fixed, has_fields) {
        (_, false) => Some(quote!(HasFields)),
        (false, true) => Some(quote!(FixedLayout)),
        (true, true) => None,
    };
    if let Some(needed) = needed {
        let bound = quote!(for<'__element> (): #krate::#needed<#name #ty_generics>);
        let clause = of_elements.make_where_clause();
        clause.predicates.push(syn::parse_quote!(#bound));
    }
    let (element_generics, _, element_clause) = of_elements.split_for_impl();
    let examples = examples::of(&item.data, krate);
    quote! {
        const _: () = {
            // SAFETY: the description lists the fields in their order; their offsets come from
            // rustc, or follow from their `repr`.
            #[automatically_derived]
            #[allow(deprecated)]
            unsafe impl #impl_generics #krate::KernelType for #name #ty_generics #where_clause {
                const TYPE: #krate::__private::ir::TypeInfo = #info;
                #examples

                #scalars
            }

            #same

            // SAFETY: the layout is the same everywhere, or the clause does not hold, and the clause
            // requires fields that are elements.
            unsafe impl #element_generics #krate::Element for #name #ty_generics #element_clause {}
        };
    }
}

/// The generics of a type with a bound on each type parameter and on the type of each field.
fn bounded(
    item: &DeriveInput,
    bound: impl Fn(&TokenStream, &TokenStream) -> TokenStream,
    krate: &TokenStream,
) -> syn::Generics {
    let mut generics = item.generics.clone();
    let clause = generics.make_where_clause();
    for param in item.generics.type_params() {
        let bound = bound(&param.ident.to_token_stream(), krate);
        clause.predicates.push(syn::parse_quote!(#bound));
    }
    for ty in fields(&item.data).map(|field| &field.ty) {
        let span = Span::mixed_site().located_at(ty.span());
        let krate = layout::respanned(krate.clone(), span);
        let bound = bound(&ty.to_token_stream(), &krate);
        let bound = quote_spanned!(span=> #bound);
        clause.predicates.push(syn::parse_quote!(#bound));
    }
    generics
}

/// The path of the façade crate: `#[kernel_type(unsafe(crate = path))]`.
fn named(item: &DeriveInput, errors: &mut Errors) -> Option<Named> {
    let mut found = None;
    for attr in &item.attrs {
        if !attr.path().is_ident("kernel_type") {
            continue;
        }
        match attr.parse_args_with(option) {
            Ok((path, unsafety)) => found = Named::of(path, unsafety, errors).or(found),
            Err(error) => errors.push(error),
        }
    }
    found
}

/// Parses `crate = path`, or that in `unsafe(…)`.
fn option(input: ParseStream<'_>) -> syn::Result<(syn::Expr, Option<Token![unsafe]>)> {
    if input.peek(Token![unsafe]) {
        let unsafety = input.parse()?;
        let Within(path) = input.parse()?;
        return Ok((path, Some(unsafety)));
    }
    if !input.peek(Token![crate]) {
        return Err(input.error("the only option is `unsafe(crate = path)`"));
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    Ok((input.parse()?, None))
}

fn parameters(item: &DeriveInput, errors: &mut Errors) {
    for lifetime in item.generics.lifetimes() {
        errors.at(
            codes::EMPTY_TYPE,
            lifetime.span(),
            "a type for kernels cannot borrow",
            "drop the lifetime",
        );
    }
}

/// All fields, without removing duplicates. Two types that are spelled alike may differ:
/// `$crate::T` in a macro refers to the macro's own crate.
fn fields(data: &Data) -> impl Iterator<Item = &syn::Field> {
    let (of_struct, of_enum) = match data {
        Data::Struct(data) => (Some(&data.fields), None),
        Data::Enum(data) => (None, Some(&data.variants)),
        Data::Union(_) => (None, None),
    };
    let of_enum = of_enum.into_iter().flatten().map(|variant| &variant.fields);
    of_struct.into_iter().chain(of_enum).flatten()
}
