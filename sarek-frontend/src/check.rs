//! What rustc would accept but a kernel cannot mean.

use proc_macro2::Span;
use sarek_ir::analysis::access::Place;
use sarek_ir::analysis::barriers::{self, Divergence};
use sarek_ir::analysis::race::{self, Witness};
use sarek_ir::analysis::uniformity::Apart;
use sarek_ir::validate::{Node, Rule, Violation, validate};
use sarek_ir::{Access, Argument, Memory, Precondition, Stmt};

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
        Node::Stmt(id) => match lowered.kernel.stmt(id) {
            sarek_ir::Stmt::Subgroup { args, .. } => {
                let first = lowered.kernel.list(args).next();
                first.map(|arg| lowered.kernel.scalar_of(arg))
            }
            sarek_ir::Stmt::Let { .. }
            | sarek_ir::Stmt::Assign { .. }
            | sarek_ir::Stmt::Store { .. }
            | sarek_ir::Stmt::Update { .. }
            | sarek_ir::Stmt::Assert { .. }
            | sarek_ir::Stmt::If { .. }
            | sarek_ir::Stmt::Loop { .. }
            | sarek_ir::Stmt::For { .. }
            | sarek_ir::Stmt::Break { .. }
            | sarek_ir::Stmt::Continue { .. }
            | sarek_ir::Stmt::Return
            | sarek_ir::Stmt::Barrier
            | sarek_ir::Stmt::Fence { .. }
            | sarek_ir::Stmt::Panic { .. }
            | sarek_ir::Stmt::Print { .. }
            | sarek_ir::Stmt::Atomic { .. }
            | sarek_ir::Stmt::Call { .. }
            | sarek_ir::Stmt::Native { .. } => None,
        },
        Node::Kernel
        | Node::Param(_)
        | Node::Local(_)
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

/// Reports slices that a call may write: nothing tells which elements the function uses. Of shared arrays an assertion does.
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
                Memory::Shared(_) | Memory::Local(_) => false,
            };
            if is_written {
                let message = format!(
                    "two threads may use the same element of `{}` at once: which ones this function uses is not known \
                     here. Give it values in place of the slice, or declare the kernel `unsafe fn`",
                    kernel.memory_name(memory)
                );
                errors.at(lowered.stmt_spans[id], message);
            }
        }
    }
}

/// Proves that threads do not race in a function, on shared arrays of its own or that it may be lent.
pub fn function_races(lowered: &mut Lowered, is_unsafe: bool, errors: &mut Errors) -> Option<()> {
    if is_unsafe {
        lowered.takes = vec![true; lowered.kernel.params.len()];
        return Some(());
    }
    let found = race::function::check(&lowered.kernel);
    for id in &found.open {
        let name = &lowered.kernel.shared[id.index()].name;
        let message = format!(
            "`{name}` is used behind the last barrier of this function, or returned before that: the next call may overwrite \
             what is used here. Bind what is read to a name, and let `barrier();` follow it; or declare the function `unsafe fn`"
        );
        errors.at(lowered.name.span(), message);
    }
    for race in &found.races {
        report(lowered, race, "function", errors);
    }
    if !errors.is_empty() {
        return None;
    }
    lowered.kernel.preconditions = found.needs.into();
    lowered.takes = found.takes;
    Some(())
}

/// Reports functions that nest calls of themselves and can do no more.
pub fn recursion(lowered: &Lowered, errors: &mut Errors) -> Option<()> {
    if lowered.nests.is_none() {
        return Some(());
    }
    let kernel = &lowered.kernel;
    let span = lowered.name.span();
    if crate::expand::is_cooperative(kernel) {
        let message = "the threads of a block do not work together in a function that nests calls of itself: write a loop";
        errors.at(span, message);
        return None;
    }
    let result = kernel.result.map(|local| kernel.locals[local.index()].ty);
    if result.is_some_and(|ty| ty.as_scalar().is_none()) {
        let message = "a function that nests calls of itself yields a scalar, or nothing: give other results by `&mut`";
        errors.at(span, message);
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
        let line = lowered.kernel.expr_locs[why.condition().index()].line;
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
            Apart::Jump(..) => format!(
                "before it, some threads leave the iteration, by the condition in line {line}, which differs between threads"
            ),
        };
        let message = format!(
            "all threads of a block come to a barrier together, and some may miss this one: {why}. Put the barrier \
             outside, and what only some threads do under a condition of its own"
        );
        errors.at(lowered.stmt_spans[barrier.index()], message);
    }
    None
}

/// Proves that no two threads race; what the proof takes from the launch comes back.
pub fn races(lowered: &Lowered, errors: &mut Errors) -> Option<Vec<Precondition>> {
    lent(lowered, errors);
    let races = match race::check(&lowered.kernel) {
        Ok(preconditions) => return Some(preconditions),
        Err(races) => races,
    };
    for race in &races {
        report(lowered, race, "kernel", errors);
    }
    None
}

fn report(lowered: &Lowered, race: &race::Race, what: &str, errors: &mut Errors) {
    let buffer = lowered.kernel.memory_name(race.memory);
    let (place, _) = race.first;
    let (_, second) = race.second;
    let meets = if race.first == race.second {
        String::new()
    } else {
        format!(" (the other access is in line {})", second.line)
    };
    let example = race.witness.map(|w| example(buffer, w)).unwrap_or_default();
    let message = match race.memory {
        Memory::Shared(_) => format!(
            "two threads of a block may use the same element of `{buffer}` between two barriers: {}{meets}{example}. Put a \
             `barrier()` between them, store to an element of the thread's own, such as `{buffer}[thread_idx_x()]`, use \
             elements of type `Atomic<T>`, or declare the {what} `unsafe fn`",
            race.reason
        ),
        Memory::Slice(_) | Memory::Local(_) => format!(
            "two threads may use the same element of `{buffer}` at once: {}{meets}{example}. Store to an element of the \
             thread's own, such as `{buffer}[global_idx_x()]`, use a `&[Atomic<T>]`, or declare the {what} `unsafe fn`",
            race.reason
        ),
    };
    errors.at(place_span(lowered, place), message);
}

/// Two threads that may meet, in words.
fn example(buffer: &str, witness: Witness) -> String {
    let [a, b] = witness.threads.map(|[x, y, z]| format!("({x}, {y}, {z})"));
    let value = match witness.value {
        Some(value) => format!(", where arguments and lengths are {value}"),
        None => String::new(),
    };
    format!(
        "; threads {a} and {b} may meet at `{buffer}[{}]`{value}",
        witness.index
    )
}

fn place_span(lowered: &Lowered, place: Place) -> Span {
    match place {
        Place::Load(id) => lowered.expr_spans[id.index()],
        Place::Store(id) => lowered.stmt_spans[id.index()],
    }
}
