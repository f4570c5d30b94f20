//! `#[derive(KernelType)]`: what it expands to.

use quote::quote;
use sarek_frontend::derive::expand;

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
