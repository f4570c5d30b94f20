//! Generates `let` statements and assignments.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule, Var, is_wide};
use crate::tree::{Facts, Node};

pub(super) const RULES: &[Rule<Node>] = &[
    Rule {
        weight: 16,
        fits: |_, _| true,
        make: binding,
    },
    Rule {
        weight: 2,
        fits: |_, _| true,
        make: deferred,
    },
    Rule {
        weight: 12,
        fits: |g, _| !mutable(g, |_| true).is_empty(),
        make: assign,
    },
    Rule {
        weight: 8,
        fits: |g, _| !mutable(g, Scalar::is_int).is_empty(),
        make: compound,
    },
    Rule {
        weight: 3,
        fits: |g, _| !mutable(g, is_wide).is_empty(),
        make: accumulate,
    },
    Rule {
        weight: 1,
        fits: |_, _| true,
        make: discard,
    },
];

fn mutable(g: &Gen, fits: fn(Scalar) -> bool) -> Vec<Var> {
    let vars = g.scope.iter().filter(|v| v.mutable && fits(v.ty));
    vars.cloned().collect()
}

/// A `let` statement. Often its type is inferred, and at times it shadows another variable.
fn binding(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(|_| true);
    let value = g.settled(ty);
    let is_mutable = g.once_in(2);
    let name = match g.once_in(8) && !g.keeps_names {
        true => {
            let names: Vec<_> = g.scope.iter().map(|v| v.name.clone()).collect();
            let found = names
                .into_iter()
                .rfind(|n| n.starts_with('v') && !n.contains('.'));
            found.unwrap_or_else(|| g.name())
        }
        false => g.name(),
    };
    let annotation = if g.once_in(3) {
        format!(": {ty}")
    } else {
        String::new()
    };
    let word = if is_mutable { "mut " } else { "" };
    let facts = if is_mutable {
        of_variable(ty)
    } else {
        value.facts
    };
    let node = Node::new(
        format!("let {word}{name}{annotation} = @;"),
        vec![value],
        vec![],
    );
    g.bind(&name, ty, facts, is_mutable);
    node
}

/// A variable that is declared first and assigned in both branches of an `if`.
fn deferred(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(|_| true);
    let name = g.name();
    let cond = g.expr(Scalar::Bool);
    let (a, b) = (g.settled(ty), g.settled(ty));
    let text = format!("let {name}: {ty}; if @ {{ {name} = @; }} else {{ {name} = @; }}");
    let node = Node::new(text, vec![cond, a, b], vec![]);
    g.bind(&name, ty, of_variable(ty), false);
    node
}

fn assign(g: &mut Gen, _: Scalar) -> Node {
    let vars = mutable(g, |_| true);
    let var = g.pick(&vars).clone();
    let value = g.settled(var.ty);
    Node::new(format!("{} = @;", var.name), vec![value], vec![])
}

fn compound(g: &mut Gen, _: Scalar) -> Node {
    let vars = mutable(g, Scalar::is_int);
    let var = g.pick(&vars).clone();
    let op = *g.pick(&["+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>="]);
    let value = g.expr(var.ty);
    Node::new(format!("{} {op} @;", var.name), vec![value], vec![])
}

/// `+=` or `-=` of a float, followed by a clamp to the range of variables.
fn accumulate(g: &mut Gen, _: Scalar) -> Node {
    let vars = mutable(g, is_wide);
    let var = g.pick(&vars).clone();
    let op = *g.pick(&["+=", "-="]);
    let value = g.settled(var.ty);
    let name = &var.name;
    let text = format!("{name} {op} @; {name} = {name}.clamp(-128.0, 128.0);");
    Node::new(text, vec![value], vec![])
}

fn discard(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(|_| true);
    let value = g.expr(ty);
    Node::new("let _ = @;", vec![value], vec![])
}

impl Gen {
    /// Brings a loop variable into scope.
    pub(super) fn counter(&mut self, ty: Scalar, bound: usize) -> String {
        let name = self.name();
        let facts = Facts {
            bound: bound as f64,
            ..Facts::ANY
        };
        self.bind(&name, ty, facts, false);
        name
    }
}
