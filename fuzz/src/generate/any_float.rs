//! Generates arbitrary floats, NaN and infinities included. They are only compared, classified and cast, which is exact.

use sarek_ir::Scalar;

use super::{Gen, Role, Rule, boolean, is_wide, make};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 3,
        fits: |g, ty| ty == Scalar::Bool && has_floats(g),
        make: compare,
    },
    Rule {
        weight: 2,
        fits: |g, ty| ty == Scalar::Bool && has_floats(g),
        make: classify,
    },
    Rule {
        weight: 1,
        fits: |g, ty| ty == Scalar::U32 && g.has(Scalar::F32),
        make: bits,
    },
];

fn has_floats(g: &Gen) -> bool {
    g.has(Scalar::F32) || g.has(Scalar::F64)
}

impl Gen {
    /// An expression with any float value.
    pub(super) fn any_float(&mut self, ty: Scalar) -> Expr {
        match self.below(8) {
            0 | 1 => self.expr(ty),
            2 => literal(self, ty),
            3 | 4 => self.any_float_element(ty),
            5 => {
                let text = *self.pick(&[
                    "(-@)",
                    "@.abs()",
                    "@.floor()",
                    "@.ceil()",
                    "@.trunc()",
                    "@.round()",
                ]);
                let a = self.any_float(ty);
                make(ty, Facts::ANY, text, vec![a])
            }
            6 => {
                let text = *self.pick(&["@.min(@)", "@.max(@)"]);
                let (a, b) = (self.any_float(ty), self.any_float(ty));
                make(ty, Facts::ANY, text, vec![a, b])
            }
            _ => {
                let from = self.ty(Scalar::is_int);
                let a = self.expr(from);
                make(ty, Facts::ANY, format!("(@ as {ty})"), vec![a])
            }
        }
    }

    fn any_float_element(&mut self, ty: Scalar) -> Expr {
        let fits = |s: &&super::Slice| s.role == Role::AnyFloat && s.elem == ty;
        let Some(slice) = self.slices.iter().find(fits).cloned() else {
            return literal(self, ty);
        };
        let (text, exprs) = self.element(&slice);
        make(ty, Facts::ANY, text, exprs)
    }
}

fn literal(g: &mut Gen, ty: Scalar) -> Expr {
    let name = *g.pick(&[
        "NAN",
        "INFINITY",
        "NEG_INFINITY",
        "MAX",
        "MIN",
        "MIN_POSITIVE",
        "EPSILON",
    ]);
    make(ty, Facts::ANY, format!("{ty}::{name}"), vec![])
}

fn compare(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(is_wide);
    let op = boolean::comparison(g);
    let (a, b) = (g.any_float(of), g.any_float(of));
    make(ty, Facts::ANY, format!("(@ {op} @)"), vec![a, b])
}

fn classify(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(is_wide);
    let name = *g.pick(&["is_nan", "is_infinite", "is_finite"]);
    let a = g.any_float(of);
    make(ty, Facts::ANY, format!("@.{name}()"), vec![a])
}

/// The bits of a float. The bits of a NaN and the sign of a zero depend on the target, so they are removed first.
fn bits(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.any_float(Scalar::F32);
    let text = "{ let w: f32 = @; if w.is_nan() { 7 } else { w.abs().to_bits() } }";
    make(ty, Facts::ANY, text, vec![a])
}
