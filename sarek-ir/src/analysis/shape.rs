//! Structural equality of expressions.

use crate::{Expr, ExprId, Kernel, List};

/// True if two expressions are the same formula. Their values are then equal, too, unless they read mutable
/// locals or memory that the kernel writes.
pub(super) fn same(kernel: &Kernel, a: ExprId, b: ExprId) -> bool {
    let (x, y) = (kernel.operands(a), kernel.operands(b));
    kernel.type_of(a) == kernel.type_of(b)
        && shape(kernel.expr(a)) == shape(kernel.expr(b))
        && x.len() == y.len()
        && x.iter().zip(&y).all(|(&x, &y)| same(kernel, x, y))
}

/// The node without its operands and its site.
fn shape(expr: Expr) -> Expr {
    let mut shape = expr.unchecked();
    shape.each_operand(&mut |operand| *operand = ExprId(0));
    if let Expr::Call { args, .. } = &mut shape {
        *args = List { start: 0, len: 0 };
    }
    debug_assert_eq!(shape, old_shape(expr)); // OLD
    shape
}
// OLD-BEGIN
fn old_shape(expr: Expr) -> Expr {
    let none = ExprId(0);
    match expr {
        Expr::Literal(_)
        | Expr::Link(_)
        | Expr::Local(_)
        | Expr::Param(_)
        | Expr::Len(_)
        | Expr::Builtin(_)
        | Expr::Compound(_)
        | Expr::Faulted => expr,
        Expr::Load { memory, .. } => Expr::Load {
            memory,
            index: none,
            site: None,
        },
        Expr::Bounded { .. } => Expr::Bounded {
            index: none,
            len: none,
            site: None,
        },
        Expr::Unary { op, .. } => Expr::Unary { op, arg: none },
        Expr::Binary { op, .. } => Expr::Binary {
            op,
            lhs: none,
            rhs: none,
        },
        Expr::Divide { op, .. } => Expr::Divide {
            op,
            lhs: none,
            rhs: none,
            site: None,
        },
        Expr::And { .. } => Expr::And {
            lhs: none,
            rhs: none,
        },
        Expr::Or { .. } => Expr::Or {
            lhs: none,
            rhs: none,
        },
        Expr::Cast { .. } => Expr::Cast { arg: none },
        Expr::Call { intrinsic, .. } => Expr::Call {
            intrinsic,
            args: List { start: 0, len: 0 },
        },
    }
}
// OLD-END
