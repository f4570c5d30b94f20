//! Functions of the standard library called by full paths: `std::cmp::min(a, b)`,
//! `std::mem::swap(&mut a, &mut b)`.

use proc_macro2::Ident;
use quote::{quote, quote_spanned};

use crate::diagnostics::codes;
use crate::lower::memory::array::peeled;
use crate::lower::{Lowerer, Value};
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    /// Lowers a supported function; `None` for another one.
    pub(in crate::lower) fn std_function(
        &mut self,
        path: &syn::Path,
        e: &syn::ExprCall,
    ) -> Option<Value> {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let ["std" | "core", module, name] = names[..] else {
            return None;
        };
        let arity = match (module, name) {
            ("cmp", "min" | "max") | ("mem", "swap" | "replace") => 2,
            ("mem", "take") => 1,
            _ => return None,
        };
        let last = path.segments.last()?;
        if !last.arguments.is_empty() {
            self.errors.unsupported(
                codes::CALLEE,
                last.arguments.range(),
                "a generic call is",
                "drop the type arguments",
            );
            return Some(Value::Never);
        }
        if e.args.len() != arity {
            let (found, s) = (e.args.len(), if arity == 1 { "" } else { "s" });
            self.errors.at(
                codes::ARGUMENT_COUNT,
                last.ident.range(),
                format!("`{name}` takes {arity} argument{s}, but the call has {found}"),
                format!("pass {arity}"),
            );
            return Some(Value::Never);
        }
        let (module_name, function) = (&path.segments[1].ident, &last.ident);
        let function = quote!(::core::#module_name::#function);
        self.audit_function(path, &function, &quote!(::<::core::primitive::u8>));
        Some(match module {
            "cmp" => self.lesser_or_greater(&last.ident, e),
            _ => self.of_places(&last.ident, e),
        })
    }

    fn lesser_or_greater(&mut self, name: &Ident, e: &syn::ExprCall) -> Value {
        let ids = self.operands(&[&e.args[0], &e.args[1]]);
        let (first, second) = (self.ty(ids[0]), self.ty(ids[1]));
        match self.unify(first, second, self.span(ids[1])) {
            true => self.method(name, ids, e.range()),
            false => Value::Never,
        }
    }

    /// `swap`, `replace` and `take`, on variables, their fields and the referents of `&mut`
    /// parameters.
    fn of_places(&mut self, name: &Ident, e: &syn::ExprCall) -> Value {
        let count = if name == "swap" { 2 } else { 1 };
        let places: Option<Vec<syn::Expr>> = e.args.iter().take(count).map(place).collect();
        let span = e.range();
        let rust = match (places.as_deref(), name.to_string().as_str()) {
            (Some([first, second]), "swap") => {
                quote_spanned!(span.first=> { let __old = #first; #first = #second; #second = __old; })
            }
            (Some([place]), "replace") => {
                let value = &e.args[1];
                quote_spanned!(span.first=> { let __old = #place; #place = #value; __old })
            }
            (_, text) => {
                let instead = match text {
                    "swap" => {
                        "pass `&mut` of variables or their fields; swap elements of a slice with `x.swap(i, j)`"
                    }
                    "replace" => "write `let old = x; x = new;`",
                    _ => "write `let old = x; x = 0;`, with the default value of the type",
                };
                let what = format!("`{name}` of this is");
                self.errors
                    .unsupported(codes::EXPRESSION, name.range(), &what, instead);
                return Value::Never;
            }
        };
        self.value(&syn::parse_quote!(#rust))
    }
}

/// The place in a `&mut` argument, if it has no effects, so that it can be written twice.
fn place(argument: &syn::Expr) -> Option<syn::Expr> {
    match peeled(argument) {
        syn::Expr::Reference(lent) if lent.mutability.is_some() => {
            let of = peeled(&lent.expr);
            is_plain(of).then(|| of.clone())
        }
        name @ syn::Expr::Path(_) => Some(syn::parse_quote_spanned!(name.range().first=> *#name)),
        _ => None,
    }
}

pub(super) fn is_plain(place: &syn::Expr) -> bool {
    match peeled(place) {
        syn::Expr::Path(_) => true,
        syn::Expr::Field(field) => is_plain(&field.base),
        syn::Expr::Unary(of) => matches!(of.op, syn::UnOp::Deref(_)) && is_plain(&of.expr),
        _ => false,
    }
}
