//! Methods of integers that are written in Rust, of others that kernels know.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use sarek_ir::{ExprId, Intrinsic, Scalar, Value as Constant};

use super::checked::On;
use super::{Lowerer, Value};

/// What a method takes after its receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A number of the receiver's type.
    Same,
    /// A count or exponent, which is a `u32`.
    Count,
    /// An integer of the receiver's width that is signed if the receiver is not.
    Other,
}

impl Takes {
    /// Does a method of such integers stand on a type? A `usize` has no counterpart: kernels have no `isize`.
    pub(super) fn stands(self, stands: On, on: Scalar) -> bool {
        stands.holds(on) && (self != Other || on != Scalar::Usize)
    }
}

impl Takes {
    /// The types of the arguments of a method of this type.
    pub(super) fn types(self, on: Scalar) -> Vec<Scalar> {
        match self {
            Nothing => vec![],
            Same => vec![on],
            Count => vec![Scalar::U32],
            Other => vec![counterpart(on)],
        }
    }
}

use Takes::{Count, Nothing, Other, Same};

/// The methods, what they take, and on which integers they stand.
const EXPRESSED: [(&str, Takes, On); 23] = [
    ("wrapping_pow", Count, On::All),
    ("saturating_pow", Count, On::All),
    ("wrapping_div", Same, On::All),
    ("wrapping_rem", Same, On::All),
    ("wrapping_div_euclid", Same, On::All),
    ("wrapping_rem_euclid", Same, On::All),
    ("saturating_div", Same, On::All),
    ("saturating_abs", Nothing, On::Signed),
    ("saturating_neg", Nothing, On::Signed),
    ("wrapping_add_signed", Other, On::Unsigned),
    ("wrapping_sub_signed", Other, On::Unsigned),
    ("saturating_add_signed", Other, On::Unsigned),
    ("saturating_sub_signed", Other, On::Unsigned),
    ("wrapping_add_unsigned", Other, On::Signed),
    ("wrapping_sub_unsigned", Other, On::Signed),
    ("saturating_add_unsigned", Other, On::Signed),
    ("saturating_sub_unsigned", Other, On::Signed),
    ("cast_signed", Nothing, On::Unsigned),
    ("cast_unsigned", Nothing, On::Signed),
    ("unbounded_shl", Count, On::All),
    ("unbounded_shr", Count, On::All),
    ("ilog", Same, On::All),
    ("ilog10", Nothing, On::All),
];

/// The names of the methods that stand on a type.
pub(super) fn names_on(on: Scalar) -> impl Iterator<Item = &'static str> {
    let methods = EXPRESSED.iter();
    let methods = methods.filter(move |(_, takes, stands)| takes.stands(*stands, on));
    methods.map(|(name, ..)| *name)
}

/// What one of the methods takes.
pub(super) fn takes(name: &str) -> Option<Takes> {
    let found = EXPRESSED.iter().find(|(known, ..)| *known == name);
    found.map(|(_, takes, _)| *takes)
}

/// Is it one of the methods?
pub(super) fn is_one(name: &str) -> bool {
    EXPRESSED.iter().any(|(known, ..)| *known == name)
}

/// The integer of the same width that is signed if this one is not.
pub(super) fn counterpart(on: Scalar) -> Scalar {
    match on {
        Scalar::U8 => Scalar::I8,
        Scalar::U16 => Scalar::I16,
        Scalar::U32 => Scalar::I32,
        Scalar::U64 => Scalar::I64,
        _ => Intrinsic::UnsignedAbs.result_type(on),
    }
}

impl Lowerer<'_> {
    /// `None` when the name is none of the methods.
    pub(super) fn expressed(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: Span,
    ) -> Option<Value> {
        let text = name.to_string();
        let (_, takes, stands) = *EXPRESSED.iter().find(|(known, ..)| *known == text)?;
        if !takes.stands(stands, on) {
            return None;
        }
        if !self.takes(name, takes, on, ids) {
            return Some(Value::Never);
        }
        let mut operands: Vec<ExprId> = ids.iter().map(|id| self.reusable(*id)).collect();
        match text.as_str() {
            "ilog" => {
                let base = syn::parse_quote_spanned!(span=> __y >= 2);
                let base = self.rust(&operands, span, &base);
                let message = "base of integer logarithm must be at least 2";
                self.assert(base, message.into(), span);
                self.assert_positive(operands[0], span);
            }
            "ilog10" => self.assert_positive(operands[0], span),
            _ => {}
        }
        // What bounds the type, as `__y` or `__z`.
        if let Some(bound) = bound(&text, on) {
            let bound = self.constant(bound, span);
            operands.push(bound);
        }
        let rust = expression(&text, on, span);
        Some(Value::Scalar(self.rust(&operands, span, &rust)))
    }

    /// Are the arguments those that a method takes?
    pub(super) fn takes(&mut self, name: &Ident, takes: Takes, on: Scalar, ids: &[ExprId]) -> bool {
        if !self.arity(name, ids, usize::from(takes != Nothing)) {
            return false;
        }
        let wanted = match takes {
            Nothing => return true,
            Same => on,
            Count => Scalar::U32,
            Other => counterpart(on),
        };
        let before = self.errors.count();
        self.expect(ids[1], wanted);
        self.errors.count() == before
    }

    /// Logarithms are of what is more than 0.
    pub(super) fn assert_positive(&mut self, x: ExprId, span: Span) {
        let positive = syn::parse_quote_spanned!(span=> __x > 0);
        let positive = self.rust(&[x], span, &positive);
        let message = "argument of integer logarithm must be positive";
        self.assert(positive, message.into(), span);
    }
}

/// The end of its type at which a method stops, if it does at one.
fn bound(name: &str, on: Scalar) -> Option<Constant> {
    let most = match on.is_signed() {
        true => (1 << (on.bits() - 1)) - 1,
        false => i128::from(u64::MAX >> (64 - on.bits())),
    };
    match name {
        "saturating_add_unsigned" | "saturating_add_signed" | "saturating_sub_signed" => {
            Constant::int(on, most)
        }
        "saturating_sub_unsigned" => Constant::int(on, -1 - most),
        _ => None,
    }
}

/// The method of `__x` and `__y`, in Rust.
fn expression(name: &str, on: Scalar, span: Span) -> syn::Expr {
    let (ty, bits) = (
        Ident::new(on.name(), span),
        Literal::u32_suffixed(on.bits()),
    );
    let is_signed = on.is_signed();
    let tokens = match name {
        "wrapping_pow" => power("wrapping_mul", on, span),
        "saturating_pow" => power("saturating_mul", on, span),
        "wrapping_div"
        | "wrapping_div_euclid"
        | "wrapping_rem"
        | "wrapping_rem_euclid"
        | "saturating_div" => quotient(name, is_signed, span),
        "saturating_abs" => quote_spanned!(span=>
            if __x < 0 { (0 as #ty).saturating_sub(__x) } else { __x }),
        "saturating_neg" => quote_spanned!(span=> (0 as #ty).saturating_sub(__x)),
        "wrapping_add_signed" | "wrapping_add_unsigned" => {
            quote_spanned!(span=> __x.wrapping_add(__y as #ty))
        }
        "wrapping_sub_signed" | "wrapping_sub_unsigned" => {
            quote_spanned!(span=> __x.wrapping_sub(__y as #ty))
        }
        "saturating_add_unsigned" => quote_spanned! {span=> {
            let sum = __x.wrapping_add(__y as #ty);
            if sum >= __x { sum } else { __z }
        }},
        "saturating_sub_unsigned" => quote_spanned! {span=> {
            let difference = __x.wrapping_sub(__y as #ty);
            if difference <= __x { difference } else { __z }
        }},
        "saturating_add_signed" => quote_spanned! {span=> {
            let sum = __x.wrapping_add(__y as #ty);
            if __y < 0 {
                if sum < __x { sum } else { 0 }
            } else {
                if sum >= __x { sum } else { __z }
            }
        }},
        "saturating_sub_signed" => quote_spanned! {span=> {
            let difference = __x.wrapping_sub(__y as #ty);
            if __y < 0 {
                if difference > __x { difference } else { __z }
            } else {
                if difference <= __x { difference } else { 0 }
            }
        }},
        "cast_signed" | "cast_unsigned" => {
            let other = Ident::new(counterpart(on).name(), span);
            quote_spanned!(span=> __x as #other)
        }
        "unbounded_shl" => {
            quote_spanned!(span=> if __y < #bits { __x.wrapping_shl(__y) } else { 0 })
        }
        "unbounded_shr" if is_signed => {
            let last = Literal::u32_suffixed(on.bits() - 1);
            quote_spanned!(span=> __x.wrapping_shr(__y.min(#last)))
        }
        "unbounded_shr" => {
            quote_spanned!(span=> if __y < #bits { __x.wrapping_shr(__y) } else { 0 })
        }
        "ilog" => return logarithm(&syn::parse_quote_spanned!(span=> __y), span),
        "ilog10" => return decimal_logarithm(on, span),
        other => unreachable!("`{other}` is in the table above"),
    };
    syn::parse_quote!(#tokens)
}

/// A power by squares. What has stopped at a bound stays there, with its sign: only the number itself is negative.
fn power(times: &str, on: Scalar, span: Span) -> TokenStream {
    let (times, one) = (Ident::new(times, span), one(on, span));
    quote_spanned! {span=> {
        let mut square = __x;
        let mut left = __y;
        let mut power = #one;
        while left > 0 {
            if left & 1 == 1 {
                power = power.#times(square);
            }
            square = square.#times(square);
            left >>= 1;
        }
        power
    }}
}

/// The power, and whether it is none of the type. What a last square has too much is not asked for.
pub(super) fn overflowing_power(on: Scalar, span: Span) -> syn::Expr {
    let one = one(on, span);
    syn::parse_quote_spanned! {span=> {
        let mut square = __x;
        let mut left = __y;
        let mut power = #one;
        let mut overflows = false;
        while left > 0 {
            if left & 1 == 1 {
                let (next, too_much) = power.overflowing_mul(square);
                power = next;
                overflows |= too_much;
            }
            left >>= 1;
            if left > 0 {
                let (next, too_much) = square.overflowing_mul(square);
                square = next;
                overflows |= too_much;
            }
        }
        (power, overflows)
    }}
}

fn one(on: Scalar, span: Span) -> syn::LitInt {
    syn::LitInt::new(&format!("1{}", on.name()), span)
}

/// A division where the least number by -1 is no fault.
fn quotient(name: &str, is_signed: bool, span: Span) -> TokenStream {
    let plain = match name {
        "wrapping_div" | "saturating_div" => quote_spanned!(span=> __x / __y),
        "wrapping_rem" => quote_spanned!(span=> __x % __y),
        "wrapping_div_euclid" => quote_spanned!(span=> __x.div_euclid(__y)),
        "wrapping_rem_euclid" => quote_spanned!(span=> __x.rem_euclid(__y)),
        other => unreachable!("`{other}` is no division"),
    };
    let by_minus_one = match name {
        _ if !is_signed => return plain,
        "saturating_div" => quote_spanned!(span=> __x.saturating_neg()),
        "wrapping_div" | "wrapping_div_euclid" => quote_spanned!(span=> __x.wrapping_neg()),
        _ => quote_spanned!(span=> 0),
    };
    quote_spanned!(span=> if __y == -1 { #by_minus_one } else { #plain })
}

/// How often a number above 0 can be divided. Where the base is none, that was told.
pub(super) fn logarithm(base: &syn::Expr, span: Span) -> syn::Expr {
    syn::parse_quote_spanned! {span=> {
        let base = #base.max(2);
        let mut left = __x;
        let mut times = 0u32;
        while left >= base {
            left /= base;
            times += 1;
        }
        times
    }}
}

/// How many powers of ten are at most the number. Those beyond 32 bits would keep a `usize` from being narrow.
pub(super) fn decimal_logarithm(on: Scalar, span: Span) -> syn::Expr {
    if on == Scalar::Usize {
        return logarithm(&syn::parse_quote_spanned!(span=> 10usize), span);
    }
    let most = match on.is_signed() {
        true => u64::MAX >> (65 - on.bits()),
        false => u64::MAX >> (64 - on.bits()),
    };
    let powers = std::iter::successors(Some(10u64), |power| power.checked_mul(10));
    let powers = powers
        .take_while(|power| *power <= most)
        .map(Literal::u64_unsuffixed);
    syn::parse_quote_spanned!(span=> #((__x >= #powers) as u32)+*)
}
