//! A mutable token tree, parsed from text and printed as text.
//!
//! A group without delimiters, as `macro_rules!` makes for `$e`, has no Rust syntax. Its text here is `__none { … }`.

use std::fmt;
use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// A token, or a group of tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// An identifier, a literal, a lifetime, or an operator of one or more characters.
    Leaf(Rc<str>),
    /// A delimited group.
    Group(Delimiter, Vec<Tree>),
}

/// The class of a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// An identifier or a keyword.
    Ident,
    /// A number, string or character literal.
    Literal,
    /// `'a`
    Lifetime,
    /// An operator.
    Punct,
}

/// The word before a group without delimiters.
const NONE: &str = "__none";

/// The operators of more than one character.
const OPERATORS: [&str; 24] = [
    "..=", "...", "<<=", ">>=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "..", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>",
];

impl Tree {
    /// A leaf.
    pub fn leaf(text: &str) -> Tree {
        Tree::Leaf(text.into())
    }

    /// The class of a leaf; `None` for a group.
    pub fn class(&self) -> Option<Class> {
        let Tree::Leaf(text) = self else { return None };
        let first = text.chars().next()?;
        Some(match first {
            '\'' if !text[1..].contains('\'') => Class::Lifetime,
            '"' | '\'' | '0'..='9' => Class::Literal,
            _ if text.ends_with(['"', '\'']) || text.ends_with("\"#") => Class::Literal,
            c if c.is_alphanumeric() || c == '_' => Class::Ident,
            _ => Class::Punct,
        })
    }

    /// True if it is a leaf with this text.
    pub fn is(&self, text: &str) -> bool {
        matches!(self, Tree::Leaf(t) if &**t == text)
    }

    /// The number of its tokens. A group counts as one token, plus its content.
    pub fn size(&self) -> usize {
        match self {
            Tree::Leaf(_) => 1,
            Tree::Group(_, inner) => 1 + size(inner),
        }
    }
}

/// The number of tokens in these trees.
pub fn size(trees: &[Tree]) -> usize {
    trees.iter().map(Tree::size).sum()
}

/// Parses a text; `None` if it is not valid tokens.
pub fn read(text: &str) -> Option<Vec<Tree>> {
    Some(of_stream(text.parse().ok()?))
}

fn of_stream(stream: TokenStream) -> Vec<Tree> {
    let mut trees = vec![];
    // The characters of the current operator.
    let mut operator = String::new();
    let flush = |operator: &mut String, trees: &mut Vec<Tree>| {
        while !operator.is_empty() {
            let known = OPERATORS.iter().find(|o| operator.starts_with(**o));
            let len = known.map_or(1, |o| o.len());
            trees.push(Tree::leaf(&operator[..len]));
            operator.drain(..len);
        }
    };
    let mut is_lifetime = false;
    for token in stream {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                flush(&mut operator, &mut trees);
                is_lifetime = true;
            }
            TokenTree::Punct(punct) => {
                operator.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    flush(&mut operator, &mut trees);
                }
            }
            TokenTree::Ident(ident) => {
                flush(&mut operator, &mut trees);
                let tick = if is_lifetime { "'" } else { "" };
                is_lifetime = false;
                trees.push(Tree::leaf(&format!("{tick}{ident}")));
            }
            TokenTree::Literal(literal) => {
                flush(&mut operator, &mut trees);
                trees.push(Tree::leaf(&literal.to_string()));
            }
            TokenTree::Group(group) => {
                flush(&mut operator, &mut trees);
                let is_none = trees.last().is_some_and(|t| t.is(NONE));
                let delimiter = match is_none {
                    true => Delimiter::None,
                    false => group.delimiter(),
                };
                if is_none {
                    trees.pop();
                }
                trees.push(Tree::Group(delimiter, of_stream(group.stream())));
            }
        }
    }
    flush(&mut operator, &mut trees);
    trees
}

/// The tokens of a text from [`print()`]; `None` if it is not valid tokens.
pub fn tokens(text: &str) -> Option<TokenStream> {
    let stream = text.parse().ok()?;
    Some(match text.contains(NONE) {
        true => without_delimiters(stream),
        false => stream,
    })
}

/// Replaces `__none { … }` by groups without delimiters.
fn without_delimiters(stream: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = vec![];
    for token in stream {
        let TokenTree::Group(group) = token else {
            tokens.push(token);
            continue;
        };
        let is_none = matches!(tokens.last(), Some(TokenTree::Ident(ident)) if ident == NONE);
        let delimiter = match is_none {
            true => Delimiter::None,
            false => group.delimiter(),
        };
        if is_none {
            tokens.pop();
        }
        let mut changed = Group::new(delimiter, without_delimiters(group.stream()));
        changed.set_span(group.span());
        tokens.push(changed.into());
    }
    tokens.into_iter().collect()
}

/// Prints trees, with one line for each statement.
pub fn print(trees: &[Tree]) -> String {
    let mut text = String::with_capacity(512);
    write(trees, &mut text).expect("a text takes all");
    text
}

fn write(trees: &[Tree], out: &mut impl fmt::Write) -> fmt::Result {
    for tree in trees {
        match tree {
            Tree::Leaf(leaf) if &**leaf == ";" => out.write_str(";\n")?,
            Tree::Leaf(leaf) => write!(out, "{leaf} ")?,
            Tree::Group(delimiter, inner) => {
                let (open, close) = match delimiter {
                    Delimiter::Parenthesis => ("(", ") "),
                    Delimiter::Brace => ("{\n", "}\n"),
                    Delimiter::Bracket => ("[", "] "),
                    Delimiter::None => ("__none { ", "} "),
                };
                out.write_str(open)?;
                write(inner, out)?;
                out.write_str(close)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_tokens_are_read_again() {
        let text = "fn k<'a>(x: &'a [f32]) -> f32 { x[0..=2] >>= 'c' + b'\\'' + r#\"q\"# ; __none { 1.5e3 } }";
        let trees = read(text).expect("tokens");
        assert!(trees.iter().any(|t| t.is("->")) && trees.iter().any(|t| t.is("'a")));
        assert_eq!(read(&print(&trees)), Some(trees.clone()));
        let stream = tokens(&print(&trees)).expect("tokens");
        let Some(TokenTree::Group(body)) = stream.into_iter().last() else {
            panic!("no body");
        };
        let last = body.stream().into_iter().last();
        assert!(
            matches!(last, Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::None),
            "the group without delimiters"
        );
    }
}
