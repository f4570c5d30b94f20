//! The expansion of `#[kernel_test]`, and the mistakes that it reports.

use proc_macro2::TokenStream;
use quote::quote;
use sarek_frontend::expand::kernel_test;

fn item() -> TokenStream {
    quote! {
        fn is_right(a: f32, x: &[f32], y: &mut [f32]) {}
    }
}

fn errors(attribute: TokenStream, item: TokenStream) -> String {
    kernel_test(attribute, item).errors.join("\n")
}

#[test]
fn a_test_is_a_check() {
    let expansion = kernel_test(
        quote!(k, ulps = 2, ulps(wgpu = 64), over = (size, 4)),
        item(),
    );
    assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
    let text = expansion.tokens.to_string();
    for part in [
        ":: sarek :: testing :: Check :: new",
        ". ulps (2 as f64) . ulps_on (\"wgpu\" , 64 as f64)",
        "k (a , & __x , & mut __y) . over ((size , 4))",
        "__expected (a , & x , & mut y)",
        "Trial :: expect (__trial , \"y\" , & __y , & y)",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("expect (__trial , \"x\""), "{text}");
}

/// If the author forbids `unsafe`, rustc only reports an `unsafe` of the author's own.
#[test]
fn unsafe_is_the_authors() {
    let count = |item: TokenStream| {
        let expansion = kernel_test(quote!(k), item);
        assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
        let text = expansion.tokens.to_string();
        // The `unsafe` in the name of a lint does not count.
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.by_ref().filter(|word| *word == "unsafe").count()
    };
    assert_eq!(count(item()), 0);
    let of_unsafe = quote! {
        unsafe fn is_right(y: &mut [f32]) {}
    };
    assert_eq!(count(of_unsafe), 1);
}

#[test]
fn mistakes_are_told() {
    for (attribute, message) in [
        (quote!(), "the tested kernel is not named"),
        (
            quote!(ulps = 2),
            "the first argument is not the tested kernel",
        ),
        (quote!(k, toleranz = 2), "`toleranz` is not an option"),
        (quote!(k, seed(cuda = 2)), "write `seed = …`"),
        (quote!(k, items = 3), "`items` takes no value"),
        (
            quote!(k, over = size, items),
            "a launch has only one index space",
        ),
    ] {
        let found = errors(attribute.clone(), item());
        assert!(found.contains(message), "{attribute}: {found}");
    }
    for (item, message) in [
        (
            quote!(
                fn t(x: &[f32]) {}
            ),
            "this test has no output to compare",
        ),
        (
            quote!(
                fn t(x: &mut f32) {}
            ),
            "a kernel borrows only slices",
        ),
        (
            quote!(
                fn t((a, b): (f32, f32), y: &mut [f32]) {}
            ),
            "an argument of a test must be a plain name",
        ),
        (
            quote!(
                fn t(y: &mut [f32]) -> f32 {}
            ),
            "a kernel test returns nothing",
        ),
        (
            quote!(
                fn t<T>(y: &mut [T]) {}
            ),
            "a kernel test cannot be generic",
        ),
        (
            quote!(
                async fn t(y: &mut [f32]) {}
            ),
            "a kernel test cannot be `async`",
        ),
        (
            quote!(
                fn t(#[len(3)] a: f32, y: &mut [f32]) {}
            ),
            "a value has no length",
        ),
        (
            quote!(
                fn t(#[item] y: &mut [f32]) {}
            ),
            "#[within(low..high)]",
        ),
        (
            quote!(
                struct S;
            ),
            "is not on a function",
        ),
    ] {
        let found = errors(quote!(k), item.clone());
        assert!(found.contains(message), "{item}: {found}");
    }
}
