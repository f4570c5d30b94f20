//! Structural equality of expressions.

use crate::{Compound, CompoundId, Expr, ExprId, Kernel, List};

/// True if two expressions are the same formula. Their values are then equal, too, unless they read mutable
/// locals or memory that the kernel writes.
pub(crate) fn same(kernel: &Kernel, a: ExprId, b: ExprId) -> bool {
    let (x, y) = (kernel.operands(a), kernel.operands(b));
    kernel.type_of(a) == kernel.type_of(b)
        && same_node(kernel, a, b)
        && x.len() == y.len()
        && x.iter().zip(&y).all(|(&x, &y)| same(kernel, x, y))
}

/// True if two expressions differ only in their operands and their sites.
fn same_node(kernel: &Kernel, a: ExprId, b: ExprId) -> bool {
    match (kernel.expr(a), kernel.expr(b)) {
        (Expr::Compound(a), Expr::Compound(b)) => a == b || same_field(kernel, a, b),
        (a, b) => shape(a) == shape(b),
    }
}

/// True if two operations read fields of one name.
fn same_field(kernel: &Kernel, a: CompoundId, b: CompoundId) -> bool {
    let name = |id: CompoundId| match kernel.compounds[id.index()] {
        Compound::Field { name, .. } => Some(name),
        Compound::Index { .. }
        | Compound::IsVariant { .. }
        | Compound::Payload { .. }
        | Compound::Construct { .. }
        | Compound::Array { .. }
        | Compound::Repeat { .. }
        | Compound::Len { .. }
        | Compound::At { .. } => None,
    };
    name(a).is_some_and(|field| name(b) == Some(field))
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
