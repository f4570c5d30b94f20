//! Macros in a body: printing, panics and assertions.

pub(super) mod native;
pub(super) mod print;

use quote::{ToTokens, quote};
use sarek_ir::{BinaryOp, Block, ExprId, Scalar, SiteKind, Stmt};

use super::{Lowerer, Value};
use crate::diagnostics::codes;
use crate::parse::{Said, StdCall, StdMacro, is_native};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> Value {
        if is_native(mac) {
            self.audit_macro(&mac.path);
            return self.native(mac);
        }
        let span = mac.path.range();
        match StdCall::of(mac) {
            Some(Ok(call)) => {
                self.audit_macro(&mac.path);
                return self.std_call(&call, mac);
            }
            Some(Err(error)) => {
                self.errors.push(error);
                return Value::Never;
            }
            None => {}
        }
        let name = mac.path.segments.last();
        let name = name.map_or_else(String::new, |s| s.ident.to_string());
        let instead = match name.as_str() {
            "matches" => return self.matches_macro(mac),
            "cfg" => {
                let (tokens, ty) = (&mac.tokens, self.types.known(Scalar::Bool));
                let tested = quote!(::core::cfg!(#tokens));
                return Value::Scalar(self.link(tested, ty, span));
            }
            "eprintln" | "eprint" => "use `println!`: kernels print to one stream",
            "dbg" => "use `println!`",
            "shared_array" => "it is a function: write `shared_array::<f32, 64>()`",
            "superstep" => "write it as a statement of its own",
            _ => "use `native!`, `println!`, `panic!` and similar macros, assertions or `matches!`",
        };
        self.errors.at(
            codes::MACRO,
            span,
            format!("`{name}!` is not supported in a kernel"),
            instead,
        );
        Value::Never
    }

    fn std_call(&mut self, call: &StdCall, mac: &syn::Macro) -> Value {
        let span = mac.path.range();
        match call.kind {
            StdMacro::Print { line } => self.print(call.said.as_ref(), line, mac),
            StdMacro::Panic { alone, before } => {
                let message = match &call.said {
                    None => alone.to_string(),
                    Some(said) => format!("{before}{}", self.message_of(said)),
                };
                self.panic(message, span);
                Value::Never
            }
            StdMacro::Assert => {
                let [tested] = &call.tested[..] else {
                    self.errors.at(
                        codes::SYNTAX,
                        span,
                        "this assertion has no condition",
                        "write a condition",
                    );
                    return Value::Never;
                };
                let text = quiet(tested);
                self.debug(call, span, |this| {
                    let cond = this.scalar(tested);
                    this.expect(cond, Scalar::Bool);
                    let said = call.said.as_ref().map(|said| this.message_of(said));
                    let message = said.unwrap_or_else(|| format!("assertion failed: {text}"));
                    this.assert(cond, message, span);
                })
            }
            StdMacro::Compare(symbol) => {
                let [left, right] = &call.tested[..] else {
                    self.errors.at(
                        codes::SYNTAX,
                        span,
                        "this assertion does not have two values",
                        "write the two values to compare",
                    );
                    return Value::Never;
                };
                self.debug(call, span, |this| {
                    this.compare(call, (left, right), symbol, span)
                })
            }
        }
    }

    /// Code for debug builds stands under a condition that rustc knows.
    fn debug(&mut self, call: &StdCall, span: SourceRange, lower: impl FnOnce(&mut Self)) -> Value {
        if !call.debug {
            lower(self);
            return Value::Unit;
        }
        let bool_ty = self.types.known(Scalar::Bool);
        let cond = self.link(quote!(::core::cfg!(debug_assertions)), bool_ty, span);
        let (open, ()) = self.in_block(lower);
        let then = self.close(open);
        let branch = Stmt::If {
            cond,
            then,
            otherwise: Block::EMPTY,
        };
        self.push(branch, span);
        Value::Unit
    }

    fn compare(
        &mut self,
        call: &StdCall,
        (left, right): (&syn::Expr, &syn::Expr),
        symbol: &str,
        span: SourceRange,
    ) {
        let sides = self.operands(&[left, right]);
        let (lhs, rhs) = (sides[0], sides[1]);
        let op = match symbol {
            "==" => BinaryOp::Eq,
            _ => BinaryOp::Ne,
        };
        let cond = self.plain(op, lhs, rhs, span);
        let said = call.said.as_ref().map(|said| self.message_of(said));
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        let message = format!("assertion `left {symbol} right` failed{said}");
        self.assert(cond, message, span);
    }

    pub(super) fn assert(&mut self, cond: ExprId, message: String, span: SourceRange) {
        let site = self.site(SiteKind::Assert(message.into()), span);
        self.push(Stmt::Assert { cond, site }, span);
    }

    fn panic(&mut self, message: String, span: SourceRange) {
        let site = self.site(SiteKind::Panic(message.into()), span);
        // A launch cannot prove that no thread gets here.
        self.kernel.sites.to_mut()[site.index()].provable = false;
        self.push(Stmt::Panic { site }, span);
    }

    /// The text of a message; empty if it is invalid, which is reported.
    fn message_of(&mut self, said: &Said) -> String {
        match said.constant() {
            Ok(text) => text,
            Err(mistake) => {
                self.errors.report(said.format.range(), &mistake);
                String::new()
            }
        }
    }
}

/// An expression as `assert!` prints it.
fn quiet(expr: &syn::Expr) -> String {
    let mut expr = expr.clone();
    Unmark.visit_expr_mut(&mut expr);
    let text = expr.to_token_stream().to_string();
    text.replace(" . ", ".")
        .replace(" (", "(")
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(" [", "[")
        .replace("[ ", "[")
        .replace(" ]", "]")
        .replace(" ,", ",")
}

/// Removes the marks.
struct Unmark;

use syn::visit_mut::VisitMut;

impl VisitMut for Unmark {
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<syn::Attribute>) {
        attrs.retain(|attr| !attr.path().is_ident(super::MARK));
    }
}
