//! Builds conditions that are true if the result of checked arithmetic fits its type.

use super::checks::{Logic, binary, compare, copy};
use crate::{
    Arithmetic, BinaryOp, DivideOp, Expr, ExprId, Kernel, Loc, Scalar, SiteId, UnaryOp, Value,
};

/// The condition. `None` for a power, which has no such expression and stays checked.
pub(super) fn fits(
    kernel: &mut Kernel,
    id: ExprId,
    arithmetic: Arithmetic,
    loc: Loc,
) -> Option<ExprId> {
    let operands = kernel.operands(id);
    let mut node = Node {
        ty: kernel.scalar_of(operands[0]),
        loc,
        kernel,
    };
    let a = operands[0];
    let b = operands.get(1).copied().unwrap_or(a);
    Some(match arithmetic {
        Arithmetic::Add => node.sum(BinaryOp::Add, a, b),
        Arithmetic::Sub => node.sum(BinaryOp::Sub, a, b),
        Arithmetic::Mul => node.product(a, b),
        Arithmetic::Neg | Arithmetic::Abs => node.is_no_min(a),
        Arithmetic::Shl | Arithmetic::Shr => node.is_count(b),
        Arithmetic::Pow => return None,
    })
}

struct Node<'k> {
    kernel: &'k mut Kernel,
    /// The type of the left operand.
    ty: Scalar,
    loc: Loc,
}

impl Node<'_> {
    fn infix(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let expr = Expr::Binary { op, lhs, rhs };
        self.kernel.push_expr(expr, self.ty, self.loc)
    }

    /// An operator on copies of the operands.
    fn of(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let (lhs, rhs) = (copy(self.kernel, lhs), copy(self.kernel, rhs));
        self.infix(op, lhs, rhs)
    }

    fn is(&mut self, op: BinaryOp, of: ExprId, value: i128) -> ExprId {
        let ty = self.kernel.scalar_of(of);
        let value = Value::int(ty, value).unwrap_or_else(|| unreachable!("{ty} holds it"));
        let value = self.kernel.push_literal(value, self.loc);
        compare(self.kernel, op, of, value, self.loc)
    }

    fn is_copy(&mut self, op: BinaryOp, of: ExprId, value: i128) -> ExprId {
        let of = copy(self.kernel, of);
        self.is(op, of, value)
    }

    fn both(&mut self, logic: Logic, lhs: ExprId, rhs: ExprId) -> ExprId {
        binary(self.kernel, logic, lhs, rhs, self.loc)
    }

    /// Compares the signs of operands and result of a sum or difference; for unsigned types, their magnitudes.
    fn sum(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        if !self.ty.is_signed() {
            let (lhs, rhs) = match op == BinaryOp::Sub {
                true => (copy(self.kernel, a), copy(self.kernel, b)),
                false => (self.of(op, a, b), copy(self.kernel, a)),
            };
            return compare(self.kernel, BinaryOp::Ge, lhs, rhs, self.loc);
        }
        // The sum overflows if both operands have the sign that the result lacks. For `a - b`, the operands are `a` and
        // `!b`.
        let (first, mut second) = (self.of(op, a, b), self.of(op, a, b));
        let first = {
            let a = copy(self.kernel, a);
            self.infix(BinaryOp::BitXor, a, first)
        };
        if op == BinaryOp::Sub {
            let expr = Expr::Unary {
                op: UnaryOp::Not,
                arg: second,
            };
            second = self.kernel.push_expr(expr, self.ty, self.loc);
        }
        let second = {
            let b = copy(self.kernel, b);
            self.infix(BinaryOp::BitXor, b, second)
        };
        let signs = self.infix(BinaryOp::BitAnd, first, second);
        self.is(BinaryOp::Ge, signs, 0)
    }

    /// A product fits if a division undoes it.
    fn product(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let lhs = self.of(BinaryOp::Mul, a, b);
        let rhs = copy(self.kernel, b);
        let (op, site) = (DivideOp::Div, None::<SiteId>);
        let quotient = Expr::Divide { op, lhs, rhs, site };
        let quotient = self.kernel.push_expr(quotient, self.ty, self.loc);
        let again = copy(self.kernel, a);
        let mut fits = compare(self.kernel, BinaryOp::Eq, quotient, again, self.loc);
        if self.ty.is_signed() {
            let other = self.is_copy(BinaryOp::Ne, b, -1);
            let negated = self.is_copy(BinaryOp::Eq, b, -1);
            let no_min = self.is_no_min(a);
            let divided = self.both(Logic::And, other, fits);
            let negated = self.both(Logic::And, negated, no_min);
            fits = self.both(Logic::Or, divided, negated);
        }
        let zero = self.is_copy(BinaryOp::Eq, b, 0);
        self.both(Logic::Or, zero, fits)
    }

    fn is_no_min(&mut self, a: ExprId) -> ExprId {
        let min = -(1i128 << (self.ty.bits() - 1));
        self.is_copy(BinaryOp::Ne, a, min)
    }

    fn is_count(&mut self, count: ExprId) -> ExprId {
        let below = self.is_copy(BinaryOp::Lt, count, self.ty.bits().into());
        if !self.kernel.scalar_of(count).is_signed() {
            return below;
        }
        let positive = self.is_copy(BinaryOp::Ge, count, 0);
        self.both(Logic::And, positive, below)
    }
}
