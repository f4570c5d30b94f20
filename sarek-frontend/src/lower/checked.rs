//! Methods of integers that tell whether the result is one: `checked_add` yields an `Option`, `overflowing_add` a pair.

use proc_macro2::{Ident, Literal, Span};
use quote::quote;
use sarek_ir::{
    Compound, CompoundId, DivideOp, Expr, ExprId, Intrinsic, Scalar, Stmt, Value as Constant,
};

use super::expressed::{self, Takes};
use super::{Lowerer, Ty, Value};

use Takes::{Count, Nothing, Other, Same};

/// The methods, what they take, and on which integers they stand.
const CHECKED: [(&str, Takes, On); 38] = [
    ("checked_add", Same, On::All),
    ("checked_sub", Same, On::All),
    ("checked_mul", Same, On::All),
    ("checked_div", Same, On::All),
    ("checked_rem", Same, On::All),
    ("checked_div_euclid", Same, On::All),
    ("checked_rem_euclid", Same, On::All),
    ("checked_neg", Nothing, On::All),
    ("checked_abs", Nothing, On::Signed),
    ("checked_shl", Count, On::All),
    ("checked_shr", Count, On::All),
    ("checked_ilog2", Nothing, On::All),
    ("checked_isqrt", Nothing, On::Signed),
    ("checked_next_power_of_two", Nothing, On::Unsigned),
    ("checked_next_multiple_of", Same, On::Unsigned),
    ("checked_pow", Count, On::All),
    ("checked_ilog", Same, On::All),
    ("checked_ilog10", Nothing, On::All),
    ("checked_add_signed", Other, On::Unsigned),
    ("checked_sub_signed", Other, On::Unsigned),
    ("checked_add_unsigned", Other, On::Signed),
    ("checked_sub_unsigned", Other, On::Signed),
    ("overflowing_add", Same, On::All),
    ("overflowing_sub", Same, On::All),
    ("overflowing_mul", Same, On::All),
    ("overflowing_neg", Nothing, On::All),
    ("overflowing_shl", Count, On::All),
    ("overflowing_shr", Count, On::All),
    ("overflowing_abs", Nothing, On::Signed),
    ("overflowing_pow", Count, On::All),
    ("overflowing_div", Same, On::All),
    ("overflowing_rem", Same, On::All),
    ("overflowing_div_euclid", Same, On::All),
    ("overflowing_rem_euclid", Same, On::All),
    ("overflowing_add_signed", Other, On::Unsigned),
    ("overflowing_sub_signed", Other, On::Unsigned),
    ("overflowing_add_unsigned", Other, On::Signed),
    ("overflowing_sub_unsigned", Other, On::Signed),
];

/// On which integers a method stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    All,
    Signed,
    Unsigned,
}

impl On {
    pub(super) fn holds(self, on: Scalar) -> bool {
        match self {
            On::All => on.is_int(),
            On::Signed => on.is_signed(),
            On::Unsigned => on.is_int() && !on.is_signed(),
        }
    }
}

/// The names of the methods that stand on a type.
pub(super) fn names_on(on: Scalar) -> impl Iterator<Item = &'static str> {
    let methods = CHECKED.iter();
    let methods = methods.filter(move |(_, takes, stands)| takes.stands(*stands, on));
    methods.map(|(name, ..)| *name)
}

/// What one of the methods takes.
pub(super) fn takes(name: &str) -> Option<Takes> {
    let found = CHECKED.iter().find(|(known, ..)| *known == name);
    found.map(|(_, takes, _)| *takes)
}

/// Is it one of the methods?
pub(super) fn is_one(name: &str) -> bool {
    CHECKED.iter().any(|(known, ..)| *known == name)
}

impl Lowerer<'_> {
    /// `None` when the name is none of the methods.
    pub(super) fn checked(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: Span,
    ) -> Option<Value> {
        let text = name.to_string();
        let (_, takes, stands) = *CHECKED.iter().find(|(known, ..)| *known == text)?;
        if !takes.stands(stands, on) {
            return None;
        }
        let operation = text.split_once('_').map_or("", |(_, operation)| operation);
        if !self.takes(name, takes, on, ids) {
            return Some(Value::Never);
        }
        let ids: Vec<ExprId> = ids.iter().map(|id| self.reusable(*id)).collect();
        if text.starts_with("overflowing") {
            return Some(self.overflowing(operation, on, &ids, span));
        }
        if operation == "pow" {
            return Some(self.checked_power(on, &ids, span));
        }
        let fits = self.fits(operation, on, &ids, span);
        let some = match operation {
            "ilog2" | "ilog10" | "ilog" => Scalar::U32,
            _ => on,
        };
        Some(self.if_it_fits(fits, some, span, |this| {
            this.exact(operation, on, &ids, span)
        }))
    }

    /// `Some` of the value if it fits, and else `None`.
    fn if_it_fits(
        &mut self,
        fits: ExprId,
        of: Scalar,
        span: Span,
        value: impl FnOnce(&mut Self) -> ExprId,
    ) -> Value {
        let (ty, of) = (self.core_type(true), self.types.known(of));
        if let Some(argument) = self.core_argument(ty, 0) {
            self.unify(argument, of, span);
        }
        let local = self.result(ty);
        self.push(Stmt::Let { local, init: None }, span);
        let (then, ()) = self.in_block(|this| {
            let value = value(this);
            let value = this.option(Some(value), ty, span);
            this.push(Stmt::Assign { local, value }, span);
        });
        let (otherwise, ()) = self.in_block(|this| {
            let value = this.option(None, ty, span);
            this.push(Stmt::Assign { local, value }, span);
        });
        self.branch(fits, then, otherwise, span);
        Value::Scalar(self.read(local, span))
    }

    fn option(&mut self, value: Option<ExprId>, ty: Ty, span: Span) -> ExprId {
        let name = if value.is_some() { "Some" } else { "None" };
        self.of_core(name, value, ty, span)
    }

    /// A value of a variant of `Option` or `Result`, of that type.
    pub(super) fn of_core(
        &mut self,
        variant: &str,
        value: Option<ExprId>,
        ty: Ty,
        span: Span,
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

    /// What wraps, and whether it does.
    fn overflowing(&mut self, operation: &str, on: Scalar, ids: &[ExprId], span: Span) -> Value {
        if operation == "pow" {
            let rust = expressed::overflowing_power(on, span);
            return Value::Scalar(self.rust(ids, span, &rust));
        }
        let fits = self.fits(operation, on, ids, span);
        let wrapped = Ident::new(&format!("wrapping_{operation}"), span);
        let rust = match ids.len() {
            1 => syn::parse_quote_spanned!(span=> __x.#wrapped()),
            _ => syn::parse_quote_spanned!(span=> __x.#wrapped(__y)),
        };
        let value = self.rust(ids, span, &rust);
        let overflows = self.not(fits, span);
        let types = vec![self.types.known(on), self.types.known(Scalar::Bool)];
        let ty = self.types.tuple(types);
        let fields = [("0", value), ("1", overflows)];
        let fields = fields.map(|(name, value)| (self.name_id(name), value));
        let construct = Compound::Construct {
            variant: None,
            fields: fields.to_vec().into(),
            rest: None,
        };
        Value::Scalar(self.compound(construct, ty, span))
    }

    /// The power and whether it fits come of one loop.
    fn checked_power(&mut self, on: Scalar, ids: &[ExprId], span: Span) -> Value {
        let rust = expressed::overflowing_power(on, span);
        let both = self.rust(ids, span, &rust);
        let both = self.reusable(both);
        let fits = self.rust(&[both], span, &syn::parse_quote_spanned!(span=> !__x.1));
        self.if_it_fits(fits, on, span, |this| {
            this.rust(&[both], span, &syn::parse_quote_spanned!(span=> __x.0))
        })
    }

    /// Is the exact result one of the type?
    fn fits(&mut self, operation: &str, on: Scalar, ids: &[ExprId], span: Span) -> ExprId {
        let (bits, ty) = (
            Literal::u32_suffixed(on.bits()),
            Ident::new(on.name(), span),
        );
        let rust = match (operation, on.is_signed()) {
            ("add", false) => syn::parse_quote_spanned!(span=> __x.wrapping_add(__y) >= __x),
            ("add", true) => syn::parse_quote_spanned! {span=> {
                let sum = __x.wrapping_add(__y);
                ((__x ^ sum) & (__y ^ sum)) >= 0
            }},
            ("sub", false) => syn::parse_quote_spanned!(span=> __x >= __y),
            ("sub", true) => syn::parse_quote_spanned! {span=> {
                let difference = __x.wrapping_sub(__y);
                ((__x ^ __y) & (__x ^ difference)) >= 0
            }},
            ("mul", _) => return self.product_fits(on, ids, span),
            ("div" | "rem" | "div_euclid" | "rem_euclid", false) => {
                syn::parse_quote_spanned!(span=> __y != 0)
            }
            ("div" | "rem" | "div_euclid" | "rem_euclid", true) => {
                let rust = syn::parse_quote_spanned!(span=> __y != 0 && (__y != -1 || __x != __z));
                let least = self.least(on, span);
                return self.rust(&[ids[0], ids[1], least], span, &rust);
            }
            ("neg", false) => syn::parse_quote_spanned!(span=> __x == 0),
            ("neg" | "abs", _) => {
                let least = self.least(on, span);
                let rust = syn::parse_quote_spanned!(span=> __x != __y);
                return self.rust(&[ids[0], least], span, &rust);
            }
            ("shl" | "shr", _) => syn::parse_quote_spanned!(span=> __y < #bits),
            ("ilog2" | "ilog10", _) => syn::parse_quote_spanned!(span=> __x > 0),
            ("ilog", _) => syn::parse_quote_spanned!(span=> __x > 0 && __y > 1),
            ("add_signed", _) => syn::parse_quote_spanned! {span=>
                (__x.wrapping_add(__y as #ty) >= __x) == (__y >= 0)
            },
            ("sub_signed", _) => syn::parse_quote_spanned! {span=>
                (__x.wrapping_sub(__y as #ty) <= __x) == (__y >= 0)
            },
            ("add_unsigned", _) => {
                syn::parse_quote_spanned!(span=> __x.wrapping_add(__y as #ty) >= __x)
            }
            ("sub_unsigned", _) => {
                syn::parse_quote_spanned!(span=> __x.wrapping_sub(__y as #ty) <= __x)
            }
            ("next_multiple_of", _) => syn::parse_quote_spanned! {span=>
                __y != 0 && {
                    let rest = __x % __y;
                    rest == 0 || __x.wrapping_add(__y - rest) > __x
                }
            },
            ("isqrt", _) => syn::parse_quote_spanned!(span=> __x >= 0),
            ("next_power_of_two", _) => {
                syn::parse_quote_spanned!(span=> __x.saturating_sub(1).leading_zeros() > 0)
            }
            (other, _) => unreachable!("`{other}` is in the table above"),
        };
        self.rust(ids, span, &rust)
    }

    /// Two integers of a width have a product of twice that; of the widest, the division by one of them tells.
    fn product_fits(&mut self, on: Scalar, ids: &[ExprId], span: Span) -> ExprId {
        let ty = Ident::new(on.name(), span);
        if on.bits() <= 16 {
            let wide = Ident::new(if on.is_signed() { "i32" } else { "u32" }, span);
            let rust = syn::parse_quote_spanned! {span=> {
                let product = __x as #wide * __y as #wide;
                product as #ty as #wide == product
            }};
            return self.rust(ids, span, &rust);
        }
        if !on.is_signed() {
            return self.magnitude_fits(on, ids, span);
        }
        let unsigned = Intrinsic::UnsignedAbs.result_type(on);
        let magnitude = |this: &mut Self, id: ExprId| {
            let id = this.copy(id);
            let magnitude = this.unary_call(Intrinsic::UnsignedAbs, id, unsigned, span);
            this.reusable(magnitude)
        };
        let magnitudes = [magnitude(self, ids[0]), magnitude(self, ids[1])];
        let wraps_not = self.magnitude_fits(unsigned, &magnitudes, span);
        let wraps_not = self.reusable(wraps_not);
        let (unsigned, least) = (Ident::new(unsigned.name(), span), self.least(on, span));
        let most = syn::parse_quote_spanned! {span=>
            __x.wrapping_mul(__y) <= __z.unsigned_abs() - 1 + __n as #unsigned
        };
        let negative = syn::parse_quote_spanned!(span=> (__x ^ __y) < 0);
        let negative = self.rust(ids, span, &negative);
        let negative = self.reusable(negative);
        let [x, y] = magnitudes;
        let rhs = self.rust(&[x, y, least, negative], span, &most);
        let both = self.both(Some(wraps_not), Some(rhs));
        both.unwrap_or_else(|| unreachable!("both are given"))
    }

    /// `y == 0 || (x * y) / y == x`
    fn magnitude_fits(&mut self, on: Scalar, ids: &[ExprId], span: Span) -> ExprId {
        let product = syn::parse_quote_spanned!(span=> __x.wrapping_mul(__y));
        let product = self.rust(ids, span, &product);
        let divisor = syn::parse_quote_spanned!(span=> __y.max(1));
        let divisor = self.rust(ids, span, &divisor);
        let quotient = self.undoubted(DivideOp::Div, (product, divisor), on, span);
        let quotient = self.reusable(quotient);
        let rust = syn::parse_quote_spanned!(span=> __y == 0 || __x == __z);
        self.rust(&[ids[0], ids[1], quotient], span, &rust)
    }

    /// A division that cannot fault.
    fn undoubted(
        &mut self,
        op: DivideOp,
        (lhs, rhs): (ExprId, ExprId),
        on: Scalar,
        span: Span,
    ) -> ExprId {
        let site = None;
        self.known(Expr::Divide { op, lhs, rhs, site }, on, span)
    }

    /// The result, where it is known to be one.
    fn exact(&mut self, operation: &str, on: Scalar, ids: &[ExprId], span: Span) -> ExprId {
        let last = Literal::u32_suffixed(on.bits() - 1);
        let division = match operation {
            "div" => Some(DivideOp::Div),
            "rem" => Some(DivideOp::Rem),
            "div_euclid" => Some(DivideOp::DivEuclid),
            "rem_euclid" => Some(DivideOp::RemEuclid),
            _ => None,
        };
        if let Some(op) = division {
            let operands = (self.copy(ids[0]), self.copy(ids[1]));
            return self.undoubted(op, operands, on, span);
        }
        let rust = match operation {
            // Not wrapping: that it does not is known where ranges are.
            "sub" if !on.is_signed() => syn::parse_quote_spanned!(span=> __x - __y),
            "add" | "sub" | "mul" | "shl" | "shr" | "add_signed" | "sub_signed"
            | "add_unsigned" | "sub_unsigned" => {
                let wrapping = Ident::new(&format!("wrapping_{operation}"), span);
                syn::parse_quote_spanned!(span=> __x.#wrapping(__y))
            }
            "neg" | "abs" => {
                let wrapping = Ident::new(&format!("wrapping_{operation}"), span);
                syn::parse_quote_spanned!(span=> __x.#wrapping())
            }
            "ilog10" => expressed::decimal_logarithm(on, span),
            "ilog" => expressed::logarithm(&syn::parse_quote_spanned!(span=> __y), span),
            "ilog2" => syn::parse_quote_spanned!(span=> #last - __x.leading_zeros()),
            "isqrt" => return self.signed_root(ids[0], on, span),
            "next_power_of_two" => {
                let x = self.copy(ids[0]);
                return self.next_power_of_two(x, on, span);
            }
            "next_multiple_of" => {
                let operands = (self.copy(ids[0]), self.copy(ids[1]));
                return self.next_multiple(operands, span);
            }
            other => unreachable!("`{other}` is in the table above"),
        };
        self.rust(ids, span, &rust)
    }

    /// The least integer of a signed type.
    fn least(&mut self, on: Scalar, span: Span) -> ExprId {
        let least = Constant::int(on, -1 << (on.bits() - 1));
        let least = least.unwrap_or_else(|| unreachable!("it is of the type"));
        self.constant(least, span)
    }
}
