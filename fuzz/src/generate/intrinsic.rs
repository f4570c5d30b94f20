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
    Rule {
        weight: 3,
        fits: |_, ty| ty.is_int(),
        make: checked,
    },
    Rule {
        weight: 1,
        fits: |_, ty| ty.is_int(),
        make: composed,
    },
    Rule {
        weight: 1,
        fits: |_, ty| ty == Scalar::Bool,
        make: overflows,
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

/// An operation that may have no result, on this type.
fn operation(g: &mut Gen, ty: Scalar) -> (String, Vec<Expr>) {
    let name = *g.pick(&[
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "div_euclid",
        "rem_euclid",
        "shl",
        "shr",
        "neg",
    ]);
    let mut exprs = vec![g.expr(ty)];
    match name {
        "neg" => {}
        "shl" | "shr" => exprs.push(g.expr(Scalar::U32)),
        _ => exprs.push(g.expr(ty)),
    }
    let argument = if exprs.len() == 2 { "@" } else { "" };
    (format!("@.checked_{name}({argument})"), exprs)
}

/// The result of an operation if it has one, and else another value.
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
        let name = *g.pick(&["add", "sub", "mul"]);
        let (a, b) = (g.expr(on), g.expr(on));
        return make(
            ty,
            Facts::ANY,
            format!("@.overflowing_{name}(@).1"),
            vec![a, b],
        );
    }
    let (text, exprs) = operation(g, on);
    let name = *g.pick(&["is_some", "is_none"]);
    make(ty, Facts::ANY, format!("{text}.{name}()"), exprs)
}

/// Methods that are more than a call on every target.
fn composed(g: &mut Gen, ty: Scalar) -> Expr {
    let a = g.expr(ty);
    let (text, more) = match g.below(4) {
        0 if ty.is_signed() => (format!("(@ & {ty}::MAX).isqrt()"), None),
        0 => ("@.isqrt()".to_owned(), None),
        1 if !ty.is_signed() => ("(@ >> 1).next_power_of_two()".to_owned(), None),
        2 if !ty.is_signed() => {
            let n = 1 + g.below(60);
            (format!("(@ >> 1).next_multiple_of({n})"), None)
        }
        _ => ("@.midpoint(@)".to_owned(), Some(g.expr(ty))),
    };
    let exprs = [a].into_iter().chain(more).collect();
    make(ty, Facts::ANY, text, exprs)
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
