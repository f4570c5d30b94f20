//! Generates control flow that yields a value.

use sarek_ir::Scalar;

use super::{Gen, Loop, Rule, float, is_wide, make};
use crate::tree::{Block, Expr, Facts, Node};

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 4,
        fits: |_, _| true,
        make: choice,
    },
    Rule {
        weight: 1,
        fits: |g, _| g.is_roomy(),
        make: block,
    },
    Rule {
        weight: 1,
        fits: |g, _| g.is_roomy(),
        make: branches,
    },
    Rule {
        weight: 1,
        fits: |g, _| g.affords(6),
        make: searched,
    },
    Rule {
        weight: 1,
        fits: |g, _| g.is_roomy(),
        make: labelled,
    },
];

impl Gen {
    /// A *settled* expression: one whose bounds are those of every variable of its type, so it may be stored in one.
    pub(super) fn settled(&mut self, ty: Scalar) -> Expr {
        let expr = self.expr(ty);
        match is_wide(ty) {
            true => float::settle(self, expr),
            false => expr,
        }
    }
}

/// The bounds of every variable of a type.
pub(super) fn of_variable(ty: Scalar) -> Facts {
    match ty.is_float() {
        true => float::SETTLED,
        false => Facts::ANY,
    }
}

fn with_blocks(ty: Scalar, text: &str, exprs: Vec<Expr>, blocks: Vec<Block>) -> Expr {
    Expr {
        node: Node::new(text, exprs, blocks),
        ty,
        facts: of_variable(ty),
    }
}

fn choice(g: &mut Gen, ty: Scalar) -> Expr {
    let cond = g.expr(Scalar::Bool);
    let (a, b) = (g.settled(ty), g.settled(ty));
    make(
        ty,
        of_variable(ty),
        "(if @ { @ } else { @ })",
        vec![cond, a, b],
    )
}

fn block(g: &mut Gen, ty: Scalar) -> Expr {
    let value = g.settled(ty);
    let stmts = g.block_before(1, true);
    with_blocks(ty, "{#@ }", vec![value], vec![stmts])
}

fn branches(g: &mut Gen, ty: Scalar) -> Expr {
    let cond = g.expr(Scalar::Bool);
    let (a, b) = (g.settled(ty), g.settled(ty));
    let stmts = g.block_before(1, true);
    with_blocks(ty, "(if @ {#@ } else { @ })", vec![cond, a, b], vec![stmts])
}

/// A `loop` that yields a value. A counter ends it after a few iterations.
fn searched(g: &mut Gen, ty: Scalar) -> Expr {
    let (label, counter) = (g.label(), g.name());
    let (last, value) = (1 + g.below(5), g.labelled_value(ty));
    let stmts = g.inside(&label, false, Some(ty), |g| g.block(last + 1));
    let text = format!(
        "{{ let mut {counter} = 0u32; {label}: loop {{ {counter} += 1; if {counter} > {last} {{ break {label} @; }}# }} }}"
    );
    with_blocks(ty, &text, vec![value], vec![stmts])
}

fn labelled(g: &mut Gen, ty: Scalar) -> Expr {
    let label = g.label();
    let value = g.labelled_value(ty);
    let stmts = g.inside(&label, true, Some(ty), |g| g.block_before(1, true));
    with_blocks(ty, &format!("({label}: {{#@ }})"), vec![value], vec![stmts])
}

impl Gen {
    /// A value to place in a loop or block that is made after it.
    fn labelled_value(&mut self, ty: Scalar) -> Expr {
        let labels_all = std::mem::replace(&mut self.labels_all, true);
        let value = self.settled(ty);
        self.labels_all = labels_all;
        value
    }

    pub(super) fn label(&mut self) -> String {
        format!("'{}", self.name())
    }

    /// Makes the content of a loop or a labelled block.
    pub(super) fn inside<T>(
        &mut self,
        label: &str,
        is_block: bool,
        value: Option<Scalar>,
        body: impl FnOnce(&mut Gen) -> T,
    ) -> T {
        self.loops.push(Loop {
            label: label.to_owned(),
            is_block,
            value,
            uniform: None,
        });
        let labels_all = std::mem::replace(&mut self.labels_all, false);
        let made = body(self);
        self.labels_all = labels_all;
        self.loops.pop();
        made
    }
}
