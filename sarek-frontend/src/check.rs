//! Reports code that rustc would accept but that has no meaning in a kernel.

mod races;

pub use races::{function_races, races};
use sarek_ir::analysis::barriers::{self, Divergence};
use sarek_ir::analysis::exact::{self, Stray};
use sarek_ir::analysis::uniformity::Apart;
use sarek_ir::facts::Effect;
use sarek_ir::validate::{Node, Rule, Violation, validate};
use sarek_ir::{Intrinsic, Stmt};

use crate::diagnostics::{Errors, Mistake, codes};
use crate::lower::Lowered;
use crate::tokens::range::Ranged;
use crate::tokens::range::SourceRange;

/// Reports operations on types that do not have them. Such code is also an error to rustc; this
/// check keeps an invalid kernel from the writers.
pub fn well_formed(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    let violations = match validate(&lowered.kernel) {
        Ok(()) => return subgroups(lowered, errors),
        Err(violations) => violations,
    };
    for violation in violations {
        errors.report(span(lowered, violation.node), &mistake(lowered, violation));
    }
    None
}

/// Reports subgroup operations on values whose type only rustc knows. The compiled body has arrays
/// of these values, with an element for each lane.
fn subgroups(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    let kernel = &lowered.kernel;
    for (stmt, span) in kernel.stmts.iter().zip(&lowered.stmt_spans) {
        let Stmt::Subgroup { args, .. } = *stmt else {
            continue;
        };
        if kernel
            .list(args)
            .any(|arg| kernel.type_of(arg).as_scalar().is_none())
        {
            errors.at(
                codes::UNKNOWN_TYPE,
                *span,
                "the type of this subgroup operand must be known here",
                "write the type, as in `let v: f32 = …;`",
            );
        }
    }
    errors.is_empty().then_some(())
}

fn mistake(lowered: &Lowered, violation: Violation) -> Mistake {
    let ty = match violation.node {
        Node::Expr(id) => lowered
            .kernel
            .operands(id)
            .first()
            .and_then(|o| lowered.kernel.type_of(*o).as_scalar()),
        Node::Stmt(id) => match lowered.kernel.stmt(id).facts().effect {
            Effect::Subgroup(_, args) => {
                let first = lowered.kernel.list(args).next();
                first.and_then(|arg| lowered.kernel.type_of(arg).as_scalar())
            }
            Effect::None
            | Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Barrier
            | Effect::Call(_)
            | Effect::Native(_) => None,
        },
        Node::Kernel
        | Node::Param(_)
        | Node::Local(_)
        | Node::Native(_)
        | Node::Precondition(_) => None,
    };
    match (violation.rule, ty) {
        (Rule::ExprType | Rule::Signature, Some(ty)) => {
            let what = format!("this operation is not defined for `{ty}`");
            Mistake::new(
                codes::OPERATOR,
                what,
                "convert the operands, or use another operation",
            )
        }
        (Rule::CastTypes, Some(ty)) => {
            let what = format!("`{ty}` cannot be cast like this");
            Mistake::new(
                codes::CAST,
                what,
                "compare it, as in `x != 0`, or cast it to an integer first",
            )
        }
        (Rule::PrintFormat, _) => {
            let what = "an argument cannot be printed in this format";
            Mistake::new(
                codes::PRINTED,
                what,
                "print floats with `{}` or `{:e}`; `{:x}` and similar formats are for integers",
            )
        }
        (rule, _) => Mistake::new(codes::INVALID, rule.text(), "write it differently"),
    }
}

fn span(lowered: &Lowered, node: Node) -> SourceRange {
    match node {
        Node::Expr(id) => lowered.expr_spans[id.index()],
        Node::Stmt(id) => lowered.stmt_spans[id.index()],
        Node::Kernel
        | Node::Param(_)
        | Node::Local(_)
        | Node::Native(_)
        | Node::Precondition(_) => SourceRange::call_site(),
    }
}

/// Reports operations of a strict kernel whose result is not the same to the bit on every device.
pub fn strict(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    if !lowered.kernel.strict {
        return Some(());
    }
    let strays = exact::strays(&lowered.kernel);
    for stray in &strays {
        let (span, what, instead) = match *stray {
            Stray::Function(id, function) => (
                lowered.expr_spans[id.index()],
                format!(
                    "`{}` is not rounded in the same way on every device",
                    function.name()
                ),
                (function.row().in_strict)
                    .unwrap_or("write it out with `+ - * /`, `sqrt` and `mul_add`, which are")
                    .to_string(),
            ),
            Stray::Zeros(id, function) => {
                let name = function.name();
                let sign = if function == Intrinsic::Max { ">" } else { "<" };
                (
                    lowered.expr_spans[id.index()],
                    format!("`{name}` of floats may return `0.0` or `-0.0`"),
                    format!("write `if a {sign} b {{ a }} else {{ b }}`"),
                )
            }
            Stray::Atomic(id, op) => (
                lowered.stmt_spans[id.index()],
                format!(
                    "the result of `{}` on floats depends on the order of the threads",
                    op.name()
                ),
                "sum integers, or sum in a fixed order".to_string(),
            ),
            Stray::Subgroup(id, op) => (
                lowered.stmt_spans[id.index()],
                format!(
                    "`{}` of floats depends on an order that each device chooses",
                    op.name()
                ),
                "use integers, or combine the values in a fixed order through a shared array"
                    .to_string(),
            ),
            Stray::Text(id) => (
                lowered.stmt_spans[id.index()],
                "the result of a target's own text is not known".to_string(),
                "write it in Rust".to_string(),
            ),
        };
        errors.at(codes::STRICT, span, what, instead);
    }
    strays.is_empty().then_some(())
}

/// Reports functions that have callable parameters and in which threads work together.
pub fn callables(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    let first = lowered.callables.first();
    let Some(first) =
        first.filter(|_| sarek_ir::analysis::contract::is_cooperative(&lowered.kernel))
    else {
        return Some(());
    };
    errors.at(
        codes::COLLECTIVE_CALL,
        first.span,
        "the threads of a block work together in this function, so it cannot take closures",
        "pass values, which each thread computes before the call",
    );
    None
}

/// Reports functions that nest calls of themselves and use features that exclude this.
pub fn recursion(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    if lowered.max_depth.is_none() {
        return Some(());
    }
    let kernel = &lowered.kernel;
    let span = lowered.name.range();
    if sarek_ir::analysis::contract::is_cooperative(kernel) {
        errors.at(
            codes::RECURSION,
            span,
            "the threads of a block cannot work together in a recursive function",
            "write a loop",
        );
        return None;
    }
    let result = kernel.result.map(|local| kernel.locals[local.index()].ty);
    if result.is_some_and(|ty| ty.as_scalar().is_none()) {
        errors.at(
            codes::RECURSION,
            span,
            "a recursive function must return a scalar or nothing",
            "return other results through `&mut` parameters",
        );
        return None;
    }
    Some(())
}

/// Reports barriers that some threads of a block may miss.
pub fn barriers(lowered: &Lowered, is_function: bool, errors: &mut Errors) -> Option<()> {
    let divergences = match barriers::check(&lowered.kernel, is_function) {
        Ok(()) => return Some(()),
        Err(divergences) => divergences,
    };
    for Divergence { barrier, why } in divergences {
        let line = match why.condition() {
            Some(condition) => lowered.kernel.expr_locs[condition.index()].line,
            None => 0,
        };
        let why = match why {
            Apart::Branch(_) => {
                format!("it depends on the condition in line {line}, which differs between threads")
            }
            Apart::Loop(_) => format!(
                "it is in a loop whose condition or bound, in line {line}, differs between threads"
            ),
            Apart::Jump(jump, _) if lowered.kernel.stmt(jump) == Stmt::Return => format!(
                "some threads return from the function before it, by the condition in line {line}, which differs between threads"
            ),
            Apart::Closure(_) => {
                "it is in a closure, which a function may call in some threads only".to_string()
            }
            Apart::Jump(..) => format!(
                "some threads leave the iteration before it, by the condition in line {line}, which differs between threads"
            ),
        };
        let mistake = Mistake::new(
            codes::DIVERGENT_BARRIER,
            "some threads of the block may miss this barrier",
            "move the barrier outside, and keep only the work of some threads under the condition",
        );
        let why = format!("{why}, and the threads that reach a barrier wait for the others");
        errors.report(lowered.stmt_spans[barrier.index()], &mistake.because(why));
    }
    None
}
