//! Expansions call few macros by names that the user may redefine. None of these calls stands
//! inside `unsafe` code. None has a generated `unsafe` among its tokens, which would be allowed
//! wherever the macro puts it.

mod common;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Finds the macro calls whose path is a single segment, with their arguments. The flag is true
/// inside an `unsafe` block or the body of an `unsafe fn`.
fn calls(tokens: TokenStream, is_unsafe: bool, found: &mut Vec<(String, TokenStream, bool)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|t| t.to_string() == text);
    let mut function = false;
    for (at, token) in tokens.iter().enumerate() {
        function |= is(at, "unsafe") && is(at + 1, "fn");
        let TokenTree::Group(group) = token else {
            continue;
        };
        let is_body = group.delimiter() == Delimiter::Brace;
        let inside = is_body && (function || at > 0 && is(at - 1, "unsafe"));
        function &= !is_body;
        let is_call = at > 1 && is(at - 1, "!");
        let is_path = at > 2 && is(at - 3, ":");
        if let (true, false, Some(TokenTree::Ident(name))) = (
            is_call,
            is_path,
            at.checked_sub(2).map(|name| &tokens[name]),
        ) {
            found.push((name.to_string(), group.stream(), is_unsafe));
        }
        calls(group.stream(), is_unsafe || inside, found);
    }
}

fn has_unsafe(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_unsafe(group.stream()),
        token => token.to_string() == "unsafe",
    })
}

#[test]
fn macros_of_the_users_get_nothing_unsafe() {
    let all = [
        common::device(
            "impl<T: Float> Shape for Disc<T> {
                fn area(&self) -> T { self.r * self.r }
                fn fold(&self, each: impl Fn(T) -> T) -> T { each(self.r) }
            }",
        ),
        common::device(
            "fn twice<T: Shape>(of: &T, x: &[f32], i: usize) -> f32 {
                assert!(i < x.len(), \"it is too large\");
                x[i] + <T as Shape>::area(of) + <T as Shape>::fold(of, |r| r * 2.0)
            }",
        ),
        common::expand(
            "fn areas(disc: Disc<f32>, out: &mut [f32]) {
                let tile = shared_array::<f32, 64>();
                let i = global_idx_x();
                tile[thread_idx_x()] = <Disc<f32> as Shape>::area(&disc);
                barrier();
                if i < out.len() { out[i] = tile[thread_idx_x()]; }
            }",
        ),
    ];
    let mut names = vec![];
    for expansion in all {
        assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
        let mut found = vec![];
        calls(expansion.tokens, false, &mut found);
        for (name, tokens, is_unsafe) in found {
            assert!(!is_unsafe, "`{name}!` is called in `unsafe` code: {tokens}");
            assert!(
                !has_unsafe(tokens.clone()),
                "`{name}!` gets `unsafe`: {tokens}"
            );
            names.push(name);
        }
    }
    assert!(names.iter().any(|name| name == "device_trait"), "{names:?}");
}
