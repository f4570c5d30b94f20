//! Race check that assumes the results of called functions.
//!
//! The macro of a kernel does not see the bodies of the functions that it calls. If the proof fails, and an index depends
//! on the result of a call, [`check`] tries usual [`Form`]s of index functions, such as `row * width + column`. The calls
//! of one function have one form.
//!
//! For each form, the kernel is [rewritten](mod@rewrite): it computes the form from the arguments, after the call, and
//! uses that value in place of the result. The proof is about the rewritten kernel, and the rewritten kernel is what
//! runs. Its freedom from races, its preconditions and its index checks therefore depend on nothing outside of it. The
//! caller of [`check`] has to make sure only that the function returns that value: rustc compares the form with the
//! function's formula.
//!
//! If several forms are free of races under the same preconditions, the kernel computes their sum with a named constant
//! before each product. rustc takes these constants from the function's formula, so that all but one form vanish.

mod forms;
mod rewrite;
mod tree;

use std::collections::BTreeSet;

pub use forms::{Argument, Form, Part, Scale, Term};
use rewrite::Template;
pub use tree::{Operator, Tree};

use super::meet::Steps;
use super::{Constants, Proof};
use crate::analysis::linear::Symbol;
use crate::facts::Effect;
use crate::validate::validate;
use crate::{
    Axis, CallId, Expr, ExprId, Kernel, LinkId, LocalId, Memory, Precondition, Root, Stmt,
};

/// More combinations of forms than these are not tried with the fast rules.
const MOST_FAST: usize = 24;

/// More combinations of forms than these are not tried with the refutation.
const MOST_REFUTED: usize = 6;

/// More forms of a function than these are not offered by the fast rules. The refutation may add two.
const MOST_FORMS: usize = 4;

/// More combinations of forms with quotients, bits or minima are not tried.
const MOST_TREES: usize = 16;

/// The steps of all refutations of one kind together: about 0.06 s in an unoptimised build.
const MOST_STEPS: u32 = 3000;
const MOST_STEPS_OF_TREES: u32 = 3000;

/// A proof that assumes the results of called functions.
#[derive(Clone, Debug)]
pub struct ByResults {
    /// The kernel, with the assumed results in place of the calls' own.
    pub kernel: Kernel,
    /// The preconditions of a launch of that kernel.
    pub preconditions: Vec<Precondition>,
    /// The assumptions.
    pub functions: Vec<AssumedFunction>,
}

/// The assumption about one function.
#[derive(Clone, Debug)]
pub struct AssumedFunction {
    /// The calls, which must all be of functions with one formula.
    pub calls: Vec<CallId>,
    /// The formula must have one of these forms.
    pub forms: Vec<Form>,
    /// Constants of the rewritten kernel, whose values are coefficients of the formula.
    pub coefficients: Vec<Coefficient>,
}

/// A constant of the rewritten kernel: the coefficient of a product of arguments, without its sign. It is 0 if the
/// coefficient does not have this sign.
#[derive(Clone, Debug)]
pub struct Coefficient {
    /// The constant.
    pub link: LinkId,
    /// The product.
    pub arguments: Vec<Part>,
    /// The sign.
    pub is_negative: bool,
}

/// Proves a kernel free of races under assumptions about the results of the functions that it calls. `None` if no
/// usual form suffices.
pub fn check(kernel: &Kernel) -> Option<ByResults> {
    let groups = groups(kernel);
    if groups.is_empty() {
        return None;
    }
    let forms: Vec<Vec<Form>> = groups.iter().map(|g| forms::of(kernel, g)).collect();
    let of_kind = |has_trees: bool| -> Vec<Vec<Form>> {
        let of = |forms: &Vec<Form>| {
            let forms = forms.iter().filter(|form| form.has_trees() == has_trees);
            forms.cloned().collect()
        };
        forms.iter().map(of).collect()
    };
    let steps = Steps::new(MOST_STEPS.into());
    let trees = search_trees(kernel, &groups, &of_kind(true));
    let found = match &groups[..] {
        // Several functions have one choice of forms, and quotients are rarely free of races by chance.
        [_, _, ..] if !trees.is_empty() => trees,
        _ => {
            let mut found = search((kernel, &steps), &groups, &of_kind(false));
            found.extend(trees);
            found
        }
    };
    // A form under which the launch may have more threads is the likely one.
    let best = found.iter().position(|found| !found.is_weak).unwrap_or(0);
    let mut found = found;
    let best = (best < found.len()).then(|| found.remove(best))?;
    let joined = match &groups[..] {
        [group] if !found.is_empty() => joined((kernel, &steps), group, &best, &found),
        _ => None,
    };
    Some(joined.unwrap_or_else(|| best.rewritten.with_forms(groups, best.forms)))
}

/// A choice of forms under which the kernel is free of races.
struct Found {
    /// A form for each function.
    forms: Vec<Form>,
    rewritten: Rewritten,
    /// True if the launch must have one thread along an axis whose ids the kernel uses.
    is_weak: bool,
    by: Rules,
}

/// The rules that a proof may use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    Fast,
    Refutation,
}

/// The forms under which the kernel is free of races, by the fast rules if they suffice.
fn search(
    (kernel, steps): (&Kernel, &Steps),
    groups: &[Vec<CallId>],
    forms: &[Vec<Form>],
) -> Vec<Found> {
    let mut found: Vec<Found> = vec![];
    let choices = choices(forms);
    for (by, most, most_found) in [
        (Rules::Fast, MOST_FAST, MOST_FORMS),
        (Rules::Refutation, MOST_REFUTED, MOST_FORMS + 2),
    ] {
        let mut left = most;
        let is_done = found.iter().any(|found| !found.is_weak);
        for choice in &choices {
            let chosen = choice.iter().zip(forms).map(|(at, of)| of[*at].clone());
            let chosen: Vec<Form> = chosen.collect();
            let is_known = found.iter().any(|known| known.forms == chosen);
            // The fast rules know no multiples of a single coordinate by any number.
            if is_known || is_done && !matches!(&chosen[..], [form] if form.is_multiple()) {
                continue;
            }
            if left == 0 || found.len() == most_found {
                break;
            }
            left -= 1;
            let templates: Vec<Template> = chosen.iter().map(Template::of).collect();
            if let Some(rewritten) = proved((kernel, steps), groups, &templates, by) {
                let is_weak = is_weak(kernel, &rewritten.proof);
                found.push(Found {
                    forms: chosen,
                    rewritten,
                    is_weak,
                    by,
                });
                // The next form may be the same with the coordinates in the other order.
                if by == Rules::Refutation && !is_weak {
                    left = left.min(1);
                }
            }
        }
    }
    found
}

/// The forms with quotients, bits or minima under which the kernel is free of races, by the refutation.
fn search_trees(kernel: &Kernel, groups: &[Vec<CallId>], forms: &[Vec<Form>]) -> Vec<Found> {
    let (mut found, steps) = (vec![], Steps::new(MOST_STEPS_OF_TREES.into()));
    let mut left = MOST_TREES;
    let mut choices = choices(forms);
    if let [forms] = forms {
        // A quotient or remainder alone is rarely an index.
        choices.sort_by_key(|choice| forms[choice[0]].is_quotient());
    }
    for choice in choices {
        let chosen = choice.iter().zip(forms).map(|(at, of)| of[*at].clone());
        let chosen: Vec<Form> = chosen.collect();
        // Two functions hardly return the same value.
        let is_twice = |(at, form)| chosen[..at].contains(form);
        if chosen.iter().enumerate().any(is_twice) {
            continue;
        }
        if left == 0 || found.len() == MOST_FORMS {
            break;
        }
        left -= 1;
        let templates: Vec<Template> = chosen.iter().map(Template::of).collect();
        let by = Rules::Refutation;
        let Some(rewritten) = proved((kernel, &steps), groups, &templates, by) else {
            continue;
        };
        let is_weak = is_weak(kernel, &rewritten.proof);
        if !is_weak {
            found.push(Found {
                forms: chosen,
                rewritten,
                is_weak,
                by,
            });
        }
        if groups.len() > 1 && !found.is_empty() {
            break;
        }
    }
    found
}

/// True if the launch, or its blocks, must have one thread along an axis whose ids the kernel uses.
fn is_weak(kernel: &Kernel, proof: &Proof) -> bool {
    proof.preconditions.iter().any(|need| {
        let axis = match *need {
            Precondition::SingleThread(axis) | Precondition::BlockAtMost(axis, 1) => axis,
            Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::NoOverflow(_)
            | Precondition::SubgroupSize(_)
            | Precondition::SubgroupSizeIs(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups
            | Precondition::Positive(_)
            | Precondition::Holds(_) => return false,
        };
        let mut exprs = kernel.exprs.iter();
        exprs.any(|expr| match expr {
            Expr::Builtin(id) => Symbol::of_builtin(*id).is_none() && id.axis() == Some(axis),
            _ => false,
        })
    })
}

/// A rewritten kernel that is free of races.
struct Rewritten {
    kernel: Kernel,
    proof: Proof,
    /// The constants for the coefficients of each function.
    coefficients: Vec<Vec<Coefficient>>,
}

impl Rewritten {
    /// The result for one form for each function.
    fn with_forms(self, groups: Vec<Vec<CallId>>, forms: Vec<Form>) -> ByResults {
        let functions = groups.into_iter().zip(forms).zip(self.coefficients);
        let functions = functions.map(|((calls, form), coefficients)| AssumedFunction {
            calls,
            forms: vec![form.under(&coefficients, &self.proof.constants)],
            coefficients,
        });
        ByResults {
            functions: functions.collect(),
            kernel: self.kernel,
            preconditions: self.proof.preconditions,
        }
    }
}

/// The proof for templates, one for each function. It bounds only factors that are new constants.
fn proved(
    (kernel, steps): (&Kernel, &Steps),
    groups: &[Vec<CallId>],
    templates: &[Template],
    by: Rules,
) -> Option<Rewritten> {
    let mut rewritten = kernel.clone();
    let mut coefficients = vec![];
    for (calls, template) in groups.iter().zip(templates) {
        coefficients.push(rewrite::rewrite(&mut rewritten, calls, template)?);
    }
    validate(&rewritten).ok()?;
    let factors = coefficients.iter().flatten();
    let factors = factors.filter(|of: &&Coefficient| !of.arguments.is_empty());
    let factors: Vec<LinkId> = factors.map(|of| of.link).collect();
    let constants = match by {
        Rules::Fast => Constants::no_refutation(),
        Rules::Refutation => Constants::among(kernel, &factors).within(steps),
    };
    let proof = super::proof(&rewritten, constants).ok()?;
    Some(Rewritten {
        kernel: rewritten,
        proof,
        coefficients,
    })
}

/// A kernel that computes any of several forms, as its function has them. It has the preconditions of all. A form that
/// limits the threads along other axes than the first is dropped.
fn joined(
    (kernel, steps): (&Kernel, &Steps),
    calls: &[CallId],
    first: &Found,
    others: &[Found],
) -> Option<ByResults> {
    let all = || std::iter::once(first).chain(others);
    let single = |needs: &[Precondition]| {
        Axis::ALL.map(|axis| {
            let is_single = |need: &Precondition| match need {
                Precondition::SingleThread(of)
                | Precondition::BlockAtMost(of, _)
                | Precondition::GridAtMost(of, _) => *of == axis,
                Precondition::BlockMultipleOf(_) => false,
                Precondition::ExtentAtMost(..)
                | Precondition::NoOverflow(_)
                | Precondition::SubgroupSize(_)
                | Precondition::SubgroupSizeIs(_)
                | Precondition::EqualSubgroups
                | Precondition::WholeSubgroups
                | Precondition::BlockOfSubgroups
                | Precondition::Positive(_)
                | Precondition::Holds(_) => false,
            };
            needs.iter().any(is_single)
        })
    };
    let sum = Template::sum(all().flat_map(|found| &found.forms));
    let mut forms = vec![];
    let mut preconditions: Option<Vec<Precondition>> = None;
    for found in all() {
        let form = &found.forms[0];
        let groups = [calls.to_vec()];
        let Some(template) = sum.only(form) else {
            continue;
        };
        let Some(rewritten) = proved((kernel, steps), &groups, &[template], found.by) else {
            continue;
        };
        let Rewritten {
            proof,
            coefficients,
            ..
        } = rewritten;
        let needs = preconditions.get_or_insert_with(|| proof.preconditions.clone());
        if single(needs) == single(&proof.preconditions) {
            super::add(needs, proof.preconditions);
            forms.push(form.under(&coefficients[0], &proof.constants));
        }
    }
    let preconditions = preconditions.filter(|_| forms.len() > 1)?;
    let mut kernel = kernel.clone();
    let coefficients = rewrite::rewrite(&mut kernel, calls, &sum)?;
    Some(ByResults {
        kernel,
        preconditions,
        functions: vec![AssumedFunction {
            calls: calls.to_vec(),
            forms,
            coefficients,
        }],
    })
}

/// The choices of one form for each function, the first forms first.
fn choices(forms: &[Vec<Form>]) -> Vec<Vec<usize>> {
    let mut choices = vec![vec![]];
    for of in forms {
        let longer = choices.iter().flat_map(|choice: &Vec<usize>| {
            (0..of.len()).map(move |at| {
                let mut choice = choice.clone();
                choice.push(at);
                choice
            })
        });
        choices = longer.take(1 << 12).collect();
    }
    choices.sort_by_key(|choice| choice.iter().sum::<usize>());
    choices
}

/// The calls whose results may reach an index of memory that threads share, by function.
fn groups(kernel: &Kernel) -> Vec<Vec<CallId>> {
    let mut groups: Vec<(usize, Vec<CallId>)> = vec![];
    for id in indexing(kernel) {
        let call = &kernel.calls[id.index()];
        let Some(function) = call.called.function() else {
            continue;
        };
        let name = &kernel.functions[function.index()];
        let same = |(of, _): &&mut (usize, Vec<CallId>)| kernel.functions[*of] == *name;
        match groups.iter_mut().find(same) {
            Some((_, calls)) => calls.push(id),
            None => groups.push((function.index(), vec![id])),
        }
    }
    groups.into_iter().map(|(_, calls)| calls).collect()
}

/// The calls whose results may reach an index of memory that threads share.
fn indexing(kernel: &Kernel) -> BTreeSet<CallId> {
    let mut open: Vec<ExprId> = vec![];
    let is_shared = |memory: Memory| kernel.is_shared_between_threads(memory);
    for expr in kernel.exprs.iter() {
        if let Expr::Load { memory, index, .. } = *expr
            && is_shared(memory)
        {
            open.push(index);
        }
    }
    for stmt in kernel.stmts.iter() {
        match *stmt {
            Stmt::Store { memory, index, .. } if is_shared(memory) => open.push(index),
            Stmt::Update { place, .. } => {
                if let Root::Element { memory, index, .. } = kernel.places[place.index()].root
                    && is_shared(memory)
                {
                    open.push(index);
                }
            }
            _ => {}
        }
    }
    let mut locals: BTreeSet<LocalId> = BTreeSet::new();
    let mut calls = BTreeSet::new();
    while let Some(next) = open.pop() {
        for id in kernel.exprs_in([next]).collect::<Vec<_>>() {
            let Expr::Local(local) = kernel.expr(id) else {
                continue;
            };
            if !locals.insert(local) {
                continue;
            }
            for stmt in kernel.stmts.iter() {
                match *stmt {
                    Stmt::Let {
                        local: of,
                        init: Some(value),
                    }
                    | Stmt::Assign { local: of, value }
                        if of == local =>
                    {
                        open.push(value);
                    }
                    _ => {
                        if let Effect::Call(call) = stmt.facts().effect
                            && kernel.calls[call.index()].result == Some(local)
                        {
                            calls.insert(call);
                        }
                    }
                }
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests;
