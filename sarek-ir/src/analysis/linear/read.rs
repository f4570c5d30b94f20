//! The reader of expressions: one walk that turns an integer expression into a form.
//!
//! The walk knows the arithmetic. A [`Source`] knows the values at hand: the symbols and locals, and whether an
//! operation may wrap. It either proves that an operation is exact, or adds the condition that it must be.

use super::symbol::is_unsigned;
use super::{Affine, Coefficient, Form, Interval, Symbol};
use crate::{
    BinaryOp, Builtin, CompoundId, DivideOp, Expr, ExprId, Intrinsic, Kernel, List, LocalId,
    Scalar, UnaryOp,
};

/// The form that a source gives an expression, if it has one.
pub type FormOf<S> = Option<Affine<<S as Source>::Coefficient>>;

/// The values that stand in expressions of one kernel.
pub trait Source {
    /// The coefficients of the forms.
    type Coefficient: Coefficient;

    /// The kernel.
    fn kernel(&self) -> &Kernel;

    /// A value that one launch fixes.
    fn symbol(&mut self, id: ExprId, symbol: Symbol) -> FormOf<Self>;

    /// An id of a thread or block.
    fn id(&mut self, id: ExprId, builtin: Builtin) -> FormOf<Self>;

    /// The current value of a local.
    fn local(&mut self, id: ExprId, local: LocalId) -> FormOf<Self>;

    /// An expression that the reader cannot take apart.
    fn opaque(&mut self, id: ExprId) -> FormOf<Self>;

    /// The value of an operation of this type, given its exact result. The operation is one of `+ - * <<`.
    fn wrapped(
        &mut self,
        exact: Affine<Self::Coefficient>,
        op: BinaryOp,
        ty: Scalar,
    ) -> FormOf<Self>;

    /// The value after a cast between integers.
    fn cast(&mut self, value: Affine<Self::Coefficient>, from: Scalar, to: Scalar) -> FormOf<Self>;

    /// True if code behind this index check sees the index itself.
    fn passes(&mut self, index: ExprId, len: ExprId) -> bool;

    /// The number that a value is for all threads, if it is one.
    fn number(&self, value: &Affine<Self::Coefficient>) -> Option<i128> {
        // Nothing but the expression itself may have overflowed.
        value.form.as_constant().filter(|_| value.exact.is_empty())
    }

    /// `dividend / divisor` for a positive divisor, rounded down; both are of the given type. If `floors` is false, the operation rounds
    /// towards zero, so the dividend must not be negative.
    fn quotient(
        &mut self,
        _dividend: &Affine<Self::Coefficient>,
        _divisor: i128,
        _floors: bool,
        _ty: Scalar,
    ) -> FormOf<Self> {
        None
    }

    /// The quotient, rounded down, by any divisor for which the division does not fault. If `floors` is false, the
    /// dividend must not be negative.
    fn ratio(
        &mut self,
        _dividend: &Affine<Self::Coefficient>,
        _divisor: &Affine<Self::Coefficient>,
        _floors: bool,
        _ty: Scalar,
    ) -> FormOf<Self> {
        None
    }

    /// The product of two values that differ between threads.
    fn product(
        &mut self,
        _lhs: &Affine<Self::Coefficient>,
        _rhs: &Affine<Self::Coefficient>,
        _ty: Scalar,
    ) -> FormOf<Self> {
        None
    }

    /// 2 to the power of a value that is no number.
    fn power_of_two(&mut self, _exponent: &Affine<Self::Coefficient>) -> FormOf<Self> {
        None
    }

    /// The value of an intrinsic function of integers.
    fn intrinsic(&mut self, _id: ExprId, _of: (Intrinsic, List), _ty: Scalar) -> FormOf<Self> {
        None
    }

    /// `lhs & rhs`, for values of this type.
    fn common_bits(
        &mut self,
        _lhs: &Affine<Self::Coefficient>,
        _rhs: &Affine<Self::Coefficient>,
        _ty: Scalar,
    ) -> FormOf<Self> {
        None
    }

    /// `lhs ^ rhs`, for values of this type.
    fn exchange(
        &mut self,
        _lhs: &Affine<Self::Coefficient>,
        _rhs: &Affine<Self::Coefficient>,
        _ty: Scalar,
    ) -> FormOf<Self> {
        None
    }

    /// The expression that initialises a field.
    fn field(&self, _compound: CompoundId) -> Option<ExprId> {
        None
    }
}

/// The form of an integer expression; `None` if it has none. Each operand is read once: a second reading at each level
/// would take exponential time.
pub fn read<S: Source + ?Sized>(source: &mut S, id: ExprId) -> FormOf<S> {
    let ty = source.kernel().type_of(id).as_scalar();
    let ty = ty.filter(|ty| ty.is_int())?;
    let found = match source.kernel().expr(id) {
        Expr::Literal(value) => return Some(Affine::of(Form::constant(value.as_int()?))),
        Expr::Link(link) => source.symbol(id, Symbol::Link(link, is_unsigned(ty))),
        Expr::Param(param) => source.symbol(id, Symbol::Param(param, is_unsigned(ty))),
        Expr::Len(memory) => source.symbol(id, Symbol::Len(memory)),
        Expr::Builtin(builtin) => match Symbol::of_builtin(builtin) {
            Some(symbol) => source.symbol(id, symbol),
            None => source.id(id, builtin),
        },
        Expr::Local(local) => source.local(id, local),
        Expr::Binary { op, lhs, rhs } => match (result(source, op, lhs, rhs), op) {
            (Some(exact), BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl) => {
                source.wrapped(exact, op, ty)
            }
            (found, _) => found,
        },
        Expr::Divide { op, lhs, rhs, .. } => divided(source, op, lhs, rhs),
        Expr::Cast { arg } => {
            let from = source.kernel().type_of(arg).as_scalar();
            match (read(source, arg), from) {
                (Some(value), Some(from)) => source.cast(value, from, ty),
                (None, _) | (_, None) => None,
            }
        }
        Expr::Bounded { index, len, .. } => match source.passes(index, len) {
            true => read(source, index),
            false => None,
        },
        Expr::Compound(compound) => {
            let field = source.field(compound);
            field.and_then(|field| read(source, field))
        }
        Expr::Call { intrinsic, args } => source.intrinsic(id, (intrinsic, args), ty),
        Expr::Load { .. } | Expr::Unary { .. } => None,
        Expr::And { .. } | Expr::Or { .. } | Expr::Faulted => return None,
    };
    found.or_else(|| source.opaque(id))
}

/// The exact result of an operator, before it wraps.
pub fn result<S: Source + ?Sized>(
    source: &mut S,
    op: BinaryOp,
    lhs: ExprId,
    rhs: ExprId,
) -> FormOf<S> {
    let ty = source.kernel().type_of(lhs).as_scalar()?;
    match op {
        BinaryOp::Add => read(source, lhs)?.plus(&read(source, rhs)?, 1),
        BinaryOp::Sub => read(source, lhs)?.plus(&read(source, rhs)?, -1),
        BinaryOp::Mul => {
            let r = read(source, rhs)?;
            // Any value.
            if r.form.as_constant() == Some(0) && r.exact.is_empty() {
                return Some(r);
            }
            let l = read(source, lhs)?;
            multiplied(source, &l, &r, ty)
        }
        BinaryOp::Shl => {
            let (shifted, by) = (read(source, lhs)?, exponent(source, rhs)?);
            let Some(by) = shift_count(source, &by, ty) else {
                let power = source.power_of_two(&by)?;
                return multiplied(source, &shifted, &power, ty);
            };
            let form = shifted.form.times(&Coefficient::constant(1 << by))?;
            Some(shifted.with(form))
        }
        BinaryOp::Shr => {
            let (dividend, by) = (read(source, lhs)?, exponent(source, rhs)?);
            let Some(by) = shift_count(source, &by, ty) else {
                let power = source.power_of_two(&by)?;
                return source.ratio(&dividend, &power, true, ty);
            };
            source.quotient(&dividend, 1 << by, true, ty)
        }
        BinaryOp::BitAnd => {
            let (l, r) = (read(source, lhs), read(source, rhs));
            let masked = masked(source, &l, (rhs, &r), ty);
            let masked = masked.or_else(|| self::masked(source, &r, (lhs, &l), ty));
            masked.or_else(|| source.common_bits(&l?, &r?, ty))
        }
        BinaryOp::BitXor => {
            let (l, r) = (read(source, lhs)?, read(source, rhs)?);
            let found = source.exchange(&l, &r, ty);
            found.or_else(|| source.exchange(&r, &l, ty))
        }
        BinaryOp::BitOr => {
            let (l, r) = (read(source, lhs)?, read(source, rhs)?);
            let are_apart = is_below_bits(source, &r, &l) || is_below_bits(source, &l, &r);
            match are_apart {
                true => l.plus(&r, 1),
                // The bits that both have count once.
                false => {
                    let common = source.common_bits(&l, &r, ty)?;
                    l.plus(&r, 1)?.plus(&common, -1)
                }
            }
        }
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => None,
    }
}

/// `value & mask` for a constant mask of adjacent bits, or of all bits but some low ones.
fn masked<S: Source + ?Sized>(
    source: &mut S,
    value: &FormOf<S>,
    (mask, of_mask): (ExprId, &FormOf<S>),
    ty: Scalar,
) -> FormOf<S> {
    let value = value.as_ref()?;
    let is_power = |n: &i128| n.count_ones() == 1;
    let mask = match source.kernel().expr(mask) {
        Expr::Unary {
            op: UnaryOp::Not,
            arg,
        } => Err(read(source, arg)?),
        _ => Ok(of_mask.as_ref()?),
    };
    let inverted = match &mask {
        Err(inverted) => source.number(inverted),
        Ok(mask) => {
            let all = Interval::of(ty).hi;
            let inverted = all.checked_sub(source.number(mask)?);
            inverted.filter(|_| is_unsigned(ty))
        }
    };
    let low = inverted.and_then(|low| low.checked_add(1));
    if let Some(low) = low.filter(is_power) {
        let quotient = source.quotient(value, low, true, ty)?;
        return Some(quotient.with(quotient.form.times(&Coefficient::constant(low))?));
    }
    let mask = source.number(mask.ok()?).filter(|mask| *mask > 0)?;
    let unit = 1_i128.checked_shl(mask.trailing_zeros())?;
    let divisor = (mask / unit).checked_add(1).filter(is_power)?;
    if unit == 1 {
        return remainder(source, value, divisor, (true, ty));
    }
    let shifted = source.quotient(value, unit, true, ty)?;
    let rest = remainder(source, &shifted, divisor, (true, ty))?;
    Some(rest.with(rest.form.times(&Coefficient::constant(unit))?))
}

/// True if a value is a number whose bits are all below those of another value.
fn is_below_bits<S: Source + ?Sized>(
    source: &S,
    low: &Affine<S::Coefficient>,
    high: &Affine<S::Coefficient>,
) -> bool {
    let end = 1_i128.checked_shl(high.form.low_zeros());
    let low = source.number(low);
    low.zip(end)
        .is_some_and(|(low, end)| (0..end).contains(&low))
}

/// A shift count. The type of a named constant need not be known.
fn exponent<S: Source + ?Sized>(source: &mut S, id: ExprId) -> FormOf<S> {
    match source.kernel().expr(id) {
        Expr::Link(link) if source.kernel().type_of(id).as_scalar().is_none() => {
            source.symbol(id, Symbol::Link(link, false))
        }
        _ => read(source, id),
    }
}

/// A constant shift count below the width.
fn shift_count<S: Source + ?Sized>(
    source: &S,
    by: &Affine<S::Coefficient>,
    ty: Scalar,
) -> Option<u32> {
    let by = u32::try_from(source.number(by)?).ok()?;
    (by < ty.bits()).then_some(by)
}

fn divided<S: Source + ?Sized>(
    source: &mut S,
    op: DivideOp,
    lhs: ExprId,
    rhs: ExprId,
) -> FormOf<S> {
    let ty = source.kernel().type_of(lhs).as_scalar()?;
    let floors = match op {
        DivideOp::DivEuclid | DivideOp::RemEuclid => true,
        DivideOp::Div | DivideOp::Rem => is_unsigned(ty),
    };
    let (dividend, divisor) = (read(source, lhs)?, read(source, rhs)?);
    let Some(by) = source.number(&divisor) else {
        return by_value(source, op, (&dividend, &divisor), (floors, ty));
    };
    let by = Some(by).filter(|by| *by > 0)?;
    match op {
        DivideOp::Div | DivideOp::DivEuclid => source.quotient(&dividend, by, floors, ty),
        DivideOp::Rem | DivideOp::RemEuclid => remainder(source, &dividend, by, (floors, ty)),
    }
}

/// Division by a value that is no number.
fn by_value<S: Source + ?Sized>(
    source: &mut S,
    op: DivideOp,
    (dividend, divisor): (&Affine<S::Coefficient>, &Affine<S::Coefficient>),
    (floors, ty): (bool, Scalar),
) -> FormOf<S> {
    let quotient = source.ratio(dividend, divisor, floors, ty)?;
    match op {
        DivideOp::Div | DivideOp::DivEuclid => Some(quotient),
        DivideOp::Rem | DivideOp::RemEuclid => {
            let whole = multiplied(source, &quotient, divisor, ty)?;
            dividend.plus(&whole, -1)
        }
    }
}

/// The product of two values of a type.
fn multiplied<S: Source + ?Sized>(
    source: &mut S,
    l: &Affine<S::Coefficient>,
    r: &Affine<S::Coefficient>,
    ty: Scalar,
) -> FormOf<S> {
    let product = match (l.form.uniform(), r.form.uniform()) {
        (_, Some(by)) => l.form.times(by),
        (Some(by), None) => r.form.times(by),
        (None, None) => return source.product(l, r, ty),
    };
    Some(l.with(product?).with_conditions(r))
}

/// `dividend - divisor * (dividend / divisor)`.
fn remainder<S: Source + ?Sized>(
    source: &mut S,
    dividend: &Affine<S::Coefficient>,
    divisor: i128,
    (floors, ty): (bool, Scalar),
) -> FormOf<S> {
    let quotient = source.quotient(dividend, divisor, floors, ty)?;
    dividend.plus(&quotient, -divisor)
}
