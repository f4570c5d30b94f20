//! The numeric methods of integers, from the table of the IR.

use sarek::ir::{ArgType, Intrinsic, Scalar};

use super::{Gen, Rule, make};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 9,
        fits: |_, ty| ty.is_int(),
        make: call,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty == Scalar::U32,
        make: count,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty.is_int(),
        make: clamp,
    },
];

fn call(g: &mut Gen, ty: Scalar) -> Expr {
    let types = g.traits.types.clone();
    let calls: Vec<_> = types
        .into_iter()
        .filter(|on| on.is_int())
        .flat_map(|on| Intrinsic::ALL.iter().map(move |i| (on, *i)))
        .filter(|(on, i)| i.class().contains(*on) && i.result_type(*on) == ty)
        .filter(|(_, i)| !matches!(i, Intrinsic::FromBits | Intrinsic::Clamp))
        .collect();
    let (on, intrinsic) = *g.pick(&calls);
    let mut exprs = vec![g.expr(on)];
    for arg in intrinsic.args() {
        exprs.push(match arg {
            ArgType::Same => g.expr(on),
            ArgType::Fixed(ty) => g.expr(*ty),
        });
    }
    let holes = vec!["@"; exprs.len() - 1].join(", ");
    make(
        ty,
        Facts::ANY,
        format!("@.{}({holes})", intrinsic.name()),
        exprs,
    )
}

/// Methods that are short for others.
fn count(g: &mut Gen, ty: Scalar) -> Expr {
    let on = g.ty(Scalar::is_int);
    let name = *g.pick(&["count_zeros", "leading_ones", "trailing_ones"]);
    let a = g.expr(on);
    make(ty, Facts::ANY, format!("@.{name}()"), vec![a])
}

/// Its bounds are in order, unless the kernel may fault.
fn clamp(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    if g.traits.faults && g.once_in(3) {
        let (lo, hi) = (g.expr(ty), g.expr(ty));
        return make(ty, Facts::ANY, "@.clamp(@, @)", vec![a, lo, hi]);
    }
    let lo = g.below(50);
    let hi = lo + g.below(if ty.bits() == 8 { 75 } else { 1000 });
    make(
        ty,
        super::within(hi as f64),
        format!("@.clamp({lo}, {hi})"),
        vec![a],
    )
}
