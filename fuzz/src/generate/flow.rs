//! Generates branches, loops, and the jumps out of them.

use sarek_ir::Scalar;

use super::{Gen, Loop, Rule, integer};
use crate::tree::{Block, Node};

pub(super) const RULES: &[Rule<Node>] = &[
    Rule {
        weight: 10,
        fits: |g, _| g.is_roomy(),
        make: branch,
    },
    Rule {
        weight: 4,
        fits: |g, _| g.affords(4),
        make: count,
    },
    Rule {
        weight: 3,
        fits: |g, _| g.affords(8),
        make: adapted,
    },
    Rule {
        weight: 4,
        fits: |g, _| g.affords(6),
        make: while_loop,
    },
    Rule {
        weight: 2,
        fits: |g, _| g.is_roomy(),
        make: labelled,
    },
    Rule {
        weight: 6,
        fits: |g, _| g.loops.iter().any(|l| l.uniform.is_none()),
        make: leave,
    },
    Rule {
        weight: 4,
        fits: |g, _| g.loops.iter().any(|l| !l.is_block && l.uniform.is_none()),
        make: next,
    },
    Rule {
        weight: 1,
        fits: |g, _| g.may_end(),
        make: finish,
    },
];

fn branch(g: &mut Gen, _: Scalar) -> Node {
    let cond = g.expr(Scalar::Bool);
    let then = g.block(1);
    match g.below(3) {
        0 => Node::new("if @ {#}", vec![cond], vec![then]),
        1 => {
            let otherwise = g.block(1);
            Node::new("if @ {#} else {#}", vec![cond], vec![then, otherwise])
        }
        _ => {
            let second = g.expr(Scalar::Bool);
            let blocks = vec![then, g.block(1), g.block(1)];
            Node::new(
                "if @ {#} else if @ {#} else {#}",
                vec![cond, second],
                blocks,
            )
        }
    }
}

/// A label for a loop, and the text before the loop: the label, at times after an `#[unroll]` attribute.
fn label(g: &mut Gen) -> (String, String) {
    let label = g.label();
    let hint = match g.below(6) {
        0 => "#[unroll] ".to_string(),
        1 => format!("#[unroll({})] ", 1 + g.below(5)),
        _ => String::new(),
    };
    (label.clone(), format!("{hint}{label}: "))
}

/// A `for` loop over a plain range of any integer type and any start.
fn count(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(Scalar::is_int);
    let most = *g.pick(&[1, 3]);
    let (start, more) = (integer::small(g, ty, 63), integer::small(g, ty, most));
    let (label, head) = label(g);
    let (first, scope) = (g.name(), g.scope.clone());
    let name = g.counter(ty, 66);
    let body = body(g, &label, most as usize);
    g.scope = scope;
    let text = format!("let {first} = @; {head}for {name} in {first}..{first} + @ {{#}}");
    Node::new(text, vec![start, more], vec![body])
}

/// A `for` loop over a short range of literals, with adapters.
fn adapted(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(Scalar::is_int);
    let signed = ty.is_signed();
    let from = g.below(5) as i64 - if signed { 3 } else { 0 };
    let to = from + g.below(9) as i64 - 1;
    let to = if signed { to } else { to.max(0) };
    let dots = *g.pick(&["..", "..="]);
    let range = format!("({from}{ty}{dots}{to}{ty})");
    let step = 1 + g.below(3);
    // Only these ranges are `ExactSizeIterator`, as `step_by(…).rev()` requires.
    let is_exact = dots == ".." && (ty.bits() <= 32 || ty == Scalar::Usize);
    let range = match g.below(5) {
        0 => range,
        1 => format!("{range}.rev()"),
        2 if is_exact => format!("{range}.step_by({step}).rev()"),
        3 => format!("{range}.rev().step_by({step})"),
        _ => format!("{range}.step_by({step})"),
    };
    let (label, head) = label(g);
    let scope = g.scope.clone();
    let name = g.counter(ty, 16);
    let body = body(g, &label, 9);
    g.scope = scope;
    Node::new(
        format!("{head}for {name} in {range} {{#}}"),
        vec![],
        vec![body],
    )
}

fn body(g: &mut Gen, label: &str, trips: usize) -> Block {
    g.inside(label, false, None, |g| g.block(trips.max(1)))
}

/// A `while` loop. A counter ends it after a few iterations, whatever its condition is.
fn while_loop(g: &mut Gen, _: Scalar) -> Node {
    let (label, head) = label(g);
    let counter = g.name();
    let last = 1 + g.below(5);
    let labels_all = std::mem::replace(&mut g.labels_all, true);
    let cond = g.expr(Scalar::Bool);
    g.labels_all = labels_all;
    let body = g.inside(&label, false, None, |g| g.block(last));
    let text = format!(
        "let mut {counter} = 0u32; {head}while {counter} < {last} && @ {{ {counter} += 1;#}}"
    );
    Node::new(text, vec![cond], vec![body])
}

fn labelled(g: &mut Gen, _: Scalar) -> Node {
    let label = g.label();
    let body = g.inside(&label, true, None, |g| g.block(1));
    Node::new(format!("{label}: {{#}}"), vec![], vec![body])
}

/// A conditional `break` out of any enclosing loop or labelled block.
fn leave(g: &mut Gen, _: Scalar) -> Node {
    let own = |l: &&Loop| l.uniform.is_none();
    let loops: Vec<_> = g.loops.iter().filter(own).cloned().collect();
    let at = g.below(loops.len());
    let target = &loops[at];
    let cond = g.expr(Scalar::Bool);
    let label = match !target.is_block && g.needs_no_label(target) && g.once_in(2) {
        true => String::new(),
        false => format!(" {}", target.label),
    };
    match target.value {
        None => Node::new(format!("if @ {{ break{label}; }}"), vec![cond], vec![]),
        Some(ty) => {
            let value = g.settled(ty);
            Node::new(
                format!("if @ {{ break{label} @; }}"),
                vec![cond, value],
                vec![],
            )
        }
    }
}

impl Gen {
    /// True if `break` and `continue` may omit the label of this loop.
    fn needs_no_label(&self, target: &Loop) -> bool {
        let innermost = self.loops.last().is_some_and(|l| l.label == target.label);
        innermost && !self.labels_all
    }
}

fn next(g: &mut Gen, _: Scalar) -> Node {
    let own = |l: &&Loop| !l.is_block && l.uniform.is_none();
    let loops: Vec<_> = g.loops.iter().filter(own).cloned().collect();
    let at = g.below(loops.len());
    let cond = g.expr(Scalar::Bool);
    let label = match g.needs_no_label(&loops[at]) && g.once_in(2) {
        true => String::new(),
        false => format!(" {}", loops[at].label),
    };
    Node::new(format!("if @ {{ continue{label}; }}"), vec![cond], vec![])
}

/// A conditional `return`, which ends the thread.
fn finish(g: &mut Gen, _: Scalar) -> Node {
    let cond = g.expr(Scalar::Bool);
    Node::new("if @ { return; }", vec![cond], vec![])
}
