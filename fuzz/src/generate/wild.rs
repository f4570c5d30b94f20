//! Any floats at all, NaN and infinities among them: only compared, classified and cast.

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
    /// Any float.
    pub(super) fn wild(&mut self, ty: Scalar) -> Expr {
        match self.below(8) {
            0 | 1 => self.expr(ty),
            2 => literal(self, ty),
            3 | 4 => self.wild_element(ty),
            5 => {
                let text = *self.pick(&[
                    "(-@)",
                    "@.abs()",
                    "@.floor()",
                    "@.ceil()",
                    "@.trunc()",
                    "@.round()",
                ]);
                let a = self.wild(ty);
                make(ty, Facts::ANY, text, vec![a])
            }
            6 => {
                let text = *self.pick(&["@.min(@)", "@.max(@)"]);
                let (a, b) = (self.wild(ty), self.wild(ty));
                make(ty, Facts::ANY, text, vec![a, b])
            }
            _ => {
                let from = self.ty(Scalar::is_int);
                let a = self.expr(from);
                make(ty, Facts::ANY, format!("(@ as {ty})"), vec![a])
            }
        }
    }

    fn wild_element(&mut self, ty: Scalar) -> Expr {
        let wild = |s: &&super::Slice| s.role == Role::Wild && s.elem == ty;
        let Some(slice) = self.slices.iter().find(wild).cloned() else {
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
    let (a, b) = (g.wild(of), g.wild(of));
    make(ty, Facts::ANY, format!("(@ {op} @)"), vec![a, b])
}

fn classify(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(is_wide);
    let name = *g.pick(&["is_nan", "is_infinite", "is_finite"]);
    let a = g.wild(of);
    make(ty, Facts::ANY, format!("@.{name}()"), vec![a])
}

/// The bits of no NaN and of no zero with a sign: those are the target's choice.
fn bits(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.wild(Scalar::F32);
    let text = "{ let w: f32 = @; if w.is_nan() { 7 } else { w.abs().to_bits() } }";
    make(ty, Facts::ANY, text, vec![a])
}
