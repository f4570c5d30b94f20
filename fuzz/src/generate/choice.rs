//! Generates `match` on numbers and tuples, with literals, ranges, alternatives, bindings and guards.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule, integer, make, within};
use crate::tree::Expr;

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 2,
        fits: |_, _| true,
        make: on_integer,
    },
    Rule {
        weight: 1,
        fits: |_, _| true,
        make: on_tuple,
    },
];

/// A pattern for small values of the type: a literal, a range, or alternatives. About half of them match.
fn pattern(g: &mut Gen, ty: Scalar) -> String {
    let (from, more) = (g.below(7), g.below(5));
    let to = from + more;
    match g.below(6) {
        0 => format!("{from}{ty}..={to}{ty}"),
        1 => format!("{from}..{}", to + 1),
        2 => format!("..={from}"),
        3 => format!("{from} | {to}..={}", to + 1),
        _ => format!("{from}"),
    }
}

/// A guard and a value for an arm that binds this name.
fn value_with(g: &mut Gen, name: &str, of: Scalar, ty: Scalar) -> (Expr, Expr) {
    let scope = g.scope.clone();
    g.bind(name, of, within(15.0), false);
    let (cond, value) = (g.expr(Scalar::Bool), g.settled(ty));
    g.scope = scope;
    (cond, value)
}

fn on_integer(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(Scalar::is_int);
    let mut exprs = vec![integer::small(g, of, 7)];
    let mut text = String::from("(match @ { ");
    for _ in 0..1 + g.below(3) {
        let pattern = pattern(g, of);
        if g.once_in(3) {
            let (cond, value) = (g.expr(Scalar::Bool), g.settled(ty));
            text += &format!("{pattern} if @ => @, ");
            exprs.extend([cond, value]);
        } else {
            text += &format!("{pattern} => @, ");
            exprs.push(g.settled(ty));
        }
    }
    let name = g.name();
    let (cond, value) = value_with(g, &name, of, ty);
    text += &format!("{name} if @ => @, _ => @ }})");
    exprs.extend([cond, value, g.settled(ty)]);
    make(ty, of_variable(ty), text, exprs)
}

fn on_tuple(g: &mut Gen, ty: Scalar) -> Expr {
    let of = g.ty(Scalar::is_int);
    let (flag, number) = (g.expr(Scalar::Bool), integer::small(g, of, 7));
    let (first, second) = (pattern(g, of), pattern(g, of));
    let name = g.name();
    let (cond, bound) = value_with(g, &name, of, ty);
    let (a, b, rest) = (g.settled(ty), g.settled(ty), g.settled(ty));
    let text = format!(
        "(match (@, @) {{ (true, {first}) => @, (_, {second}) | (false, 7) => @, (_, {name}) if @ => @, _ => @ }})"
    );
    make(
        ty,
        of_variable(ty),
        text,
        vec![flag, number, a, b, cond, bound, rest],
    )
}
