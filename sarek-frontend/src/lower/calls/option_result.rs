//! Methods of `Option` and `Result`.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{Compound, CompoundId, ExprId, HELD, Scalar};

use crate::lower::types::Node;
use crate::lower::{Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// The methods, with their numbers of arguments.
const OPTION: [(&str, usize); 4] = [
    ("is_some", 0),
    ("is_none", 0),
    ("unwrap", 0),
    ("unwrap_or", 1),
];
const RESULT: [(&str, usize); 3] = [("is_ok", 0), ("is_err", 0), ("unwrap_or", 1)];

/// True for a method that only one of the two types has. It determines the type of a receiver that
/// only rustc knows.
fn tells_its_type(method: &Ident) -> bool {
    ["is_some", "is_none", "is_ok", "is_err"]
        .iter()
        .any(|name| method == name)
}

/// True for a method of either type that kernels support.
pub fn is_one(name: &str) -> bool {
    let mut known = OPTION.iter().chain(&RESULT);
    known.any(|(known, _)| *known == name) || super::option_closures::is_one(name)
}

impl Lowerer<'_> {
    /// True if the type is core's `Option` or `Result` and has this method.
    pub(in crate::lower) fn is_optional_method(&self, ty: Ty, method: &Ident) -> bool {
        self.optional_arity(ty, method).is_some() || self.has_optional_row(ty, method)
    }

    fn optional_arity(&self, ty: Ty, method: &Ident) -> Option<usize> {
        if let Node::Hole(_) = self.types.node(ty) {
            return match method.to_string().as_str() {
                "unwrap" => Some(0),
                "unwrap_or" => Some(1),
                _ => tells_its_type(method).then_some(0),
            };
        }
        let is_result = self.core_argument(ty, 1).is_some();
        self.core_argument(ty, 0)?;
        let methods: &[(&str, usize)] = if is_result { &RESULT } else { &OPTION };
        let name = method.to_string();
        let found = methods.iter().find(|(known, _)| *known == name);
        found.map(|(_, arity)| *arity)
    }

    /// Lowers a method of `Option` or `Result`; `None` for another method or another type.
    pub(in crate::lower) fn optional_method(
        &mut self,
        method: &Ident,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        let ty = self.ty(ids[0]);
        let arity = self.optional_arity(ty, method)?;
        if !self.arity(method, ids, arity) {
            return Some(Value::Never);
        }
        let operands: Vec<ExprId> = ids.iter().map(|id| self.reusable(*id)).collect();
        let is_result =
            self.core_argument(ty, 1).is_some() || method == "is_ok" || method == "is_err";
        let of: syn::Path = match is_result {
            true => syn::parse_quote_spanned!(span.first=> ::core::result::Result),
            false => syn::parse_quote_spanned!(span.first=> ::core::option::Option),
        };
        let name = method.to_string();
        if let Node::Hole(_) = self.types.node(ty)
            && !tells_its_type(method)
        {
            let (test, held) = self.held(operands[0], method.range());
            if name == "unwrap" {
                let message = "called `unwrap()` on `None` or `Err`";
                self.assert(test, message.into(), span);
                return Some(Value::Scalar(held));
            }
            let rust = syn::parse_quote_spanned!(span.first=> if __x { __y } else { __z });
            let operands = [test, held, operands[1]];
            return Some(Value::Scalar(self.rust(&operands, span, &rust)));
        }
        let rust: syn::Expr = match name.as_str() {
            "is_some" => holds(&of, "Some", true, span),
            "is_none" => holds(&of, "Some", false, span),
            "is_ok" => holds(&of, "Ok", true, span),
            "is_err" => holds(&of, "Ok", false, span),
            "unwrap_or" if is_result => syn::parse_quote_spanned! {span.first=>
                match __x { #of::Ok(value) => value, _ => __y }
            },
            "unwrap_or" => syn::parse_quote_spanned! {span.first=>
                match __x { #of::Some(value) => value, _ => __y }
            },
            "unwrap" => {
                let is_some = holds(&of, "Some", true, span);
                let is_some = self.rust(&operands, span, &is_some);
                let message = "called `Option::unwrap()` on a `None` value";
                self.assert(is_some, message.into(), span);
                syn::parse_quote_spanned!(span.first=> match __x { #of::Some(value) => value })
            }
            other => unreachable!("`{other}` is in the tables above"),
        };
        Some(Value::Scalar(self.rust(&operands, span, &rust)))
    }

    /// For an `Option` or a `Result`, if only rustc knows which of the two it is: true if it holds a value, and that value.
    pub(super) fn held(&mut self, value: ExprId, span: SourceRange) -> (ExprId, ExprId) {
        let at = Span::mixed_site().located_at(span.first);
        let krate = crate::tokens::at(&self.krate, at);
        let held = quote_spanned!(at=> #krate::Held);
        let (variant, name) = (self.name_id(HELD), self.name_id("0"));
        let bool_ty = self.types.known(Scalar::Bool);
        let is = Compound::IsVariant { value, variant };
        let test = self.compound_by(is, quote_spanned!(at=> #held::is_held), bool_ty, span);
        let yields = quote_spanned!(at=> #held::held);
        let ty = self.ty(value);
        let ty = self.types.payload(ty, variant, name, yields.clone());
        let held = Compound::Payload {
            value: self.copy(value),
            variant,
            name,
        };
        (test, self.compound_by(held, yields, ty, span))
    }

    /// core's `PhantomData`, which has no parts.
    pub(in crate::lower) fn phantom(&mut self, path: &syn::Path) -> ExprId {
        if self.audited_names.insert("PhantomData".to_owned()) {
            let span = Span::mixed_site().located_at(path.range().first);
            self.audits.push(
                quote_spanned!(span=> const _: ::core::marker::PhantomData<()> = #path::<()>;),
            );
        }
        let construct = Compound::Construct {
            variant: None,
            fields: vec![].into(),
            rest: None,
        };
        let ty = self.types.any();
        let made = self.compound_by(construct, path.to_token_stream(), ty, path.range());
        let id = CompoundId(self.kernel.compounds.len() as u32 - 1);
        self.units.insert(id);
        made
    }

    /// A value of a variant of `Option` or `Result`, of that type.
    pub(in crate::lower) fn of_core(
        &mut self,
        variant: &str,
        value: Option<ExprId>,
        ty: Ty,
        span: SourceRange,
    ) -> ExprId {
        let name = Ident::new(variant, Span::call_site());
        let path = match variant {
            "Some" | "None" => quote!(::core::option::Option::#name),
            _ => quote!(::core::result::Result::#name),
        };
        let (variant, part) = (Some(self.name_id(variant)), self.name_id("0"));
        let fields: Vec<_> = value.into_iter().map(|value| (part, value)).collect();
        let construct = Compound::Construct {
            variant,
            fields: fields.into(),
            rest: None,
        };
        let made = self.compound_by(construct, path, ty, span);
        if value.is_none() {
            let id = CompoundId(self.kernel.compounds.len() as u32 - 1);
            self.units.insert(id);
        }
        made
    }
}

/// An expression that tests if `__x` is of a variant; if `is` is false, that it is not.
pub(in crate::lower) fn holds(
    of: &syn::Path,
    variant: &str,
    is: bool,
    span: SourceRange,
) -> syn::Expr {
    let (variant, is_not) = (Ident::new(variant, span.first), !is);
    syn::parse_quote_spanned!(span.first=> match __x { #of::#variant(_) => #is, _ => #is_not })
}
