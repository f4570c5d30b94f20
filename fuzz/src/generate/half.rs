//! `f16`: what stands in variables fits its 11 bits, and so does every sum of two; a product is rounded once, to a multiple of
//! what it was a multiple of, on its way to another float.

use sarek::ir::Scalar;

use super::float::SETTLED;
use super::{Gen, Rule, integer, is_wide, make};
use crate::data::{FRAC, TAME};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 10,
        fits: IS,
        make: arithmetic,
    },
    Rule {
        weight: 8,
        fits: IS,
        make: method,
    },
    Rule {
        weight: 8,
        fits: IS,
        make: |g, _| from_float(g),
    },
    Rule {
        weight: 3,
        fits: |g, ty| g.has(Scalar::F16) && is_wide(ty),
        make: product,
    },
    Rule {
        weight: 4,
        fits: |g, ty| g.has(Scalar::F16) && is_wide(ty),
        make: |g, ty| {
            let a = g.expr(Scalar::F16);
            make(ty, a.facts, format!("@.to_{ty}()"), vec![a])
        },
    },
    Rule {
        weight: 2,
        fits: |g, ty| g.has(Scalar::F16) && ty == Scalar::U16,
        make: bits,
    },
];

const IS: fn(&Gen, Scalar) -> bool = |_, ty| ty == Scalar::F16;

fn half(text: impl Into<String>, exprs: Vec<Expr>) -> Expr {
    make(Scalar::F16, SETTLED, text, exprs)
}

pub(super) fn literal(g: &mut Gen) -> Expr {
    match g.below(4) {
        0 => half(*g.pick(&["f16::ONE", "f16::ZERO"]), vec![]),
        _ => half(
            format!(
                "f16::from_f32({:?})",
                (g.below(257) as f64 - 128.0) / 8.0 + 0.0
            ),
            vec![],
        ),
    }
}

/// Of another float, or of a small integer on the way through one.
pub(super) fn from_float(g: &mut Gen) -> Expr {
    let floats: Vec<_> = [Scalar::F32, Scalar::F64]
        .into_iter()
        .filter(|ty| g.has(*ty))
        .collect();
    if floats.is_empty() || g.once_in(3) {
        let of = g.ty(Scalar::is_int);
        let int = integer::small(g, of, 127);
        return half("f16::from_f32(@ as f32)", vec![int]);
    }
    let from = *g.pick(&floats);
    let value = g.settled(from);
    half(format!("f16::from_{from}(@)"), vec![value])
}

fn arithmetic(g: &mut Gen, ty: Scalar) -> Expr {
    let (a, b) = (g.expr(ty), g.expr(ty));
    let op = *g.pick(&["+", "-"]);
    half(
        format!("(@ {op} @).clamp(f16::from_f32(-128.0), f16::from_f32(128.0))"),
        vec![a, b],
    )
}

fn method(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    match g.below(4) {
        0 => half("(-@)", vec![a]),
        1 => {
            let b = g.expr(ty);
            half("@.min(@)", vec![a, b])
        }
        2 => {
            let b = g.expr(ty);
            half("@.max(@)", vec![a, b])
        }
        _ => {
            let b = g.expr(ty);
            half("(if @ < @ { f16::ONE } else { f16::ZERO })", vec![a, b])
        }
    }
}

fn product(g: &mut Gen, ty: Scalar) -> Expr {
    let (a, b) = (g.expr(Scalar::F16), g.expr(Scalar::F16));
    let bound = f64::from(TAME);
    let facts = Facts {
        bound: bound * bound,
        frac: FRAC * 2,
        nonzero: false,
    };
    make(ty, facts, format!("(@ * @).to_{ty}()"), vec![a, b])
}

/// Of a number above 0, which has no sign to lose.
fn bits(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(Scalar::F16);
    make(
        ty,
        Facts::ANY,
        "@.max(f16::from_f32(0.125)).to_bits()",
        vec![a],
    )
}
