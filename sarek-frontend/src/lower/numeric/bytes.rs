//! Numbers as bytes: `x.to_le_bytes()`, `u32::from_be_bytes(bytes)`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use sarek_ir::{ExprId, Scalar};

use crate::lower::{Lowerer, Value};
use crate::tokens::mixed_at;
use crate::tokens::range::SourceRange;

impl Lowerer<'_> {
    /// The bytes of a number. `None` for another method, or a type without such bytes.
    pub(in crate::lower) fn bytes_of(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        let [receiver] = *ids else { return None };
        let order = order_of(name, "to_", on)?;
        let at = mixed_at(span.first);
        let ty = format_ident!("{}", on.name(), span = at);
        let word = match on.is_float() {
            true => quote_spanned!(at=> #ty::to_bits(__x)),
            false => quote_spanned!(at=> __x),
        };
        let bytes = order.map(|byte| {
            let by = Literal::u32_unsuffixed(byte * 8);
            match byte {
                0 => quote_spanned!(at=> __word as u8),
                _ => quote_spanned!(at=> (__word >> #by) as u8),
            }
        });
        let rust = syn::parse_quote_spanned! {at=> {
            let __word = #word;
            let __bytes = [#(#bytes),*];
            __bytes
        }};
        let receiver = self.reusable(receiver);
        let audits = self.method_audits.len();
        let value = self.with_operands(&[receiver], span.first, &rust);
        self.method_audits.truncate(audits);
        Some(value)
    }

    /// The number of these bytes. `None` for another function, or a type without such bytes.
    pub(in crate::lower) fn of_bytes(
        &mut self,
        on: Scalar,
        name: &Ident,
        argument: &syn::Expr,
        span: Span,
    ) -> Option<Value> {
        let order = order_of(name, "from_", on)?;
        let at = mixed_at(span);
        let bits = on.size() as u32 * 8;
        let word = format_ident!("u{bits}", span = at);
        let size = Literal::usize_unsuffixed(on.size());
        let parts: Vec<TokenStream> = order
            .enumerate()
            .map(|(i, byte)| {
                let (i, by) = (
                    Literal::usize_unsuffixed(i),
                    Literal::u32_unsuffixed(byte * 8),
                );
                match byte {
                    0 => quote_spanned!(at=> (__bytes[#i] as #word)),
                    _ => quote_spanned!(at=> ((__bytes[#i] as #word) << #by)),
                }
            })
            .collect();
        let ty = format_ident!("{}", on.name(), span = at);
        let value = match on.is_float() {
            true => quote_spanned!(at=> #ty::from_bits(__word)),
            false => quote_spanned!(at=> __word as #ty),
        };
        Some(self.value(&syn::parse_quote_spanned! {at=> {
            let __bytes: [u8; #size] = #argument;
            let __word = #(#parts)|*;
            #value
        }}))
    }
}

/// The bytes of a number, 0 being the lowest, in the order that a method's name says.
fn order_of(name: &Ident, verb: &str, on: Scalar) -> Option<Box<dyn Iterator<Item = u32>>> {
    // The size of `usize` differs between devices.
    if on.is_bool() || on.is_half() || on == Scalar::Usize {
        return None;
    }
    let text = name.to_string();
    let bytes = 0..on.size() as u32;
    match text.strip_prefix(verb)? {
        "le_bytes" => Some(Box::new(bytes)),
        "be_bytes" => Some(Box::new(bytes.rev())),
        _ => None,
    }
}
