//! Generates calls of functions that targets round differently. Their results are only stored; no other code depends on them.

use sarek_ir::Scalar;
use sarek_ir::numeric;

use super::float::{nonzero, settle};
use super::{Gen, Role, Rule, Slice, make};
use crate::tree::{Expr, Facts, Node};

pub(super) const RULES: &[Rule<Node>] = &[Rule {
    weight: 4,
    fits: |g, _| !inexact_slices(g).is_empty(),
    make: store,
}];

fn inexact_slices(g: &Gen) -> Vec<Slice> {
    let fits = |s: &&Slice| matches!(s.role, Role::Inexact { .. });
    g.slices.iter().filter(fits).cloned().collect()
}

/// Calls from the table of numeric methods, whose arguments are such that every target is exact
/// enough; each hole takes a settled value.
fn calls(ty: Scalar) -> Vec<&'static str> {
    let rows = numeric::methods().filter(|row| row.stands_on(ty));
    rows.filter_map(|row| row.random).collect()
}

/// Operations that every target has for `f64`.
const PLAIN: &[&str] = &["@.abs().sqrt()", "@ * 0.3", "@ * 0.7 + @", "@ - @ * 0.1"];

fn call(g: &mut Gen, ty: Scalar) -> Expr {
    if g.once_in(4) {
        let (a, by) = (g.settled(ty), nonzero(g, ty));
        return make(ty, Facts::ANY, "(@ / @)", vec![a, by]);
    }
    let text = match ty {
        Scalar::F64 if !g.traits.f64_math => *g.pick(PLAIN),
        _ if g.once_in(4) => *g.pick(PLAIN),
        _ => *g.pick(&calls(ty)),
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
    let slices = inexact_slices(g);
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
