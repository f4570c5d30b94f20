//! Operators and assignments.

use sarek_ir::{BinaryOp, DivideOp, Expr, ExprId, PlaceId, Scalar, SiteKind, Stmt, UnaryOp};
use syn::BinOp;

use super::desugar::scrutinee::{Position, Scrutinee};
use super::memory::place::Place;
use super::{Known, Lowerer, Ty, Value};
use crate::diagnostics::codes;
use crate::tokens::range::{Ranged, SourceRange};

/// An infix operator, without its assigning form.
#[derive(Clone, Copy)]
pub(super) enum Infix {
    Plain(BinaryOp),
    /// `/` and `%`, which differ between integers and floats.
    Divide(DivideOp),
    And,
    Or,
}

/// The operator, and true if it assigns (`+=`). `None` for an operator that a later syn adds.
fn infix(op: &BinOp) -> Option<(Infix, bool)> {
    use Infix::{And, Divide, Or, Plain};
    Some(match op {
        BinOp::Add(_) => (Plain(BinaryOp::Add), false),
        BinOp::Sub(_) => (Plain(BinaryOp::Sub), false),
        BinOp::Mul(_) => (Plain(BinaryOp::Mul), false),
        BinOp::Div(_) => (Divide(DivideOp::Div), false),
        BinOp::Rem(_) => (Divide(DivideOp::Rem), false),
        BinOp::And(_) => (And, false),
        BinOp::Or(_) => (Or, false),
        BinOp::BitXor(_) => (Plain(BinaryOp::BitXor), false),
        BinOp::BitAnd(_) => (Plain(BinaryOp::BitAnd), false),
        BinOp::BitOr(_) => (Plain(BinaryOp::BitOr), false),
        BinOp::Shl(_) => (Plain(BinaryOp::Shl), false),
        BinOp::Shr(_) => (Plain(BinaryOp::Shr), false),
        BinOp::Eq(_) => (Plain(BinaryOp::Eq), false),
        BinOp::Lt(_) => (Plain(BinaryOp::Lt), false),
        BinOp::Le(_) => (Plain(BinaryOp::Le), false),
        BinOp::Ne(_) => (Plain(BinaryOp::Ne), false),
        BinOp::Ge(_) => (Plain(BinaryOp::Ge), false),
        BinOp::Gt(_) => (Plain(BinaryOp::Gt), false),
        BinOp::AddAssign(_) => (Plain(BinaryOp::Add), true),
        BinOp::SubAssign(_) => (Plain(BinaryOp::Sub), true),
        BinOp::MulAssign(_) => (Plain(BinaryOp::Mul), true),
        BinOp::DivAssign(_) => (Divide(DivideOp::Div), true),
        BinOp::RemAssign(_) => (Divide(DivideOp::Rem), true),
        BinOp::BitXorAssign(_) => (Plain(BinaryOp::BitXor), true),
        BinOp::BitAndAssign(_) => (Plain(BinaryOp::BitAnd), true),
        BinOp::BitOrAssign(_) => (Plain(BinaryOp::BitOr), true),
        BinOp::ShlAssign(_) => (Plain(BinaryOp::Shl), true),
        BinOp::ShrAssign(_) => (Plain(BinaryOp::Shr), true),
        _ => return None,
    })
}

impl Lowerer<'_> {
    pub(super) fn binary(&mut self, e: &syn::ExprBinary) -> Value {
        let expects_own = std::mem::take(&mut self.expects_own);
        match infix(&e.op) {
            Some((op, true)) => self.compound_assign(e, op),
            Some((Infix::And, false)) => self.short_circuit(e, true),
            Some((Infix::Or, false)) => self.short_circuit(e, false),
            Some((op, false)) => {
                let (ids, is_own) = self.own_operands(e, expects_own);
                if let Some(value) = self.own_infix(e, (ids[0], ids[1]), is_own) {
                    return value;
                }
                Value::Scalar(self.apply(op, ids[0], ids[1], e.range(), e.op.range()))
            }
            None => {
                self.errors.unsupported(
                    codes::OPERATOR,
                    e.op.range(),
                    "this operator is",
                    "use another operator",
                );
                Value::Never
            }
        }
    }

    /// `lhs op rhs` on lowered operands.
    fn apply(
        &mut self,
        op: Infix,
        lhs: ExprId,
        rhs: ExprId,
        span: SourceRange,
        at: SourceRange,
    ) -> ExprId {
        if let Some(made) = self.simd_binary(op, (lhs, rhs), span, at) {
            return made;
        }
        if let Infix::Plain(op @ (BinaryOp::Eq | BinaryOp::Ne)) = op
            && let Some(same) = self.same_parts(op == BinaryOp::Eq, (lhs, rhs), span.first)
        {
            return same;
        }
        if let Infix::Plain(op @ (BinaryOp::Eq | BinaryOp::Ne)) = op
            && let Some(same) = self.own_equality(op, (lhs, rhs), span)
        {
            return same;
        }
        match op {
            Infix::Plain(op) => self.plain(op, lhs, rhs, span),
            Infix::Divide(op) => self.divide(op, lhs, rhs, span, at),
            Infix::And | Infix::Or => unreachable!("`&&` and `||` are lowered by short_circuit"),
        }
    }

    /// An operator that cannot fault.
    pub(super) fn plain(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        span: SourceRange,
    ) -> ExprId {
        let (left, right, rhs_span) = (self.ty(lhs), self.ty(rhs), self.span(rhs));
        let fits = if !self.is_scalar(lhs) {
            false
        } else if op.is_shift() {
            // For a type parameter, `Int` requires `Shl<u32>`.
            let int = match self.is_parameter_type(left) {
                true => self.types.known(Scalar::U32),
                false => self.types.int(),
            };
            self.unify(int, right, rhs_span)
        } else {
            self.same_type(lhs, rhs)
        };
        let is_compound = self.types.look(left) == Known::Compound;
        let ty = match (op.is_comparison(), fits || op.is_shift() && !is_compound) {
            (true, _) => self.types.known(Scalar::Bool),
            (false, true) => left,
            (false, false) => self.error_type(),
        };
        self.expr(Expr::Binary { op, lhs, rhs }, ty, span)
    }

    /// Reports an operand of several parts.
    fn is_scalar(&mut self, id: ExprId) -> bool {
        let is_compound = self.types.look(self.ty(id)) == Known::Compound;
        if is_compound {
            self.errors.at(
                codes::OPERATOR,
                self.span(id),
                "operators work on numbers and `bool`, but this value has several parts",
                "apply the operator to each part",
            );
        }
        !is_compound
    }

    /// `/` or `%`. The node depends on the type, which is known at the latest in
    /// [`Lowerer::finish`]. Until then it is an integer division.
    pub(super) fn divide(
        &mut self,
        op: DivideOp,
        lhs: ExprId,
        rhs: ExprId,
        span: SourceRange,
        at: SourceRange,
    ) -> ExprId {
        let ty = match self.is_scalar(lhs) && self.same_type(lhs, rhs) {
            true => self.ty(lhs),
            false => self.error_type(),
        };
        let site = Some(self.site(SiteKind::Divisor, at));
        self.expr(Expr::Divide { op, lhs, rhs, site }, ty, span)
    }

    /// Unifies the types of an operator's operands. If an integer literal is beside a float, the
    /// error is reported at the literal.
    fn same_type(&mut self, lhs: ExprId, rhs: ExprId) -> bool {
        let (left, right) = (self.ty(lhs), self.ty(rhs));
        let is_float = matches!(self.types.look(right), Known::Scalar(s) if s.is_float());
        match self.types.look(left) == Known::Int && is_float {
            true => self.unify(right, left, self.span(lhs)),
            false => self.unify(left, right, self.span(rhs)),
        }
    }

    fn short_circuit(&mut self, e: &syn::ExprBinary, and: bool) -> Value {
        let lhs = self.scalar(&e.left);
        self.expect(lhs, Scalar::Bool);
        let (block, rhs) = self.in_block(|this| {
            let rhs = this.scalar(&e.right);
            this.expect(rhs, Scalar::Bool);
            rhs
        });
        if block.stmts.is_empty() {
            let expr = if and {
                Expr::And { lhs, rhs }
            } else {
                Expr::Or { lhs, rhs }
            };
            return Value::Scalar(self.known(expr, Scalar::Bool, e.range()));
        }
        // The right side has statements, which run only if its value is needed.
        let (ty, span) = (self.types.known(Scalar::Bool), e.range());
        let local = self.local("t", ty, true);
        self.push(
            Stmt::Let {
                local,
                init: Some(lhs),
            },
            span,
        );
        let mut cond = self.read(local, span);
        if !and {
            cond = self.known(
                Expr::Unary {
                    op: UnaryOp::Not,
                    arg: cond,
                },
                Scalar::Bool,
                span,
            );
        }
        let mut block = block;
        if !block.ended {
            block
                .stmts
                .push(self.detached(Stmt::Assign { local, value: rhs }, span));
        }
        let then = self.close(block);
        self.push(
            Stmt::If {
                cond,
                then,
                otherwise: sarek_ir::Block::EMPTY,
            },
            span,
        );
        Value::Scalar(self.read(local, span))
    }

    pub(super) fn unary(&mut self, e: &syn::ExprUnary) -> Value {
        let is_own = std::mem::take(&mut self.expects_own);
        let op = match &e.op {
            syn::UnOp::Neg(_) => {
                if let syn::Expr::Lit(lit) = &*e.expr {
                    return self.literal(lit, true);
                }
                UnaryOp::Neg
            }
            syn::UnOp::Not(_) => UnaryOp::Not,
            syn::UnOp::Deref(star) => return self.deref(e, star.span),
            _ => {
                self.errors.unsupported(
                    codes::OPERATOR,
                    e.range(),
                    "this operator is",
                    "use another operator",
                );
                return Value::Never;
            }
        };
        self.expects_own = is_own;
        let arg = self.scalar(&e.expr);
        if let Some(made) = self.simd_unary(op, arg, e.range()) {
            return Value::Scalar(made);
        }
        if let Some(value) = self.own_prefix(op, e, arg, is_own) {
            return value;
        }
        let ty = self.ty(arg);
        Value::Scalar(self.expr(Expr::Unary { op, arg }, ty, e.range()))
    }

    /// `place = value`: evaluates the value first, then the place.
    pub(super) fn assign(&mut self, e: &syn::ExprAssign) -> Value {
        if let syn::Expr::Infer(_) = &*e.left {
            let id = self.scalar(&e.right);
            let at = self.mark();
            if !self.kernel.is_fixed_leaf(id) {
                self.spill_at(at, id);
            }
            return Value::Unit;
        }
        if let Some(value) = self.struct_assign(e) {
            return value;
        }
        if let syn::Expr::Tuple(_) | syn::Expr::Array(_) = &*e.left {
            let Some(subject) = self.taken_apart(&e.right) else {
                return Value::Never;
            };
            self.assign_parts(&e.left, &subject);
            return Value::Unit;
        }
        if let Some(value) = self.array_assign(e) {
            return value;
        }
        let expected = self.type_of_place(&e.left);
        self.expect_own(expected);
        let Some(value) = self.scalar_or_never(&e.right) else {
            return Value::Never;
        };
        let mark = self.mark();
        let Some(place) = self.place(&e.left) else {
            return Value::Unit;
        };
        let value = self.settle(value, mark);
        self.write(place, value, e.range());
        Value::Unit
    }

    /// `(a, b) = value` or `[a, b] = value`: evaluates the value before all places.
    fn assign_parts(&mut self, left: &syn::Expr, subject: &Scrutinee) {
        match left {
            syn::Expr::Infer(_) => {}
            syn::Expr::Paren(inner) => self.assign_parts(&inner.expr, subject),
            syn::Expr::Tuple(tuple) => {
                let types = tuple.elems.iter().map(|_| self.types.any()).collect();
                let wanted = self.types.tuple(types);
                self.unify(wanted, self.subject_type(subject), tuple.range());
                for (i, elem) in tuple.elems.iter().enumerate() {
                    let part = self.tuple_part(subject, i);
                    self.assign_parts(elem, &part);
                }
            }
            syn::Expr::Array(array) => {
                for (i, elem) in array.elems.iter().enumerate() {
                    let position = Position::First(i as u64);
                    if let Some(part) = self.element_part(subject, position, elem.range()) {
                        self.assign_parts(elem, &part);
                    }
                }
            }
            other => {
                if let Some(place) = self.place(other) {
                    let value = self.read_subject(subject, other.range());
                    self.write(place, value, other.range());
                }
            }
        }
    }

    /// `place op= value`: for scalars, evaluates the value first, then the place.
    fn compound_assign(&mut self, e: &syn::ExprBinary, op: Infix) -> Value {
        let began = self.mark();
        let is_sum = matches!(e.op, BinOp::AddAssign(_) | BinOp::SubAssign(_));
        let expected = is_sum.then(|| self.type_of_place(&e.left));
        self.expect_own(expected.flatten());
        let Some(value) = self.scalar_or_never(&e.right) else {
            return Value::Never;
        };
        let mark = self.mark();
        let Some(place) = self.place(&e.left) else {
            return Value::Unit;
        };
        if let Some(value) = self.own_assign(e, (&place, value), (began, mark)) {
            return value;
        }
        let value = self.settle(value, mark);
        let (place, current) = self.read_place(place, e.left.range());
        let result = self.apply(op, current, value, e.range(), e.op.range());
        self.write(place, result, e.range());
        Value::Unit
    }

    /// The value. If statements came after `mark`, it is evaluated before them.
    pub(super) fn settle(&mut self, value: ExprId, mark: usize) -> ExprId {
        if self.mark() > mark && !self.kernel.is_fixed_leaf(value) {
            self.spill_at(mark, value)
        } else {
            value
        }
    }

    pub(super) fn write(&mut self, place: Place, value: ExprId, span: SourceRange) {
        let (found, value_span) = (self.ty(value), self.span(value));
        match place {
            Place::Local(local) => {
                let ty: Ty = self.local_types[local.index()];
                self.unify(ty, found, value_span);
                self.push(Stmt::Assign { local, value }, span);
            }
            Place::Part { root, steps, ty } => {
                self.unify(ty, found, value_span);
                let place = PlaceId(self.kernel.places.len() as u32);
                let steps = steps.into();
                self.kernel
                    .places
                    .to_mut()
                    .push(sarek_ir::Place { root, steps });
                self.push(Stmt::Update { place, value }, span);
            }
            Place::Element {
                memory,
                index,
                site,
                elem,
            } => {
                self.unify(elem, found, value_span);
                self.push(
                    Stmt::Store {
                        memory,
                        index,
                        value,
                        site,
                    },
                    span,
                );
            }
        }
    }
}
