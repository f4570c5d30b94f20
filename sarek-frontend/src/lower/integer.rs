//! Methods of integers that are more than an operator or two, and are made of others.

use proc_macro2::{Literal, Span};
use sarek_ir::{BinaryOp, DivideOp, Expr, ExprId, Intrinsic, Scalar, Value as Constant};

use super::{Binding, Lowerer, Value};

impl Lowerer<'_> {
    /// What Rust makes of operands, which are leaves, by the names `__x`, `__y`, `__z` and `__n`: it names nothing else.
    pub(super) fn rust(&mut self, operands: &[ExprId], span: Span, rust: &syn::Expr) -> ExprId {
        self.scopes.push(Default::default());
        for (name, operand) in ["__x", "__y", "__z", "__n"].into_iter().zip(operands) {
            let part = self.leaf_subject(*operand);
            self.aliases.push(part);
            let alias = Binding::Part(self.aliases.len() - 1);
            self.bind(&syn::Ident::new(name, span), alias);
        }
        // Its own methods are not the user's, whose meaning rustc is asked for.
        let asked = self.asked.len();
        let value = self.value(rust);
        self.asked.truncate(asked);
        self.scopes.pop();
        match value {
            Value::Scalar(value) => value,
            // Something stands in it that was told already.
            Value::Unit | Value::Never => self.placeholder(span),
        }
    }

    /// The position of the highest bit, which a number above 0 has.
    pub(super) fn ilog2(&mut self, x: ExprId, on: Scalar, span: Span) -> ExprId {
        let x = self.reusable(x);
        self.assert_positive(x, span);
        let last = self.constant(Constant::U32(on.bits() - 1), span);
        let above = self.unary_call(Intrinsic::LeadingZeros, x, Scalar::U32, span);
        self.wrapping(Intrinsic::WrappingSub, last, above, span)
    }

    /// `x % of == 0`, where 0 is the only multiple of 0, and nothing faults.
    pub(super) fn multiple(&mut self, x: ExprId, of: ExprId, on: Scalar, span: Span) -> ExprId {
        let pending = self.literals.iter().find(|pending| pending.expr == of);
        let is_zero = pending.is_none_or(|pending| match &pending.lit {
            syn::Lit::Int(int) => int.base10_digits() == "0",
            _ => true,
        });
        let (ty, zero) = (self.ty(x), Constant::zero(on));
        let rem = |this: &mut Self, lhs, rhs| {
            let (op, site) = (DivideOp::Rem, None);
            let rem = Expr::Divide { op, lhs, rhs, site };
            let (rem, zero) = (this.expr(rem, ty, span), this.constant(zero, span));
            this.plain(BinaryOp::Eq, rem, zero, span)
        };
        if !is_zero {
            return rem(self, x, of);
        }
        let (x, of) = (self.reusable(x), self.reusable(of));
        let one = Constant::int(on, 1).unwrap_or_else(|| unreachable!("it is an integer"));
        let (of_again, one) = (self.copy(of), self.constant(one, span));
        let args = self.kernel.push_list(&[of_again, one]);
        let intrinsic = Intrinsic::Max;
        let divisor = self.expr(Expr::Call { intrinsic, args }, ty, span);
        let dividend = self.copy(x);
        let lhs = rem(self, dividend, divisor);
        let (zero, none) = (self.constant(zero, span), self.constant(zero, span));
        let some = self.plain(BinaryOp::Ne, of, zero, span);
        let nothing = self.plain(BinaryOp::Eq, x, none, span);
        let either = Expr::Or {
            lhs: some,
            rhs: nothing,
        };
        let rhs = self.known(either, Scalar::Bool, span);
        self.known(Expr::And { lhs, rhs }, Scalar::Bool, span)
    }

    /// `x / by`, and one more if something remains.
    pub(super) fn divide_up(
        &mut self,
        (x, by): (ExprId, ExprId),
        on: Scalar,
        span: Span,
        at: Span,
    ) -> ExprId {
        let (x, by) = (self.reusable(x), self.reusable(by));
        let (x_again, by_again) = (self.copy(x), self.copy(by));
        let whole = self.divide(DivideOp::Div, x, by, span, at);
        let rest = self.divide(DivideOp::Rem, x_again, by_again, span, at);
        let zero = self.constant(Constant::zero(on), span);
        let arg = self.plain(BinaryOp::Ne, rest, zero, span);
        let one = self.known(Expr::Cast { arg }, on, span);
        self.plain(BinaryOp::Add, whole, one, span)
    }

    /// `x`, and what is missing to a multiple of `of`.
    pub(super) fn next_multiple(&mut self, (x, of): (ExprId, ExprId), span: Span) -> ExprId {
        let operands = [self.reusable(x), self.reusable(of)];
        let rust = syn::parse_quote_spanned! {span=> {
            let rest = __x % __y;
            if rest == 0 { __x } else { __x + (__y - rest) }
        }};
        self.rust(&operands, span, &rust)
    }

    /// The power is twice that of the highest bit of the number before.
    pub(super) fn next_power_of_two(&mut self, x: ExprId, on: Scalar, span: Span) -> ExprId {
        let (operands, last) = ([self.reusable(x)], Literal::u32_suffixed(on.bits() - 1));
        let one = syn::LitInt::new(&format!("1{}", on.name()), span);
        let rust = syn::parse_quote_spanned! {span=>
            if __x <= 1 {
                1
            } else {
                let half = #one << (#last - (__x - 1).leading_zeros());
                half + half
            }
        };
        self.rust(&operands, span, &rust)
    }

    /// Between both, rounded towards zero.
    pub(super) fn midpoint(&mut self, (x, y): (ExprId, ExprId), on: Scalar, span: Span) -> ExprId {
        let operands = [self.reusable(x), self.reusable(y)];
        let rust = match on.is_signed() {
            false => syn::parse_quote_spanned!(span=> ((__x ^ __y) >> 1) + (__x & __y)),
            true => syn::parse_quote_spanned! {span=> {
                let below = ((__x ^ __y) >> 1) + (__x & __y);
                if below < 0 { below + ((__x ^ __y) & 1) } else { below }
            }},
        };
        self.rust(&operands, span, &rust)
    }

    /// The root, rounded down.
    pub(super) fn isqrt(&mut self, x: ExprId, on: Scalar, span: Span) -> ExprId {
        let x = self.reusable(x);
        if !on.is_signed() {
            return self.square_root(x, on, span);
        }
        let (tested, zero) = (self.copy(x), self.constant(Constant::zero(on), span));
        let cond = self.plain(BinaryOp::Ge, tested, zero, span);
        let message = "argument of integer square root cannot be negative";
        self.assert(cond, message.into(), span);
        self.signed_root(x, on, span)
    }

    /// The same of a signed integer that is not negative.
    pub(super) fn signed_root(&mut self, x: ExprId, on: Scalar, span: Span) -> ExprId {
        let (unsigned, x) = (Intrinsic::UnsignedAbs.result_type(on), self.copy(x));
        let arg = self.known(Expr::Cast { arg: x }, unsigned, span);
        let arg = self.reusable(arg);
        let arg = self.square_root(arg, unsigned, span);
        self.known(Expr::Cast { arg }, on, span)
    }

    /// The root of the nearest float, in 64 bits after a step of Newton's, is the due one or one beside it.
    fn square_root(&mut self, x: ExprId, on: Scalar, span: Span) -> ExprId {
        let ty = syn::Ident::new(on.name(), span);
        let wide = Literal::u64_unsuffixed((1 << (on.bits().max(32) / 2)) - 1);
        let rust = match on.bits() {
            64 => syn::parse_quote_spanned! {span=> {
                let about = (__x as f32).sqrt() as #ty;
                let root = ((about + __x / about.max(1)) >> 1).min(#wide);
                let root = root - (root * root > __x) as #ty;
                root + (__x - root * root > root + root) as #ty
            }},
            _ => syn::parse_quote_spanned! {span=> {
                let x = __x as u32;
                let root = ((x as f32).sqrt() as u32).min(#wide);
                let root = root - (root * root > x) as u32;
                (root + (x - root * root > root + root) as u32) as #ty
            }},
        };
        self.rust(&[x], span, &rust)
    }
}
