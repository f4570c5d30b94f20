//! The type that `Self` stands for, spelled out for items that stand outside of its impl.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt as _, quote};
use syn::visit_mut::VisitMut;

use super::{plain_name, relocated};

/// The type of a trait's impl, and what `Self::Name` means there.
pub struct SelfType {
    /// The type as a path that can stand in types, expressions and patterns: `Pair::<T>`.
    ty: TokenStream,
    of_trait: syn::Path,
    /// The names of the trait's associated types.
    types: Vec<String>,
}

impl SelfType {
    /// The type of an impl of `of_trait`.
    pub fn of(block: &syn::ItemImpl, of_trait: &syn::Path) -> SelfType {
        let types = block.items.iter().filter_map(|item| match item {
            syn::ImplItem::Type(ty) => Some(plain_name(&ty.ident)),
            _ => None,
        });
        SelfType {
            ty: everywhere(&block.self_ty),
            of_trait: of_trait.clone(),
            types: types.collect(),
        }
    }

    /// True if the impl has associated types.
    pub fn has_types(&self) -> bool {
        !self.types.is_empty()
    }

    /// The tokens with the type in the place of `Self`. Traits inside of the tokens have a `Self`
    /// of their own.
    pub fn spelled_out(&self, tokens: TokenStream) -> TokenStream {
        let (mut all, mut in_trait) = (TokenStream::new(), false);
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => {
                    let is_body = group.delimiter() == Delimiter::Brace;
                    let own = in_trait;
                    in_trait &= !is_body;
                    if own {
                        all.append(group);
                        continue;
                    }
                    let inner = self.spelled_out(group.stream());
                    let mut copy = Group::new(group.delimiter(), inner);
                    copy.set_span(group.span());
                    all.append(copy);
                }
                TokenTree::Ident(name) if name == "Self" && !in_trait => {
                    let mut rest = tokens.clone();
                    let colons = rest.by_ref().take(2).all(|token| is_colon(&token));
                    let is_type = match rest.next() {
                        Some(TokenTree::Ident(next)) if colons => {
                            self.types.contains(&plain_name(&next))
                        }
                        _ => false,
                    };
                    all.extend(self.ty_at(name.span(), is_type));
                }
                other => {
                    in_trait |= matches!(&other, TokenTree::Ident(name) if name == "trait");
                    all.append(other);
                }
            }
        }
        all
    }

    fn ty_at(&self, span: Span, before_type: bool) -> TokenStream {
        let (ty, of_trait) = (&self.ty, &self.of_trait);
        let tokens = match before_type {
            true => quote!(<#ty as #of_trait>),
            false => ty.clone(),
        };
        relocated(tokens, span)
    }
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

/// A type in a form that is valid in expressions, too, if it has one.
fn everywhere(ty: &syn::Type) -> TokenStream {
    match ty {
        syn::Type::Group(inner) => everywhere(&inner.elem),
        syn::Type::Paren(inner) => everywhere(&inner.elem),
        syn::Type::Path(path) => {
            let mut path = path.clone();
            Turbofish.visit_path_mut(&mut path.path);
            path.to_token_stream()
        }
        other => quote!((#other)),
    }
}

/// Writes `Pair::<T>` for `Pair<T>`.
struct Turbofish;

impl VisitMut for Turbofish {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        for segment in &mut path.segments {
            if let syn::PathArguments::AngleBracketed(list) = &mut segment.arguments {
                list.colon2_token.get_or_insert_with(Default::default);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::path_text;

    #[track_caller]
    fn spelled(block: &str, tokens: &str, expected: &str) {
        let block: syn::ItemImpl = syn::parse_str(block).unwrap();
        let of_trait = block.trait_.as_ref().unwrap().0.clone();
        let found = SelfType::of(&block, &of_trait).spelled_out(tokens.parse().unwrap());
        let expected: TokenStream = expected.parse().unwrap();
        assert_eq!(path_text(found), path_text(expected));
    }

    #[test]
    fn a_path_stands_everywhere() {
        let block = "impl<T> Norm for geom::Pair<T> {}";
        spelled(
            block,
            "Self { x: Self::new(1) } ; fn f(_: Self) -> [Self; 2] {}",
            "geom::Pair::<T> { x: geom::Pair::<T>::new(1) } ; fn f(_: geom::Pair::<T>) -> [geom::Pair::<T>; 2] {}",
        );
        spelled("impl Norm for (f32, f32) {}", "Self", "((f32, f32))");
    }

    #[test]
    fn associated_types_are_those_of_the_trait() {
        let block = "impl Norm<u8> for Pair { type Item = f32; }";
        spelled(
            block,
            "Self::Item, Self::ITEM, Self",
            "<Pair as Norm<u8>>::Item, Pair::ITEM, Pair",
        );
    }

    #[test]
    fn traits_keep_their_own() {
        spelled(
            "impl Norm for Pair {}",
            "trait Known<A>: Sized { fn of(self: Self); } impl Known for Self {}",
            "trait Known<A>: Sized { fn of(self: Self); } impl Known for Pair {}",
        );
    }
}
