//! What rustc would accept but a kernel cannot mean.

use proc_macro2::Span;
use sarek_ir::Precondition;
use sarek_ir::analysis::access::Place;
use sarek_ir::analysis::race;
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
            .map(|o| lowered.kernel.scalar_of(*o)),
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
pub fn races(lowered: &Lowered, errors: &mut Errors) -> Option<Vec<Precondition>> {
    let races = match race::check(&lowered.kernel) {
        Ok(preconditions) => return Some(preconditions),
        Err(races) => races,
    };
    for race in races {
        let buffer = lowered.kernel.memory_name(race.memory);
        let (place, _) = race.first;
        let (_, second) = race.second;
        let meets = if race.first == race.second {
            String::new()
        } else {
            format!(" (the other access is in line {})", second.line)
        };
        let message = format!(
            "two threads may use the same element of `{buffer}` at once: {}{meets}. Store to an element of the \
             thread's own, such as `{buffer}[global_idx_x()]`, or declare the kernel `unsafe fn`",
            race.reason
        );
        errors.at(place_span(lowered, place), message);
    }
    None
}

fn place_span(lowered: &Lowered, place: Place) -> Span {
    match place {
        Place::Load(id) => lowered.expr_spans[id.index()],
        Place::Store(id) => lowered.stmt_spans[id.index()],
    }
}
