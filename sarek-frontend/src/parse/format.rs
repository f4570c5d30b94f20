//! Parses the tokens of `println!`, `panic!` and the assertions.

use crate::diagnostics::{Mistake, codes};
use std::collections::HashMap;
use std::fmt::Display;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use sarek_ir::print::{Format, PrintPiece};
use syn::parse::ParseStream;
use syn::visit_mut::VisitMut;
use syn::{Expr, LitStr, Token};

/// A macro of the standard library that kernels support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StdMacro {
    /// `println!` and `print!`; `line` is true for the former.
    #[allow(missing_docs)]
    Print { line: bool },
    /// `panic!`, `unreachable!`, `todo!`, `unimplemented!`: the text without a message, and the
    /// text before a message.
    #[allow(missing_docs)]
    Panic {
        alone: &'static str,
        before: &'static str,
    },
    /// `assert!`
    Assert,
    /// `assert_eq!` and `assert_ne!`: the operator.
    Compare(&'static str),
}

/// The names of the [`StdMacro`]s. The last field is true for those that count only in debug
/// builds.
const KNOWN: [(&str, StdMacro, bool); 12] = [
    ("println", StdMacro::Print { line: true }, false),
    ("print", StdMacro::Print { line: false }, false),
    ("panic", panics("explicit panic", ""), false),
    (
        "unreachable",
        panics(
            "internal error: entered unreachable code",
            "internal error: entered unreachable code: ",
        ),
        false,
    ),
    (
        "todo",
        panics("not yet implemented", "not yet implemented: "),
        false,
    ),
    (
        "unimplemented",
        panics("not implemented", "not implemented: "),
        false,
    ),
    ("assert", StdMacro::Assert, false),
    ("debug_assert", StdMacro::Assert, true),
    ("assert_eq", StdMacro::Compare("=="), false),
    ("assert_ne", StdMacro::Compare("!="), false),
    ("debug_assert_eq", StdMacro::Compare("=="), true),
    ("debug_assert_ne", StdMacro::Compare("!="), true),
];

const fn panics(alone: &'static str, before: &'static str) -> StdMacro {
    StdMacro::Panic { alone, before }
}

/// A call of a [`StdMacro`].
pub struct StdCall {
    /// The macro.
    pub kind: StdMacro,
    /// True if it counts only in debug builds.
    pub debug: bool,
    /// The expressions that an assertion tests.
    pub tested: Vec<Expr>,
    /// The message.
    pub said: Option<Said>,
}

/// A format with its arguments.
pub struct Said {
    /// The format.
    pub format: LitStr,
    /// The arguments, with their names if they have one.
    pub args: Vec<(Option<Ident>, Expr)>,
}

impl StdCall {
    /// The names of all supported macros.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.into_iter().map(|(name, ..)| name)
    }

    /// The call that a macro is; `None` for other macros.
    pub fn of(mac: &syn::Macro) -> Option<syn::Result<StdCall>> {
        let name = mac.path.segments.last()?.ident.to_string();
        let (_, kind, debug) = KNOWN.into_iter().find(|(known, ..)| *known == name)?;
        let tested = match kind {
            StdMacro::Print { .. } | StdMacro::Panic { .. } => 0,
            StdMacro::Assert => 1,
            StdMacro::Compare(_) => 2,
        };
        let parser = |input: ParseStream<'_>| {
            let mut call = StdCall {
                kind,
                debug,
                tested: vec![],
                said: None,
            };
            for _ in 0..tested {
                call.tested.push(input.parse()?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            if !input.is_empty() {
                call.said = Some(Said::parse(input)?);
            }
            Ok(call)
        };
        Some(mac.parse_body_with(parser))
    }

    /// Visits the expressions in it.
    pub fn visit(&mut self, visitor: &mut impl VisitMut) {
        let said = self.said.iter_mut().flat_map(|said| &mut said.args);
        let args = said.map(|(_, expr)| expr);
        self.tested
            .iter_mut()
            .chain(args)
            .for_each(|expr| visitor.visit_expr_mut(expr));
    }
}

impl ToTokens for StdCall {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (tested, said) = (&self.tested, self.said.iter());
        tokens.extend(quote!(#(#tested,)* #(#said)*));
    }
}

impl Said {
    fn parse(input: ParseStream<'_>) -> syn::Result<Said> {
        if !input.peek(LitStr) {
            return Err(Mistake::new(
                codes::FORMAT,
                "the message does not begin with a format string",
                "write a string literal first",
            )
            .at(input.span()));
        }
        let mut said = Said {
            format: input.parse()?,
            args: vec![],
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let is_named =
                input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
            let name = match is_named {
                true => {
                    let name = input.parse()?;
                    input.parse::<Token![=]>()?;
                    Some(name)
                }
                false => None,
            };
            said.args.push((name, input.parse()?));
        }
        Ok(said)
    }

    /// Splits the format into pieces. An argument that is not given is the variable of that name.
    pub fn pieces(&self) -> Result<Pieces, Mistake> {
        let text = self.format.value();
        let mut pieces = Pieces::default();
        let given = (0..).zip(&self.args);
        let mut named: HashMap<String, u32> = given
            .filter_map(|(i, (name, _))| Some((name.as_ref()?.to_string(), i)))
            .collect();
        let positional = self.args.iter().filter(|(name, _)| name.is_none()).count();
        let mut next = 0;
        let mut verbatim = String::new();
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            if (c == '{' || c == '}') && after.starts_with(c) {
                verbatim.push(c);
                rest = &after[1..];
                continue;
            }
            if c == '}' {
                return Err(mistake("a `}` without `{`", "write `}}`"));
            }
            if c != '{' {
                verbatim.push(c);
                rest = after;
                continue;
            }
            let Some((inside, after)) = after.split_once('}') else {
                return Err(mistake("a `{` without `}`", "write `{{`"));
            };
            rest = after;
            let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
            let name = name.trim();
            let index = if name.is_empty() {
                next += 1;
                next - 1
            } else if let Ok(index) = name.parse() {
                index
            } else if is_plain_name(name) {
                let fresh = (self.args.len() + pieces.captured.len()) as u32;
                *named.entry(name.to_string()).or_insert_with(|| {
                    pieces.captured.push(name.to_string());
                    fresh
                })
            } else {
                let what = format!("`{name}` is not an argument of the format");
                return Err(mistake(
                    what,
                    "give it a name: `{v}`, and `v = …` after the format",
                ));
            };
            let by_position = name.is_empty() || name.parse::<u32>().is_ok();
            if by_position && index as usize >= positional.max(self.args.len()) {
                let what = format!("the format has no argument {index}");
                return Err(mistake(what, "pass one for each `{}`"));
            }
            let format = Format::parse(format.trim_end()).ok_or_else(|| {
                let what = format!("`{{:{format}}}` is not supported in a kernel");
                mistake(what, "write width and precision as numbers")
            })?;
            if !verbatim.is_empty() {
                let text = std::mem::take(&mut verbatim).into();
                pieces.pieces.push(PrintPiece::Text(text));
            }
            pieces.pieces.push(PrintPiece::Arg { index, format });
        }
        if !verbatim.is_empty() {
            pieces.pieces.push(PrintPiece::Text(verbatim.into()));
        }
        Ok(pieces)
    }

    /// The text of a format without arguments.
    pub fn constant(&self) -> Result<String, Mistake> {
        let mut text = String::new();
        for piece in self.pieces()?.pieces {
            match piece {
                PrintPiece::Text(t) => text += &t,
                PrintPiece::Arg { .. } => {
                    let what = "a message cannot have arguments in a kernel";
                    return Err(mistake(what, "print them with `println!` first"));
                }
            }
        }
        match self.args.is_empty() {
            true => Ok(text),
            false => Err(mistake(
                "this message has no `{}` for its arguments",
                "drop them",
            )),
        }
    }
}

fn mistake(what: impl Display, instead: &str) -> Mistake {
    Mistake::new(codes::FORMAT, what, instead)
}

/// True for a plain identifier, as formats use it: not raw, and without other tokens.
fn is_plain_name(text: &str) -> bool {
    syn::parse_str::<Ident>(text).is_ok_and(|ident| ident == text && !text.starts_with("r#"))
}

/// A format, split into pieces.
#[derive(Default)]
pub struct Pieces {
    /// Texts and arguments.
    pub pieces: Vec<PrintPiece>,
    /// The captured variables, which are arguments after the given ones.
    pub captured: Vec<String>,
}

impl ToTokens for Said {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let format = &self.format;
        let args = self.args.iter().map(|(name, expr)| {
            let name = name.iter();
            quote!(, #(#name =)* #expr)
        });
        tokens.extend(quote!(#format #(#args)*));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tokens: &str) -> Said {
        let mac: syn::Macro = syn::parse_str(&format!("println!({tokens})")).expect("a macro");
        let call = StdCall::of(&mac).expect("it is known").expect("it parses");
        call.said.expect("it says something")
    }

    #[test]
    fn formats_are_taken_apart() {
        let said = said(r#""a{{{} {x:>4} {1:?} {n} {x}", 1 + 2, y, n = 3"#);
        let pieces = said.pieces().expect("a format");
        assert_eq!(pieces.captured, ["x"]);
        let indices: Vec<u32> = pieces
            .pieces
            .iter()
            .filter_map(|p| match p {
                PrintPiece::Arg { index, .. } => Some(*index),
                PrintPiece::Text(_) => None,
            })
            .collect();
        assert_eq!(indices, [0, 3, 1, 2, 3]);
    }

    #[test]
    fn what_is_no_format_is_reported() {
        for (format, message) in [
            (r#""{""#, "a `{` without"),
            (r#""}""#, "a `}` without"),
            (r#""{}""#, "the format has no argument 0"),
            (r#""{:w$}", 1"#, "`{:w$}` is not supported"),
            (r#""{a.b}""#, "`a.b` is not an argument"),
        ] {
            let error = said(format).pieces().err().expect("an error");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
