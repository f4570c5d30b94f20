//! `half::f16` and `half::bf16`: types of a crate, whose conversions are methods, and which have few of the methods of floats
//! themselves.

use proc_macro2::{Ident, Span};
use quote::quote;
use sarek_ir::numeric;
use sarek_ir::{Expr, ExprId, Scalar};

use super::{Lowerer, Value};
use crate::diagnostics::codes;
use crate::lower::scalar_tokens;
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// `f16::from_f32(x)`. `None` when it is another function, or of another type.
    pub(in crate::lower) fn half_from(
        &mut self,
        on: Scalar,
        function: &syn::PathSegment,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        let name = function.ident.to_string();
        let from = match name.as_str() {
            _ if !on.is_half() => return None,
            "from_f32" | "from_f32_const" => Scalar::F32,
            "from_f64" | "from_f64_const" => Scalar::F64,
            _ => return None,
        };
        let [arg] = *ids else {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                function.range(),
                format!("`{name}` takes 1 argument, but the call has {}", ids.len()),
                "pass the number to convert",
            );
            return Some(Value::Never);
        };
        self.expect(arg, from);
        let cast = self.known(Expr::Cast { arg }, on, span);
        let (krate, method) = (&self.krate, Ident::new(plain(&name), Span::mixed_site()));
        let half = scalar_tokens(on, krate);
        let function = quote!(<#half as #krate::Num>::#method);
        self.conversions.insert(cast, function);
        Some(Value::Scalar(cast))
    }

    /// A method that 16-bit floats have and other floats have not, or that they have not. `None` when it is one of all floats.
    pub(in crate::lower) fn half_method(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        if !on.is_half() {
            return None;
        }
        let text = name.to_string();
        if ids.len() == 1 && text.starts_with("to_") {
            let method = Ident::new(plain(&text), name.span());
            if let Some(value) = self.conversion(&method, ids[0], span) {
                return Some(value);
            }
        }
        let row = numeric::method(&text, Scalar::F32).filter(|row| !row.stands_on(on))?;
        let instead = match row.on_halves {
            Some(instead) => instead.replace("T::", &format!("{on}::")),
            None => format!("write `{on}::from_f32(x.to_f32().{text}(…))`"),
        };
        self.errors.at(
            codes::HALF,
            name.range(),
            format!("`{on}` has no method `{text}`"),
            instead,
        );
        Some(Value::Never)
    }
}

/// The name without the ending of what can be evaluated by the compiler.
fn plain(name: &str) -> &str {
    name.strip_suffix("_const").unwrap_or(name)
}
