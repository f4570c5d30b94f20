//! Generates integer literals, operators and casts.

use sarek_ir::Scalar;

use super::{Gen, Rule, make, within};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 12,
        fits: |_, ty| ty.is_int(),
        make: arithmetic,
    },
    Rule {
        weight: 3,
        fits: |_, ty| ty.is_int(),
        make: with_bare_literal,
    },
    Rule {
        weight: 5,
        fits: |_, ty| ty.is_int(),
        make: shift,
    },
    Rule {
        weight: 5,
        fits: |_, ty| ty.is_int(),
        make: divide,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty.is_int(),
        make: not,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty.is_signed(),
        make: negate,
    },
    Rule {
        weight: 8,
        fits: |_, ty| ty.is_int(),
        make: cast,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty.is_int(),
        make: |g, ty| small(g, ty, 255),
    },
];

/// The smallest and the largest literal of an integer type.
fn range(ty: Scalar) -> (i128, i128) {
    match (ty, ty.is_signed()) {
        // Small literals for `usize`; only casts produce large values.
        (Scalar::Usize, _) => (0, 1000),
        (_, true) => (-(1 << (ty.bits() - 1)), (1 << (ty.bits() - 1)) - 1),
        (_, false) => (0, (1 << ty.bits()) - 1),
    }
}

pub(super) fn literal(g: &mut Gen, ty: Scalar) -> Expr {
    let (least, most) = range(ty);
    // The bounds of `usize` depend on the target.
    if ty != Scalar::Usize && g.once_in(12) {
        let name = *g.pick(&["MIN", "MAX"]);
        return make(ty, Facts::ANY, format!("{ty}::{name}"), vec![]);
    }
    let value = match g.below(8) {
        0 => least,
        1 => most,
        2 => least + 1,
        3 => most - g.below(3) as i128,
        4 | 5 => g.below(10) as i128,
        6 => least / 2 + g.below(100) as i128,
        _ => least + (u128::from(g.random.bits()) % (most - least + 1) as u128) as i128,
    };
    let text = if value < 0 {
        format!("({value}{ty})")
    } else {
        format!("{value}{ty}")
    };
    make(ty, within(value.unsigned_abs() as f64), text, vec![])
}

/// A value from 0 to `mask`, which has the form 2^n - 1.
pub(super) fn small(g: &mut Gen, ty: Scalar, mask: u32) -> Expr {
    let any = g.expr(ty);
    let mask = mask.min(range(ty).1.min(255) as u32);
    make(ty, within(mask.into()), format!("(@ & {mask})"), vec![any])
}

fn arithmetic(g: &mut Gen, ty: Scalar) -> Expr {
    let op = *g.pick(&["+", "-", "*", "&", "|", "^"]);
    let (a, b) = (g.expr(ty), g.expr(ty));
    make(ty, Facts::ANY, format!("(@ {op} @)"), vec![a, b])
}

/// An operation with an unsuffixed literal, whose type follows from the other operand.
fn with_bare_literal(g: &mut Gen, ty: Scalar) -> Expr {
    let op = *g.pick(&["+", "-", "*", "&", "|", "^"]);
    let a = g.expr(ty);
    let n = g.below(120);
    make(ty, Facts::ANY, format!("(@ {op} {n})"), vec![a])
}

fn shift(g: &mut Gen, ty: Scalar) -> Expr {
    let op = *g.pick(&["<<", ">>"]);
    let count = g.ty(Scalar::is_int);
    let (a, b) = (g.expr(ty), g.expr(count));
    make(ty, Facts::ANY, format!("(@ {op} @)"), vec![a, b])
}

/// A division or remainder. The divisor is at least 1, unless the kernel may fault.
fn divide(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    let text = *g.pick(&["(@ / @)", "(@ % @)", "@.div_euclid(@)", "@.rem_euclid(@)"]);
    let mut divisor = small(g, ty, 63);
    if !(g.traits.faults && g.once_in(2)) {
        divisor = make(
            ty,
            Facts {
                nonzero: true,
                ..within(64.0)
            },
            "(@ + 1)",
            vec![divisor],
        );
    } else if g.once_in(2) {
        divisor = g.expr(ty);
    }
    make(ty, Facts::ANY, text, vec![a, divisor])
}

fn not(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    make(ty, Facts::ANY, "(!@)", vec![a])
}

fn negate(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    make(ty, a.facts, "(-@)", vec![a])
}

/// A cast from any type: floats saturate, integers are truncated.
fn cast(g: &mut Gen, ty: Scalar) -> Expr {
    let from = g.ty(|ty| !ty.is_half());
    let a = match from.is_float() {
        true if g.once_in(2) => g.any_float(from),
        _ => g.expr(from),
    };
    make(ty, Facts::ANY, format!("(@ as {ty})"), vec![a])
}
