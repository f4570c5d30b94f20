//! Results of several parts: an `Option`, or a number and whether it overflows.

use sarek_ir::{Compound, Expr, ExprId, Scalar, Stmt, UnaryOp};

use super::Lowerer;
use crate::lower::Ty;
use crate::tokens::range::SourceRange;

impl Lowerer<'_> {
    /// `Some` of the value if it fits, and else `None`.
    pub(super) fn if_it_fits(
        &mut self,
        fits: ExprId,
        of: Scalar,
        span: SourceRange,
        value: impl FnOnce(&mut Self) -> ExprId,
    ) -> ExprId {
        let (ty, of) = (self.core_type(true), self.types.known(of));
        if let Some(argument) = self.core_argument(ty, 0) {
            self.unify(argument, of, span);
        }
        let local = self.result(ty);
        self.push(Stmt::Let { local, init: None }, span);
        let (then, ()) = self.in_block(|this| {
            let value = value(this);
            let value = this.option(Some(value), ty, span);
            this.push(Stmt::Assign { local, value }, span);
        });
        let (otherwise, ()) = self.in_block(|this| {
            let value = this.option(None, ty, span);
            this.push(Stmt::Assign { local, value }, span);
        });
        self.branch(fits, then, otherwise, span);
        self.read(local, span)
    }

    fn option(&mut self, value: Option<ExprId>, ty: Ty, span: SourceRange) -> ExprId {
        let name = if value.is_some() { "Some" } else { "None" };
        self.of_core(name, value, ty, span)
    }

    /// `(value, !fits)`
    pub(super) fn with_overflow(
        &mut self,
        value: ExprId,
        fits: ExprId,
        of: Scalar,
        span: SourceRange,
    ) -> ExprId {
        let (op, ty) = (UnaryOp::Not, self.ty(fits));
        let overflows = self.expr(Expr::Unary { op, arg: fits }, ty, span);
        let types = vec![self.types.known(of), self.types.known(Scalar::Bool)];
        let ty = self.types.tuple(types);
        let fields = [("0", value), ("1", overflows)];
        let fields = fields.map(|(name, value)| (self.name_id(name), value));
        let construct = Compound::Construct {
            variant: None,
            fields: fields.to_vec().into(),
            rest: None,
        };
        self.compound(construct, ty, span)
    }
}
