//! The fact that a failed proof lacks: a guard or a requirement under which the proof succeeds.
//!
//! Usual facts are tried one by one, as if they held at each access of the memory. A fact that no thread satisfies there
//! would prove anything, so it is left out.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::meet::{Assumption, Setting};
use super::{Needs, Race, add, is_store};
use crate::analysis::access::{Access, accesses_of_values, barrier_intervals_of_values};
use crate::analysis::linear::{Atom, Fact, Form, Poly, Relation, Sign, Symbol, Terms};
use crate::analysis::uniformity::Among;
use crate::{
    Builtin, Expr, ExprId, Kernel, LocalId, Memory, ParamId, ParamKind, Precondition, Scalar, Stmt,
};

/// The steps for the reported pair of accesses under one fact.
const STEPS_OF_PAIR: u32 = 150;

/// The steps for all pairs under one fact.
const STEPS_OF_ALL: u32 = 1500;

/// The steps of the proofs under all facts: about 0.05 s in an unoptimised build.
const MOST_STEPS: u32 = 3000;

/// More values than these are not compared with each other.
const MOST_VALUES: usize = 6;

/// A fact under which the proof succeeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Each thread that accesses the memory has a smaller id than the value, or than half of it.
    #[allow(missing_docs)]
    Guard { id: Builtin, below: Limit },
    /// The launch satisfies `least <= most`.
    #[allow(missing_docs)]
    Order { least: Value, most: Value },
    /// The launch satisfies `value > 0`.
    Positive(Value),
}

/// The limit of a guard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// A value of the launch.
    Value(Value),
    /// Half of a value of the launch.
    Half(Value),
    /// Another id of the thread.
    Id(Builtin),
}

/// A value of the launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    /// An argument.
    Param(ParamId),
    /// The length of a slice.
    Len(ParamId),
}

/// The first usual fact under which the proof of a race's memory succeeds.
pub(super) fn find(kernel: &Kernel, race: &Race) -> Option<Missing> {
    let proof = Proof::of(kernel, race);
    let left = Cell::new(MOST_STEPS);
    proof.candidates().into_iter().find(|missing| {
        let fact = missing.fact(kernel);
        fact.is_some_and(|fact| proof.succeeds(&[fact], &left).is_some())
    })
}

/// The preconditions of launches in which no two threads meet, if some arguments or lengths are positive there: strides that
/// no guard bounds, as in `y[global_idx_x() * stride]`.
pub(super) fn positive(kernel: &Kernel, race: &Race) -> Option<Needs> {
    // For these, usual forms of the results are tried first: see `called`.
    if !kernel.calls.is_empty() {
        return None;
    }
    let proof = Proof::of(kernel, race);
    let left = Cell::new(MOST_STEPS);
    let each = proof.values();
    let under = |values: &[Value]| {
        let facts = values
            .iter()
            .map(|of| Missing::Positive(*of).fact(kernel))
            .collect::<Option<Vec<Fact>>>()?;
        let mut needs = proof.succeeds(&facts, &left)?;
        needs.extend(values.iter().map(|of| Precondition::Positive(of.param())));
        Some(needs)
    };
    let one = each.iter().find_map(|of| under(&[*of]));
    one.or_else(|| {
        under(&each)?;
        let mut kept = each.clone();
        for of in &each {
            let fewer: Vec<Value> = kept.iter().copied().filter(|kept| kept != of).collect();
            if under(&fewer).is_some() {
                kept = fewer;
            }
        }
        under(&kept)
    })
}

/// The accesses of one memory, and the pairs of them that must be proved apart.
struct Proof<'k> {
    kernel: &'k Kernel,
    terms: Terms,
    accesses: Vec<Access>,
    /// The pairs of accesses that must not meet, the reported one first.
    pairs: Vec<(usize, usize)>,
    in_block: bool,
}

impl<'k> Proof<'k> {
    fn of(kernel: &'k Kernel, race: &Race) -> Proof<'k> {
        let memory = race.memory;
        let in_block = matches!(memory, Memory::Shared(_));
        let (accesses, pairs, terms) = match in_block {
            true => {
                let (all, intervals, terms) =
                    barrier_intervals_of_values(kernel, &Among::default());
                let of_each = intervals
                    .iter()
                    .flat_map(|one| super::shared::pairs(&all, one));
                let pairs: BTreeSet<_> = of_each.collect();
                (all, pairs, terms)
            }
            false => {
                let (all, terms) = accesses_of_values(kernel);
                let of_each = (0..all.len()).flat_map(|i| (i..all.len()).map(move |j| (i, j)));
                let pairs = of_each.filter(|(i, j)| is_store(&all[*i]) || is_store(&all[*j]));
                let pairs = pairs.collect();
                (all, pairs, terms)
            }
        };
        let is_of = |at: &usize| accesses[*at].memory == memory;
        let pairs = pairs.into_iter();
        let pairs = pairs.filter(|(i, j)| is_of(i) && is_of(j));
        let mut pairs: Vec<(usize, usize)> = pairs.collect();
        let reported = [race.first.0, race.second.0];
        pairs.sort_by_key(|(i, j)| {
            let places = [i, j].map(|at| accesses[*at].place);
            places != reported && [places[1], places[0]] != reported
        });
        Proof {
            kernel,
            terms,
            accesses,
            pairs,
            in_block,
        }
    }

    /// The preconditions under which no pair meets, if that follows from the facts, and the facts alone are not the
    /// reason. Takes steps.
    fn succeeds(&self, facts: &[Fact], left: &Cell<u32>) -> Option<Needs> {
        let under = |at: usize| {
            let mut access = self.accesses[at].clone();
            access.facts.extend_from_slice(facts);
            access
        };
        let mut needs = vec![];
        let mut within = |most: u32, pairs: &[(usize, usize)]| {
            let steps = Cell::new(most.min(left.get()));
            let before = steps.get();
            let setting = self.setting(&steps);
            let none_meets = pairs.iter().all(|(i, j)| {
                let apart = setting.apart(&under(*i), &under(*j), &mut vec![]);
                apart.map(|found| add(&mut needs, found)).is_some()
            });
            left.set(left.get() - (before - steps.get()));
            none_meets
        };
        let (reported, others) = self.pairs.split_at_checked(1)?;
        let none_meets = within(STEPS_OF_PAIR, reported) && within(STEPS_OF_ALL, others);
        let steps = Cell::new(0);
        let mut all = self.pairs.iter().flat_map(|(i, j)| [*i, *j]);
        let may_happen = |at: usize| self.setting(&steps).may_happen(&under(at));
        (none_meets && all.all(may_happen)).then_some(needs)
    }

    fn setting<'s>(&'s self, steps: &'s Cell<u32>) -> Setting<'s> {
        Setting {
            kernel: self.kernel,
            terms: &self.terms,
            in_block: self.in_block,
            assumed: Assumption {
                bounds: &[],
                subgroup: None,
                multiple: None,
                steps,
                is_thorough: true,
                last: None,
            },
        }
    }

    /// The values of the launch that the accesses depend on.
    fn values(&self) -> Vec<Value> {
        self.ids_and_values().1
    }

    /// The ids of threads and the values of the launch that the accesses depend on.
    fn ids_and_values(&self) -> (Vec<Builtin>, Vec<Value>) {
        let (mut ids, mut values) = (BTreeSet::new(), BTreeSet::new());
        for (i, j) in &self.pairs {
            for access in [i, j].map(|at| &self.accesses[*at]) {
                let own = access
                    .form
                    .iter()
                    .chain(access.coordinates.iter().flatten());
                let forms = own.map(|affine| &affine.form);
                for form in forms.chain(access.facts.iter().map(|fact| &fact.form)) {
                    let each = |form: &_| collect(form, &mut ids, &mut values);
                    self.terms.each_form(form, 5, each);
                }
            }
        }
        for (param, of) in (0..).map(ParamId).zip(self.kernel.params.iter()) {
            if let ParamKind::Scalar(scalar) = of.kind
                && scalar.is_int()
            {
                values.insert(Value::Param(param));
            }
        }
        let values = values.into_iter().take(MOST_VALUES).collect();
        (ids.into_iter().collect(), values)
    }

    /// The facts to try.
    fn candidates(&self) -> Vec<Missing> {
        let (ids, values) = self.ids_and_values();
        let guards = |ids: &[Builtin], limit: fn(Value) -> Limit| {
            let all = ids.iter().flat_map(|id| values.iter().map(|of| (*id, *of)));
            let all = all.map(|(id, of)| Missing::Guard {
                id,
                below: limit(of),
            });
            all.collect::<Vec<Missing>>()
        };
        let (guarded, free): (Vec<Builtin>, Vec<Builtin>) =
            ids.iter().partition(|id| self.is_guarded(**id));
        // For slices, `positive` has tried these.
        let positive = values.iter().filter(|_| self.in_block);
        let mut all: Vec<Missing> = positive.map(|of| Missing::Positive(*of)).collect();
        all.extend(guards(&free, Limit::Value));
        let pairs = |least: Value| {
            let others = values.iter().filter(move |most| **most != least);
            others.map(move |most| Missing::Order { least, most: *most })
        };
        // A limit of a length would leave little to do.
        let params = values.iter().filter(|of| matches!(of, Value::Param(_)));
        all.extend(params.flat_map(|least| pairs(*least)));
        all.extend(guards(&guarded, Limit::Value));
        all.extend(guards(&ids, Limit::Half));
        for id in &ids {
            let others = ids.iter().filter(|other| *other != id);
            all.extend(others.map(|other| Missing::Guard {
                id: *id,
                below: Limit::Id(*other),
            }));
        }
        all
    }

    /// True if a fact bounds the id from above.
    fn is_guarded(&self, id: Builtin) -> bool {
        let facts = self.accesses.iter().flat_map(|access| &access.facts);
        let mut factors = facts.filter_map(|fact| {
            let factor = fact.form.coefficient(Atom::Id(id)).as_constant()?;
            let alone = fact.form.terms().len() == 1;
            (alone && fact.sign == Sign::NotNegative).then_some(factor)
        });
        factors.any(|factor| factor < 0)
    }
}

/// Adds the ids and the values that a form names.
fn collect(form: &Form<Poly>, ids: &mut BTreeSet<Builtin>, values: &mut BTreeSet<Value>) {
    for symbol in form.symbols() {
        match symbol {
            Symbol::Param(param, _) => drop(values.insert(Value::Param(param))),
            Symbol::Len(Memory::Slice(param)) => drop(values.insert(Value::Len(param))),
            Symbol::Len(_)
            | Symbol::Link(..)
            | Symbol::Extent(..)
            | Symbol::Block(_)
            | Symbol::Local(..)
            | Symbol::Excess(_)
            | Symbol::Opaque(..)
            | Symbol::Term(..) => {}
        }
    }
    let of_axes = form.terms().iter().filter_map(|(atom, _)| match *atom {
        Atom::Id(id) => id.axis().map(|_| id),
        Atom::Local(_) | Atom::Param(_) | Atom::Term(..) => None,
        Atom::Exchange(..) | Atom::Quotient(_) => None,
    });
    ids.extend(of_axes);
}

impl Missing {
    /// The fact, as the proof states it.
    fn fact(self, kernel: &Kernel) -> Option<Fact> {
        let of = |value: Value| Form::of(Poly::symbol(value.symbol(kernel)));
        let id = |id: Builtin| Form::atom(Atom::Id(id));
        match self {
            Missing::Guard {
                id: of_thread,
                below,
            } => match below {
                Limit::Value(value) => Fact::of(Relation::Lt, &id(of_thread), &of(value)),
                Limit::Half(value) => {
                    let next = id(of_thread).plus(&Form::constant(1), &Poly::constant(1))?;
                    let twice = next.times(&Poly::constant(2))?;
                    Fact::of(Relation::Le, &twice, &of(value))
                }
                Limit::Id(other) => Fact::of(Relation::Lt, &id(of_thread), &id(other)),
            },
            Missing::Order { least, most } => Fact::of(Relation::Le, &of(least), &of(most)),
            Missing::Positive(value) => Fact::of(Relation::Gt, &of(value), &Form::constant(0)),
        }
    }

    /// The fact as an expression of the kernel.
    pub fn text(self, kernel: &Kernel) -> String {
        match self {
            Missing::Guard { id, below } => {
                let limit = match below {
                    Limit::Value(value) => value.text(kernel, Scalar::Usize),
                    Limit::Half(value) => format!("{} / 2", value.text(kernel, Scalar::Usize)),
                    Limit::Id(other) => id_text(kernel, other),
                };
                format!("{} < {limit}", id_text(kernel, id))
            }
            Missing::Order { least, most } => {
                let ty = most.scalar(kernel);
                let least = least.text(kernel, ty);
                format!("{least} <= {}", most.text(kernel, ty))
            }
            Missing::Positive(value) => {
                format!("{} > 0", value.text(kernel, value.scalar(kernel)))
            }
        }
    }
}

impl Value {
    fn param(self) -> ParamId {
        match self {
            Value::Param(param) | Value::Len(param) => param,
        }
    }

    fn symbol(self, kernel: &Kernel) -> Symbol {
        match self {
            Value::Param(param) => Symbol::Param(param, !self.scalar(kernel).is_signed()),
            Value::Len(param) => Symbol::Len(Memory::Slice(param)),
        }
    }

    fn scalar(self, kernel: &Kernel) -> Scalar {
        match self {
            Value::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(scalar) => scalar,
                ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => {
                    Scalar::Usize
                }
            },
            Value::Len(_) => Scalar::Usize,
        }
    }

    /// The value as an expression of the type.
    fn text(self, kernel: &Kernel, ty: Scalar) -> String {
        let plain = kernel.size_text(self.param());
        match self.scalar(kernel) == ty {
            true => plain,
            false => format!("{plain} as {}", ty.name()),
        }
    }
}

/// The local that holds an id, or the call that asks for it.
fn id_text(kernel: &Kernel, id: Builtin) -> String {
    let is_id = |init: ExprId| kernel.expr(init) == Expr::Builtin(id);
    let is_fixed = |local: LocalId| !kernel.locals[local.index()].mutable;
    let local = kernel.stmts.iter().find_map(|stmt| match *stmt {
        Stmt::Let {
            local,
            init: Some(init),
        } if is_id(init) && is_fixed(local) => Some(local),
        _ => None,
    });
    match local {
        Some(local) => kernel.locals[local.index()].name.to_string(),
        None => format!("{}()", id.name()),
    }
}
