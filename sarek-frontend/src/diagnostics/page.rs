//! Generates the pages of the documentation from the catalogue.

use std::fmt::Write as _;

use proc_macro2::TokenStream;

use super::{Code, Reporter};
use crate::{derive, expand, function, kernel_test};

/// The file name of a code's page.
pub fn name(code: Code) -> String {
    format!("{code}.md")
}

/// The page of a code.
pub fn page(code: Code) -> String {
    let entry = code.entry();
    let mut page = format!("# {code}: {}\n\n", entry.title);
    let _ = writeln!(page, "{}\n\n**Why**: {}.", entry.means, entry.why);
    if entry.wrong.is_empty() {
        return page;
    }
    let _ = writeln!(page, "\nWrong:\n\n```rust\n{}\n```", entry.wrong.trim());
    match entry.reporter {
        Reporter::Macro => {
            let messages: Vec<String> = messages(entry.wrong.trim())
                .iter()
                .map(|message| format!("error: {}", message.replace('\n', "\n       ")))
                .collect();
            let _ = writeln!(page, "\n```text\n{}\n```", messages.join("\n"));
        }
        Reporter::Rustc => {
            page.push_str("\nrustc reports it, at the place in the kernel.\n");
        }
    }
    let _ = writeln!(page, "\nRight:\n\n```rust\n{}\n```", entry.right.trim());
    page
}

/// The list of all codes.
pub fn index() -> String {
    let mut index = String::from(
        "# Errors\n\nEach message of sarek's macros has a code and says what is wrong, why kernels do not have it, and what to write \
         instead. The pages are made of the catalogue in `sarek-frontend/src/diagnostics/catalogue`, and their examples are \
         tested.\n\n| Code | |\n|---|---|\n",
    );
    for code in Code::all() {
        let title = code.entry().title;
        let _ = writeln!(index, "| [{code}]({}) | {title} |", name(code));
    }
    index
}

/// The messages of the macros on a file's items.
///
/// # Panics
/// Panics if the text is not a Rust file.
pub fn messages(source: &str) -> Vec<String> {
    let file: syn::File = syn::parse_str(source).expect("an example is Rust");
    file.items.into_iter().flat_map(of_item).collect()
}

fn of_item(item: syn::Item) -> Vec<String> {
    let (mut item, tokens) = (item.clone(), item);
    let Some(attrs) = attributes(&mut item) else {
        return vec![];
    };
    let at = attrs.iter().position(|a| {
        let is = |name: &str| a.path().is_ident(name);
        is("kernel") || is("device") || is("kernel_test") || is("derive")
    });
    let Some(at) = at else { return vec![] };
    let attr = attrs.remove(at);
    let options = match &attr.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
    };
    let tokens_of = |item: &syn::Item| quote::ToTokens::to_token_stream(item);
    if attr.path().is_ident("kernel") {
        expand::kernel(options, tokens_of(&item)).errors
    } else if attr.path().is_ident("device") {
        function::device(options, tokens_of(&item)).errors
    } else if attr.path().is_ident("kernel_test") {
        kernel_test::expand(options, tokens_of(&item)).errors
    } else if options.to_string().contains("KernelType") {
        derive::messages(tokens_of(&tokens))
    } else {
        vec![]
    }
}

/// The attributes of an item that one of the macros may stand on.
fn attributes(item: &mut syn::Item) -> Option<&mut Vec<syn::Attribute>> {
    match item {
        syn::Item::Fn(item) => Some(&mut item.attrs),
        syn::Item::Impl(item) => Some(&mut item.attrs),
        syn::Item::Struct(item) => Some(&mut item.attrs),
        syn::Item::Enum(item) => Some(&mut item.attrs),
        syn::Item::Union(item) => Some(&mut item.attrs),
        // Only rustc looks at the other items of an example.
        _ => None,
    }
}
