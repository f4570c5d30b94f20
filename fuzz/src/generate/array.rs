//! Generates local arrays of one or two dimensions.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule, integer, make};
use crate::tree::{Expr, Node};

/// A local array in scope.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) name: String,
    pub(super) elem: Scalar,
    pub(super) dims: Vec<usize>,
    pub(super) mutable: bool,
    /// True for a slice parameter of a function, with at least this many elements.
    pub(super) borrowed: bool,
}

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 6,
        fits: |g, ty| !g.uniform && g.arrays.iter().any(|a| a.elem == ty),
        make: load,
    },
    Rule {
        weight: 2,
        fits: |g, ty| !g.uniform && ty.is_int() && apart(g).any(|a| a.elem == ty),
        make: matched,
    },
];

pub(super) const STORES: &[Rule<Node>] = &[
    Rule {
        weight: 3,
        fits: |g, _| g.arrays.len() < 4,
        make: declare,
    },
    Rule {
        weight: 8,
        fits: |g, _| g.arrays.iter().any(|a| a.mutable),
        make: store,
    },
    Rule {
        weight: 1,
        fits: |g, _| g.arrays.iter().any(|a| a.mutable && !a.borrowed),
        make: copy,
    },
    Rule {
        weight: 3,
        fits: |g, _| !g.uniform && apart(g).next().is_some(),
        make: taken_apart,
    },
];

/// The arrays that slice patterns can destructure.
fn apart(g: &Gen) -> impl Iterator<Item = &Array> {
    g.arrays.iter().filter(|a| !a.borrowed && a.dims.len() == 1)
}

/// A `match` on an array, which selects an element by the values of others.
fn matched(g: &mut Gen, ty: Scalar) -> Expr {
    let arrays: Vec<_> = apart(g).filter(|a| a.elem == ty).cloned().collect();
    let Array { name, dims, .. } = g.pick(&arrays).clone();
    let text = match dims[0] {
        1 => format!("(match {name} {{ [0..=9] => 3, [only] => only }})"),
        2 => format!("(match {name} {{ [0 | 2..=40, last] => last, [first, _] => first }})"),
        _ => format!(
            "(match {name} {{ [0 | 3, .., last] => last, [_, n, ..] if n > 0 => n, [first, middle @ .., _] => \
             first ^ middle[0] }})"
        ),
    };
    make(ty, of_variable(ty), text, vec![])
}

/// A `let` pattern that binds elements at both ends, and at times the rest between them.
fn taken_apart(g: &mut Gen, _: Scalar) -> Node {
    let arrays: Vec<_> = apart(g).cloned().collect();
    let array = g.pick(&arrays).clone();
    let len = array.dims[0];
    let first = g.below(len + 1);
    let last = g.below(len - first + 1);
    let rest = len - first - last;
    let mut parts = vec![];
    for at in 0..=first + last {
        if at == first {
            if rest > 0 && g.once_in(2) {
                let name = g.name();
                parts.push(format!("{name} @ .."));
                g.arrays.push(Array {
                    name,
                    dims: vec![rest],
                    mutable: false,
                    ..array.clone()
                });
            } else {
                parts.push("..".to_owned());
            }
        }
        if at < first + last {
            let name = g.name();
            g.bind(&name, array.elem, of_variable(array.elem), false);
            parts.push(name);
        }
    }
    let (parts, name) = (parts.join(", "), array.name);
    Node::leaf(format!("let [{parts}] = {name};"))
}

fn load(g: &mut Gen, ty: Scalar) -> Expr {
    let arrays: Vec<_> = g.arrays.iter().filter(|a| a.elem == ty).cloned().collect();
    let array = g.pick(&arrays).clone();
    let (place, exprs) = place(g, &array);
    make(ty, of_variable(ty), place, exprs)
}

/// An element, in bounds unless the kernel may fault.
fn place(g: &mut Gen, array: &Array) -> (String, Vec<Expr>) {
    let (mut text, mut exprs) = (array.name.clone(), vec![]);
    for dim in &array.dims {
        match g.below(4) {
            0 => text += &format!("[{}]", g.below(*dim)),
            _ if g.traits.faults && g.once_in(6) => {
                text += "[@]";
                exprs.push(integer::small(g, Scalar::Usize, 7));
            }
            _ => {
                text += &format!("[@ % {dim}]");
                exprs.push(g.expr(Scalar::Usize));
            }
        }
    }
    (text, exprs)
}

/// An array expression: a list of values, or one value repeated. Each row is made in the same way.
fn value(g: &mut Gen, elem: Scalar, dims: &[usize], exprs: &mut Vec<Expr>) -> String {
    let Some((len, inner)) = dims.split_first() else {
        exprs.push(g.settled(elem));
        return "@".into();
    };
    match g.once_in(2) {
        true => format!("[{}; {len}]", value(g, elem, inner, exprs)),
        false => {
            let items: Vec<_> = (0..*len).map(|_| value(g, elem, inner, exprs)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

fn declare(g: &mut Gen, _: Scalar) -> Node {
    let elem = g.ty(|_| true);
    let mut dims = vec![1 + g.below(5)];
    if g.once_in(3) {
        dims.push(1 + g.below(3));
    }
    let mut exprs = vec![];
    let text = value(g, elem, &dims, &mut exprs);
    let (name, mutable) = (g.name(), !g.once_in(3));
    let word = if mutable { "mut " } else { "" };
    g.arrays.push(Array {
        name: name.clone(),
        elem,
        dims,
        mutable,
        borrowed: false,
    });
    Node::new(format!("let {word}{name} = {text};"), exprs, vec![])
}

fn pick(g: &mut Gen, fits: impl Fn(&Array) -> bool) -> Array {
    let fits = |a: &&Array| a.mutable && fits(a);
    let arrays: Vec<_> = g.arrays.iter().filter(fits).cloned().collect();
    g.pick(&arrays).clone()
}

fn store(g: &mut Gen, _: Scalar) -> Node {
    let array = pick(g, |_| true);
    let value = g.settled(array.elem);
    let (place, mut exprs) = place(g, &array);
    if array.elem.is_int() && g.once_in(2) {
        let op = *g.pick(&["+=", "-=", "*=", "^=", "|=", "&="]);
        exprs.push(value);
        return Node::new(format!("{place} {op} @;"), exprs, vec![]);
    }
    exprs.push(value);
    Node::new(format!("{place} = @;"), exprs, vec![])
}

/// Assigns a whole array or a row.
fn copy(g: &mut Gen, _: Scalar) -> Node {
    let to = pick(g, |a| !a.borrowed);
    let alike = |a: &&Array| a.elem == to.elem && a.dims == to.dims && !a.borrowed;
    let from: Vec<_> = g.arrays.iter().filter(alike).cloned().collect();
    let from = g.pick(&from).clone();
    if g.once_in(2) {
        let mut exprs = vec![];
        let text = value(g, to.elem, &to.dims, &mut exprs);
        return Node::new(format!("{} = {text};", to.name), exprs, vec![]);
    }
    match to.dims[..] {
        [rows, _] => {
            let (a, b) = (g.below(rows), g.below(rows));
            Node::leaf(format!("{}[{a}] = {}[{b}];", to.name, from.name))
        }
        _ => Node::leaf(format!("{} = {};", to.name, from.name)),
    }
}
