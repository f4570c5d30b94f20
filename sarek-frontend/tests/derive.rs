//! The expansion of `#[derive(KernelType)]`.

use quote::quote;
use sarek_frontend::derive::{expand, messages};

/// Another attribute, below the derive, may change an enum.
#[test]
fn tags_are_asked_of_rustc() {
    let text = expand(quote! {
        #[repr(u32)]
        enum E {
            A,
            B = 4,
            C,
        }
    });
    let text = text.to_string();
    for (name, tag) in [("A", "0u32"), ("B", "(4) + 0u32"), ("C", "(4) + 1u32")] {
        let asked = format!("tagged :: < Self > ({tag})");
        let (_, behind) = text.split_once(&asked).expect(&asked);
        let arm = format!("{{ Self :: {name} {{ .. }} =>");
        assert!(behind.contains(&arm), "{arm} is not in {behind}");
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
