//! `native!` and other macros in a body.

use proc_macro2::Span;
use sarek_ir::{Memory, Native, NativeId, NativeText, Piece, Stmt};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{LitStr, Token};

use super::{Binding, Lowerer, Value};

/// The tokens of one `native!`.
pub struct NativeCall {
    /// Target and text.
    pub texts: Vec<(LitStr, LitStr)>,
    /// `_ => { … }`
    pub fallback: Option<syn::Block>,
}

impl Parse for NativeCall {
    fn parse(input: ParseStream<'_>) -> syn::Result<NativeCall> {
        let mut call = NativeCall {
            texts: vec![],
            fallback: None,
        };
        if input.peek(LitStr) && input.peek2(Token![,]) {
            let target = input.parse()?;
            input.parse::<Token![,]>()?;
            call.texts.push((target, input.parse()?));
            input.parse::<Option<Token![,]>>()?;
            if !input.is_empty() {
                let message = "`native!(target, text)` takes two strings; write several targets as `\"cuda\" => \"…\"`";
                return Err(input.error(message));
            }
            return Ok(call);
        }
        while !input.is_empty() {
            if let Some(underscore) = input.parse::<Option<Token![_]>>()? {
                input.parse::<Token![=>]>()?;
                if call.fallback.is_some() {
                    return Err(syn::Error::new(underscore.span, "a second fallback"));
                }
                call.fallback = Some(input.parse()?);
            } else {
                let target: LitStr = input.parse()?;
                input.parse::<Token![=>]>()?;
                if call.texts.iter().any(|(t, _)| t.value() == target.value()) {
                    return Err(syn::Error::new(
                        target.span(),
                        "a second text for the same target",
                    ));
                }
                call.texts.push((target, input.parse()?));
            }
            if !input.is_empty() {
                input.parse::<Option<Token![,]>>()?;
            }
        }
        if call.texts.is_empty() {
            return Err(
                input.error("a target and its text are missing: `native!(\"cuda\", \"…\")`")
            );
        }
        Ok(call)
    }
}

/// A piece of a text: verbatim, or the name of an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Template {
    /// Emitted as it is.
    Text(String),
    /// `{name}`
    Operand(String),
}

impl Template {
    /// Splits a text: `{name}` is an operand, `{{` and `}}` are braces, all else is verbatim.
    pub fn parse(text: &str) -> Vec<Template> {
        let mut pieces = vec![];
        let mut verbatim = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("{{") {
                verbatim.push('{');
                rest = after;
            } else if let Some(after) = rest.strip_prefix("}}") {
                verbatim.push('}');
                rest = after;
            } else if let Some((name, after)) = operand(rest) {
                if !verbatim.is_empty() {
                    pieces.push(Template::Text(std::mem::take(&mut verbatim)));
                }
                pieces.push(Template::Operand(name.to_string()));
                rest = after;
            } else {
                verbatim.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        if !verbatim.is_empty() {
            pieces.push(Template::Text(verbatim));
        }
        pieces
    }
}

/// `{name}` at the start of a text, and what follows it.
fn operand(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    let mut chars = name.chars();
    let first = chars.next()?;
    let is_name =
        (first.is_alphabetic() || first == '_') && chars.all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some((name, after))
}

/// Is it a call of `native!`?
pub fn is_native(mac: &syn::Macro) -> bool {
    mac.path
        .segments
        .last()
        .is_some_and(|s| s.ident == "native")
}

/// Where the macro's name stands.
pub fn name_span(mac: &syn::Macro) -> Span {
    let name = mac.path.segments.last();
    name.map_or_else(Span::call_site, |s| s.ident.span())
}

impl Lowerer<'_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> Value {
        if is_native(mac) {
            self.native(mac);
            return Value::Unit;
        }
        let name = mac
            .path
            .segments
            .last()
            .map_or_else(String::new, |s| s.ident.to_string());
        let instead = match name.as_str() {
            "matches" => return self.matches_macro(mac),
            "println" | "print" | "eprintln" | "dbg" => {
                "write what you want to see to a `&mut [T]`"
            }
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "panic" | "unreachable"
            | "todo" => "write a flag to a `&mut [T]`",
            "superstep" => "its body is a sequence of statements",
            _ => "the only macro in a kernel is `native!`",
        };
        self.errors.at(
            mac.path.span(),
            format!("`{name}!` is not supported in a kernel yet: {instead}"),
        );
        Value::Never
    }

    fn native(&mut self, mac: &syn::Macro) {
        if self.unsafe_depth == 0 {
            self.errors.at(
                mac.path.span(),
                "`native!` stands in `unsafe { … }`: nobody checks what its text does",
            );
        }
        let call: NativeCall = match mac.parse_body() {
            Ok(call) => call,
            Err(error) => return self.errors.push(error),
        };
        // Operands are names of whoever wrote `native`, see `emit::reference`.
        let at = name_span(mac);
        let texts: Vec<NativeText> = call
            .texts
            .iter()
            .map(|(target, text)| NativeText {
                target: target.value().into(),
                pieces: self.pieces(text, at).into(),
            })
            .collect();
        let fallback = call.fallback.as_ref().map(|block| {
            super::attributes::check(block, self.errors);
            let (open, value) = self.in_block(|this| this.scoped_block(block));
            if let Value::Scalar(id) = value {
                let span = self.span(id);
                self.errors.at(
                    span,
                    "the fallback of `native!` yields nothing: end it with `;`",
                );
            }
            self.close(open)
        });
        let native = NativeId(self.kernel.natives.len() as u32);
        self.kernel.natives.to_mut().push(Native {
            texts: texts.into(),
            fallback,
        });
        self.push(Stmt::Native { native }, mac.path.span());
    }

    fn pieces(&mut self, text: &LitStr, at: Span) -> Vec<Piece> {
        let mut pieces = vec![];
        for piece in Template::parse(&text.value()) {
            pieces.push(match piece {
                Template::Text(text) => Piece::Text(text.into()),
                Template::Operand(name) => {
                    let Some(piece) = self.native_operand(&name, text, at) else {
                        continue;
                    };
                    piece
                }
            });
        }
        pieces
    }

    fn native_operand(&mut self, name: &str, text: &LitStr, at: Span) -> Option<Piece> {
        match self.find_text(name, at) {
            Some(Binding::Local(local) | Binding::Reference(local)) => Some(Piece::Local(local)),
            Some(Binding::Scalar(param) | Binding::Memory(Memory::Slice(param))) => {
                Some(Piece::Param(param))
            }
            Some(Binding::Memory(Memory::Shared(_) | Memory::Local(_)) | Binding::View(_)) => {
                self.errors.at(
                    text.span(),
                    format!("`{{{name}}}` is an array: bind the element with `let` first"),
                );
                None
            }
            Some(Binding::Const(_) | Binding::Closure(_) | Binding::Part(_)) => {
                self.errors.at(
                    text.span(),
                    format!("`{{{name}}}` is no variable: bind it with `let` first"),
                );
                None
            }
            None => {
                self.errors.at(
                    text.span(),
                    format!(
                        "`{{{name}}}` names no variable of the kernel; write `{{{{` for a brace"
                    ),
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_split_at_operands_only() {
        let text = |t: &str| Template::Text(t.into());
        let op = |t: &str| Template::Operand(t.into());
        assert_eq!(
            Template::parse("y[{i}] = { x; } {{z}} {1} é"),
            [text("y["), op("i"), text("] = { x; } {z} {1} é")]
        );
    }
}
