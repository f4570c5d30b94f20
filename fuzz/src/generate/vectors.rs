//! Generates vectors such as `f32x4`. The generator treats their components as variables whose names contain a dot.
//!
//! Integers are masked before they are added or multiplied, since a debug build of the façade reports overflow.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule, make};
use crate::data::{FRAC, TAME};
use crate::tree::{Expr, Facts, Node};

/// A vector in scope.
#[derive(Clone, Debug)]
pub(super) struct Vector {
    pub(super) name: String,
    lane: Scalar,
    count: usize,
    pub(super) mutable: bool,
}

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 6,
        fits: |g, ty| is_lane(ty) && fits(g, |v| v.lane == ty),
        make: component,
    },
    Rule {
        weight: 3,
        fits: |g, ty| is_lane(ty) && fits(g, |v| v.lane == ty),
        make: dot,
    },
    Rule {
        weight: 2,
        fits: |g, ty| ty == Scalar::Bool && fits(g, |_| true),
        make: equal,
    },
];

pub(super) const STATEMENTS: &[Rule<Node>] = &[
    Rule {
        weight: 4,
        fits: |g, _| g.vectors.len() < 4,
        make: declare,
    },
    Rule {
        weight: 5,
        fits: |g, _| fits(g, |v| v.mutable),
        make: assign,
    },
];

const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

fn is_lane(ty: Scalar) -> bool {
    [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::U32].contains(&ty)
}

fn fits(g: &Gen, which: impl Fn(&Vector) -> bool) -> bool {
    !g.uniform && g.vectors.iter().any(which)
}

fn pick(g: &mut Gen, which: impl Fn(&Vector) -> bool) -> Vector {
    let vectors: Vec<_> = g.vectors.iter().filter(|v| which(v)).cloned().collect();
    g.pick(&vectors).clone()
}

fn letters(g: &mut Gen, count: usize, of: usize) -> String {
    (0..count).map(|_| LETTERS[g.below(of)]).collect()
}

/// A vector whose components are settled.
fn operand(g: &mut Gen, lane: Scalar, count: usize, exprs: &mut Vec<Expr>) -> String {
    let known: Vec<_> = g
        .vectors
        .iter()
        .filter(|v| v.lane == lane)
        .cloned()
        .collect();
    match g.below(4) {
        0 => {
            exprs.push(g.settled(lane));
            format!("{lane}x{count}::splat(@)")
        }
        1 if !known.is_empty() => {
            let from = g.pick(&known).clone();
            format!("{}.{}()", from.name, letters(g, count, from.count))
        }
        2 if known.iter().any(|v| v.count == count) => {
            pick(g, |v| v.lane == lane && v.count == count).name
        }
        _ => {
            exprs.extend((0..count).map(|_| g.settled(lane)).collect::<Vec<_>>());
            format!("{lane}x{count}::new({})", vec!["@"; count].join(", "))
        }
    }
}

/// A settled vector, computed from two operands.
fn value(g: &mut Gen, lane: Scalar, count: usize, exprs: &mut Vec<Expr>) -> String {
    let ty = format!("{lane}x{count}");
    let cond = g.once_in(4).then(|| g.expr(Scalar::Bool));
    let chooses = cond.is_some();
    exprs.extend(cond);
    let (a, b) = (
        operand(g, lane, count, exprs),
        operand(g, lane, count, exprs),
    );
    match (lane.is_float(), g.below(6)) {
        _ if chooses => format!("if @ {{ {a} }} else {{ {b} }}"),
        (_, 0) => a_alone(a, b, "min"),
        (_, 1) => a_alone(a, b, "max"),
        (true, 2) => format!("({a} + {b}).clamp({ty}::splat(-128.0), {ty}::splat(128.0))"),
        (true, 3) => format!("-({a} - {b}).max({ty}::splat(-128.0)).min({ty}::splat(128.0))"),
        (true, 4) => format!("({a} * {b}).floor() % 128.0"),
        (true, _) => a_alone(a, b, "clamp_low"),
        (false, 2) => format!("({a} & 255) + ({b} & 1023)"),
        (false, 3) => format!("({a} & 255) * ({b} & 255)"),
        (false, 4) => format!("({a} | {b}) ^ !{ty}::splat(5)"),
        (false, _) => format!("({a} & 1023) / (({b} & 7) + 1)"),
    }
}

fn a_alone(a: String, b: String, method: &str) -> String {
    match method {
        "clamp_low" => format!("{a}.abs().max({b})"),
        method => format!("{a}.{method}({b})"),
    }
}

fn component(g: &mut Gen, ty: Scalar) -> Expr {
    let vector = pick(g, |v| v.lane == ty);
    let mut exprs = vec![];
    if g.once_in(3) {
        let (swizzled, at) = (letters(g, 3, vector.count), g.below(3));
        let text = match g.once_in(2) {
            true => format!("{}.{swizzled}().{}", vector.name, LETTERS[at]),
            false => format!("{}.{swizzled}()[{at}]", vector.name),
        };
        return make(ty, of_variable(ty), text, exprs);
    }
    let text = value(g, ty, vector.count, &mut exprs);
    let at = LETTERS[g.below(vector.count)];
    make(ty, of_variable(ty), format!("({text}).{at}"), exprs)
}

fn dot(g: &mut Gen, ty: Scalar) -> Expr {
    let vector = pick(g, |v| v.lane == ty);
    let mut exprs = vec![];
    let other = operand(g, ty, vector.count, &mut exprs);
    let name = &vector.name;
    if !ty.is_float() {
        let text = format!("({name} & 255).dot({other} & 255)");
        return make(ty, Facts::ANY, text, exprs);
    }
    let facts = Facts {
        bound: f64::from(TAME * TAME) * vector.count as f64,
        frac: 2 * FRAC,
        nonzero: false,
    };
    make(ty, facts, format!("{name}.dot({other})"), exprs)
}

fn equal(g: &mut Gen, ty: Scalar) -> Expr {
    let vector = pick(g, |_| true);
    let mut exprs = vec![];
    let other = operand(g, vector.lane, vector.count, &mut exprs);
    let op = *g.pick(&["==", "!="]);
    make(
        ty,
        Facts::ANY,
        // Comparison operators borrow, and the other operand may contain a block that assigns to the vector. So the vector comes last.
        format!("({other} {op} {})", vector.name),
        exprs,
    )
}

fn declare(g: &mut Gen, _: Scalar) -> Node {
    let (lane, count) = (g.ty(is_lane), 2 + g.below(3));
    let mut exprs = vec![];
    let text = value(g, lane, count, &mut exprs);
    let (name, mutable) = (g.name(), g.once_in(2));
    for letter in &LETTERS[..count] {
        g.bind(
            &format!("{name}.{letter}"),
            lane,
            of_variable(lane),
            mutable,
        );
    }
    let word = if mutable { "mut " } else { "" };
    let text = format!("let {word}{name}: {lane}x{count} = {text};");
    g.vectors.push(Vector {
        name,
        lane,
        count,
        mutable,
    });
    Node::new(text, exprs, vec![])
}

/// Assigns a whole vector.
fn assign(g: &mut Gen, _: Scalar) -> Node {
    let vector = pick(g, |v| v.mutable);
    let mut exprs = vec![];
    if vector.lane.is_int() && g.once_in(3) {
        let op = *g.pick(&["^=", "&=", "|="]);
        // The operator borrows the vector, so the operand must not assign to it.
        let text = g.without_changing(&vector.name, |g| {
            operand(g, vector.lane, vector.count, &mut exprs)
        });
        return Node::new(format!("{} {op} {text};", vector.name), exprs, vec![]);
    }
    let text = value(g, vector.lane, vector.count, &mut exprs);
    Node::new(format!("{} = {text};", vector.name), exprs, vec![])
}
