//! Reports code that rustc would accept but that has no meaning in a kernel.

use proc_macro2::Span;
use sarek_ir::analysis::access::Place;
use sarek_ir::analysis::barriers::{self, Divergence};
use sarek_ir::analysis::exact::{self, Stray};
use sarek_ir::analysis::race::{self, Counterexample};
use sarek_ir::analysis::uniformity::Apart;
use sarek_ir::facts::Effect;
use sarek_ir::validate::{Node, Rule, Violation, validate};
use sarek_ir::{Access, Argument, Intrinsic, Memory, Precondition, Stmt};

use crate::diagnostics::{Errors, Mistake, codes};
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
                "the type of what a subgroup works on must be known here",
                "write it, as in `let v: f32 = …;`",
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
                "compare it: `x != 0`, or cast by way of an integer",
            )
        }
        (Rule::PrintFormat, _) => {
            let what = "an argument does not have the format that it is printed by";
            Mistake::new(
                codes::PRINTED,
                what,
                "print floats by `{}` or `{:e}`, and integers by `{:x}` and its like",
            )
        }
        (rule, _) => Mistake::new(codes::INVALID, rule.text(), "write it in another way"),
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
                    "`{}` is not rounded the same on every device",
                    function.name()
                ),
                instead(function).to_string(),
            ),
            Stray::Zeros(id, function) => {
                let name = function.name();
                let sign = if function == Intrinsic::Max { ">" } else { "<" };
                (
                    lowered.expr_spans[id.index()],
                    format!("`{name}` of floats may give either of two zeros"),
                    format!("write `if a {sign} b {{ a }} else {{ b }}`"),
                )
            }
            Stray::Atomic(id, op) => (
                lowered.stmt_spans[id.index()],
                format!(
                    "the result of `{}` on floats depends on the order of the threads",
                    op.name()
                ),
                "sum integers, or in an order of your own".to_string(),
            ),
            Stray::Subgroup(id, op) => (
                lowered.stmt_spans[id.index()],
                format!(
                    "`{}` of floats is computed in an order that each device chooses",
                    op.name()
                ),
                "use integers, or a shared array and an order of your own".to_string(),
            ),
            Stray::Text(id) => (
                lowered.stmt_spans[id.index()],
                "what a target's own text computes is not known".to_string(),
                "write it in Rust".to_string(),
            ),
        };
        errors.at(codes::STRICT, span, what, instead);
    }
    strays.is_empty().then_some(())
}

/// The suggested replacement for a function that devices compute only within some ulps.
fn instead(function: Intrinsic) -> &'static str {
    const INSTEAD: [(Intrinsic, &str); 3] = [
        (Intrinsic::Rsqrt, "write `1.0 / x.sqrt()`"),
        (Intrinsic::Powi, "write the multiplications"),
        (Intrinsic::Hypot, "write `(x * x + y * y).sqrt()`"),
    ];
    let found = INSTEAD.iter().find(|(other, _)| *other == function);
    found.map_or(
        "write it out in `+ - * /`, `sqrt` and `mul_add`, which are",
        |(_, instead)| instead,
    )
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
                    format!("the threads that call this may write `{}` at once, at elements that are not known here", kernel.memory_name(memory)),
                    "give it values in place of the slice, or declare the kernel `unsafe fn`",
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
            format!("`{name}` is used behind the last barrier of this function, or returned before that"),
            "bind what is read to a name and let `barrier();` follow it, or declare the function `unsafe fn`",
        );
    }
    for race in &found.races {
        report(lowered, race, "function", errors);
    }
    if !errors.is_empty() {
        return None;
    }
    lowered.kernel.preconditions = found.needs.into();
    lowered.takes = found.takes;
    lowered.agreed = found.agreed;
    Some(())
}

/// Reports functions that have callable parameters and in which threads work together.
pub fn callables(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    let first = lowered.callables.first();
    let Some(first) = first.filter(|_| crate::expand::is_cooperative(&lowered.kernel)) else {
        return Some(());
    };
    errors.at(
        codes::COLLECTIVE_CALL,
        first.span,
        "the threads of a block work together in this function, and such functions are not given closures",
        "give it values, which each thread computes before the call",
    );
    None
}

/// Reports functions that nest calls of themselves and use features that exclude this.
pub fn recursion(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    if lowered.nests.is_none() {
        return Some(());
    }
    let kernel = &lowered.kernel;
    let span = lowered.name.span();
    if crate::expand::is_cooperative(kernel) {
        errors.at(
            codes::RECURSION,
            span,
            "the threads of a block do not work together in a function that nests calls of itself",
            "write a loop",
        );
        return None;
    }
    let result = kernel.result.map(|local| kernel.locals[local.index()].ty);
    if result.is_some_and(|ty| ty.as_scalar().is_none()) {
        errors.at(
            codes::RECURSION,
            span,
            "a function that nests calls of itself yields a scalar, or nothing",
            "give other results by `&mut`",
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
                "before it, some threads return from the function, by the condition in line {line}, which differs between threads"
            ),
            Apart::Closure(_) => {
                "it is in a closure, which a function may call for some threads only".to_string()
            }
            Apart::Jump(..) => format!(
                "before it, some threads leave the iteration, by the condition in line {line}, which differs between threads"
            ),
        };
        let mistake = Mistake::new(
            codes::DIVERGENT_BARRIER,
            "some threads of the block may miss this barrier",
            "put the barrier outside, and what only some threads do under a condition of its own",
        );
        let why = format!("{why}, and those that come to a barrier wait for the others");
        errors.report(lowered.stmt_spans[barrier.index()], &mistake.because(why));
    }
    None
}

/// Proves that no two threads race, and returns the proof's assumptions about the launch. Without
/// `phases` the barriers have errors, so it is unknown which accesses they separate. Races on
/// shared arrays are then not reported.
pub fn races(lowered: &Lowered, phases: bool, errors: &mut Errors) -> Option<Vec<Precondition>> {
    lent(lowered, errors);
    let races = match race::check(&lowered.kernel) {
        Ok(preconditions) => return Some(preconditions),
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
                "put a `barrier()` between the two, store to an element of the thread's own, such as \
                 `{name}[thread_idx_x()]`, make the elements `Atomic<T>`, or declare the {what} `unsafe fn`"
            ),
        ),
        Memory::Slice(_) | Memory::Local(_) | Memory::Table(_) => (
            codes::RACE,
            format!("two threads may use the same element of `{name}` at once"),
            "global",
            format!(
                "take it as `&[Atomic<T>]` where threads share elements, store to the thread's own, by its index as in \
                 `{name}[global_idx_x()]` or through a view (`ViewMut2<T>`), or declare the {what} `unsafe fn`"
            ),
        ),
    };
    let meet = meeting(race);
    let example = race.counterexample.map(|w| example(name, ids, w));
    let why = format!("{meet}: {}{}", race.reason, example.unwrap_or_default());
    let mistake = Mistake::new(code, where_, instead).because(why);
    errors.report(place_span(lowered, race.first.0), &mistake);
}

/// Describes the two accesses.
fn meeting(race: &race::Race) -> String {
    let word = |place: Place| match place {
        Place::Load(_) => "the load",
        Place::Store(_) => "the store",
    };
    let ((first, loc), (second, other)) = (race.first, race.second);
    if race.first == race.second {
        return format!(
            "{} in line {} meets that of another thread",
            word(first),
            loc.line
        );
    }
    format!(
        "{} in line {} meets {} of another thread in line {}",
        word(first),
        loc.line,
        word(second),
        other.line
    )
}

/// Describes a counterexample: two threads that may access the same element.
fn example(name: &str, ids: &str, witness: Counterexample) -> String {
    let [a, b] = witness.threads.map(|[x, y, z]| format!("({x}, {y}, {z})"));
    let value = match witness.value {
        Some(value) => format!(", where arguments and lengths are {value}"),
        None => String::new(),
    };
    format!(
        "; those with the {ids} ids {a} and {b} may meet at `{name}[{}]`{value}",
        witness.index
    )
}

fn place_span(lowered: &Lowered, place: Place) -> Span {
    match place {
        Place::Load(id) => lowered.expr_spans[id.index()],
        Place::Store(id) => lowered.stmt_spans[id.index()],
    }
}
