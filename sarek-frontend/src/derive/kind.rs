//! `#[derive(Kind)]`: an enum as a kind of tags.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, Fields, LitStr, Token};

use crate::diagnostics::{Errors, codes};
use crate::parse::crate_path;

/// The name of the tag that stands for no member.
const UNDEFINED: &str = "Undefined";

/// Expands `#[derive(Kind)] item`.
pub fn expand(item: TokenStream) -> TokenStream {
    both(item).0
}

/// The errors in `#[derive(Kind)] item`.
pub fn messages(item: TokenStream) -> Vec<String> {
    both(item).1
}

fn both(item: TokenStream) -> (TokenStream, Vec<String>) {
    super::derived(item, implementation)
}

/// A variant: a plain member, or a template with fields.
struct Member<'a> {
    ident: &'a syn::Ident,
    name: String,
    is_plain: bool,
    fields: Vec<Field<'a>>,
}

struct Field<'a> {
    ident: &'a syn::Ident,
    name: String,
    ty: &'a syn::Type,
}

fn implementation(item: &DeriveInput, errors: &mut Errors) -> Option<TokenStream> {
    let options = Options::of(&item.attrs, true, errors);
    for param in &item.generics.params {
        errors.at(
            codes::KIND,
            param.span(),
            "a kind of tags has no parameters",
            "drop them, or name one type",
        );
    }
    let variants = match &item.data {
        Data::Enum(data) => &data.variants,
        Data::Struct(data) => {
            not_an_enum(data.struct_token.span, errors);
            return None;
        }
        Data::Union(data) => {
            not_an_enum(data.union_token.span, errors);
            return None;
        }
    };
    let mut members: Vec<Member<'_>> = vec![];
    for variant in variants {
        let member = member(variant, errors);
        if let Some(same) = members.iter().find(|known| known.name == member.name) {
            errors.at(
                codes::KIND,
                variant.ident.span(),
                format!(
                    "this member has the name of `{}`: \"{}\"",
                    same.ident, same.name
                ),
                "give it a name of its own: `#[kind(name = \"…\")]`",
            );
        }
        members.push(member);
    }
    if !item.generics.params.is_empty() {
        return None;
    }
    // The traits are implemented nevertheless, so that one mistake is reported once.
    Some(implement(item, &members, &options))
}

fn not_an_enum(span: Span, errors: &mut Errors) {
    errors.at(
        codes::KIND,
        span,
        "a kind of tags is an enum",
        "write an enum, with a variant for each member",
    );
}

/// Reads a variant, and reports what no member has.
fn member<'a>(variant: &'a syn::Variant, errors: &mut Errors) -> Member<'a> {
    let options = Options::of(&variant.attrs, false, errors);
    let plain = variant.ident.unraw();
    let (name, at) = match options.name {
        Some(name) => (name.value(), name.span()),
        None => (plain.to_string(), variant.ident.span()),
    };
    if name == UNDEFINED || name.is_empty() {
        errors.at(
            codes::KIND,
            at,
            format!("\"{name}\" cannot be the name of a member"),
            "choose another name; `Tag::undefined()` is the tag of no member",
        );
    }
    if let Some((_, value)) = &variant.discriminant {
        errors.at(
            codes::KIND,
            value.span(),
            "a member has no value of its own",
            "drop it: members are numbered from 1; `tag::register_as` adds one with a value",
        );
    }
    let mut fields = vec![];
    match &variant.fields {
        Fields::Unit => {}
        Fields::Named(named) => {
            for field in &named.named {
                if let Some(ident) = &field.ident {
                    let name = ident.unraw().to_string();
                    let ty = &field.ty;
                    fields.push(Field { ident, name, ty });
                }
            }
            if fields.is_empty() {
                errors.at(
                    codes::KIND,
                    named.span(),
                    "a template has at least one field",
                    format!("write `{plain}` for a plain member, or give it a field"),
                );
            }
        }
        Fields::Unnamed(unnamed) => errors.at(
            codes::KIND,
            unnamed.span(),
            "the fields of a template have names",
            format!("write `{plain} {{ name: … }}`"),
        ),
    }
    let ident = &variant.ident;
    Member {
        ident,
        name,
        is_plain: variant.fields.is_empty(),
        fields,
    }
}

/// The options in `#[kind(…)]`.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    strict: bool,
    krate: Option<syn::Path>,
}

impl Options {
    /// Reads the options of an enum, or of a variant.
    fn of(attrs: &[Attribute], of_enum: bool, errors: &mut Errors) -> Options {
        let mut options = Options::default();
        for attr in attrs {
            if !attr.path().is_ident("kind") {
                continue;
            }
            let parsed = attr.parse_args_with(|input: ParseStream<'_>| {
                while !input.is_empty() {
                    options.read(input, of_enum, errors)?;
                    if !input.is_empty() {
                        input.parse::<Token![,]>()?;
                    }
                }
                Ok(())
            });
            if let Err(error) = parsed {
                errors.push(error);
            }
        }
        options
    }

    fn read(
        &mut self,
        input: ParseStream<'_>,
        of_enum: bool,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let word = input.call(syn::Ident::parse_any)?;
        let taken = match word.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                self.name.replace(input.parse()?).is_some()
            }
            "strict" if of_enum => std::mem::replace(&mut self.strict, true),
            "crate" if of_enum => {
                input.parse::<Token![=]>()?;
                let path = crate_path(input.parse::<Expr>()?, errors);
                std::mem::replace(&mut self.krate, path).is_some()
            }
            other => {
                let (place, instead) = match of_enum {
                    true => ("an enum", "use `name = \"…\"`, `strict` or `crate = path`"),
                    false => ("a variant", "use `name = \"…\"`"),
                };
                let what = format!("`{other}` is not an option of `#[kind]` at {place}");
                let mistake = crate::diagnostics::Mistake::new(codes::KIND, what, instead);
                return Err(mistake.at(word.span()));
            }
        };
        if taken {
            let what = format!("`{word}` stands here twice");
            errors.at(codes::KIND, word.span(), what, "drop one of them");
        }
        Ok(())
    }
}

fn implement(item: &DeriveInput, members: &[Member<'_>], options: &Options) -> TokenStream {
    let krate = match &options.krate {
        Some(path) => path.to_token_stream(),
        None => quote!(::sarek),
    };
    let tag = quote!(#krate::tag);
    let ident = &item.ident;
    let kind = match &options.name {
        Some(name) => name.value(),
        None => ident.unraw().to_string(),
    };
    let strict = options.strict;
    let names = members.iter().map(|member| &member.name);
    let templates = members.iter().filter(|member| !member.fields.is_empty());
    let templates = templates.map(|member| &member.name);
    let member_of = members
        .iter()
        .map(|Member { ident, name, .. }| quote!(Self::#ident { .. } => #name,));
    let fields_of = members.iter().map(|member| fields_of(member, &tag));
    let plain = members.iter().filter(|member| member.is_plain);
    let plain = plain.map(|Member { ident, name, .. }| {
        quote!(#name => ::core::option::Option::Some(const { &Self::#ident {} }),)
    });
    let reads = members.iter().filter(|member| !member.fields.is_empty());
    let [name, fields] = ["name", "fields"].map(|local| syn::Ident::new(local, Span::mixed_site()));
    let reads = reads.map(|member| read(member, &fields, &tag));
    let bounds = members.iter().flat_map(|member| &member.fields);
    let bounds = bounds.map(|Field { ty, .. }| {
        let span = Span::mixed_site().located_at(ty.span());
        let tag = super::layout::respanned(tag.clone(), span);
        quote_spanned!(span=> #ty: #tag::Field,)
    });
    let bounds: TokenStream = bounds.collect();
    let str = quote!(::core::primitive::str);
    // An empty enum has no value to match on.
    let value = match members {
        [] => quote!(*self),
        [_, ..] => quote!(self),
    };
    quote! {
        const _: () = {
            #[automatically_derived]
            impl #tag::Kind for #ident where #bounds {
                const NAME: &'static #str = #kind;
                const MEMBERS: &'static [&'static #str] = &[#(#names),*];
                const TEMPLATES: &'static [#tag::Declared] =
                    &[#(#tag::Declared::variant::<#ident>(#templates)),*];
                const STRICT: ::core::primitive::bool = #strict;
            }

            #[automatically_derived]
            impl #tag::EnumKind for #ident where #bounds {
                fn member(&self) -> &'static #str {
                    match #value {
                        #(#member_of)*
                    }
                }

                fn fields(&self) -> #tag::FieldList<'_> {
                    match #value {
                        #(#fields_of)*
                    }
                }

                fn plain(#name: &#str) -> ::core::option::Option<&'static Self> {
                    match #name {
                        #(#plain)*
                        _ => ::core::option::Option::None,
                    }
                }

                fn read(
                    #name: &#str,
                    #fields: &mut #tag::Reader,
                ) -> ::core::result::Result<Self, #tag::ReadError> {
                    match #name {
                        #(#reads)*
                        _ => ::core::result::Result::Err(#tag::Reader::no_template(#fields)),
                    }
                }
            }
        };
    }
}

/// The arm that lists the fields of a value.
fn fields_of(member: &Member<'_>, tag: &TokenStream) -> TokenStream {
    let variant = member.ident;
    let idents = member.fields.iter().map(|field| field.ident);
    let bound: Vec<syn::Ident> = (0..member.fields.len())
        .map(|at| syn::Ident::new(&format!("__field_{at}"), Span::mixed_site()))
        .collect();
    let each = member.fields.iter().zip(&bound).map(|(field, bound)| {
        let name = &field.name;
        let span = Span::mixed_site().located_at(field.ty.span());
        let tag = super::layout::respanned(tag.clone(), span);
        let saved = quote_spanned!(span=> #tag::Field::saved(#bound));
        quote!((#name, #saved))
    });
    quote! {
        Self::#variant { #(#idents: #bound,)* .. } => ::std::vec::Vec::from([#(#each),*]),
    }
}

/// The arm that reads a value of a template.
fn read(member: &Member<'_>, fields: &syn::Ident, tag: &TokenStream) -> TokenStream {
    let (variant, name) = (member.ident, &member.name);
    let each = member.fields.iter().map(|field| {
        let Field { ident, name, ty } = field;
        let span = Span::mixed_site().located_at(ty.span());
        let tag = super::layout::respanned(tag.clone(), span);
        quote_spanned!(span=> #ident: <#ty as #tag::Field>::read(#fields, #name)?)
    });
    quote! {
        #name => ::core::result::Result::Ok(Self::#variant { #(#each),* }),
    }
}
