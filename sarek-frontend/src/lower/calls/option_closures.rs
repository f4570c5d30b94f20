//! Methods of `Option`, `Result` and `bool` that take closures, or that make another `Option` or `Result`: each is a `match`.
//!
//! The receiver and the arguments that are values are evaluated first, as Rust does. A closure's body stands in the arm that
//! calls it.

use proc_macro2::{Ident, Span};
use quote::quote_spanned;
use sarek_ir::{ExprId, Scalar};
use syn::spanned::Spanned;

use crate::diagnostics::codes;
use crate::lower::memory::array::peeled;
use crate::lower::resolve::method_audit::{AutoRef, MethodAudit, Receiver};
use crate::lower::types::Node;
use crate::lower::{Binding, Known, Lowerer, Ty, Value};
use crate::tokens::mixed_at;

/// An argument of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A value, evaluated before the call.
    Value,
    /// A closure or function.
    Call,
}
use Takes::{Call, Value as Given};

/// A method, with its arguments.
type Row = (&'static str, &'static [Takes]);

const OF_OPTION: [Row; 21] = [
    ("map", &[Call]),
    ("map_or", &[Given, Call]),
    ("map_or_else", &[Call, Call]),
    ("and", &[Given]),
    ("and_then", &[Call]),
    ("or", &[Given]),
    ("or_else", &[Call]),
    ("xor", &[Given]),
    ("filter", &[Call]),
    ("is_some_and", &[Call]),
    ("is_none_or", &[Call]),
    ("unwrap_or_else", &[Call]),
    ("unwrap_or_default", &[]),
    ("ok_or", &[Given]),
    ("ok_or_else", &[Call]),
    ("zip", &[Given]),
    ("expect", &[Given]),
    ("take", &[]),
    ("replace", &[Given]),
    ("copied", &[]),
    ("cloned", &[]),
];

const OF_RESULT: [Row; 15] = [
    ("map", &[Call]),
    ("map_err", &[Call]),
    ("map_or", &[Given, Call]),
    ("map_or_else", &[Call, Call]),
    ("and", &[Given]),
    ("and_then", &[Call]),
    ("or", &[Given]),
    ("or_else", &[Call]),
    ("is_ok_and", &[Call]),
    ("is_err_and", &[Call]),
    ("unwrap_or_else", &[Call]),
    ("unwrap_or_default", &[]),
    ("ok", &[]),
    ("err", &[]),
    ("expect", &[Given]),
];

/// The methods by which a receiver that only rustc knows must be one of the two.
const ONLY_OPTION: [&str; 4] = ["is_some_and", "is_none_or", "ok_or", "ok_or_else"];
const ONLY_RESULT: [&str; 3] = ["map_err", "is_ok_and", "is_err_and"];

/// The methods that mean the same for both. So the receiver may be either.
const EITHER: [&str; 2] = ["map_or", "expect"];

/// The methods whose first closure takes an error for `Result` only, and so tells which of the two the receiver is.
const TOLD_BY_CLOSURE: [&str; 2] = ["unwrap_or_else", "map_or_else"];

/// True for such a method, if the receiver's type is known.
pub(super) fn is_one(name: &str) -> bool {
    row(&OF_OPTION, name).or(row(&OF_RESULT, name)).is_some()
}

fn row(rows: &[Row], name: &str) -> Option<Row> {
    rows.iter().find(|(known, _)| *known == name).copied()
}

impl Lowerer<'_> {
    /// The arguments of such a method of this type, and true for `Result`.
    fn optional_row(&self, ty: Ty, method: &Ident) -> Option<(Row, bool)> {
        let name = method.to_string();
        let is_result = match self.types.node(ty) {
            Node::Hole(_) if ONLY_OPTION.contains(&name.as_str()) => false,
            Node::Hole(_) if ONLY_RESULT.contains(&name.as_str()) => true,
            _ => {
                self.core_argument(ty, 0)?;
                self.core_argument(ty, 1).is_some()
            }
        };
        let found = match is_result {
            true => row(&OF_RESULT, &name),
            false => row(&OF_OPTION, &name),
        };
        found.map(|row| (row, is_result))
    }

    /// True if the type is core's `Option` or `Result`, and the method is one of these.
    pub(super) fn has_optional_row(&self, ty: Ty, method: &Ident) -> bool {
        let is_open = matches!(self.types.node(ty), Node::Hole(_));
        let mut open = EITHER.iter().chain(&TOLD_BY_CLOSURE);
        is_open && open.any(|name| method == name) || self.optional_row(ty, method).is_some()
    }

    /// The row of a method whose closure tells the type of its receiver. `Some(None)` if there is no closure, which is reported.
    fn told_by_closure(&mut self, e: &syn::ExprMethodCall, ty: Ty) -> Option<Option<(Row, bool)>> {
        let name = e.method.to_string();
        let is_open = matches!(self.types.node(ty), Node::Hole(_));
        if !is_open || !TOLD_BY_CLOSURE.contains(&name.as_str()) {
            return None;
        }
        let is_result = match e.args.first().map(peeled) {
            Some(syn::Expr::Closure(closure)) => !closure.inputs.is_empty(),
            _ => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    e.method.span(),
                    format!("the type must be known before `.{name}()` is called on it"),
                    "write a closure, `|| …` for an `Option` and `|e| …` for a `Result`",
                );
                return Some(None);
            }
        };
        let rows: &[Row] = if is_result { &OF_RESULT } else { &OF_OPTION };
        Some(row(rows, &name).map(|row| (row, is_result)))
    }

    /// A method that both types have, on a receiver of which only rustc knows the type. `None` for another method.
    fn held_call(&mut self, e: &syn::ExprMethodCall, receiver: ExprId) -> Option<Value> {
        let span = e.method.span();
        match (e.method.to_string().as_str(), e.args.len()) {
            ("map_or", 2) => {
                let operands = self.more_operands(vec![receiver], &[&e.args[0]]);
                let operands: Vec<ExprId> = operands.iter().map(|id| self.reusable(*id)).collect();
                let (test, held) = self.held(operands[0], span.into());
                let f = callable(&e.args[1]);
                let rust = syn::parse_quote_spanned! {mixed_at(span)=>
                    if __x { #f(__y) } else { __z }
                };
                Some(self.with_operands(&[test, held, operands[1]], span, &rust))
            }
            ("expect", 1) => {
                let Some(message) = self.expected_message(e) else {
                    return Some(Value::Never);
                };
                let receiver = self.reusable(receiver);
                let (test, held) = self.held(receiver, span.into());
                self.assert(test, message, span.into());
                Some(Value::Scalar(held))
            }
            _ => None,
        }
    }

    /// Lowers a method of these on an evaluated receiver. `None` for another method or type.
    pub(in crate::lower) fn optional_call(
        &mut self,
        e: &syn::ExprMethodCall,
        receiver: ExprId,
    ) -> Option<Value> {
        let ty = self.ty(receiver);
        if e.method == "then" || e.method == "then_some" {
            return self.then(e, receiver);
        }
        if let Node::Hole(_) = self.types.node(ty)
            && let Some(value) = self.held_call(e, receiver)
        {
            return Some(value);
        }
        let ((name, takes), is_result) = match self.told_by_closure(e, ty) {
            Some(Some(row)) => row,
            Some(None) => return Some(Value::Never),
            None => self.optional_row(ty, &e.method)?,
        };
        if e.args.len() != takes.len() {
            let (wanted, found) = (takes.len(), e.args.len());
            let s = if wanted == 1 { "" } else { "s" };
            self.errors.at(
                codes::ARGUMENT_COUNT,
                e.method.span(),
                format!("`{name}` takes {wanted} argument{s}, but the call has {found}"),
                format!("pass {wanted}"),
            );
            return Some(Value::Never);
        }
        let span = e.method.span();
        if name == "take" || name == "replace" {
            return Some(self.emptied(e, ty));
        }
        if name == "expect" {
            return Some(self.expected(e, receiver, is_result));
        }
        if name == "copied" || name == "cloned" {
            return Some(Value::Scalar(receiver));
        }
        let values: Vec<&syn::Expr> = e
            .args
            .iter()
            .zip(takes)
            .filter(|(_, takes)| **takes == Given)
            .map(|(argument, _)| argument)
            .collect();
        let mut operands = self.more_operands(vec![receiver], &values);
        for operand in &mut operands {
            *operand = self.reusable(*operand);
        }
        let calls = e.args.iter().zip(takes).filter(|(_, t)| **t == Call);
        let calls: Vec<syn::Expr> = calls.map(|(argument, _)| callable(argument)).collect();
        let rust = match is_result {
            true => self.of_result(name, &calls, operands[0], span)?,
            false => self.of_option(name, &calls, operands[0], span)?,
        };
        Some(self.with_operands(&operands, span, &rust))
    }

    fn of_option(
        &mut self,
        name: &str,
        calls: &[syn::Expr],
        receiver: ExprId,
        span: Span,
    ) -> Option<syn::Expr> {
        let some = quote_spanned!(mixed_at(span)=> ::core::option::Option::Some);
        let none = quote_spanned!(mixed_at(span)=> ::core::option::Option::None);
        let ok = quote_spanned!(mixed_at(span)=> ::core::result::Result::Ok);
        let err = quote_spanned!(mixed_at(span)=> ::core::result::Result::Err);
        let (f, g) = (calls.first(), calls.get(1));
        let (held, empty) = match name {
            "map" => (
                quote_spanned!(mixed_at(span)=> #some(#f(__v))),
                none.clone(),
            ),
            "map_or" => (
                quote_spanned!(mixed_at(span)=> #f(__v)),
                quote_spanned!(mixed_at(span)=> __y),
            ),
            "map_or_else" => (
                quote_spanned!(mixed_at(span)=> #g(__v)),
                quote_spanned!(mixed_at(span)=> #f()),
            ),
            "and" => (quote_spanned!(mixed_at(span)=> __y), none.clone()),
            "and_then" => (quote_spanned!(mixed_at(span)=> #f(__v)), none.clone()),
            "or" => (
                quote_spanned!(mixed_at(span)=> #some(__v)),
                quote_spanned!(mixed_at(span)=> __y),
            ),
            "or_else" => (
                quote_spanned!(mixed_at(span)=> #some(__v)),
                quote_spanned!(mixed_at(span)=> #f()),
            ),
            "xor" => (
                quote_spanned!(mixed_at(span)=> match __y { #some(_) => #none, #none => #some(__v) }),
                quote_spanned!(mixed_at(span)=> __y),
            ),
            "filter" => (
                quote_spanned!(mixed_at(span)=> if #f(__v) { #some(__v) } else { #none }),
                none.clone(),
            ),
            "is_some_and" => (
                quote_spanned!(mixed_at(span)=> #f(__v)),
                quote_spanned!(mixed_at(span)=> false),
            ),
            "is_none_or" => (
                quote_spanned!(mixed_at(span)=> #f(__v)),
                quote_spanned!(mixed_at(span)=> true),
            ),
            "unwrap_or_else" => (
                quote_spanned!(mixed_at(span)=> __v),
                quote_spanned!(mixed_at(span)=> #f()),
            ),
            "unwrap_or_default" => {
                let default = self.default_of(receiver, span)?;
                (
                    quote_spanned!(mixed_at(span)=> __v),
                    quote_spanned!(mixed_at(span)=> #default),
                )
            }
            "ok_or" => (
                quote_spanned!(mixed_at(span)=> #ok(__v)),
                quote_spanned!(mixed_at(span)=> #err(__y)),
            ),
            "ok_or_else" => (
                quote_spanned!(mixed_at(span)=> #ok(__v)),
                quote_spanned!(mixed_at(span)=> #err(#f())),
            ),
            "zip" => (
                quote_spanned!(mixed_at(span)=> match __y { #some(__w) => #some((__v, __w)), #none => #none }),
                none.clone(),
            ),
            other => unreachable!("`{other}` is no row of the table above"),
        };
        Some(
            syn::parse_quote_spanned!(mixed_at(span)=> match __x { #some(__v) => #held, #none => #empty }),
        )
    }

    fn of_result(
        &mut self,
        name: &str,
        calls: &[syn::Expr],
        receiver: ExprId,
        span: Span,
    ) -> Option<syn::Expr> {
        let some = quote_spanned!(mixed_at(span)=> ::core::option::Option::Some);
        let none = quote_spanned!(mixed_at(span)=> ::core::option::Option::None);
        let ok = quote_spanned!(mixed_at(span)=> ::core::result::Result::Ok);
        let err = quote_spanned!(mixed_at(span)=> ::core::result::Result::Err);
        let (f, g) = (calls.first(), calls.get(1));
        let (good, bad) = match name {
            "map" => (
                quote_spanned!(mixed_at(span)=> #ok(#f(__v))),
                quote_spanned!(mixed_at(span)=> #err(__w)),
            ),
            "map_err" => (
                quote_spanned!(mixed_at(span)=> #ok(__v)),
                quote_spanned!(mixed_at(span)=> #err(#f(__w))),
            ),
            "map_or" => (
                quote_spanned!(mixed_at(span)=> #f(__v)),
                quote_spanned!(mixed_at(span)=> __y),
            ),
            "map_or_else" => (
                quote_spanned!(mixed_at(span)=> #g(__v)),
                quote_spanned!(mixed_at(span)=> #f(__w)),
            ),
            "and" => (
                quote_spanned!(mixed_at(span)=> __y),
                quote_spanned!(mixed_at(span)=> #err(__w)),
            ),
            "and_then" => (
                quote_spanned!(mixed_at(span)=> #f(__v)),
                quote_spanned!(mixed_at(span)=> #err(__w)),
            ),
            "or" => (
                quote_spanned!(mixed_at(span)=> #ok(__v)),
                quote_spanned!(mixed_at(span)=> __y),
            ),
            "or_else" => (
                quote_spanned!(mixed_at(span)=> #ok(__v)),
                quote_spanned!(mixed_at(span)=> #f(__w)),
            ),
            "is_ok_and" => (
                quote_spanned!(mixed_at(span)=> #f(__v)),
                quote_spanned!(mixed_at(span)=> false),
            ),
            "is_err_and" => (
                quote_spanned!(mixed_at(span)=> false),
                quote_spanned!(mixed_at(span)=> #f(__w)),
            ),
            "unwrap_or_else" => (
                quote_spanned!(mixed_at(span)=> __v),
                quote_spanned!(mixed_at(span)=> #f(__w)),
            ),
            "unwrap_or_default" => {
                let default = self.default_of(receiver, span)?;
                (
                    quote_spanned!(mixed_at(span)=> __v),
                    quote_spanned!(mixed_at(span)=> #default),
                )
            }
            "ok" => (quote_spanned!(mixed_at(span)=> #some(__v)), none.clone()),
            "err" => (none.clone(), quote_spanned!(mixed_at(span)=> #some(__w))),
            other => unreachable!("`{other}` is no row of the table above"),
        };
        Some(
            syn::parse_quote_spanned!(mixed_at(span)=> match __x { #ok(__v) => #good, #err(__w) => #bad }),
        )
    }

    /// The default value of what the receiver holds. `None` if kernels do not know it, which is reported.
    fn default_of(&mut self, receiver: ExprId, span: Span) -> Option<syn::Expr> {
        let held = self.core_argument(self.ty(receiver), 0);
        let known = held.map(|held| self.types.look(held));
        Some(match known {
            Some(Known::Scalar(Scalar::Bool)) => syn::parse_quote_spanned!(span=> false),
            Some(Known::Scalar(scalar)) if scalar.is_int() => syn::parse_quote_spanned!(span=> 0),
            Some(Known::Scalar(scalar)) if scalar.is_float() && !scalar.is_half() => {
                syn::parse_quote_spanned!(span=> 0.0)
            }
            Some(Known::Int) => syn::parse_quote_spanned!(span=> 0),
            Some(Known::Float) => syn::parse_quote_spanned!(span=> 0.0),
            _ => {
                self.errors.unsupported(
                    codes::NO_METHOD,
                    span,
                    "`unwrap_or_default` of a value that is not a number or `bool` is",
                    "write the value: `.unwrap_or(…)`",
                );
                self.placeholder(span.into());
                return None;
            }
        })
    }

    /// `place.take()` or `place.replace(value)`
    fn emptied(&mut self, e: &syn::ExprMethodCall, ty: Ty) -> Value {
        let (place, span) = (peeled(&e.receiver), e.method.span());
        if !super::std_functions::is_plain(place) {
            let name = &e.method;
            self.errors.unsupported(
                codes::EXPRESSION,
                span,
                &format!("`.{name}()` of this is"),
                "call it on a variable, or on a field of one",
            );
            return Value::Never;
        }
        let audit = MethodAudit::before(Receiver::Value(ty), AutoRef::Not, e);
        self.push_method_audit(audit);
        let rust = match e.args.first() {
            None => quote_spanned! {mixed_at(span)=>
                { let __old = #place; #place = ::core::option::Option::None; __old }
            },
            Some(value) => quote_spanned! {mixed_at(span)=>
                { let __new = #value; let __old = #place;
                  #place = ::core::option::Option::Some(__new); __old }
            },
        };
        self.value(&syn::parse_quote!(#rust))
    }

    /// `value.expect("message")`
    fn expected(&mut self, e: &syn::ExprMethodCall, receiver: ExprId, is_result: bool) -> Value {
        let span = e.method.span();
        let Some(message) = self.expected_message(e) else {
            return Value::Never;
        };
        let receiver = self.reusable(receiver);
        let good = match is_result {
            true => quote_spanned!(span=> ::core::result::Result::Ok),
            false => quote_spanned!(span=> ::core::option::Option::Some),
        };
        let holds = syn::parse_quote_spanned!(span=> match __x { #good(_) => true, _ => false });
        let holds = self.rust(&[receiver], span.into(), &holds);
        self.assert(holds, message, span.into());
        let rust = syn::parse_quote_spanned!(span=> match __x { #good(__v) => __v });
        Value::Scalar(self.rust(&[receiver], span.into(), &rust))
    }

    /// The literal that `expect` takes. `None` for another argument, which is reported.
    fn expected_message(&mut self, e: &syn::ExprMethodCall) -> Option<String> {
        match peeled(&e.args[0]) {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            other => {
                self.errors.unsupported(
                    codes::LITERAL,
                    other.span(),
                    "a message that is no literal is",
                    "write the text in quotation marks",
                );
                None
            }
        }
    }

    /// `condition.then(f)` or `condition.then_some(value)`
    fn then(&mut self, e: &syn::ExprMethodCall, receiver: ExprId) -> Option<Value> {
        let is_bool = self.types.look(self.ty(receiver)) == Known::Scalar(Scalar::Bool);
        let (true, [argument]) = (is_bool, &*e.args.iter().collect::<Vec<_>>()) else {
            return None;
        };
        let span = e.method.span();
        let mut operands = vec![receiver];
        let value = match e.method == "then_some" {
            true => {
                operands = self.more_operands(operands, &[argument]);
                quote_spanned!(mixed_at(span)=> __y)
            }
            false => {
                let f = callable(argument);
                quote_spanned!(mixed_at(span)=> #f())
            }
        };
        for operand in &mut operands {
            *operand = self.reusable(*operand);
        }
        let rust = syn::parse_quote_spanned! {mixed_at(span)=>
            if __x { ::core::option::Option::Some(#value) } else { ::core::option::Option::None }
        };
        Some(self.with_operands(&operands, span, &rust))
    }

    /// An expression over the operands `__x`, `__y` and `__z`, which contains code of the user's. Names of its own are [`mixed_at`] the
    /// span.
    pub(in crate::lower) fn with_operands(
        &mut self,
        operands: &[ExprId],
        span: Span,
        rust: &syn::Expr,
    ) -> Value {
        self.scopes.push(Default::default());
        for (name, operand) in ["__x", "__y", "__z"].into_iter().zip(operands) {
            let part = self.operand_subject(*operand);
            self.aliases.push(part);
            let alias = Binding::Part(self.aliases.len() - 1);
            self.bind(&Ident::new(name, mixed_at(span)), alias);
        }
        let value = self.value(rust);
        self.scopes.pop();
        value
    }
}

/// A closure or function in the place of a call.
pub(in crate::lower) fn callable(f: &syn::Expr) -> syn::Expr {
    match peeled(f) {
        path @ syn::Expr::Path(_) => path.clone(),
        other => syn::parse_quote_spanned!(other.span()=> (#other)),
    }
}
