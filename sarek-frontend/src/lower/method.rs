//! Methods of slices and numbers.

use proc_macro2::{Ident, Span};
use sarek_ir::{
    ArgType, BinaryOp, Compound, DivideOp, Expr, ExprId, Intrinsic, ResultType, Scalar, SiteKind,
    Stmt, UnaryOp, Value as Constant,
};
use syn::spanned::Spanned;

use super::array::peeled;
use super::similar::nearest;
use super::types::Node;
use super::{Known, Lowerer, Value};
use crate::diagnostics::codes;

impl Lowerer<'_> {
    pub(super) fn method_call(&mut self, e: &syn::ExprMethodCall) -> Value {
        self.method_wanted(e, true)
    }

    /// A method call; `wanted` tells whether its result is used.
    pub(super) fn method_wanted(&mut self, e: &syn::ExprMethodCall, wanted: bool) -> Value {
        if let Some(turbofish) = &e.turbofish {
            if let Some(value) = self.own_method(e, wanted) {
                return value;
            }
            let is_memory = self.find_memory(&e.receiver).is_some();
            if !is_memory && let Err(value) = self.receiver_value(e, wanted) {
                return value;
            }
            self.errors.unsupported(
                codes::CALLEE,
                turbofish.span(),
                "a generic call is",
                "drop the type arguments",
            );
            return Value::Never;
        }
        if let Some((memory, _)) = self.find_memory(&e.receiver) {
            return self.slice_method(memory, e);
        }
        if let Some(view) = self.find_view(&e.receiver) {
            return self.view_method(view, e);
        }
        if let Some(value) = self.atomic_call(e, true) {
            return value;
        }
        if let syn::Expr::Range(range) = peeled(&e.receiver) {
            self.errors.unsupported(
                codes::RANGE,
                range.span(),
                "a range is",
                "loop over it by `for`",
            );
            return Value::Never;
        }
        if let Some(value) = self.own_method(e, wanted) {
            return value;
        }
        match self.receiver_value(e, wanted) {
            Ok(receiver) => {
                let arguments: Vec<&syn::Expr> = e.args.iter().collect();
                let ids = self.more_operands(vec![receiver], &arguments);
                self.method(&e.method, ids, e.span())
            }
            Err(value) => value,
        }
    }

    fn slice_method(&mut self, memory: sarek_ir::Memory, e: &syn::ExprMethodCall) -> Value {
        let name = e.method.to_string();
        match (name.as_str(), e.args.is_empty()) {
            ("len", true) => Value::Scalar(self.len(memory, e.span())),
            ("is_empty", true) => {
                let n = self.len(memory, e.span());
                let zero = self.constant(Constant::Usize(0), e.span());
                Value::Scalar(self.plain(BinaryOp::Eq, n, zero, e.span()))
            }
            ("swap", false) if e.args.len() == 2 && self.rank(memory) == 1 => self.swap(e),
            ("get_unchecked" | "get_unchecked_mut", false) => {
                self.errors.at(
                    codes::REFERENCE,
                    e.method.span(),
                    format!("`{name}` yields a reference"),
                    format!("write `*x.{name}(i)`"),
                );
                Value::Never
            }
            _ => {
                let what = format!("the slice method `{name}` is");
                self.errors.unsupported(
                    codes::SLICE_METHOD,
                    e.method.span(),
                    &what,
                    "use `len`, `is_empty`, `swap` of elements and indexing",
                );
                Value::Never
            }
        }
    }

    /// `x.swap(i, j)`, as its elements are exchanged by hand: both indices are known before anything is stored.
    fn swap(&mut self, e: &syn::ExprMethodCall) -> Value {
        let (slice, span) = (&e.receiver, e.method.span());
        let (first, second) = (&e.args[0], &e.args[1]);
        self.value(&syn::parse_quote_spanned! {span=> {
            let (__first, __second) = (#first, #second);
            let __value = #slice[__first];
            #slice[__first] = #slice[__second];
            #slice[__second] = __value;
        }})
    }

    /// A numeric method on lowered operands, the receiver first.
    pub(super) fn method(&mut self, name: &Ident, ids: Vec<ExprId>, span: Span) -> Value {
        if let Some(value) = self.array_length(name, &ids, span) {
            return value;
        }
        if let Some(value) = self.packed_method(name, &ids, span) {
            return value;
        }
        let on = match self.types.look(self.ty(ids[0])) {
            Known::Scalar(scalar) => scalar,
            // It stands for what was reported, or for what is not reached.
            Known::Nothing if self.is_stand_in(self.ty(ids[0])) => return Value::Never,
            Known::Foreign => return self.foreign_method(name, ids, span),
            Known::Int | Known::Float | Known::Nothing | Known::Compound => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    self.span(ids[0]),
                    format!("the type must be known before `.{name}()` is called on it"),
                    "write a suffix, as in `1.0f32`, or annotate the variable",
                );
                return Value::Never;
            }
        };
        if let Some(value) = self
            .half_method(name, on, &ids, span)
            .or_else(|| self.composed(name, on, &ids, span))
        {
            return value;
        }
        match Intrinsic::method(&name.to_string(), on) {
            Some(intrinsic) => self.intrinsic(intrinsic, name, on, ids, span),
            None => {
                let text = name.to_string();
                let known = Intrinsic::ALL.iter().map(|i| i.name());
                let known = known.filter(|known| Intrinsic::method(known, on).is_some());
                let instead = match nearest(&text, known) {
                    _ if ["into", "try_into"].contains(&text.as_str()) => {
                        "convert it by `as`, as in `x as f32`".into()
                    }
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "use those of the numeric types, listed in the crate's documentation, or a `#[device]` function".into(),
                };
                let what = format!("`{on}` has no method `{name}` in a kernel");
                self.errors.at(codes::NO_METHOD, name.span(), what, instead);
                Value::Never
            }
        }
    }

    /// `len` and `is_empty` of an array inside of a value. `None` when it is another method, or no array.
    fn array_length(&mut self, name: &Ident, ids: &[ExprId], span: Span) -> Option<Value> {
        let ([array], "len" | "is_empty") = (ids, name.to_string().as_str()) else {
            return None;
        };
        let known = match self.types.node(self.ty(*array)) {
            Node::Array(_, dim) => Some(dim.length),
            Node::Hole(_) => None,
            Node::Any
            | Node::Known(_)
            | Node::Int
            | Node::Float
            | Node::Tuple(_)
            | Node::Named(_)
            | Node::Same(_) => return None,
        };
        let n = match known {
            Some(length) => self.length_expr(length, span),
            None => {
                let base = self.named(*array);
                let ty = self.types.known(Scalar::Usize);
                self.compound(Compound::Len { base }, ty, span)
            }
        };
        if name == "len" {
            return Some(Value::Scalar(n));
        }
        let zero = self.constant(Constant::Usize(0), span);
        Some(Value::Scalar(self.plain(BinaryOp::Eq, n, zero, span)))
    }

    /// A method on a number whose type only rustc knows.
    fn foreign_method(&mut self, name: &Ident, mut ids: Vec<ExprId>, span: Span) -> Value {
        let text = name.to_string();
        if ids.len() == 1
            && let Some(value) = self.conversion(name, ids[0], span)
        {
            return value;
        }
        let mut named = Intrinsic::ALL.iter().copied().filter(|i| i.name() == text);
        let intrinsic = named.next().filter(|i| {
            let same = matches!(i.result(), ResultType::Same | ResultType::Fixed(_));
            same && named.next().is_none() && !i.is_from_bits()
        });
        let Some(intrinsic) = intrinsic else {
            self.errors.at(
                codes::UNKNOWN_TYPE,
                name.span(),
                format!("the type must be known before `.{text}()` is called on it"),
                "write it where the value is bound, as in `let x: f32 = …;`",
            );
            return Value::Never;
        };
        if !self.arity(name, &ids, intrinsic.args().len()) {
            return Value::Never;
        }
        let on = self.ty(ids[0]);
        for (id, arg) in ids[1..].iter().copied().zip(intrinsic.args()) {
            match arg {
                ArgType::Same => {
                    self.unify(on, self.ty(id), self.span(id));
                }
                ArgType::Fixed(scalar) => self.expect(id, *scalar),
            }
        }
        if intrinsic == Intrinsic::Clamp {
            self.assert_clamp(&mut ids, name.span());
        }
        let args = self.kernel.push_list(&ids);
        let call = Expr::Call { intrinsic, args };
        match intrinsic.result() {
            ResultType::Fixed(scalar) => Value::Scalar(self.known(call, scalar, span)),
            ResultType::Same | ResultType::Unsigned | ResultType::Float => {
                Value::Scalar(self.expr(call, on, span))
            }
        }
    }

    pub(super) fn arity(&mut self, name: &Ident, ids: &[ExprId], wanted: usize) -> bool {
        if ids.len() - 1 != wanted {
            let (found, s) = (ids.len() - 1, if wanted == 1 { "" } else { "s" });
            self.errors.at(
                codes::ARGUMENT_COUNT,
                name.span(),
                format!("`{name}` takes {wanted} argument{s}, and {found} are given"),
                format!("give {wanted}"),
            );
        }
        ids.len() - 1 == wanted
    }

    fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        name: &Ident,
        on: Scalar,
        mut ids: Vec<ExprId>,
        span: Span,
    ) -> Value {
        if !self.arity(name, &ids, intrinsic.args().len()) {
            return Value::Never;
        }
        for (id, arg) in ids[1..].iter().copied().zip(intrinsic.args()) {
            match arg {
                ArgType::Same => self.expect(id, on),
                ArgType::Fixed(scalar) => self.expect(id, *scalar),
            }
        }
        if intrinsic == Intrinsic::Clamp {
            self.assert_clamp(&mut ids, name.span());
        }
        let args = self.kernel.push_list(&ids);
        let result = intrinsic.result_type(on);
        Value::Scalar(self.known(Expr::Call { intrinsic, args }, result, span))
    }

    /// `clamp` panics unless `lo <= hi`.
    fn assert_clamp(&mut self, ids: &mut [ExprId], span: Span) {
        let at = self.mark();
        for (i, id) in ids.iter_mut().enumerate() {
            if !self.is_leaf(*id) {
                *id = self.spill_at(at + i.min(self.mark() - at), *id);
            }
        }
        let (lo, hi) = (self.copy(ids[1]), self.copy(ids[2]));
        let cond = self.plain(BinaryOp::Le, lo, hi, span);
        let kind = SiteKind::Assert("`clamp` needs its lower bound to be at most its upper".into());
        let site = self.site(kind, span);
        self.push(Stmt::Assert { cond, site }, span);
    }

    pub(super) fn float_from_bits(&mut self, on: Scalar, ids: &[ExprId], span: Span) -> Value {
        let (bits, [id]) = (
            match on {
                Scalar::F16 | Scalar::Bf16 => Scalar::U16,
                Scalar::F32 => Scalar::U32,
                _ => Scalar::U64,
            },
            ids,
        ) else {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                span,
                "`from_bits` takes one argument",
                "give the bits, and nothing else",
            );
            return Value::Never;
        };
        if !on.is_float() {
            self.errors.at(
                codes::NO_METHOD,
                span,
                format!("`{on}` has no function `from_bits`"),
                "call it on `f32` or `f64`",
            );
            return Value::Never;
        }
        self.expect(*id, bits);
        let args = self.kernel.push_list(&[*id]);
        let call = Expr::Call {
            intrinsic: Intrinsic::from_bits(on),
            args,
        };
        Value::Scalar(self.known(call, on, span))
    }

    /// Methods that are short for others. `None` when the name is none of them.
    fn composed(&mut self, name: &Ident, on: Scalar, ids: &[ExprId], span: Span) -> Option<Value> {
        let text = name.to_string();
        let (arity, fits) = match text.as_str() {
            "recip" | "to_degrees" | "to_radians" | "is_sign_positive" => (0, on.is_float()),
            "log" => (1, on.is_float()),
            "is_positive" | "is_negative" => (0, on.is_signed()),
            "count_zeros" | "leading_ones" | "trailing_ones" => (0, on.is_int()),
            "is_power_of_two" => (0, on.is_int() && !on.is_signed()),
            "ilog2" => (0, on.is_int()),
            "is_multiple_of" | "div_ceil" => (1, on.is_int() && !on.is_signed()),
            "div_euclid" | "rem_euclid" => (1, on.is_int()),
            _ => return None,
        };
        if !fits {
            return None;
        }
        if !self.arity(name, ids, arity) {
            return Some(Value::Never);
        }
        let x = ids[0];
        if arity == 1 {
            self.expect(ids[1], on);
        }
        let id = match text.as_str() {
            "recip" => {
                let one = self.float(on, 1.0, 1.0, span);
                self.plain(BinaryOp::Div, one, x, span)
            }
            "to_degrees" => {
                let factor = self.float(on, 1f32.to_degrees(), 1f64.to_degrees(), span);
                self.plain(BinaryOp::Mul, x, factor, span)
            }
            "to_radians" => {
                let factor = self.float(on, 1f32.to_radians(), 1f64.to_radians(), span);
                self.plain(BinaryOp::Mul, x, factor, span)
            }
            "log" => {
                let (a, b) = (self.unary_call(Intrinsic::Ln, x, on, span), ids[1]);
                let b = self.unary_call(Intrinsic::Ln, b, on, span);
                self.plain(BinaryOp::Div, a, b, span)
            }
            "is_sign_positive" => {
                let negative = self.unary_call(Intrinsic::IsSignNegative, x, Scalar::Bool, span);
                self.not(negative, span)
            }
            "is_positive" | "is_negative" => {
                let zero = self.constant(Constant::zero(on), span);
                let op = if text == "is_positive" {
                    BinaryOp::Gt
                } else {
                    BinaryOp::Lt
                };
                self.plain(op, x, zero, span)
            }
            "count_zeros" => self.on_complement(Intrinsic::CountOnes, x, span),
            "leading_ones" => self.on_complement(Intrinsic::LeadingZeros, x, span),
            "trailing_ones" => self.on_complement(Intrinsic::TrailingZeros, x, span),
            "is_power_of_two" => {
                let ones = self.unary_call(Intrinsic::CountOnes, x, Scalar::U32, span);
                let one = self.constant(Constant::U32(1), span);
                self.plain(BinaryOp::Eq, ones, one, span)
            }
            "ilog2" => self.ilog2(x, on, span),
            "is_multiple_of" => self.multiple(x, ids[1], on, span),
            "div_ceil" => self.divide_up((x, ids[1]), on, span, name.span()),
            "div_euclid" => self.divide(DivideOp::DivEuclid, x, ids[1], span, name.span()),
            "rem_euclid" => self.divide(DivideOp::RemEuclid, x, ids[1], span, name.span()),
            other => unreachable!("`{other}` is in the table above"),
        };
        Some(Value::Scalar(id))
    }

    /// The position of the highest bit, which a number above 0 has.
    fn ilog2(&mut self, x: ExprId, on: Scalar, span: Span) -> ExprId {
        let x = self.reusable(x);
        let (tested, zero) = (self.copy(x), self.constant(Constant::zero(on), span));
        let cond = self.plain(BinaryOp::Gt, tested, zero, span);
        let message = "argument of integer logarithm must be positive";
        self.assert(cond, message.into(), span);
        let last = self.constant(Constant::U32(on.bits() - 1), span);
        let above = self.unary_call(Intrinsic::LeadingZeros, x, Scalar::U32, span);
        self.wrapping(Intrinsic::WrappingSub, last, above, span)
    }

    /// `x % of == 0`, where 0 is the only multiple of 0, and nothing faults.
    fn multiple(&mut self, x: ExprId, of: ExprId, on: Scalar, span: Span) -> ExprId {
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
    fn divide_up(&mut self, (x, by): (ExprId, ExprId), on: Scalar, span: Span, at: Span) -> ExprId {
        let (x, by) = (self.reusable(x), self.reusable(by));
        let (x_again, by_again) = (self.copy(x), self.copy(by));
        let whole = self.divide(DivideOp::Div, x, by, span, at);
        let rest = self.divide(DivideOp::Rem, x_again, by_again, span, at);
        let zero = self.constant(Constant::zero(on), span);
        let arg = self.plain(BinaryOp::Ne, rest, zero, span);
        let one = self.known(Expr::Cast { arg }, on, span);
        self.plain(BinaryOp::Add, whole, one, span)
    }

    fn float(&mut self, on: Scalar, narrow: f32, wide: f64, span: Span) -> ExprId {
        let value = if on == Scalar::F32 {
            Constant::f32(narrow)
        } else {
            Constant::f64(wide)
        };
        self.constant(value, span)
    }

    fn unary_call(&mut self, intrinsic: Intrinsic, x: ExprId, ty: Scalar, span: Span) -> ExprId {
        let args = self.kernel.push_list(&[x]);
        self.known(Expr::Call { intrinsic, args }, ty, span)
    }

    fn not(&mut self, arg: ExprId, span: Span) -> ExprId {
        let ty = self.ty(arg);
        self.expr(
            Expr::Unary {
                op: UnaryOp::Not,
                arg,
            },
            ty,
            span,
        )
    }

    fn on_complement(&mut self, intrinsic: Intrinsic, x: ExprId, span: Span) -> ExprId {
        let complement = self.not(x, span);
        self.unary_call(intrinsic, complement, Scalar::U32, span)
    }
}

/// Is it a method of numbers, slices or arrays, so that one of a user's type cannot be meant where the type is not known?
pub(super) fn is_built_in(name: &Ident) -> bool {
    let text = name.to_string();
    let is_conversion = text.strip_prefix("to_").and_then(Scalar::from_name);
    is_conversion.is_some()
        || COMPOSED.contains(&text.as_str())
        || ["len", "is_empty"].contains(&text.as_str())
        || Intrinsic::ALL.iter().any(|i| i.name() == text)
}

/// Methods of numbers that are short for others.
const COMPOSED: [&str; 16] = [
    "recip",
    "to_degrees",
    "to_radians",
    "is_sign_positive",
    "log",
    "is_positive",
    "is_negative",
    "count_zeros",
    "leading_ones",
    "trailing_ones",
    "is_power_of_two",
    "ilog2",
    "is_multiple_of",
    "div_ceil",
    "div_euclid",
    "rem_euclid",
];
