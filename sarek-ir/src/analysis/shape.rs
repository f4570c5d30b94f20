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
    shape
}
