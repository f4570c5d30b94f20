//! Builds expressions with Rust's operators, and with methods for comparisons, casts and `&&` and `||`.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use super::{SketchExpr, SketchLocal};
use crate::{BinaryOp, DivideOp, Expr, Scalar, SiteKind, UnaryOp};

impl<'s> SketchLocal<'s> {
    /// A read of the local.
    pub fn get(self) -> SketchExpr<'s> {
        self.sketch.read(self.id)
    }
}

impl<'s> SketchExpr<'s> {
    /// The type of the expression.
    pub fn ty(self) -> Scalar {
        self.sketch.0.borrow().kernel.scalar_of(self.id)
    }

    fn binary(self, op: BinaryOp, rhs: SketchExpr<'_>) -> SketchExpr<'s> {
        let ty = if op.is_comparison() {
            Scalar::Bool
        } else {
            self.ty()
        };
        let (lhs, rhs) = (self.id, rhs.id);
        self.sketch.expr(Expr::Binary { op, lhs, rhs }, ty)
    }

    /// An integer division, checked.
    pub fn divide(self, op: DivideOp, rhs: SketchExpr<'_>) -> SketchExpr<'s> {
        let divide = Expr::Divide {
            op,
            lhs: self.id,
            rhs: rhs.id,
            site: Some(self.sketch.site(SiteKind::Divisor)),
        };
        self.sketch.expr(divide, self.ty())
    }

    /// `self as ty`
    pub fn cast(self, ty: Scalar) -> SketchExpr<'s> {
        self.sketch.expr(Expr::Cast { arg: self.id }, ty)
    }

    /// `self && rhs`
    pub fn and(self, rhs: SketchExpr<'_>) -> SketchExpr<'s> {
        let (lhs, rhs) = (self.id, rhs.id);
        self.sketch.expr(Expr::And { lhs, rhs }, Scalar::Bool)
    }

    /// `self || rhs`
    pub fn or(self, rhs: SketchExpr<'_>) -> SketchExpr<'s> {
        let (lhs, rhs) = (self.id, rhs.id);
        self.sketch.expr(Expr::Or { lhs, rhs }, Scalar::Bool)
    }
}

macro_rules! comparisons {
    ($($name:ident $op:ident $symbol:literal;)*) => {
        impl<'s> SketchExpr<'s> {$(
            #[doc = concat!("`self ", $symbol, " rhs`")]
            #[allow(clippy::should_implement_trait)] // these yield expressions, not `bool`s
            pub fn $name(self, rhs: SketchExpr<'_>) -> SketchExpr<'s> {
                self.binary(BinaryOp::$op, rhs)
            }
        )*}
    };
}

comparisons! {
    lt Lt "<";
    le Le "<=";
    gt Gt ">";
    ge Ge ">=";
    eq Eq "==";
    ne Ne "!=";
}

macro_rules! operators {
    ($($trait:ident $method:ident;)*) => {$(
        impl<'s> $trait for SketchExpr<'s> {
            type Output = SketchExpr<'s>;

            fn $method(self, rhs: SketchExpr<'s>) -> SketchExpr<'s> {
                self.binary(BinaryOp::$trait, rhs)
            }
        }
    )*};
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    BitAnd bitand;
    BitOr bitor;
    BitXor bitxor;
    Shl shl;
    Shr shr;
}

impl<'s> Div for SketchExpr<'s> {
    type Output = SketchExpr<'s>;

    fn div(self, rhs: SketchExpr<'s>) -> SketchExpr<'s> {
        if self.ty().is_float() {
            return self.binary(BinaryOp::Div, rhs);
        }
        self.divide(DivideOp::Div, rhs)
    }
}

impl<'s> Rem for SketchExpr<'s> {
    type Output = SketchExpr<'s>;

    fn rem(self, rhs: SketchExpr<'s>) -> SketchExpr<'s> {
        if self.ty().is_float() {
            return self.binary(BinaryOp::Rem, rhs);
        }
        self.divide(DivideOp::Rem, rhs)
    }
}

impl<'s> Neg for SketchExpr<'s> {
    type Output = SketchExpr<'s>;

    fn neg(self) -> SketchExpr<'s> {
        let (op, arg) = (UnaryOp::Neg, self.id);
        self.sketch.expr(Expr::Unary { op, arg }, self.ty())
    }
}

impl<'s> Not for SketchExpr<'s> {
    type Output = SketchExpr<'s>;

    fn not(self) -> SketchExpr<'s> {
        let (op, arg) = (UnaryOp::Not, self.id);
        self.sketch.expr(Expr::Unary { op, arg }, self.ty())
    }
}
