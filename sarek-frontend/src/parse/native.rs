//! Parses the tokens of `native!`, and the templates in its texts.

use crate::diagnostics::{Mistake, codes};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token};

/// The tokens of one `native!`.
///
/// It has either `"cuda", "text"`, or any number of `"cuda" => "text"` and at most one `_ => { rust
/// }`. A text followed by `as T` is an expression. Then follow `name = expression` for operands
/// that are not variables, and `use PATH` for preludes.
pub struct NativeCall {
    /// A text for each target.
    pub texts: Vec<NativeArm>,
    /// `_ => { … }`
    pub fallback: Option<syn::Block>,
    /// `name = expression`
    pub operands: Vec<(Ident, syn::Expr)>,
    /// `use PATH`
    pub preludes: Vec<syn::Path>,
}

/// The text for one target.
pub struct NativeArm {
    /// The target.
    pub target: LitStr,
    /// The text.
    pub text: LitStr,
    /// `as T`: the type of the text's value.
    pub result_type: Option<syn::Type>,
}

impl NativeArm {
    fn parse(target: LitStr, input: ParseStream<'_>) -> syn::Result<NativeArm> {
        let text = input.parse()?;
        let result_type = match input.parse::<Option<Token![as]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(NativeArm {
            target,
            text,
            result_type,
        })
    }
}

impl NativeCall {
    /// The type of the texts' value, which is the same for all of them; see [`Parse`].
    pub fn result_type(&self) -> Option<&syn::Type> {
        self.texts.first()?.result_type.as_ref()
    }

    /// `_ => { … }`, `name = expression`, `use PATH` or `"target" => "text"`.
    fn entry(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if let Some(underscore) = input.parse::<Option<Token![_]>>()? {
            input.parse::<Token![=>]>()?;
            if self.fallback.is_some() {
                return Err(twice("fallback", "drop one of them").at(underscore.span));
            }
            self.fallback = Some(input.parse()?);
            return Ok(());
        }
        if self.further(input)? {
            return Ok(());
        }
        let target: LitStr = input.parse()?;
        input.parse::<Token![=>]>()?;
        if self
            .texts
            .iter()
            .any(|t| t.target.value() == target.value())
        {
            let what = "text for the same target";
            return Err(twice(what, "write one text for each target").at(target.span()));
        }
        self.texts.push(NativeArm::parse(target, input)?);
        Ok(())
    }

    /// `name = expression` or `use PATH`.
    fn further(&mut self, input: ParseStream<'_>) -> syn::Result<bool> {
        if input.parse::<Option<Token![use]>>()?.is_some() {
            self.preludes.push(input.call(syn::Path::parse_mod_style)?);
            return Ok(true);
        }
        if !input.peek(syn::Ident) {
            return Ok(false);
        }
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        if self.operands.iter().any(|(n, _)| *n == name) {
            let what = format!("operand `{name}`");
            return Err(twice(&what, "give one of them another name").at(name.span()));
        }
        self.operands.push((name, input.parse()?));
        Ok(true)
    }

    /// Checks that all texts have the same type, or none of them has a type.
    fn agree(&self) -> syn::Result<()> {
        let text = |ty: &Option<syn::Type>| ty.as_ref().map(|t| t.to_token_stream().to_string());
        let Some(first) = self.texts.first() else {
            return Ok(());
        };
        let differs = |arm: &&NativeArm| text(&arm.result_type) != text(&first.result_type);
        match self.texts.iter().find(differs) {
            None => Ok(()),
            Some(other) => {
                let (what, instead) = match &first.result_type {
                    Some(ty) => (
                        "all texts of a `native!` must have the same type, and this one differs",
                        format!("write `as {}` after it", ty.to_token_stream()),
                    ),
                    None => (
                        "the first text of this `native!` has no value, but this one has",
                        "write a type after the first text, too".to_string(),
                    ),
                };
                let mistake = Mistake::new(codes::NATIVE_VALUE, what, instead);
                Err(mistake.at(other.text.span()))
            }
        }
    }
}

fn twice(what: &str, instead: &str) -> Mistake {
    Mistake::new(codes::NATIVE_TWICE, format!("a second {what}"), instead)
}

impl Parse for NativeCall {
    fn parse(input: ParseStream<'_>) -> syn::Result<NativeCall> {
        let mut call = NativeCall {
            texts: vec![],
            fallback: None,
            operands: vec![],
            preludes: vec![],
        };
        if input.peek(LitStr) && input.peek2(Token![,]) {
            let target = input.parse()?;
            input.parse::<Token![,]>()?;
            call.texts.push(NativeArm::parse(target, input)?);
            while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
                if input.peek(LitStr) || !call.further(input)? {
                    break;
                }
            }
            if !input.is_empty() {
                let message = "`native!(target, text)` takes two strings, then operands `name = …`; write several \
                               targets as `\"cuda\" => \"…\"`";
                return Err(input.error(message));
            }
            return Ok(call);
        }
        while !input.is_empty() {
            call.entry(input)?;
            if !input.is_empty() {
                input.parse::<Option<Token![,]>>()?;
            }
        }
        if call.texts.is_empty() {
            let message = "a target and its text are missing: `native!(\"cuda\", \"…\")`";
            return Err(input.error(message));
        }
        call.agree()?;
        Ok(call)
    }
}

impl ToTokens for NativeCall {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let texts = self.texts.iter().map(|arm| {
            let (target, text) = (&arm.target, &arm.text);
            let result_type = arm.result_type.iter();
            quote!(#target => #text #(as #result_type)*)
        });
        let operands = self.operands.iter().map(|(name, e)| quote!(#name = #e));
        let (preludes, fallback) = (self.preludes.iter(), self.fallback.iter());
        tokens.extend(quote!(
            #(#texts,)* #(#operands,)* #(use #preludes,)* #(_ => #fallback)*
        ));
    }
}

/// A piece of a text: verbatim text, or the name of an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Template {
    /// Text that is emitted unchanged.
    Text(String),
    /// `{name}`, or `{name.field}`
    Operand(String),
}

impl Template {
    /// Splits a text: `{name}` is an operand, `{{` and `}}` are braces, everything else is
    /// verbatim.
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

    /// Parses an operand as an expression. Its names have the hygiene of `by`.
    pub fn expression(operand: &str, text: &LitStr, by: Span) -> Option<syn::Expr> {
        let span = text.span().resolved_at(by);
        let tokens: TokenStream = operand.parse().ok()?;
        let respanned = tokens.into_iter().map(|mut token: TokenTree| {
            token.set_span(span);
            token
        });
        syn::parse2(respanned.collect()).ok()
    }
}

/// Splits a text that starts with `{name}` into the name and the rest.
fn operand(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (starts && name.split('.').all(is_word)).then_some((name, after))
}

/// True for a call of `native!`.
pub fn is_native(mac: &syn::Macro) -> bool {
    let last = mac.path.segments.last();
    last.is_some_and(|s| s.ident == "native")
}

/// The place of the macro's name.
pub fn name_span(mac: &syn::Macro) -> Span {
    let name = mac.path.segments.last();
    name.map_or_else(Span::call_site, |s| s.ident.span())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_split_at_operands_only() {
        let text = |t: &str| Template::Text(t.into());
        let op = |t: &str| Template::Operand(t.into());
        assert_eq!(
            Template::parse("y[{i}] = { x; } {{z}} {1} é {p.x}{t.0.1} {p.}"),
            [
                text("y["),
                op("i"),
                text("] = { x; } {z} {1} é "),
                op("p.x"),
                op("t.0.1"),
                text(" {p.}"),
            ]
        );
    }

    #[test]
    fn a_call_is_what_it_prints() {
        let source = r#""a" => "x" as f32, "b" => "y" as f32, v = 1 + 2, use m::P, _ => { 0.0 }"#;
        let call: NativeCall = syn::parse_str(source).expect("it parses");
        let again: NativeCall = syn::parse2(call.to_token_stream()).expect("it parses again");
        let tokens = |c: &NativeCall| c.to_token_stream().to_string();
        assert_eq!(tokens(&call), tokens(&again));
        assert_eq!(
            call.texts.len() + call.operands.len() + call.preludes.len(),
            4
        );
        assert!(call.fallback.is_some() && call.result_type().is_some());
    }
}
