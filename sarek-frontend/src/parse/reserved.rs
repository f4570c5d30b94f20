//! Names that expansions reserve.

use proc_macro2::{TokenStream, TokenTree};

use crate::diagnostics::{Errors, Mistake, codes};

/// Reserved types and constants in compiled bodies, besides modules and scalars.
const NAMES: [&str; 6] = ["__CHECK", "__FULL", "__STRIP", "__HALF", "__A", "__R"];

/// Reserved modules.
const MODULES: [&str; 2] = ["__host", "__ir"];

/// Scalars, whose names are reserved with a `__` prefix.
const SCALARS: [&str; 15] = [
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize", "f16", "bf16", "f32",
    "f64", "isize",
];

/// Reports reserved names in the user's tokens, and paths that begin with a name that may be one.
/// In a compiled body such a name would resolve differently than outside of it, where the proof is
/// made.
pub fn check(tokens: &TokenStream, errors: &mut Errors) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |at: usize, text: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == text);
    for (at, token) in tokens.iter().enumerate() {
        let ident = match token {
            TokenTree::Group(group) => {
                check(&group.stream(), errors);
                continue;
            }
            TokenTree::Ident(ident) => ident,
            TokenTree::Punct(_) | TokenTree::Literal(_) => continue,
        };
        let text = ident.to_string();
        let name = text.strip_prefix("r#").unwrap_or(&text);
        let is_behind = at > 0 && is(at - 1, '.') || at > 1 && is(at - 1, ':') && is(at - 2, ':');
        let is_module = is(at + 1, ':') && is(at + 2, ':');
        if name.starts_with("__") && !is_behind && (is_module || is_known(name)) {
            let mistake = Mistake::new(
                codes::PATH,
                format!("`{name}` begins with two underscores, which are reserved for expansions"),
                "give it another name, as in `use … as …;`",
            );
            let mistake =
                mistake.because("the compiled kernel may use this name for something else");
            errors.report(ident.span(), &mistake);
        }
    }
}

fn is_known(name: &str) -> bool {
    let is_scalar = |plain: &str| SCALARS.contains(&plain);
    NAMES.contains(&name)
        || MODULES.contains(&name)
        || name.strip_prefix("__").is_some_and(is_scalar)
}
