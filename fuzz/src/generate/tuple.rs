//! Generates tuples. The generator treats their fields as variables whose names contain a dot.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule};
use crate::tree::{Expr, Node};

pub(super) const RULES: &[Rule<Node>] = &[
    Rule {
        weight: 4,
        fits: |_, _| true,
        make: binding,
    },
    Rule {
        weight: 3,
        fits: |_, _| true,
        make: taken_apart,
    },
    Rule {
        weight: 4,
        fits: |g, _| !whole(g).is_empty(),
        make: assign,
    },
];

/// The name of a tuple's field.
fn field(name: &str, at: usize) -> String {
    format!("{name}.{at}")
}

fn types(g: &mut Gen) -> Vec<Scalar> {
    (0..2 + g.below(2)).map(|_| g.ty(|_| true)).collect()
}

fn values(g: &mut Gen, types: &[Scalar]) -> (String, Vec<Expr>) {
    let exprs: Vec<_> = types.iter().map(|ty| g.settled(*ty)).collect();
    (format!("({})", vec!["@"; types.len()].join(", ")), exprs)
}

/// A tuple, or at times a choice between two.
fn value(g: &mut Gen, types: &[Scalar]) -> (String, Vec<Expr>) {
    if !g.once_in(3) {
        return values(g, types);
    }
    let mut exprs = vec![g.expr(Scalar::Bool)];
    let (a, first) = values(g, types);
    let (b, second) = values(g, types);
    exprs.extend(first.into_iter().chain(second));
    (format!("if @ {{ {a} }} else {{ {b} }}"), exprs)
}

fn binding(g: &mut Gen, _: Scalar) -> Node {
    let types = types(g);
    let (text, exprs) = value(g, &types);
    let (name, mutable) = (g.name(), g.once_in(2));
    for (at, ty) in types.iter().enumerate() {
        g.bind(&field(&name, at), *ty, of_variable(*ty), mutable);
    }
    let word = if mutable { "mut " } else { "" };
    Node::new(format!("let {word}{name} = {text};"), exprs, vec![])
}

fn taken_apart(g: &mut Gen, _: Scalar) -> Node {
    let types = types(g);
    let (text, exprs) = value(g, &types);
    let mut names = vec![];
    for ty in &types {
        let (name, mutable) = (g.name(), g.once_in(2));
        g.bind(&name, *ty, of_variable(*ty), mutable);
        names.push(if mutable { format!("mut {name}") } else { name });
    }
    let names = names.join(", ");
    Node::new(format!("let ({names}) = {text};"), exprs, vec![])
}

/// The mutable tuples in scope.
fn whole(g: &Gen) -> Vec<String> {
    let vars = g.scope.iter().filter(|v| v.mutable);
    let names = vars.filter_map(|v| v.name.strip_suffix(".0"));
    names.map(str::to_owned).collect()
}

/// Assigns a whole tuple. Its own fields may be among the values.
fn assign(g: &mut Gen, _: Scalar) -> Node {
    let names = whole(g);
    let name = g.pick(&names).clone();
    let of = |at| g.scope.iter().find(|v| v.name == field(&name, at));
    let types: Vec<_> = (0..).map_while(of).map(|v| v.ty).collect();
    let (text, exprs) = value(g, &types);
    Node::new(format!("{name} = {text};"), exprs, vec![])
}
