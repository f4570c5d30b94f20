//! Methods of floats that are written in Rust, of others that kernels know.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{ExprId, Intrinsic, Scalar};

use super::expressed::Takes;
use super::{Lowerer, Value};

/// The methods, what they take, and whether 16-bit floats have them.
const FLOATS: [(&str, Takes, bool); 6] = [
    ("rem_euclid", Takes::Same, false),
    ("div_euclid", Takes::Same, false),
    ("round_ties_even", Takes::Nothing, false),
    ("is_normal", Takes::Nothing, true),
    ("is_subnormal", Takes::Nothing, false),
    ("sin_cos", Takes::Nothing, false),
];

/// The names of the methods that stand on a type.
pub(super) fn names_on(on: Scalar) -> impl Iterator<Item = &'static str> {
    let methods = FLOATS.iter();
    let methods = methods.filter(move |(.., of_halves)| stands(*of_halves, on));
    methods.map(|(name, ..)| *name)
}

/// What one of the methods takes.
pub(super) fn takes(name: &str) -> Option<Takes> {
    let found = FLOATS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, takes, _)| *takes)
}

/// Is it one of the methods?
pub(super) fn is_one(name: &str) -> bool {
    FLOATS.iter().any(|(known, ..)| *known == name)
}

fn stands(of_halves: bool, on: Scalar) -> bool {
    on.is_float() && (of_halves || !on.is_half())
}

impl Lowerer<'_> {
    /// `None` when the name is none of the methods.
    pub(super) fn of_floats(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: Span,
    ) -> Option<Value> {
        let text = name.to_string();
        let (_, takes, of_halves) = *FLOATS.iter().find(|(known, ..)| *known == text)?;
        if !stands(of_halves, on) {
            return None;
        }
        if !self.takes(name, takes, on, ids) {
            return Some(Value::Never);
        }
        let operands: Vec<ExprId> = ids.iter().map(|id| self.reusable(*id)).collect();
        let tokens = expression(&text, on, span);
        Some(Value::Scalar(self.rust(
            &operands,
            span,
            &syn::parse_quote!(#tokens),
        )))
    }
}

/// The method of `__x` and `__y`, in Rust.
fn expression(name: &str, on: Scalar, span: Span) -> TokenStream {
    match name {
        // What is left, made positive.
        "rem_euclid" => quote_spanned! {span=> {
            let rest = __x % __y;
            if rest < 0.0 { rest + __y.abs() } else { rest }
        }},
        "div_euclid" => quote_spanned! {span=> {
            let whole = (__x / __y).trunc();
            if __x % __y < 0.0 {
                if __y > 0.0 { whole - 1.0 } else { whole + 1.0 }
            } else {
                whole
            }
        }},
        // Where `round` has gone by a half, to an odd number, it should have gone the other way. All of it is exact.
        "round_ties_even" => quote_spanned! {span=> {
            let nearest = __x.round();
            let is_tie = (nearest - __x).abs() == 0.5;
            if is_tie && (nearest * 0.5).fract() != 0.0 {
                __x.trunc()
            } else {
                nearest
            }
        }},
        "is_normal" => {
            let (exponent, _) = parts(on);
            quote_spanned! {span=> {
                let exponent = __x.to_bits() & #exponent;
                exponent != 0 && exponent != #exponent
            }}
        }
        "is_subnormal" => {
            let (exponent, fraction) = parts(on);
            quote_spanned! {span=> {
                let bits = __x.to_bits();
                bits & #exponent == 0 && bits & #fraction != 0
            }}
        }
        "sin_cos" => quote_spanned!(span=> (__x.sin(), __x.cos())),
        other => unreachable!("`{other}` is in the table above"),
    }
}

/// The bits of a float that hold its exponent, and its fraction.
fn parts(on: Scalar) -> (Literal, Literal) {
    let (fraction_bits, sign) = match on {
        Scalar::F16 => (10, 1u64 << 15),
        Scalar::Bf16 => (7, 1 << 15),
        Scalar::F32 => (23, 1 << 31),
        _ => (52, 1 << 63),
    };
    let fraction = (1 << fraction_bits) - 1;
    let exponent = (sign - 1) & !fraction;
    let literal = |bits: u64| match Intrinsic::ToBits.result_type(on) {
        Scalar::U16 => Literal::u16_suffixed(bits as u16),
        Scalar::U32 => Literal::u32_suffixed(bits as u32),
        _ => Literal::u64_suffixed(bits),
    };
    (literal(exponent), literal(fraction))
}
