use crate::{
    BinaryOp, Expr, ExprId, Intrinsic, Kernel, List, ParamKind, Scalar, TableValues, Type, TypeDef,
    Value,
};

/// Turns `usize` into `u32`. Every `usize` value of the launch is proved to fit. The operations whose result depends on
/// the width (shifts by 32 and more, counts of zero bits) are expanded to keep their 64-bit results.
pub fn narrow_usize(kernel: &mut Kernel) {
    keep_64_bit_meaning(kernel);
    resize(kernel, Scalar::U32);
}

/// Turns `usize` into `u64`.
pub fn widen_usize(kernel: &mut Kernel) {
    resize(kernel, Scalar::U64);
}

fn resize(kernel: &mut Kernel, to: Scalar) {
    let change = |ty: &mut Scalar| {
        if *ty == Scalar::Usize {
            *ty = to;
        }
    };
    let change_type = |ty: &mut Type| {
        if *ty == Scalar::Usize {
            *ty = to.into();
        }
    };
    kernel.expr_types.to_mut().iter_mut().for_each(change_type);
    for local in kernel.locals.to_mut() {
        change_type(&mut local.ty);
    }
    for def in kernel.types.to_mut() {
        if let TypeDef::Array { elem, .. } = def {
            change_type(elem);
        }
    }
    for array in kernel.shared.to_mut() {
        change_type(&mut array.elem);
    }
    for table in kernel.tables.to_mut() {
        if let TableValues::Known { elem, values } = &mut table.values
            && *elem == Scalar::Usize
        {
            *elem = to;
            *values = values
                .iter()
                .map(|v| Value::of_bits(to, v.bits()))
                .collect();
        }
    }
    for link in kernel.links.to_mut() {
        change_type(&mut link.ty);
    }
    for param in kernel.params.to_mut() {
        if let ParamKind::Scalar(ty) = &mut param.kind {
            change(ty);
        }
    }
    for expr in kernel.exprs.to_mut() {
        if let Expr::Literal(value) = expr
            && let (Value::Usize(v), Some(new)) = (*value, value.as_int())
        {
            *value = Value::int(to, new).unwrap_or(Value::U64(v));
        }
    }
}

/// Expands the few operations on a small `usize` whose result depends on its 64-bit width. The proof covers every other
/// result, and a result that fits is the same in both widths.
fn keep_64_bit_meaning(kernel: &mut Kernel) {
    for i in 0..kernel.exprs.len() {
        let id = ExprId(i as u32);
        let operands = kernel.operands(id);
        let Some(&arg) = operands.first() else {
            continue;
        };
        if kernel.scalar_of(arg) != Scalar::Usize {
            continue;
        }
        let expr = kernel.expr(id);
        if let Expr::Binary { op, rhs, .. } = expr
            && op == BinaryOp::Shr
        {
            long_shift(kernel, id, arg, rhs);
        }
        let Expr::Call { intrinsic, args } = expr else {
            continue;
        };
        if intrinsic == Intrinsic::LeadingZeros {
            leading_zeros(kernel, id, args);
        } else if intrinsic == Intrinsic::TrailingZeros {
            trailing_zeros(kernel, id, arg, args);
        } else if intrinsic == Intrinsic::WrappingShr {
            long_shift(kernel, id, arg, operands[1]);
        } else if intrinsic == Intrinsic::FromBits {
            let wide = cast(kernel, arg, Scalar::U64);
            let args = kernel.push_list(&[wide]);
            kernel.exprs.to_mut()[i] = Expr::Call { intrinsic, args };
        }
    }
}

/// `x >> n` is 0 if `n & 63` is 32 or more: `x >> min(n & 63, 31) >> (n & 63 > 31)`.
fn long_shift(kernel: &mut Kernel, id: ExprId, x: ExprId, count: ExprId) {
    if let Some(n) = kernel.literal(count).and_then(Value::as_int)
        && n & 63 < 32
    {
        return;
    }
    let loc = kernel.expr_locs[id.index()];
    let masked = |kernel: &mut Kernel, count| {
        let lhs = cast(kernel, count, Scalar::U32);
        let rhs = kernel.push_literal(Value::U32(63), loc);
        binary(kernel, BinaryOp::BitAnd, lhs, rhs, Scalar::U32)
    };
    let again = kernel.copy_expr(count);
    let first = masked(kernel, count);
    let most = kernel.push_literal(Value::U32(31), loc);
    let args = kernel.push_list(&[first, most]);
    let intrinsic = Intrinsic::Min;
    let first = kernel.push_expr(Expr::Call { intrinsic, args }, Scalar::U32, loc);
    let second = masked(kernel, again);
    let most = kernel.push_literal(Value::U32(31), loc);
    let second = binary(kernel, BinaryOp::Gt, second, most, Scalar::Bool);
    let second = cast(kernel, second, Scalar::U32);
    let op = BinaryOp::Shr;
    let lhs = binary(kernel, op, x, first, Scalar::Usize);
    kernel.exprs.to_mut()[id.index()] = Expr::Binary {
        op,
        lhs,
        rhs: second,
    };
}

/// 32 more than the count of the lower half.
fn leading_zeros(kernel: &mut Kernel, id: ExprId, args: List) {
    let intrinsic = Intrinsic::LeadingZeros;
    let loc = kernel.expr_locs[id.index()];
    let lhs = kernel.push_expr(Expr::Call { intrinsic, args }, Scalar::U32, loc);
    let rhs = kernel.push_literal(Value::U32(32), loc);
    let op = BinaryOp::Add;
    kernel.exprs.to_mut()[id.index()] = Expr::Binary { op, lhs, rhs };
}

/// The count of the lower half; 0 counts 32 more.
fn trailing_zeros(kernel: &mut Kernel, id: ExprId, arg: ExprId, args: List) {
    let loc = kernel.expr_locs[id.index()];
    let again = kernel.copy_expr(arg);
    let intrinsic = Intrinsic::TrailingZeros;
    let lhs = kernel.push_expr(Expr::Call { intrinsic, args }, Scalar::U32, loc);
    let zero = kernel.push_literal(Value::Usize(0), loc);
    let none = binary(kernel, BinaryOp::Eq, again, zero, Scalar::Bool);
    let none = cast(kernel, none, Scalar::U32);
    let width = kernel.push_literal(Value::U32(32), loc);
    let rhs = binary(kernel, BinaryOp::Mul, none, width, Scalar::U32);
    let op = BinaryOp::Add;
    kernel.exprs.to_mut()[id.index()] = Expr::Binary { op, lhs, rhs };
}

fn cast(kernel: &mut Kernel, arg: ExprId, to: Scalar) -> ExprId {
    let loc = kernel.expr_locs[arg.index()];
    kernel.push_expr(Expr::Cast { arg }, to, loc)
}

fn binary(kernel: &mut Kernel, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Scalar) -> ExprId {
    let loc = kernel.expr_locs[lhs.index()];
    kernel.push_expr(Expr::Binary { op, lhs, rhs }, ty, loc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loc, Local, Param, ParamId};

    fn sample() -> (Kernel, ExprId, ExprId) {
        let mut k = Kernel::new("k");
        let loc = Loc::default();
        k.params.to_mut().push(Param {
            name: "n".into(),
            kind: ParamKind::Scalar(Scalar::Usize),
            align: 0,
        });
        k.push_local(Local {
            name: "i".into(),
            ty: Scalar::Usize.into(),
            mutable: false,
        });
        let x = k.push_expr(Expr::Param(ParamId(0)), Scalar::Usize, loc);
        let count = k.push_literal(Value::Usize(40), loc);
        let shift = binary(&mut k, BinaryOp::Shr, x, count, Scalar::Usize);
        (k, shift, count)
    }

    #[test]
    fn no_usize_is_left() {
        for (pass, to) in [
            (narrow_usize as fn(&mut Kernel), Scalar::U32),
            (widen_usize, Scalar::U64),
        ] {
            let (mut k, _, literal) = sample();
            pass(&mut k);
            assert!(!k.expr_types.contains(&Scalar::Usize.into()));
            assert_eq!(k.params[0].kind, ParamKind::Scalar(to));
            assert_eq!(k.locals[0].ty, to);
            assert_eq!(k.literal(literal), Value::int(to, 40));
        }
    }

    #[test]
    fn a_long_shift_is_split_when_narrowed_only() {
        let (mut k, shift, literal) = sample();
        widen_usize(&mut k);
        assert!(matches!(k.expr(shift), Expr::Binary { rhs, .. } if rhs == literal));
        let (mut k, shift, _) = sample();
        narrow_usize(&mut k);
        let Expr::Binary { lhs, .. } = k.expr(shift) else {
            panic!("still a shift")
        };
        let op = BinaryOp::Shr;
        assert!(matches!(k.expr(lhs), Expr::Binary { op: o, .. } if o == op));
    }
}
