//! Expansions call functions by paths only.
//!
//! A method call in an expansion makes rustc search for a method of that name. A trait of the
//! user's may have one that is found before the intended method: `impl<const N: usize> Tricks for
//! [u32; N] { fn get_unchecked(&self, …) }`. The surrounding code is `unsafe`, so safe code of the
//! user's could do anything there. This test examines each template in the crate's sources, even if
//! no kernel uses it.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The macros whose tokens become part of expansions.
const TEMPLATES: [&str; 5] = [
    "mixed",
    "quote",
    "quote_spanned",
    "parse_quote",
    "parse_quote_spanned",
];

/// The templates in these files are source text of kernels. They are lowered like the user's code
/// and are not part of any expansion.
const LOWERED: [&str; 4] = [
    "lower/checked.rs",
    "lower/expressed.rs",
    "lower/floats.rs",
    "lower/integer.rs",
];

/// Method calls that have no other form, by file and the text before their arguments.
const KNOWN: [(&str, &str); 12] = [
    // A constant of the expansion's type, and what it gives. Methods of the type itself come first.
    ("emit/marks.rs", "# constant .# accessor"),
    ("lower/callee.rs", "# items .# name"),
    // The receiver is a number and has the method itself. An inherent method that takes `self` by
    // value is found before those of all traits.
    ("emit/cpu/compound.rs", ":: __number (# receiver) .# name"),
    ("emit/cpu/exact.rs", ":: __number (__lhs) .# name"),
    // Only a call by the receiver's type selects between the two traits that a value may have. Both
    // return text.
    (
        "emit/printed.rs",
        "(&# host :: PrintedValue (&# name)) .# method",
    ),
    // The user's own calls: they determine the type of a receiver that has no name.
    ("lower/callee.rs", "(# receiver) .# name"),
    ("lower/receiver.rs", "Known = # name .# method"),
    // The launch of a test and its arguments, which are safe code.
    ("kernel_test.rs", ".# name"),
    ("kernel_test.rs", ".# method"),
    ("kernel_test.rs", ". block"),
    ("kernel_test.rs", ". over"),
    ("kernel_test.rs", ". run"),
];

/// The templates in a source text.
fn templates(source: TokenStream, found: &mut Vec<TokenStream>) {
    let tokens: Vec<TokenTree> = source.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let name = at.checked_sub(2).map(|name| tokens[name].to_string());
        let is_call = at > 1 && tokens[at - 1].to_string() == "!";
        match name.filter(|name| is_call && TEMPLATES.contains(&name.as_str())) {
            Some(name) => found.push(match name.ends_with("spanned") {
                true => behind_arrow(group.stream()),
                false => group.stream(),
            }),
            None => templates(group.stream(), found),
        }
    }
}

/// `tokens`, of `span => tokens`.
fn behind_arrow(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_arrow = |next: &TokenTree| token.to_string() == "=" && next.to_string() == ">";
        if tokens.peek().is_some_and(is_arrow) {
            break;
        }
    }
    tokens.skip(1).collect()
}

/// The method calls among tokens, each with some tokens before its dot.
fn method_calls(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|t| t.to_string() == text);
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            method_calls(group.stream(), found);
        }
        let is_range = is(at + 1, ".") || at > 0 && is(at - 1, ".");
        if !is(at, ".") || is_range {
            continue;
        }
        // `.name` or `.#name`
        let name = at + 1 + usize::from(is(at + 1, "#"));
        let is_name = matches!(tokens.get(name), Some(TokenTree::Ident(_)));
        let is_called = match tokens.get(name + 1) {
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
            // `.name::<…>`, with generic arguments that are filled in.
            _ => is(name + 1, ":") || is(name + 1, "#"),
        };
        if is_name && is_called {
            let around = tokens[at.saturating_sub(4)..=name].iter().cloned();
            found.push(around.collect::<TokenStream>().to_string());
        }
    }
}

fn each_file(folder: &Path, found: &mut Vec<(String, String)>, root: &Path) {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    for entry in entries {
        let path = entry.expect("it is listed").path();
        if path.is_dir() {
            each_file(&path, found, root);
        } else {
            let name = path.strip_prefix(root).expect("it is below the root");
            let text = std::fs::read_to_string(&path).expect("it is text");
            found.push((name.to_string_lossy().replace('\\', "/"), text));
        }
    }
}

#[test]
fn expansions_call_by_paths() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut seen) = (vec![], 0);
    each_file(&root, &mut files, &root);
    let mut calls = vec![];
    for (name, text) in files {
        if LOWERED.contains(&name.as_str()) {
            continue;
        }
        let mut all = vec![];
        let source = TokenStream::from_str(&text).expect("it is Rust");
        templates(source, &mut all);
        seen += all.len();
        for template in all {
            let mut found = vec![];
            method_calls(template, &mut found);
            calls.extend(found.into_iter().map(|call| (name.clone(), call)));
        }
    }
    assert!(seen > 500, "only {seen} templates were found");
    let is_known = |(name, call): &(String, String)| {
        KNOWN
            .iter()
            .any(|(file, text)| name == file && call.ends_with(text))
    };
    let unknown: Vec<_> = calls.iter().filter(|call| !is_known(call)).collect();
    assert!(
        unknown.is_empty(),
        "method calls in templates: {unknown:#?}"
    );
    for (file, text) in KNOWN {
        let is_used = |(name, call): &(String, String)| name == file && call.ends_with(text);
        assert!(calls.iter().any(is_used), "no longer there: {file}: {text}");
    }
}

#[test]
fn method_calls_are_found() {
    for (template, count) in [
        ("a.b(c)", 1),
        ("#a.b::<C>()", 1),
        ("{ a.#b(c) }", 1),
        ("#a #(.b(c))*", 1),
        ("a.b + a[0..n(1)] + A::b(c)", 0),
    ] {
        let mut found = vec![];
        method_calls(TokenStream::from_str(template).expect("tokens"), &mut found);
        assert_eq!(found.len(), count, "{template}");
    }
}
