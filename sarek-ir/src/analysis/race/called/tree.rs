//! Values in functions that are no polynomials of the parameters: quotients, remainders, bits and ids.
//!
//! The macro of a function and that of a kernel write such a value as the same [text](Tree::text), which rustc compares.

use std::rc::Rc;

use crate::{Builtin, Kernel, NameId};

/// A value that a function computes from its parameters. All arithmetic has the type of the function's result, and
/// parameters and ids are cast to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tree {
    /// An id or extent of the thread.
    Id(Builtin),
    /// A parameter, or a field of one.
    Parameter(u32, Option<NameId>),
    /// A number.
    Number(i128),
    /// An operation.
    Binary(Operator, Rc<[Tree; 2]>),
}

/// The operator of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Min,
    Max,
}

impl Operator {
    /// The name in texts and messages.
    fn name(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
            Operator::Div => "/",
            Operator::Rem => "%",
            Operator::And => "&",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::Min => "min",
            Operator::Max => "max",
        }
    }

    fn is_commutative(self) -> bool {
        match self {
            Operator::Sub | Operator::Div | Operator::Rem => false,
            Operator::Add
            | Operator::Mul
            | Operator::And
            | Operator::Or
            | Operator::Xor
            | Operator::Min
            | Operator::Max => true,
        }
    }
}

impl Tree {
    /// An operation.
    pub fn binary(op: Operator, a: Tree, b: Tree) -> Tree {
        Tree::Binary(op, Rc::new([a, b]))
    }

    /// The text that rustc compares. The operands of commutative operators are sorted.
    pub fn text(&self, kernel: &Kernel) -> String {
        match self {
            Tree::Id(id) => id.name().into(),
            Tree::Parameter(position, None) => format!("p{position}"),
            Tree::Parameter(position, Some(name)) => {
                format!("p{position}.{}", kernel.names[name.index()])
            }
            Tree::Number(number) => number.to_string(),
            Tree::Binary(op, of) => {
                let mut parts = [of[0].text(kernel), of[1].text(kernel)];
                if op.is_commutative() {
                    parts.sort();
                }
                format!("({} {})", op.name(), parts.join(" "))
            }
        }
    }

    /// The tree in messages.
    pub fn shown(&self, parameter: &dyn Fn(u32, Option<NameId>) -> String) -> String {
        match self {
            Tree::Id(id) => format!("{}()", id.name()),
            Tree::Parameter(position, name) => parameter(*position, *name),
            Tree::Number(number) => number.to_string(),
            Tree::Binary(op, of) => {
                let [a, b] = [0, 1].map(|at| match &of[at] {
                    Tree::Binary(..) => format!("({})", of[at].shown(parameter)),
                    other => other.shown(parameter),
                });
                match op {
                    Operator::Min | Operator::Max => format!("{a}.{}({b})", op.name()),
                    _ => format!("{a} {} {b}", op.name()),
                }
            }
        }
    }

    /// True if it contains this leaf.
    pub(super) fn uses(&self, leaf: Tree) -> bool {
        match self {
            Tree::Binary(_, of) => of.iter().any(|part| part.uses(leaf.clone())),
            Tree::Id(_) | Tree::Parameter(..) | Tree::Number(_) => *self == leaf,
        }
    }

    /// True if it depends on no parameter.
    pub fn is_closed(&self) -> bool {
        match self {
            Tree::Id(_) | Tree::Number(_) => true,
            Tree::Parameter(..) => false,
            Tree::Binary(_, of) => of.iter().all(Tree::is_closed),
        }
    }
}
