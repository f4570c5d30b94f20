//! Limits the nesting depth of tokens.
//!
//! All phases, syn's parser first, walk trees by recursion. rustc gives macros a few megabytes of
//! stack, and debug builds do not optimise macros. Deeper code than anyone writes is reported
//! before any phase sees it.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};

use crate::diagnostics::{Errors, codes};

/// Maximum nesting of groups.
const GROUPS: u32 = 100;

/// Maximum number of consecutive operators and keywords, such as the prefixes of an operand. Each
/// may open a level of its own.
const ROW: u32 = 100;

/// Maximum number of operators in one expression, since the tree of `a + b + c` leans to one side.
const OPERATORS: u32 = 240;

/// Maximum number of branches of one `if`. Each stands inside the previous one.
const BRANCHES: u32 = 100;

/// Maximum number of arms of one `match`, which nest in the same way.
const ARMS: u32 = 150;

/// Reports tokens that nest too deeply. True if there are none.
pub fn is_bounded(tokens: &TokenStream, errors: &mut Errors) -> bool {
    let deep = too_deep(tokens, 0);
    if let Some(span) = deep {
        errors.at(
            codes::SYNTAX,
            span,
            "this is too long or too deep for one expression",
            "move parts of it into variables, arrays or functions",
        );
    }
    deep.is_none()
}

fn too_deep(tokens: &TokenStream, depth: u32) -> Option<Span> {
    let mut level = Level::default();
    for token in tokens.clone() {
        if let TokenTree::Group(group) = &token {
            if depth >= GROUPS {
                return Some(group.span_open());
            }
            if let Some(span) = too_deep(&group.stream(), depth + 1) {
                return Some(span);
            }
        }
        level.count(&token);
        if level.is_too_deep() {
            return Some(token.span());
        }
    }
    None
}

/// Counters for the tokens of one group.
#[derive(Default)]
struct Level {
    row: u32,
    operators: u32,
    branches: u32,
    arms: u32,
    after_braces: bool,
    after_equals: bool,
}

impl Level {
    fn count(&mut self, token: &TokenTree) {
        let after_braces = std::mem::take(&mut self.after_braces);
        let after_equals = std::mem::take(&mut self.after_equals);
        let is_else = matches!(token, TokenTree::Ident(ident) if ident == "else");
        if after_braces && !is_else {
            (self.operators, self.branches) = (0, 0);
        }
        self.branches += u32::from(is_else);
        let row = std::mem::take(&mut self.row) + 1;
        match token {
            TokenTree::Punct(punct) if [';', ','].contains(&punct.as_char()) => {
                (self.operators, self.branches) = (0, 0);
            }
            TokenTree::Punct(punct) => {
                self.row = row;
                self.operators += u32::from(punct.spacing() == Spacing::Alone);
                self.arms += u32::from(after_equals && punct.as_char() == '>');
                self.after_equals = punct.as_char() == '=';
            }
            TokenTree::Ident(ident) => self.row = if is_prefix(ident) { row } else { 0 },
            TokenTree::Group(group) => self.after_braces = group.delimiter() == Delimiter::Brace,
            TokenTree::Literal(_) => {}
        }
    }

    fn is_too_deep(&self) -> bool {
        self.row > ROW || self.operators > OPERATORS || self.branches > BRANCHES || self.arms > ARMS
    }
}

fn is_prefix(ident: &Ident) -> bool {
    [
        "return", "break", "move", "mut", "const", "dyn", "static", "async", "yield", "raw", "ref",
        "in", "let",
    ]
    .iter()
    .any(|word| ident == word)
}
