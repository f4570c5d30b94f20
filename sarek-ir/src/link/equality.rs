//! `==` and `!=` of values with several parts: what `#[derive(PartialEq)]` does. The frontend has rustc check that it is derived.

use super::build::{Frame, Linker};
use super::leaf::{Index, Part};
use super::shape::Shape;
use crate::{BinaryOp, Expr, ExprId, Loc, Scalar, UnaryOp, Value};

impl Linker {
    /// `lhs == rhs` or `lhs != rhs` of two values of one type.
    pub fn equality(
        &mut self,
        frame: &mut Frame<'_>,
        (lhs, rhs): (ExprId, ExprId),
        equal: bool,
        loc: Loc,
    ) -> ExprId {
        let mut parts = [lhs, rhs].map(|id| match self.part(frame, id) {
            Some(part) => part,
            None => unreachable!("the frontend gives compared values names"),
        });
        for part in &mut parts {
            self.settle(part, loc);
        }
        let [lhs, rhs] = parts;
        let same = self.same_parts(&lhs, &rhs, loc);
        match equal {
            true => same,
            false => self.out.push_expr(
                Expr::Unary {
                    op: UnaryOp::Not,
                    arg: same,
                },
                Scalar::Bool,
                loc,
            ),
        }
    }

    fn same_parts(&mut self, lhs: &Part, rhs: &Part, loc: Loc) -> ExprId {
        match lhs.shape.clone() {
            Shape::Scalar(_) => {
                let (lhs, rhs) = (self.again(lhs, loc), self.again(rhs, loc));
                let (lhs, rhs) = (self.read(&lhs, loc), self.read(&rhs, loc));
                self.binary(BinaryOp::Eq, lhs, rhs, Scalar::Bool, loc)
            }
            Shape::Struct(fields, _) => {
                let each = fields.iter().map(|field| {
                    let (lhs, rhs) = (lhs.clone(), rhs.clone());
                    self.same_parts(&lhs.field(&field.name), &rhs.field(&field.name), loc)
                });
                let each: Vec<ExprId> = each.collect();
                self.all(each, loc)
            }
            Shape::Array(_, n) => {
                let each = (0..n).map(|at| {
                    let [lhs, rhs] = [lhs, rhs].map(|part| {
                        let expr = self.literal(Value::Usize(at), loc);
                        let mut part = part.clone().index(Index { expr, site: None });
                        self.settle(&mut part, loc);
                        part
                    });
                    self.same_parts(&lhs, &rhs, loc)
                });
                let each: Vec<ExprId> = each.collect();
                self.all(each, loc)
            }
            Shape::Enum(variants) => {
                let [tag, other] = [lhs, rhs].map(|part| {
                    let part = self.again(part, loc).tag();
                    self.read(&part, loc)
                });
                let mut each = vec![self.binary(BinaryOp::Eq, tag, other, Scalar::Bool, loc)];
                for variant in variants.iter().filter(|of| !of.fields.is_empty()) {
                    let fields = variant.fields.iter().map(|field| {
                        let [lhs, rhs] =
                            [lhs, rhs].map(|part| part.clone().payload(variant.name, &field.name));
                        self.same_parts(&lhs, &rhs, loc)
                    });
                    let fields = fields.collect();
                    let fields = self.all(fields, loc);
                    let part = self.again(lhs, loc).tag();
                    let tag = self.read(&part, loc);
                    let of_variant = self.literal(variant.tag, loc);
                    let other = self.binary(BinaryOp::Ne, tag, of_variant, Scalar::Bool, loc);
                    let either = Expr::Or {
                        lhs: other,
                        rhs: fields,
                    };
                    each.push(self.out.push_expr(either, Scalar::Bool, loc));
                }
                self.all(each, loc)
            }
        }
    }

    /// True if all are, as a balanced tree.
    fn all(&mut self, mut each: Vec<ExprId>, loc: Loc) -> ExprId {
        while each.len() > 1 {
            let pairs = each.chunks(2).map(|pair| match *pair {
                [lhs, rhs] => self
                    .out
                    .push_expr(Expr::And { lhs, rhs }, Scalar::Bool, loc),
                [one] => one,
                _ => unreachable!("chunks of two"),
            });
            each = pairs.collect();
        }
        match each.first() {
            Some(all) => *all,
            None => self.literal(Value::Bool(true), loc),
        }
    }
}
