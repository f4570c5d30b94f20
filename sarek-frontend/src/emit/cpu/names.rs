//! Spellings in the compiled body: generated names, types, constants, operators.

use std::str::FromStr;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use sarek_ir::{BinaryOp, LabelId, ParamId, Scalar, Value};

use super::mixed;

/// The same place with mixed-site hygiene, so that the user's lints ignore it.
pub fn located(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The name of a parameter. No local has this name: names of locals all end in `_` and a number.
pub fn param_name(param: ParamId) -> Ident {
    format_ident!("__arg{}", param.0, span = Span::mixed_site())
}

pub fn loop_label(label: LabelId) -> syn::Lifetime {
    syn::Lifetime::new(&format!("'loop_{}", label.0), Span::mixed_site())
}

/// A scalar type in the body.
pub fn rust_type(ty: Scalar) -> TokenStream {
    let name = format_ident!("__{}", ty.name(), span = Span::mixed_site());
    mixed!(#name)
}

pub fn is_float(ty: &TokenStream) -> bool {
    let text = ty.to_string();
    ["f16", "f32", "f64"]
        .iter()
        .any(|name| text.ends_with(name))
}

pub fn literal(value: Value) -> TokenStream {
    match value {
        Value::Bool(v) => mixed!(#v),
        Value::I8(i8::MIN) => mixed!(__i8::MIN),
        Value::I16(i16::MIN) => mixed!(__i16::MIN),
        Value::I32(i32::MIN) => mixed!(__i32::MIN),
        Value::I64(i64::MIN) => mixed!(__i64::MIN),
        Value::I8(v) => signed(v < 0, Literal::i8_suffixed(v.wrapping_abs())),
        Value::I16(v) => signed(v < 0, Literal::i16_suffixed(v.wrapping_abs())),
        Value::U8(v) => unsigned(Literal::u8_suffixed(v)),
        Value::U16(v) => unsigned(Literal::u16_suffixed(v)),
        Value::I32(v) => signed(v < 0, Literal::i32_suffixed(v.wrapping_abs())),
        Value::I64(v) => signed(v < 0, Literal::i64_suffixed(v.wrapping_abs())),
        Value::U32(v) => unsigned(Literal::u32_suffixed(v)),
        Value::U64(v) => unsigned(Literal::u64_suffixed(v)),
        Value::Usize(v) => {
            let written = Literal::from_str(&format!("{v}usize"));
            unsigned(written.expect("digits and a suffix"))
        }
        Value::F16(bits) => {
            let bits = Literal::u16_suffixed(bits);
            mixed!(__host::f16::from_bits(#bits))
        }
        Value::Bf16(bits) => {
            let bits = Literal::u16_suffixed(bits);
            mixed!(__host::bf16::from_bits(#bits))
        }
        Value::F32(bits) => {
            let v = f32::from_bits(bits);
            if v.is_finite() {
                return signed(v.is_sign_negative(), Literal::f32_suffixed(v.abs()));
            }
            let bits = Literal::u32_suffixed(bits);
            mixed!(__f32::from_bits(#bits))
        }
        Value::F64(bits) => {
            let v = f64::from_bits(bits);
            if v.is_finite() {
                return signed(v.is_sign_negative(), Literal::f64_suffixed(v.abs()));
            }
            let bits = Literal::u64_suffixed(bits);
            mixed!(__f64::from_bits(#bits))
        }
    }
}

fn unsigned(literal: Literal) -> TokenStream {
    mixed!(#literal)
}

fn signed(negative: bool, magnitude: Literal) -> TokenStream {
    if negative {
        mixed!((-#magnitude))
    } else {
        mixed!(#magnitude)
    }
}

pub fn operator(op: BinaryOp, span: Span) -> TokenStream {
    match op {
        BinaryOp::Add => quote_spanned!(span=> +),
        BinaryOp::Sub => quote_spanned!(span=> -),
        BinaryOp::Mul => quote_spanned!(span=> *),
        BinaryOp::Div => quote_spanned!(span=> /),
        BinaryOp::Rem => quote_spanned!(span=> %),
        BinaryOp::BitAnd => quote_spanned!(span=> &),
        BinaryOp::BitOr => quote_spanned!(span=> |),
        BinaryOp::BitXor => quote_spanned!(span=> ^),
        BinaryOp::Shl => quote_spanned!(span=> <<),
        BinaryOp::Shr => quote_spanned!(span=> >>),
        BinaryOp::Eq => quote_spanned!(span=> ==),
        BinaryOp::Ne => quote_spanned!(span=> !=),
        BinaryOp::Lt => quote_spanned!(span=> <),
        BinaryOp::Le => quote_spanned!(span=> <=),
        BinaryOp::Gt => quote_spanned!(span=> >),
        BinaryOp::Ge => quote_spanned!(span=> >=),
    }
}
