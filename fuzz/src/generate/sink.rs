//! Functions that targets round differently: their results are stored, and decide nothing.

use sarek_ir::Scalar;

use super::float::{nonzero, settle};
use super::{Gen, Role, Rule, Slice, make};
use crate::tree::{Expr, Facts, Node};

pub(super) const RULES: &[Rule<Node>] = &[Rule {
    weight: 4,
    fits: |g, _| !sinks(g).is_empty(),
    make: store,
}];

fn sinks(g: &Gen) -> Vec<Slice> {
    let fits = |s: &&Slice| matches!(s.role, Role::Near { .. });
    g.slices.iter().filter(fits).cloned().collect()
}

/// Calls with arguments for which every target is exact enough; each hole takes a settled value.
const CALLS: &[&str] = &[
    "@.abs().sqrt()",
    "(@.abs() + 0.25).rsqrt()",
    "@.cbrt()",
    "@.clamp(-8.0, 5.0).exp()",
    "@.clamp(-8.0, 8.0).exp2()",
    "@.clamp(-2.0, 2.0).exp_m1()",
    "(@.abs() + 0.125).ln()",
    "@.abs().ln_1p()",
    "(@.abs() + 0.125).log2()",
    "(@.abs() + 0.125).log10()",
    "@.clamp(-3.0, 3.0).sin()",
    "@.clamp(-3.0, 3.0).cos()",
    "@.clamp(-1.0, 1.0).tan()",
    "@.clamp(-1.0, 1.0).asin()",
    "@.clamp(-1.0, 1.0).acos()",
    "@.atan()",
    "@.atan2(@.abs() + 0.5)",
    "@.clamp(-4.0, 4.0).sinh()",
    "@.clamp(-4.0, 4.0).cosh()",
    "@.clamp(-4.0, 4.0).tanh()",
    "(@.abs() + 0.5).powf(@.clamp(-2.0, 1.5))",
    "@.clamp(-4.0, 4.0).powi(3)",
    "@.hypot(@)",
    "@.to_degrees()",
    "@.to_radians()",
];

/// Operations that f64 has everywhere.
const PLAIN: &[&str] = &["@.abs().sqrt()", "@ * 0.3", "@ * 0.7 + @", "@ - @ * 0.1"];

fn call(g: &mut Gen, ty: Scalar) -> Expr {
    if g.once_in(4) {
        let (a, by) = (g.settled(ty), nonzero(g, ty));
        return make(ty, Facts::ANY, "(@ / @)", vec![a, by]);
    }
    let text = match ty {
        Scalar::F64 if !g.traits.f64_math => *g.pick(PLAIN),
        _ if g.once_in(4) => *g.pick(PLAIN),
        _ => *g.pick(CALLS),
    };
    let holes = text.matches('@').count();
    let exprs = (0..holes)
        .map(|_| {
            let argument = g.expr(ty);
            settle(g, argument)
        })
        .collect();
    make(ty, Facts::ANY, format!("({text})"), exprs)
}

fn store(g: &mut Gen, _: Scalar) -> Node {
    let slices = sinks(g);
    let slice = g.pick(&slices).clone();
    let (place, _) = g.element(&slice);
    if g.once_in(3) {
        let cond = g.expr(Scalar::Bool);
        let (a, b) = (call(g, slice.elem), call(g, slice.elem));
        let text = format!("{place} = if @ {{ @ }} else {{ @ }};");
        return Node::new(text, vec![cond, a, b], vec![]);
    }
    let value = call(g, slice.elem);
    Node::new(format!("{place} = @;"), vec![value], vec![])
}
