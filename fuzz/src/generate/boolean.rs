//! Generates `bool` expressions: comparisons and logic.

use sarek_ir::Scalar;

use super::{Gen, Rule, make};
use crate::tree::{Expr, Facts};

const IS: fn(&Gen, Scalar) -> bool = |_, ty| ty == Scalar::Bool;

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 10,
        fits: IS,
        make: compare,
    },
    Rule {
        weight: 5,
        fits: IS,
        make: combine,
    },
    Rule {
        weight: 2,
        fits: IS,
        make: |g, ty| {
            let a = g.expr(ty);
            make(ty, Facts::ANY, "(!@)", vec![a])
        },
    },
    Rule {
        weight: 1,
        fits: IS,
        make: power_of_two,
    },
];

pub(super) fn literal(g: &mut Gen) -> Expr {
    let text = *g.pick(&["true", "false"]);
    make(Scalar::Bool, Facts::ANY, text, vec![])
}

pub(super) fn comparison(g: &mut Gen) -> &'static str {
    let operator: &&'static str = g.pick(&["==", "!=", "<", "<=", ">", ">="]);
    operator
}

fn compare(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(|of| of != Scalar::Bool);
    let op = comparison(g);
    let (a, b) = (g.expr(of), g.expr(of));
    make(ty, Facts::ANY, compared(of, op), vec![a, b])
}

/// The text of a comparison. For 16-bit floats the operator is a method, which borrows its left operand. So that operand is a copy, since
/// the right one may assign to a variable.
pub(super) fn compared(of: Scalar, op: &str) -> String {
    match of.is_half() {
        true => format!("({{ @ }} {op} @)"),
        false => format!("(@ {op} @)"),
    }
}

fn combine(g: &mut Gen, ty: Scalar) -> Expr {
    let op = *g.pick(&["&&", "||", "&&", "||", "&", "|", "^", "==", "!="]);
    let (a, b) = (g.expr(ty), g.expr(ty));
    make(ty, Facts::ANY, format!("(@ {op} @)"), vec![a, b])
}

fn power_of_two(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(|of| of.is_int() && !of.is_signed());
    let a = g.expr(of);
    make(ty, Facts::ANY, "@.is_power_of_two()", vec![a])
}
