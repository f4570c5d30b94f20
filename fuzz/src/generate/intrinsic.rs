//! Generates calls of integer methods, from the table [`numeric::methods`].

use sarek_ir::Scalar;
use sarek_ir::numeric::{self, Method, Returns};

use super::{Gen, Rule, make};
use crate::tree::{Expr, Facts};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 11,
        fits: |_, ty| ty.is_int(),
        make: call,
    },
    Rule {
        weight: 2,
        fits: |_, ty| ty.is_int(),
        make: clamp,
    },
    Rule {
        weight: 3,
        fits: |_, ty| ty.is_int(),
        make: checked,
    },
    Rule {
        weight: 1,
        fits: |_, ty| ty.is_int(),
        make: guarded,
    },
    Rule {
        weight: 1,
        fits: |_, ty| ty == Scalar::Bool,
        make: overflows,
    },
];

fn call(g: &mut Gen, ty: Scalar) -> Expr {
    let types = g.traits.types.clone();
    let on_types = types.iter().copied().filter(|on| on.is_int());
    let calls = on_types.flat_map(|on| rows(g, on).map(move |row| (on, row)));
    let calls: Vec<_> = calls
        .filter(|(_, row)| row.returns == Returns::Value && !row.faults)
        .filter(|(on, row)| row.result.of(*on) == ty)
        .collect();
    let (on, row) = *g.pick(&calls);
    let (text, exprs) = called(g, row, on);
    make(ty, Facts::ANY, text, exprs)
}

/// The methods of a type for whose arguments the kernel has types.
fn rows(g: &Gen, on: Scalar) -> impl Iterator<Item = &'static Method> + use<> {
    let types = g.traits.types.clone();
    let has = move |ty: Scalar| ty == Scalar::U32 || ty.is_bool() || types.contains(&ty);
    numeric::methods().filter(move |row| row.stands_on(on) && row.arg_types(on).all(&has))
}

/// A call of a method: its text and its operands.
fn called(g: &mut Gen, row: &Method, on: Scalar) -> (String, Vec<Expr>) {
    let mut exprs = vec![g.expr(on)];
    exprs.extend(row.arg_types(on).map(|ty| g.expr(ty)));
    let holes = vec!["@"; exprs.len() - 1].join(", ");
    (format!("@.{}({holes})", row.name), exprs)
}

/// A call of a method that returns an `Option` of this type.
fn operation(g: &mut Gen, ty: Scalar) -> (String, Vec<Expr>) {
    let rows: Vec<_> = rows(g, ty)
        .filter(|row| row.returns == Returns::Optional && row.result.of(ty) == ty)
        .collect();
    let row = *g.pick(&rows);
    called(g, row, ty)
}

/// The result of such a method, or another value if it is `None`.
fn checked(g: &mut Gen, ty: Scalar) -> Expr {
    let (text, mut exprs) = operation(g, ty);
    exprs.push(g.expr(ty));
    let text = match g.below(3) {
        0 => format!("{text}.unwrap_or(@)"),
        1 => format!("(match {text} {{ Some(some) => some, None => @ }})"),
        _ => format!("(if let Some(some) = {text} {{ some }} else {{ @ }})"),
    };
    make(ty, Facts::ANY, text, exprs)
}

fn overflows(g: &mut Gen, ty: Scalar) -> Expr {
    let on = g.ty(Scalar::is_int);
    if g.once_in(2) {
        let rows: Vec<_> = rows(g, on)
            .filter(|row| row.returns == Returns::Overflow)
            .collect();
        let row = *g.pick(&rows);
        let (text, exprs) = called(g, row, on);
        return make(ty, Facts::ANY, format!("{text}.1"), exprs);
    }
    let (text, exprs) = operation(g, on);
    let name = *g.pick(&["is_some", "is_none"]);
    make(ty, Facts::ANY, format!("{text}.{name}()"), exprs)
}

/// A call of a method that faults for some arguments, with arguments for which it does not.
fn guarded(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    let text = match g.below(2) {
        _ if ty.is_signed() => format!("(@ & {ty}::MAX).isqrt()"),
        0 => "(@ >> 1).next_power_of_two()".to_owned(),
        _ => format!("(@ >> 1).next_multiple_of({})", 1 + g.below(60)),
    };
    make(ty, Facts::ANY, text, vec![a])
}

/// A call of `clamp`. The lower bound is at most the upper one, unless the kernel may fault.
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
