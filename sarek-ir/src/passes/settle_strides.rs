use crate::{BinaryOp, Expr, ExprId, Kernel, Value};

/// Assumes that the last strides of views are 1, and removes the multiplications by them.
pub fn settle_strides(kernel: &mut Kernel) {
    let strides = kernel.last_strides.clone();
    if strides.is_empty() {
        return;
    }
    let one = Expr::Literal(Value::Usize(1));
    for expr in kernel.exprs.to_mut() {
        if let Expr::Param(param) = expr
            && strides.contains(param)
        {
            *expr = one;
        }
    }
    // Operands precede their users, so one walk suffices.
    for i in 0..kernel.exprs.len() {
        if let Expr::Binary {
            op: BinaryOp::Mul,
            lhs,
            rhs,
        } = kernel.exprs[i]
            && kernel.expr(rhs) == one
        {
            kernel.exprs.to_mut()[i] = kernel.expr(lhs);
            kernel.move_overflow(lhs, ExprId(i as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::{Scalar, validate};

    #[test]
    fn elements_of_a_row_follow_each_other() {
        let s = Sketch::new("k");
        let (x, stride) = (
            s.slice_mut("x", Scalar::F32),
            s.scalar("stride", Scalar::Usize),
        );
        let at = s.n(3) + s.n(5) * s.arg(stride);
        s.store(x, at, s.f32(1.0));
        let mut kernel = s.finish();
        kernel.last_strides = vec![stride].into();
        settle_strides(&mut kernel);
        assert_eq!(validate(&kernel), Ok(()));
        assert!(
            kernel.to_string().contains("x[3usize + 5usize]"),
            "{kernel}"
        );
    }
}
