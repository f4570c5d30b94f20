//! The expansion of `#[derive(KernelType)]`.

use quote::quote;
use sarek_frontend::derive::{expand, messages};

/// Another attribute, below the derive, may change an enum.
#[test]
fn tags_are_asked_of_rustc() {
    let text = expand(quote! {
        #[repr(i16)]
        enum E {
            A,
            B(f32) = -4,
            C,
        }
    });
    let text = text.to_string();
    for (name, tag) in [("A", "0"), ("B", "(- 4) + 0"), ("C", "(- 4) + 1")] {
        let asked = format!("tagged :: < Self , :: core :: primitive :: i16 > ({tag})");
        let (_, behind) = text.split_once(&asked).expect(&asked);
        let arm = format!("{{ Self :: {name} {{ .. }} =>");
        assert!(behind.contains(&arm), "{arm} is not in {behind}");
    }
}

/// The tags of an enum without fields are those that rustc converts.
#[test]
fn tags_of_bare_enums_are_conversions() {
    for (repr, tag) in [
        (
            quote!(#[repr(u8)]),
            "U8 (Self :: B as :: core :: primitive :: u8)",
        ),
        (
            quote!(#[repr(i64)]),
            "I64 (Self :: B as :: core :: primitive :: i64)",
        ),
        (
            quote!(#[repr(C)]),
            "I32 ((Self :: B as :: core :: primitive :: isize) as :: core :: primitive :: i32)",
        ),
        (
            quote!(),
            "I32 ((Self :: B as :: core :: primitive :: isize) as :: core :: primitive :: i32)",
        ),
    ] {
        let text = expand(quote!(#repr enum E { A, B = 4 })).to_string();
        assert!(text.contains(tag), "{tag} is not in {text}");
    }
}

/// Only types of a fixed layout are elements of vectors.
#[test]
fn types_without_a_layout_are_values() {
    for (item, bound) in [
        (
            quote!(
                struct S {
                    x: f32,
                }
            ),
            Some("FixedLayout"),
        ),
        (
            quote!(
                enum E {
                    A(f32),
                    B,
                }
            ),
            Some("FixedLayout"),
        ),
        (
            quote!(
                #[repr(usize)]
                enum E {
                    A,
                    B,
                }
            ),
            Some("FixedLayout"),
        ),
        (
            quote!(
                #[repr(C)]
                struct S;
            ),
            Some("HasFields"),
        ),
        (
            quote!(
                #[repr(transparent)]
                struct S(f32);
            ),
            None,
        ),
        (
            quote!(
                #[repr(u8)]
                enum E {
                    A,
                    B(f32),
                }
            ),
            None,
        ),
    ] {
        let text = expand(item).to_string();
        for each in ["FixedLayout", "HasFields"] {
            let found = text.contains(&format!(":: {each}"));
            assert_eq!(found, bound == Some(each), "{each} in {text}");
        }
    }
}

/// rustc reports that `_` is not a field's name; the derive adds nothing.
#[test]
fn nameless_fields_are_left_to_rustc() {
    for item in [
        quote!(#[repr(C)] struct a<> { _: T }),
        quote!(#[repr(C, u32)] enum E { A { _: u32 } }),
    ] {
        let (tokens, messages) = (expand(item.clone()), messages(item));
        assert!(
            tokens.is_empty() && messages.is_empty(),
            "{tokens} {messages:?}"
        );
    }
}

/// The user's tokens resolve as in the source: the expansion brings nothing into scope beside them.
#[test]
fn nothing_is_imported() {
    let text = expand(quote! {
        #[repr(C, u32)]
        enum E<T> {
            A(T) = __layout::A,
            B { x: u32 },
        }
    });
    let text = text.to_string();
    assert!(!text.split_whitespace().any(|word| word == "use"), "{text}");
}
