//! Generates `f32` and `f64` expressions whose value is exact: [`Facts`] tracks the magnitude and the fractional bits.

use sarek_ir::Scalar;

use super::{Gen, Rule, integer, is_wide, make};
use crate::data::{FRAC, TAME};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 14,
        fits: |_, ty| is_wide(ty),
        make: arithmetic,
    },
    Rule {
        weight: 6,
        fits: |_, ty| is_wide(ty),
        make: method,
    },
    Rule {
        weight: 4,
        fits: |_, ty| is_wide(ty),
        make: smaller,
    },
    Rule {
        weight: 2,
        fits: |_, ty| is_wide(ty),
        make: sign,
    },
    Rule {
        weight: 2,
        fits: |_, ty| is_wide(ty),
        make: remainder,
    },
    Rule {
        weight: 2,
        fits: |_, ty| is_wide(ty),
        make: mul_add,
    },
    Rule {
        weight: 4,
        fits: |_, ty| is_wide(ty),
        make: from_integer,
    },
    Rule {
        weight: 2,
        fits: |g, ty| is_wide(ty) && g.has(other(ty)),
        make: resize,
    },
    Rule {
        weight: 2,
        fits: |g, ty| as_float(ty).is_some_and(|f| g.has(f)),
        make: bits,
    },
];

/// The bounds of every variable and every element.
pub(super) const SETTLED: Facts = Facts {
    bound: TAME as f64,
    frac: FRAC,
    nonzero: false,
};

fn other(ty: Scalar) -> Scalar {
    match ty {
        Scalar::F32 => Scalar::F64,
        _ => Scalar::F32,
    }
}

fn as_float(ty: Scalar) -> Option<Scalar> {
    match ty {
        Scalar::U32 => Some(Scalar::F32),
        Scalar::U64 => Some(Scalar::F64),
        _ => None,
    }
}

/// True if 24 significant bits represent every value within these bounds.
fn exact(facts: Facts) -> bool {
    facts.bound * f64::from(facts.frac).exp2() <= f64::from(1 << 23)
}

pub(super) fn literal(g: &mut Gen, ty: Scalar) -> Expr {
    let value = (g.below(257) as f64 - 128.0) / 8.0;
    let facts = Facts {
        bound: value.abs(),
        frac: FRAC,
        nonzero: value != 0.0,
    };
    // Makes -0.0 positive, since targets may drop the sign of a zero.
    let value = value + 0.0;
    let text = if value < 0.0 {
        format!("({value:?}{ty})")
    } else {
        format!("{value:?}{ty}")
    };
    make(ty, facts, text, vec![])
}

/// Rounds and clamps an expression to the bounds of variables ([`SETTLED`]), where it may exceed them.
pub(super) fn settle(g: &mut Gen, expr: Expr) -> Expr {
    let (ty, mut expr) = (expr.ty, expr);
    if expr.facts.frac > FRAC {
        let name = *g.pick(&["floor", "ceil", "trunc", "round"]);
        let facts = Facts {
            bound: expr.facts.bound + 1.0,
            frac: 0,
            nonzero: false,
        };
        expr = make(ty, facts, format!("@.{name}()"), vec![expr]);
    }
    if expr.facts.bound > SETTLED.bound {
        let text = *g.pick(&[
            "@.clamp(-128.0, 128.0)",
            "(@ % 128.0)",
            "@.min(128.0).max(-128.0)",
        ]);
        expr = make(
            ty,
            Facts {
                frac: expr.facts.frac,
                ..SETTLED
            },
            text,
            vec![expr],
        );
    }
    expr
}

fn arithmetic(g: &mut Gen, ty: Scalar) -> Expr {
    let op = *g.pick(&["+", "-", "*"]);
    let (mut a, mut b) = (g.expr(ty), g.expr(ty));
    let facts = |a: &Expr, b: &Expr| match op {
        "*" => Facts {
            bound: a.facts.bound * b.facts.bound,
            frac: a.facts.frac + b.facts.frac,
            nonzero: false,
        },
        _ => Facts {
            bound: a.facts.bound + b.facts.bound,
            frac: a.facts.frac.max(b.facts.frac),
            nonzero: false,
        },
    };
    if !exact(facts(&a, &b)) {
        (a, b) = (settle(g, a), settle(g, b));
    }
    make(ty, facts(&a, &b), format!("(@ {op} @)"), vec![a, b])
}

fn method(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    let whole = Facts {
        bound: a.facts.bound + 1.0,
        frac: 0,
        nonzero: false,
    };
    let (text, facts) = *g.pick(&[
        ("(-@)", a.facts),
        ("@.abs()", a.facts),
        ("@.floor()", whole),
        ("@.ceil()", whole),
        ("@.round()", whole),
        ("@.trunc()", whole),
        (
            "@.fract()",
            Facts {
                bound: 1.0,
                nonzero: false,
                ..a.facts
            },
        ),
    ]);
    make(ty, facts, text, vec![a])
}

fn smaller(g: &mut Gen, ty: Scalar) -> Expr {
    let (a, b) = (g.expr(ty), g.expr(ty));
    let facts = Facts {
        bound: a.facts.bound.max(b.facts.bound),
        frac: a.facts.frac.max(b.facts.frac),
        nonzero: false,
    };
    let text = *g.pick(&["@.min(@)", "@.max(@)"]);
    make(ty, facts, text, vec![a, b])
}

/// An expression that is never zero, so its sign is the same on every target.
pub(super) fn nonzero(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    let a = settle(g, a);
    let facts = Facts {
        bound: a.facts.bound + 2.0,
        frac: 1,
        nonzero: true,
    };
    make(ty, facts, "(@.floor() + 0.5)", vec![a])
}

fn sign(g: &mut Gen, ty: Scalar) -> Expr {
    let by = nonzero(g, ty);
    if g.once_in(2) {
        return make(
            ty,
            Facts {
                bound: 1.0,
                frac: 0,
                nonzero: true,
            },
            "@.signum()",
            vec![by],
        );
    }
    let a = g.expr(ty);
    make(ty, a.facts, "@.copysign(@)", vec![a, by])
}

fn remainder(g: &mut Gen, ty: Scalar) -> Expr {
    let (a, by) = (g.expr(ty), nonzero(g, ty));
    let facts = Facts {
        nonzero: false,
        frac: a.facts.frac.max(by.facts.frac),
        ..a.facts
    };
    make(ty, facts, "(@ % @)", vec![a, by])
}

fn mul_add(g: &mut Gen, ty: Scalar) -> Expr {
    let [a, b, c] = [0; 3].map(|_| {
        let operand = g.expr(ty);
        settle(g, operand)
    });
    let facts = Facts {
        bound: a.facts.bound * b.facts.bound + c.facts.bound,
        frac: (a.facts.frac + b.facts.frac).max(c.facts.frac),
        nonzero: false,
    };
    make(ty, facts, "@.mul_add(@, @)", vec![a, b, c])
}

fn from_integer(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(Scalar::is_int);
    let facts = Facts {
        bound: 127.0,
        frac: 0,
        nonzero: false,
    };
    let int = integer::small(g, of, 127);
    make(ty, facts, format!("(@ as {ty})"), vec![int])
}

fn resize(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(other(ty));
    make(ty, a.facts, format!("(@ as {ty})"), vec![a])
}

/// The bits of an absolute value, since targets may drop the sign of a zero.
fn bits(g: &mut Gen, ty: Scalar) -> Expr {
    let float = as_float(ty).expect("the rule fits unsigned integers");
    let a = g.expr(float);
    make(ty, Facts::ANY, "@.abs().to_bits()", vec![a])
}
