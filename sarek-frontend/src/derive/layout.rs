//! A type's description as tokens. All names in it are full paths, because the user's discriminants
//! stand in the same scope.
//!
//! rustc gives the offsets of a struct's fields. Those of a variant's fields follow from its `#[repr]`. `#[repr(C, u32)]`
//! is a `u32`, then a union of the variants' fields, each laid out like a `#[repr(C)]` struct. `#[repr(u32)]` is a union of
//! `#[repr(C)]` structs that begin with a `u32`. The size is checked against rustc's. Types whose layout is not fixed
//! have no offsets and the size 0, as tuples do.

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Fields, Variant};

use super::repr::Repr;
use super::same;

/// The description of a struct.
pub fn of_struct(
    item: &DeriveInput,
    fields: &Fields,
    repr: &Repr,
    krate: &TokenStream,
) -> TokenStream {
    let (ir, layout) = (
        quote!(#krate::__private::ir),
        quote!(#krate::__private::layout),
    );
    let name = item.ident.to_string();
    let each = fields.members().zip(fields).map(|(member, field)| {
        let (text, ty) = (member_text(&member), &field.ty);
        match repr.is_fixed {
            true => quote!(#layout::field::<#ty>(#text, ::core::mem::offset_of!(Self, #member))),
            false => quote!(#layout::part::<#ty>(#text)),
        }
    });
    let (size, align) = match repr.is_fixed {
        true => (
            size_of_self(),
            quote!(::core::mem::align_of::<Self>() as ::core::primitive::u64),
        ),
        false => (quote!(0), quote!(0)),
    };
    quote! {
        #ir::TypeInfo::Struct(
            const {
                &#ir::StructInfo {
                    name: #name,
                    fields: const { &[#(#each),*] },
                    size: #size,
                    align: #align,
                }
            },
        )
    }
}

fn size_of_self() -> TokenStream {
    quote!(::core::mem::size_of::<Self>() as ::core::primitive::u64)
}

/// The description of an enum. If the layout is `certain`, the size is checked against rustc's.
pub fn of_enum(
    item: &DeriveInput,
    data: &DataEnum,
    repr: &Repr,
    certain: bool,
    krate: &TokenStream,
) -> TokenStream {
    let (ir, layout) = (
        quote!(#krate::__private::ir),
        quote!(#krate::__private::layout),
    );
    let name = item.ident.to_string();
    let aligns = data.variants.iter().map(|v| {
        let types = v.fields.iter().map(|f| &f.ty);
        quote!(#(::core::mem::align_of::<#types>(),)*)
    });
    let aligns: TokenStream = aligns.collect();
    let tag = repr.tag_type();
    let tag = quote!(::core::mem::size_of::<#tag>());
    let start = match repr.is_c {
        true => quote!(#layout::payload_start(#tag, &[#aligns])),
        false => tag.clone(),
    };
    let tags = tags(data, repr, krate);
    let variants = data.variants.iter().zip(&tags);
    let variants = variants.map(|(v, tag)| variant(v, tag, (repr, &start), krate));
    let variants: Vec<TokenStream> = variants.collect();
    let ends = data.variants.iter().map(|v| {
        let types: Vec<_> = v.fields.iter().map(|f| &f.ty).collect();
        quote! {
            #layout::end(#start, &[#(
                (::core::mem::size_of::<#types>(), ::core::mem::align_of::<#types>()),
            )*])
        }
    });
    let same = same::tags(data, repr, krate);
    let size = match (repr.is_fixed, certain) {
        (true, true) => {
            quote!({ #same #layout::checked_size(::core::mem::size_of::<Self>(), #tag, &[#aligns], &[#(#ends),*]) })
        }
        (true, false) => size_of_self(),
        (false, _) => quote!(0),
    };
    quote! {
        #ir::TypeInfo::Enum(
            const {
                &#ir::EnumInfo {
                    name: #name,
                    variants: const { &[#(#variants),*] },
                    size: #size,
                }
            },
        )
    }
}

fn variant(
    variant: &Variant,
    tag: &TokenStream,
    (repr, start): (&Repr, &TokenStream),
    krate: &TokenStream,
) -> TokenStream {
    let (ir, layout) = (
        quote!(#krate::__private::ir),
        quote!(#krate::__private::layout),
    );
    let name = plain(&variant.ident.to_string());
    let types: Vec<&syn::Type> = variant.fields.iter().map(|f| &f.ty).collect();
    let each = variant.fields.members().enumerate().map(|(i, member)| {
        let (text, ty, before) = (member_text(&member), types[i], &types[..i]);
        if !repr.is_fixed {
            return quote!(#layout::part::<#ty>(#text));
        }
        quote! {
            #layout::field::<#ty>(
                #text,
                #layout::offset(
                    #start,
                    &[#(
                        (::core::mem::size_of::<#before>(), ::core::mem::align_of::<#before>()),
                    )*],
                    ::core::mem::align_of::<#ty>(),
                ),
            )
        }
    });
    quote! {
        #ir::VariantInfo {
            name: #name,
            tag: #tag,
            fields: const { &[#(#each),*] },
        }
    }
}

/// The tags of an enum's variants as values of the IR.
pub(super) fn tags(data: &DataEnum, repr: &Repr, krate: &TokenStream) -> Vec<TokenStream> {
    let is_bare = data.variants.iter().all(|v| v.fields.is_empty());
    let mut tags = Tags::default();
    let each = data.variants.iter().map(|v| {
        let (ident, ty) = (&v.ident, repr.discriminant_type());
        let discriminant = match is_bare {
            true => quote!(Self::#ident as #ty),
            false => tags.next(v),
        };
        repr.tag_value(&discriminant, krate)
    });
    each.collect()
}

/// The discriminants of variants with fields: those written, or the previous one plus one.
#[derive(Default)]
pub(super) struct Tags {
    base: Option<TokenStream>,
    after: u32,
}

impl Tags {
    pub(super) fn next(&mut self, variant: &Variant) -> TokenStream {
        if let Some((_, written)) = &variant.discriminant {
            let span = Span::mixed_site().located_at(written.span());
            self.base = Some(quote_spanned!(span=> (#written)));
            self.after = 0;
        }
        let after = Literal::u32_unsuffixed(self.after);
        self.after += 1;
        match &self.base {
            Some(base) => quote!(#base + #after),
            None => quote!(#after),
        }
    }
}

fn member_text(member: &syn::Member) -> String {
    plain(&member.to_token_stream().to_string())
}

fn plain(name: &str) -> String {
    name.strip_prefix("r#").unwrap_or(name).to_string()
}

/// The tokens with all their spans at one place.
pub fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(respan).collect()
}
