//! Proves that kernels and functions are free of races, and reports what has no proof.

use sarek_ir::analysis::access::Place;
use sarek_ir::analysis::race::{self, Assumed, Counterexample, Missing};
use sarek_ir::{Access, Argument, Kernel, Memory, ParamId, ParamKind, Stmt};

use crate::diagnostics::{Errors, Mistake, codes};
use crate::emit::assumed_results;
use crate::lower::Lowered;
use crate::tokens::range::Ranged;
use crate::tokens::range::SourceRange;

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
            lowered.name.range(),
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
    let why = match &race.counterexample {
        Some(found) => {
            let example = example(&lowered.kernel, race.memory, ids, found);
            format!("{}: {reason}; {example}", meeting(race))
        }
        None => format!("{}: {reason}", unproved(race)),
    };
    let instead = match race.missing {
        Some(missing) => format!("{}, {instead}", remedy(&lowered.kernel, missing)),
        None => instead,
    };
    let mistake = Mistake::new(code, where_, instead).because(why);
    errors.report(place_span(lowered, race.first.0), &mistake);
}

/// Tells how to state the fact that the proof lacks.
fn remedy(kernel: &Kernel, missing: Missing) -> String {
    let fact = missing.text(kernel);
    match missing {
        Missing::Guard { .. } => format!("guard the uses with `if {fact}`"),
        Missing::Order { .. } | Missing::Positive(_) => {
            format!("state `requires({fact})` in `#[kernel]`")
        }
    }
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
fn example(kernel: &Kernel, memory: Memory, ids: &str, found: &Counterexample) -> String {
    let [a, b] = found.threads.map(|[x, y, z]| format!("({x}, {y}, {z})"));
    let assumed = found.assumed.map(|assumed| {
        let Assumed {
            arguments,
            lengths,
            special,
            longer,
        } = assumed;
        let name = |param: ParamId| {
            let name = &kernel.params[param.index()].name;
            match kernel.params[param.index()].kind {
                ParamKind::Slice { .. } => format!("`{name}.len()`"),
                ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                    format!("`{name}`")
                }
            }
        };
        let special =
            special.map(|(param, value)| format!("{} is {value} and other ", name(param)));
        let special = special.unwrap_or_default();
        let values = match arguments == lengths {
            true => arguments.to_string(),
            false => format!("{arguments} and {lengths}, respectively"),
        };
        let others = match longer {
            true => " (a slice whose length is not read may be longer)",
            false => "",
        };
        format!("{special}arguments and lengths are {values}{others}")
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
        "those with the {ids} ids {a} and {b} may meet at `{}[{}]`{facts}",
        kernel.memory_name(memory),
        found.element
    )
}

fn place_span(lowered: &Lowered, place: Place) -> SourceRange {
    match place {
        Place::Load(id) => lowered.expr_spans[id.index()],
        Place::Store(id) => lowered.stmt_spans[id.index()],
    }
}
