//! Reports code that rustc would accept but that has no meaning in a kernel.

use proc_macro2::Span;
use sarek_ir::analysis::access::Place;
use sarek_ir::analysis::barriers::{self, Divergence};
use sarek_ir::analysis::exact::{self, Stray};
use sarek_ir::analysis::race::{self, Assumed, Counterexample};
use sarek_ir::analysis::uniformity::Apart;
use sarek_ir::facts::Effect;
use sarek_ir::validate::{Node, Rule, Violation, validate};
use sarek_ir::{Access, Argument, Intrinsic, Memory, Stmt};

use crate::diagnostics::{Errors, Mistake, codes};
use crate::emit::assumed_results;
use crate::lower::Lowered;

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

/// Reports calls that may write a slice, since nothing tells which elements the callee writes. For
/// shared arrays an assertion makes the same check.
fn lent(lowered: &Lowered, errors: &mut Errors) {
    let kernel = &lowered.kernel;
    for (id, stmt) in kernel.stmts.iter().enumerate() {
        let Stmt::Call { call } = stmt else { continue };
        for arg in kernel.calls[call.index()].args.iter() {
            let Argument::Memory(memory) = *arg else {
                continue;
            };
            let is_written = match memory {
                Memory::Slice(_) => kernel.access(memory) == Access::Write,
                Memory::Shared(_) | Memory::Local(_) | Memory::Table(_) => false,
            };
            if is_written {
                errors.at(
                    codes::LENT_MEMORY,
                    lowered.stmt_spans[id],
                    format!(
                        "threads that call this may write the same element of `{}` at once",
                        kernel.memory_name(memory)
                    ),
                    "pass values in place of the slice, or declare the kernel `unsafe fn`",
                );
            }
        }
    }
}

/// Proves that threads do not race in a function, on its own shared arrays or on those that it may
/// receive.
pub fn function_races(lowered: &mut Lowered, is_unsafe: bool, errors: &mut Errors) -> Option<()> {
    if is_unsafe {
        lowered.takes = vec![true; lowered.kernel.params.len()];
        return Some(());
    }
    let views = lowered.views.keys().copied().collect();
    let found = race::function::check(&lowered.kernel, &views);
    for id in &found.open {
        let name = &lowered.kernel.shared[id.index()].name;
        errors.at(
            codes::OPEN_SHARED,
            lowered.name.span(),
            format!("`{name}` is used after the last barrier of this function, or the function may return before that barrier"),
            "bind the value to a name and write `barrier();` after that, or declare the function `unsafe fn`",
        );
    }
    for race in &found.races {
        report(lowered, race, "function", errors);
    }
    if !errors.is_empty() {
        return None;
    }
    lowered.kernel.preconditions = found.needs.into();
    lowered.constant_bounds = found.constants;
    lowered.takes = found.takes;
    lowered.agreed = found.agreed;
    Some(())
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
    let span = lowered.name.span();
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

/// Proves that no two threads race, and returns the proof's assumptions about the launch. Without
/// `phases` the barriers have errors, so it is unknown which accesses they separate. Races on
/// shared arrays are then not reported.
/// Changes the kernel if the proof assumes the results of called functions.
pub fn races(lowered: &mut Lowered, phases: bool, errors: &mut Errors) -> Option<race::Proof> {
    lent(lowered, errors);
    let proved = race::check_with_constants(&lowered.kernel);
    // Only a function's result may need no bounds.
    let is_bounded = |proof: &race::Proof| !proof.constants.is_empty();
    if proved.as_ref().map_or(true, is_bounded)
        && let Some(found) = race::called::check(&lowered.kernel)
    {
        let preconditions = found.preconditions.clone();
        assumed_results::adopt(lowered, found);
        return Some(race::Proof {
            preconditions,
            constants: vec![],
        });
    }
    let races = match proved {
        Ok(proof) => return Some(proof),
        Err(races) => races,
    };
    let is_known = |race: &&race::Race| phases || !matches!(race.memory, Memory::Shared(_));
    for race in races.iter().filter(is_known) {
        report(lowered, race, "kernel", errors);
    }
    None
}

fn report(lowered: &Lowered, race: &race::Race, what: &str, errors: &mut Errors) {
    let name = lowered.kernel.memory_name(race.memory);
    let (code, where_, ids, instead) = match race.memory {
        Memory::Shared(_) => (
            codes::SHARED_RACE,
            format!(
                "two threads of a block may use the same element of `{name}` between two barriers"
            ),
            "thread",
            format!(
                "put a `barrier()` between the two uses, store to the thread's own element, such as \
                 `{name}[thread_idx_x()]`, make the elements `Atomic<T>`, or declare the {what} `unsafe fn`"
            ),
        ),
        Memory::Slice(_) | Memory::Local(_) | Memory::Table(_) => (
            codes::RACE,
            format!("two threads may use the same element of `{name}` at once"),
            "global",
            format!(
                "take it as `&[Atomic<T>]` if threads share elements, store to the thread's own element, by its index as \
                 in `{name}[global_idx_x()]` or through a view (`ViewMut2<T>`), or declare the {what} `unsafe fn`"
            ),
        ),
    };
    let reason = race.explanation(&lowered.kernel);
    let why = match race.counterexample {
        Some(found) => format!("{}: {reason}; {}", meeting(race), example(name, ids, found)),
        None => format!("{}: {reason}", unproved(race)),
    };
    let mistake = Mistake::new(code, where_, instead).because(why);
    errors.report(place_span(lowered, race.first.0), &mistake);
}

/// Describes two accesses of which a counterexample exists.
fn meeting(race: &race::Race) -> String {
    let (first, second) = accesses(race);
    format!("{first} meets {second}")
}

/// Describes two accesses that the proof cannot keep apart.
fn unproved(race: &race::Race) -> String {
    let (first, second) = accesses(race);
    format!(
        "no proof keeps {first} apart from {second}, though no two threads were found that meet"
    )
}

/// Names the two accesses.
fn accesses(race: &race::Race) -> (String, String) {
    let word = |place: Place| match place {
        Place::Load(_) => "the load",
        Place::Store(_) => "the store",
    };
    let ((first, loc), (second, other)) = (race.first, race.second);
    let second = match race.first == race.second {
        true => "that of another thread".to_string(),
        false => format!("{} of another thread in line {}", word(second), other.line),
    };
    (format!("{} in line {}", word(first), loc.line), second)
}

/// Describes a counterexample: two threads that access the same element.
fn example(name: &str, ids: &str, found: Counterexample) -> String {
    let [a, b] = found.threads.map(|[x, y, z]| format!("({x}, {y}, {z})"));
    let assumed = found.assumed.map(|assumed| {
        let Assumed {
            arguments,
            lengths,
            longer,
        } = assumed;
        let values = match arguments == lengths {
            true => arguments.to_string(),
            false => format!("{arguments} and {lengths}, respectively"),
        };
        let others = match longer {
            true => " (a slice whose length is not read may be longer)",
            false => "",
        };
        format!("arguments and lengths are {values}{others}")
    });
    let zeros = found
        .zeros
        .then(|| "elements that are only read are 0".to_string());
    let facts: Vec<String> = assumed.into_iter().chain(zeros).collect();
    let facts = match facts[..] {
        [] => String::new(),
        _ => format!(", where {}", facts.join(" and ")),
    };
    format!(
        "those with the {ids} ids {a} and {b} may meet at `{name}[{}]`{facts}",
        found.element
    )
}

fn place_span(lowered: &Lowered, place: Place) -> Span {
    match place {
        Place::Load(id) => lowered.expr_spans[id.index()],
        Place::Store(id) => lowered.stmt_spans[id.index()],
    }
}
