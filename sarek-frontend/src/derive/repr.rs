//! Reads the layout that a type requests by `#[repr(…)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::DeriveInput;
use syn::spanned::Spanned;

use crate::diagnostics::{Errors, Mistake, codes};

/// The kind of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A struct.
    Struct,
    /// An enum without fields.
    Bare,
    /// An enum with fields.
    Data,
}

/// The layout that a type requests.
pub struct Repr {
    /// True if host and device find the fields in the same places. Vectors and arguments hold only such types.
    pub is_fixed: bool,
    /// True for `#[repr(C)]`: the fields of all variants begin at one offset.
    pub is_c: bool,
    /// The integer type of an enum's tags, if one is named.
    tag: Option<Ident>,
}

impl Repr {
    /// Reads the attributes of a type, and reports what no kernel can have.
    pub fn of(item: &DeriveInput, shape: Shape, errors: &mut Errors) -> Repr {
        let words = words(item, errors);
        let has = |word: &str| words.iter().any(|(known, _)| known == word);
        let is_tag = |word: &str| TAGS.iter().any(|(name, _)| *name == word);
        let known = |word: &str| match shape {
            Shape::Struct => matches!(word, "C" | "Rust" | "align" | "transparent"),
            Shape::Bare => matches!(word, "C" | "Rust") || is_tag(word),
            Shape::Data => {
                matches!(word, "C" | "Rust") || is_tag(word) && !matches!(word, "isize" | "usize")
            }
        };
        if let Some((word, span)) = words.iter().find(|(word, _)| !known(word)) {
            let what = format!("`repr({word})` is not supported");
            errors.at(codes::LAYOUT, *span, what, wanted(shape));
        }
        let tag = words.iter().find(|(word, _)| is_tag(word));
        let tag = tag.map(|(word, span)| Ident::new(word, *span));
        let has_fixed_tag = tag.as_ref().is_some_and(|t| t != "isize" && t != "usize");
        let is_c = has("C");
        let is_fixed = match shape {
            Shape::Struct => is_c || has("transparent"),
            Shape::Bare | Shape::Data => has_fixed_tag || (is_c && tag.is_none()),
        };
        Repr {
            is_fixed,
            is_c,
            tag,
        }
    }

    /// The integer type of tags in memory.
    pub fn tag_type(&self) -> TokenStream {
        let tag = self.tag.clone().unwrap_or_else(|| format_ident!("i32"));
        quote!(::core::primitive::#tag)
    }

    /// A tag as a value of the IR, from a discriminant of the enum's own type.
    pub fn tag_value(&self, discriminant: &TokenStream, krate: &TokenStream) -> TokenStream {
        let private = quote!(#krate::__private);
        match &self.tag {
            Some(tag) if tag != "isize" && tag != "usize" => {
                let named = TAGS.iter().find(|(name, _)| tag == name);
                let variant = format_ident!("{}", named.map_or("U32", |(_, variant)| variant));
                quote!(#private::ir::Value::#variant(#discriminant))
            }
            Some(tag) if tag == "usize" => {
                quote!(#private::ir::Value::Usize((#discriminant) as ::core::primitive::u64))
            }
            Some(_) | None => {
                quote!(#private::ir::Value::I32((#discriminant) as ::core::primitive::i32))
            }
        }
    }

    /// A check that the tags of an enum without fields fit into the type that devices have for them.
    pub fn tags_fit(&self, item: &DeriveInput, errors: &Errors) -> Option<TokenStream> {
        let syn::Data::Enum(data) = &item.data else {
            return None;
        };
        let is_bare = data.variants.iter().all(|v| v.fields.is_empty());
        let is_narrowed = self.tag.as_ref().is_none_or(|tag| tag == "isize");
        if !is_bare || !is_narrowed || !errors.is_empty() {
            return None;
        }
        let (name, ty) = (&item.ident, quote!(::core::primitive::isize));
        let each = data.variants.iter().map(|v| {
            let ident = &v.ident;
            quote!(#name::#ident as #ty as ::core::primitive::i32 as #ty == #name::#ident as #ty)
        });
        let message = Mistake::new(
            codes::LAYOUT,
            "a discriminant of this enum needs more than 32 bits",
            "write `#[repr(i64)]`",
        )
        .because("the enum names no type for its tags, so devices have them as `i32`")
        .to_string();
        Some(quote! {
            #[allow(deprecated)]
            const _: () = ::core::assert!(#(#each)&&*, #message);
        })
    }

    /// The type of discriminants.
    pub fn discriminant_type(&self) -> TokenStream {
        let tag = self.tag.clone().unwrap_or_else(|| format_ident!("isize"));
        quote!(::core::primitive::#tag)
    }
}

/// The types of tags, with their names in the IR.
const TAGS: [(&str, &str); 10] = [
    ("u8", "U8"),
    ("i8", "I8"),
    ("u16", "U16"),
    ("i16", "I16"),
    ("u32", "U32"),
    ("i32", "I32"),
    ("u64", "U64"),
    ("i64", "I64"),
    ("usize", "Usize"),
    ("isize", "I32"),
];

fn wanted(shape: Shape) -> &'static str {
    match shape {
        Shape::Struct => "write `#[repr(C)]`",
        Shape::Bare => "write `#[repr(u32)]`",
        Shape::Data => "write `#[repr(C, u32)]`",
    }
}

/// The words in `#[repr(…)]`.
fn words(item: &DeriveInput, errors: &mut Errors) -> Vec<(String, Span)> {
    let mut words = vec![];
    for attr in &item.attrs {
        if !attr.path().is_ident("repr") {
            continue;
        }
        let parsed = attr.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string);
            words.push((word.unwrap_or_default(), meta.path.span()));
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        });
        if let Err(error) = parsed {
            errors.push(error);
        }
    }
    words
}
