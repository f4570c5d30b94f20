//! Widens arithmetic on 8 and 16 bits to 32 bits: C promotes such operands to `int`, and WGSL has no such types.
//!
//! Sums, products, quotients and roots of `f16` and `bf16` are computed in `f32` and rounded. `f32` has more than twice
//! the digits, so that rounding twice equals rounding once.

use crate::numeric::Widening;
use crate::{
    ArgType, BinaryOp, Expr, ExprId, Intrinsic, Kernel, List, Loc, ParamKind, Scalar, Value,
    operators,
};

/// Replaces an operation on a small type `T` by the operation on its 32-bit type, cast to `T`: `a + b` becomes
/// `(a as u32 + b as u32) as u8`.
///
/// On small types remain literals, locals, loads, stores and `for` loops, whose counter stays below a bound of its
/// type. Checked divisions remain, too, since `MIN / -1` is a different number in each width, and so does other checked
/// arithmetic. A cast converts only between a small type and its 32-bit type, or from `f64` to a 16-bit float, which
/// two steps would round twice. The bits of 16-bit floats remain 16 bits wide. Parameters become 32 bits wide.
pub fn widen_small(kernel: &mut Kernel) {
    widen_params(kernel);
    for i in 0..kernel.exprs.len() {
        let id = ExprId(i as u32);
        let mut small = Small {
            loc: kernel.expr_locs[i],
            kernel,
        };
        if let Some(expr) = small.rewritten(id) {
            kernel.exprs.to_mut()[i] = expr;
        }
    }
}

/// Widens a parameter to 32 bits, and casts it back where it is read.
fn widen_params(kernel: &mut Kernel) {
    for i in 0..kernel.exprs.len() {
        if let (Expr::Param(_), Some(wide)) =
            (kernel.exprs[i], kernel.expr_types[i].scalar().widened())
        {
            let arg = kernel.push_expr(kernel.exprs[i], wide, kernel.expr_locs[i]);
            kernel.exprs.to_mut()[i] = Expr::Cast { arg };
        }
    }
    for param in kernel.params.to_mut() {
        if let ParamKind::Scalar(ty) = &mut param.kind
            && let Some(wide) = ty.widened()
        {
            *ty = wide;
        }
    }
}

/// Builds the replacement of one expression.
struct Small<'k> {
    kernel: &'k mut Kernel,
    loc: Loc,
}

impl Small<'_> {
    fn rewritten(&mut self, id: ExprId) -> Option<Expr> {
        if self.kernel.overflow_site(id).is_some() {
            return None;
        }
        let ty = self.kernel.scalar_of(id);
        match self.kernel.expr(id) {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Bounded { .. }
            | Expr::Compound(_)
            | Expr::Faulted => None,
            Expr::Unary { op, arg } => {
                let wide = ty.widened()?;
                let arg = self.widen(arg);
                Some(self.cast_back(Expr::Unary { op, arg }, wide))
            }
            Expr::Binary { op, lhs, rhs } if op.is_shift() => self.shift(op, lhs, rhs),
            Expr::Binary { op, lhs, rhs } => {
                let wide = self.kernel.scalar_of(lhs).widened()?;
                let (lhs, rhs) = (self.widen(lhs), self.widen(rhs));
                let wider = Expr::Binary { op, lhs, rhs };
                Some(if op.is_comparison() {
                    wider
                } else {
                    self.cast_back(wider, wide)
                })
            }
            Expr::Divide { site: Some(_), .. } => None,
            Expr::Divide {
                op,
                lhs,
                rhs,
                site: None,
            } => {
                let wide = ty.widened()?;
                let (lhs, rhs) = (self.widen(lhs), self.widen(rhs));
                let site = None;
                Some(self.cast_back(Expr::Divide { op, lhs, rhs, site }, wide))
            }
            Expr::Cast { arg } => self.cast_of(arg, ty),
            Expr::Call { intrinsic, args } => self.call(intrinsic, args),
        }
    }

    fn push(&mut self, expr: Expr, ty: Scalar) -> ExprId {
        self.kernel.push_expr(expr, ty, self.loc)
    }

    fn int(&mut self, ty: Scalar, v: i128) -> ExprId {
        let value = Value::int(ty, v).unwrap_or_else(|| unreachable!("{ty} is an integer type"));
        self.kernel.push_literal(value, self.loc)
    }

    fn cast(&mut self, arg: ExprId, to: Scalar) -> ExprId {
        match self.kernel.scalar_of(arg) == to {
            true => arg,
            false => self.push(Expr::Cast { arg }, to),
        }
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let ty = self.kernel.scalar_of(lhs);
        self.push(Expr::Binary { op, lhs, rhs }, ty)
    }

    fn intrinsic(&mut self, intrinsic: Intrinsic, args: &[ExprId]) -> ExprId {
        let ty = intrinsic.result_type(self.kernel.scalar_of(args[0]));
        let args = self.kernel.push_list(args);
        self.push(Expr::Call { intrinsic, args }, ty)
    }

    /// The same value in 32 bits, if its type is small.
    fn widen(&mut self, id: ExprId) -> ExprId {
        let Some(wide) = self.kernel.scalar_of(id).widened() else {
            return id;
        };
        match self.kernel.literal(id) {
            Some(value) => self
                .kernel
                .push_literal(operators::cast(value, wide), self.loc),
            None => self.cast(id, wide),
        }
    }

    /// The low bits of a small integer as a `u32`, the rest zero.
    fn bits(&mut self, id: ExprId) -> ExprId {
        let ty = self.kernel.scalar_of(id);
        let wide = self.widen(id);
        if !ty.is_signed() {
            return wide;
        }
        let lhs = self.cast(wide, Scalar::U32);
        let mask = self.int(Scalar::U32, (1 << ty.bits()) - 1);
        self.binary(BinaryOp::BitAnd, lhs, mask)
    }

    /// An expression of the 32-bit type `wide`, cast to the small type.
    fn cast_back(&mut self, expr: Expr, wide: Scalar) -> Expr {
        let arg = self.push(expr, wide);
        Expr::Cast { arg }
    }

    /// As [`Self::cast_back`], for any signedness of `arg`.
    fn narrow(&mut self, arg: ExprId, to: Scalar) -> Expr {
        let wide = to.widened().unwrap_or(to);
        let arg = self.cast(arg, wide);
        Expr::Cast { arg }
    }

    /// A shift whose count is masked to the small width.
    fn shift(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Option<Expr> {
        let ty = self.kernel.scalar_of(lhs);
        let Some(wide) = ty.widened() else {
            self.kernel.scalar_of(rhs).widened()?;
            let rhs = self.widen(rhs);
            return Some(Expr::Binary { op, lhs, rhs });
        };
        let mask = i128::from(ty.bits() - 1);
        let rhs = match self.kernel.literal(rhs).and_then(Value::as_int) {
            Some(n) => self.int(Scalar::U32, n & mask),
            None => {
                let count = self.widen(rhs);
                let (count, mask) = (self.cast(count, Scalar::U32), self.int(Scalar::U32, mask));
                self.binary(BinaryOp::BitAnd, count, mask)
            }
        };
        let lhs = self.widen(lhs);
        Some(self.cast_back(Expr::Binary { op, lhs, rhs }, wide))
    }

    /// `arg as to`, through the 32-bit types.
    fn cast_of(&mut self, arg: ExprId, to: Scalar) -> Option<Expr> {
        let from = self.kernel.scalar_of(arg);
        if to.is_half()
            && let Some(value) = self.kernel.literal(arg)
        {
            return Some(Expr::Literal(operators::cast(value, to)));
        }
        if from == Scalar::F64 && to.is_half() {
            return None;
        }
        if from == to || from.widened() == Some(to) || to.widened() == Some(from) {
            return None;
        }
        let source = self.widen(arg);
        let Some(wide) = to.widened() else {
            from.widened()?;
            return Some(Expr::Cast { arg: source });
        };
        let mut arg = self.cast(source, wide);
        if from.is_float() && to.is_int() {
            arg = self.saturate(arg, to);
        }
        Some(Expr::Cast { arg })
    }

    /// A 32-bit number clamped to the range of a small type.
    fn saturate(&mut self, arg: ExprId, to: Scalar) -> ExprId {
        let wide = self.kernel.scalar_of(arg);
        let bits = to.bits() - u32::from(to.is_signed());
        let most = self.int(wide, (1 << bits) - 1);
        let arg = self.intrinsic(Intrinsic::Min, &[arg, most]);
        if !to.is_signed() {
            return arg;
        }
        let least = self.int(wide, -(1 << bits));
        self.intrinsic(Intrinsic::Max, &[arg, least])
    }

    fn call(&mut self, intrinsic: Intrinsic, args: List) -> Option<Expr> {
        let args: Vec<ExprId> = self.kernel.list(args).collect();
        let on = self.kernel.scalar_of(args[0]);
        on.widened()?;
        let result = intrinsic.result_type(on);
        if on.is_half() {
            return self.half_call(intrinsic, &args);
        }
        Some(match intrinsic.lowering().widening {
            Widening::Keep => return None,
            Widening::Shift(op) => return self.shift(op, args[0], args[1]),
            Widening::ZeroExtend => {
                let bits = self.bits(args[0]);
                let args = self.kernel.push_list(&[bits]);
                Expr::Call { intrinsic, args }
            }
            Widening::CountFromTop => {
                let bits = self.bits(args[0]);
                let lhs = self.intrinsic(intrinsic, &[bits]);
                let rhs = self.int(Scalar::U32, i128::from(32 - on.bits()));
                let op = BinaryOp::Sub;
                Expr::Binary { op, lhs, rhs }
            }
            Widening::CountFromBottom => {
                let (bits, end) = (self.bits(args[0]), self.int(Scalar::U32, 1 << on.bits()));
                let ended = self.binary(BinaryOp::BitOr, bits, end);
                let args = self.kernel.push_list(&[ended]);
                Expr::Call { intrinsic, args }
            }
            Widening::Rotate => {
                let copies = if on.bits() == 8 {
                    0x0101_0101
                } else {
                    0x0001_0001
                };
                let (bits, copies) = (self.bits(args[0]), self.int(Scalar::U32, copies));
                let filled = self.binary(BinaryOp::Mul, bits, copies);
                let rotated = self.intrinsic(intrinsic, &[filled, args[1]]);
                self.narrow(rotated, on)
            }
            Widening::Reverse => {
                let bits = self.bits(args[0]);
                let moved = self.intrinsic(intrinsic, &[bits]);
                let count = self.int(Scalar::U32, i128::from(32 - on.bits()));
                let moved = self.binary(BinaryOp::Shr, moved, count);
                self.narrow(moved, on)
            }
            Widening::Saturate => {
                let wide = self.widened_call(intrinsic, &args);
                let arg = self.saturate(wide, on);
                Expr::Cast { arg }
            }
            Widening::Extend => {
                let wide = self.widened_call(intrinsic, &args);
                self.narrow(wide, result)
            }
        })
    }

    /// A method of a 16-bit float.
    fn half_call(&mut self, intrinsic: Intrinsic, args: &[ExprId]) -> Option<Expr> {
        if intrinsic == Intrinsic::ToBits {
            return None;
        }
        let arg = self.widened_call(intrinsic, args);
        Some(match self.kernel.scalar_of(arg) {
            Scalar::F32 => Expr::Cast { arg },
            _ => self.kernel.expr(arg),
        })
    }

    /// The call on 32 bits. An argument of a fixed type stays.
    fn widened_call(&mut self, intrinsic: Intrinsic, args: &[ExprId]) -> ExprId {
        let mut wide = vec![self.widen(args[0])];
        for (&arg, ty) in args[1..].iter().zip(intrinsic.args()) {
            wide.push(match ty {
                ArgType::Same => self.widen(arg),
                ArgType::Fixed(_) | ArgType::Counterpart => arg,
            });
        }
        self.intrinsic(intrinsic, &wide)
    }
}
