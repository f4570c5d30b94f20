//! `#[derive(KernelType)]`: what it expands to.

use quote::quote;
use sarek_frontend::derive::{expand, messages};

/// Another attribute may change an enum behind the derive.
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

/// rustc says that `_` is no name of a field; beside that the derive adds nothing.
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

/// What the user writes in it means what it means to rustc: nothing is in scope beside it.
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
