//! Generates `assert!`, `panic!` and `unreachable!`, in kernels that may fault.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::{Gen, Rule, integer, make};
use crate::tree::{Expr, Node};

/// The prefix of every message, by which [`judge`](crate::judge) recognises a generated panic.
pub const MESSAGE_PREFIX: &str = "said";

pub(super) const RULES: &[Rule<Expr>] = &[Rule {
    weight: 2,
    fits: |g, _| g.traits.faults && !g.uniform,
    make: chosen,
}];

pub(super) const STATEMENTS: &[Rule<Node>] = &[Rule {
    weight: 4,
    fits: |g, _| g.traits.faults,
    make: stated,
}];

fn message(g: &mut Gen) -> String {
    format!("{MESSAGE_PREFIX} {}", g.below(9))
}

/// An integer expression, with its type and a value that it seldom has.
fn rare(g: &mut Gen) -> (Scalar, Expr, usize) {
    let ty = g.ty(Scalar::is_int);
    let most: u32 = if ty.bits() == 8 { 127 } else { 1023 };
    (ty, integer::small(g, ty, most), g.below(most as usize))
}

fn stated(g: &mut Gen, _: Scalar) -> Node {
    let ((ty, number, at), message) = (rare(g), message(g));
    let text = match g.below(4) {
        0 => format!("assert!(@ != {at}{ty}, \"{message}\");"),
        1 => format!("assert_ne!(@, {at}{ty});"),
        2 => format!("if @ == {at} {{ panic!(\"{message}\"); }}"),
        _ => format!(
            "let {} = match @ {{ {at} => unreachable!(\"{message}\"), n => n }};",
            g.name()
        ),
    };
    Node::new(text, vec![number], vec![])
}

fn chosen(g: &mut Gen, ty: Scalar) -> Expr {
    let ((_, number, at), message) = (rare(g), message(g));
    let value = g.settled(ty);
    let text = match g.once_in(2) {
        true => format!("(if @ != {at} {{ @ }} else {{ panic!(\"{message}\") }})"),
        false => format!("(match @ {{ {at} => panic!(\"{message}\"), _ => @ }})"),
    };
    make(ty, of_variable(ty), text, vec![number, value])
}
