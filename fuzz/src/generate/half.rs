//! Generates expressions of 16-bit floats.
//!
//! The values of `f16` variables, and sums of two of them, fit its 11 significant bits. A `bf16` value or a product may be rounded. The
//! rounded value is still a multiple of the same fraction and within the same bound, since the bound is a power of two. So [`Facts`] stay valid.

use sarek_ir::Scalar;

use super::float::SETTLED;
use super::{Gen, Rule, boolean, integer, is_wide, make};
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
        make: from_float,
    },
    Rule {
        weight: 3,
        fits: |g, ty| has_any(g) && is_wide(ty),
        make: product,
    },
    Rule {
        weight: 4,
        fits: |g, ty| has_any(g) && is_wide(ty),
        make: |g, ty| {
            let half = g.ty(Scalar::is_half);
            let a = g.expr(half);
            make(ty, a.facts, format!("@.to_{ty}()"), vec![a])
        },
    },
    Rule {
        weight: 2,
        fits: |g, ty| has_any(g) && ty == Scalar::U16,
        make: bits,
    },
];

const IS: fn(&Gen, Scalar) -> bool = |_, ty| ty.is_half();

const HALVES: [Scalar; 2] = [Scalar::F16, Scalar::Bf16];

fn has_any(g: &Gen) -> bool {
    HALVES.iter().any(|ty| g.has(*ty))
}

pub(super) fn literal(g: &mut Gen, ty: Scalar) -> Expr {
    let text = match g.below(8) {
        0 => format!("{ty}::ONE"),
        1 => format!("{ty}::ZERO"),
        _ => format!(
            "{ty}::from_f32({:?})",
            (g.below(257) as f64 - 128.0) / 8.0 + 0.0
        ),
    };
    make(ty, SETTLED, text, vec![])
}

/// A conversion from another float type, or from a small integer through `f32`.
pub(super) fn from_float(g: &mut Gen, ty: Scalar) -> Expr {
    let floats: Vec<_> = [Scalar::F32, Scalar::F64]
        .into_iter()
        .filter(|ty| g.has(*ty))
        .collect();
    let (text, value) = match g.below(3) {
        0 if HALVES.iter().all(|ty| g.has(*ty)) => {
            let other = g.ty(Scalar::is_half);
            (format!("{ty}::from_f32(@.to_f32())"), g.expr(other))
        }
        1 if !floats.is_empty() => {
            let from = *g.pick(&floats);
            (format!("{ty}::from_{from}(@)"), g.settled(from))
        }
        _ => {
            let of = g.ty(Scalar::is_int);
            let int = integer::small(g, of, 127);
            (format!("{ty}::from_f32(@ as f32)"), int)
        }
    };
    make(ty, SETTLED, text, vec![value])
}

fn arithmetic(g: &mut Gen, ty: Scalar) -> Expr {
    let (a, b) = (g.expr(ty), g.expr(ty));
    let op = *g.pick(&["+", "-"]);
    let text = format!("(@ {op} @).clamp({ty}::from_f32(-128.0), {ty}::from_f32(128.0))");
    make(ty, SETTLED, text, vec![a, b])
}

fn method(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    let text = match g.below(4) {
        0 => return make(ty, SETTLED, "(-@)", vec![a]),
        1 => "@.min(@)".into(),
        2 => "@.max(@)".into(),
        _ => {
            let less = boolean::compared(ty, "<");
            format!("(if {less} {{ {ty}::ONE }} else {{ {ty}::ZERO }})")
        }
    };
    let b = g.expr(ty);
    make(ty, SETTLED, text, vec![a, b])
}

fn product(g: &mut Gen, ty: Scalar) -> Expr {
    let half = g.ty(Scalar::is_half);
    let (a, b) = (g.expr(half), g.expr(half));
    let bound = f64::from(TAME);
    let facts = Facts {
        bound: bound * bound,
        frac: FRAC * 2,
        nonzero: false,
    };
    make(ty, facts, format!("(@ * @).to_{ty}()"), vec![a, b])
}

/// The bits of a positive number, which avoids the sign of zero.
fn bits(g: &mut Gen, ty: Scalar) -> Expr {
    let half = g.ty(Scalar::is_half);
    let a = g.expr(half);
    let text = format!("@.max({half}::from_f32(0.125)).to_bits()");
    make(ty, Facts::ANY, text, vec![a])
}
