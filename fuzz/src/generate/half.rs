//! `f16` on the way between floats. What stands in variables fits its 11 bits, and so does every sum of two; a product is
//! rounded once, to a multiple of what it was a multiple of.

use sarek::ir::Scalar;

use super::{Gen, Rule, float, make};
use crate::data::{FRAC, TAME};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 3,
        fits: |g, ty| g.traits.half && ty.is_float(),
        make: operation,
    },
    Rule {
        weight: 2,
        fits: |g, ty| g.traits.half && ty == Scalar::Bool && (g.has(Scalar::F32)),
        make: comparison,
    },
];

fn operand(g: &mut Gen, ty: Scalar) -> (String, Expr) {
    let value = g.settled(ty);
    (format!("f16::from_{ty}(@)"), float::settle(g, value))
}

fn operation(g: &mut Gen, ty: Scalar) -> Expr {
    let ((a, x), (b, y)) = (operand(g, ty), operand(g, ty));
    let bound = TAME as f64;
    let (op, facts) = match g.below(4) {
        0 => ("-", (bound * 2.0, FRAC)),
        1 => ("*", (bound * bound, FRAC * 2)),
        _ => ("+", (bound * 2.0, FRAC)),
    };
    let facts = Facts {
        bound: facts.0,
        frac: facts.1,
        nonzero: false,
    };
    make(ty, facts, format!("({a} {op} {b}).to_{ty}()"), vec![x, y])
}

fn comparison(g: &mut Gen, ty: Scalar) -> Expr {
    let ((a, x), (b, y)) = (operand(g, Scalar::F32), operand(g, Scalar::F32));
    let op = *g.pick(&["<", ">=", "==", "!="]);
    make(ty, Facts::ANY, format!("({a} {op} {b})"), vec![x, y])
}
