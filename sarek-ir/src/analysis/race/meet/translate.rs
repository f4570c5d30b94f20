//! Turns accesses, facts and terms into a system of constraints.

use std::collections::{HashMap, HashSet};

use super::{ConstantBound, Reading, Setting};
use crate::analysis::access::Access;
use crate::analysis::linear::{Affine, Atom, Extent, Fact, Form, Function, Poly, Sign, Symbol};
use crate::analysis::race::Needs;
use crate::analysis::refute::{Polynomial, Reasons, System, Var};
use crate::{Axis, Builtin, LinkId, Precondition};

/// One of the two threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// The choice of a case of a term, for one thread or for a term that both have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Case {
    pub(super) side: Option<Side>,
    pub(super) term: u32,
    pub(super) number: usize,
}

impl Case {
    pub(super) fn is_of(&self, side: Option<Side>, term: u32) -> bool {
        self.side == side && self.term == term
    }
}

/// A function of two operands that never falls if one of them grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Monotone {
    Quotient,
    Of(Function),
}

/// An obstacle.
#[derive(Debug)]
pub(super) enum Stop {
    /// There is no proof.
    NoProof,
    /// The cases of a term must be examined one by one.
    Cases {
        side: Option<Side>,
        term: u32,
        count: usize,
    },
}

/// A condition under which a fact holds.
#[derive(Clone, PartialEq)]
pub(super) enum Condition {
    OfLaunch(Needs),
    OfConstant(ConstantBound),
}

/// The name of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// A value that the threads have in common.
    Symbol(Symbol),
    /// A value of one thread.
    Atom(Side, Atom),
    /// The remainder that belongs to a quotient.
    Remainder(Option<Side>, u32),
    /// A sum of symbols.
    Sum(usize),
    /// The size of subgroups.
    SubgroupSize,
    /// The number of subgroups of a block.
    SubgroupsOfBlock,
    /// The size of blocks along x, divided by the number of which it is a multiple.
    PartsOfBlock,
    /// The number of a thread's subgroup in its block or, if the flag is set, in the launch.
    Subgroup(Side, bool),
}

/// Constraints, as far as they are translated.
pub(super) struct Translation<'a> {
    pub(super) setting: Setting<'a>,
    /// The facts at the access of each thread.
    pub(super) at: [&'a [Fact]; 2],
    pub(super) chosen: &'a [Case],
    pub(super) reading: Reading,
    pub(super) system: System,
    pub(super) names: HashMap<Name, Var>,
    /// The values of terms that are translated. The flag is true if the type is unsigned.
    pub(super) values: HashMap<(Option<Side>, u32, bool), Polynomial>,
    /// The conditions of the value that is translated. Its terms have their definitions only under these.
    pub(super) under: Reasons,
    /// The variables with a definition.
    pub(super) defined: Vec<Var>,
    /// The value and the operands of each XOR.
    pub(super) xors: HashMap<(Side, u32), ([Polynomial; 3], Reasons)>,
    /// The value and the operand of each injective function.
    pub(super) injections: HashMap<(Side, u32), ([Polynomial; 2], Reasons)>,
    /// The values that have no bits of a mask, each with the mask.
    pub(super) without: Vec<(Side, [Polynomial; 2], Reasons)>,
    /// The operand that threads have in common, the other operand and the value of monotone functions.
    pub(super) monotone: Vec<((Side, Monotone), [Polynomial; 3], Reasons)>,
    /// The terms whose cases are not told apart, each with the number of its cases.
    pub(super) open: Vec<(u32, Option<Side>, usize)>,
    /// Dividend, divisor and remainder of each quotient.
    pub(super) divisions: HashMap<(Side, u32), [Polynomial; 3]>,
    /// Sums of symbols that are factors of ids, each with the variable that stands for it.
    sums: Vec<(Poly, Polynomial)>,
    /// The conditions of facts.
    conditions: Vec<Condition>,
    /// The conditions of everything.
    always: Needs,
    /// The axes whose ids differ between the block's part and the thread's.
    pub(super) split: [bool; 3],
    /// The axes of the ids that occur.
    pub(super) used: [bool; 3],
    /// The axes of the block ids that occur.
    pub(super) blocks: [bool; 3],
    /// The axes of the ids within a block that occur.
    pub(super) threads: [bool; 3],
    /// True if the number of the thread in the launch occurs, and stands for all ids.
    pub(super) by_number: bool,
}

impl<'a> Translation<'a> {
    pub(super) fn new(
        setting: Setting<'a>,
        accesses: [&'a Access; 2],
        (chosen, reading): (&'a [Case], Reading),
    ) -> Translation<'a> {
        let mut ids = vec![];
        for access in accesses {
            let forms = access
                .form
                .iter()
                .chain(access.coordinates.iter().flatten());
            forms.for_each(|affine| setting.ids_of(&affine.form, &mut ids));
            for fact in &access.facts {
                setting.ids_of(&fact.form, &mut ids);
            }
        }
        let is_split = |axis: Axis| {
            let of_block = |id: &Builtin| match id {
                Builtin::BlockIdx(of) | Builtin::ThreadIdx(of) => *of == axis,
                _ => false,
            };
            let extents = setting.kernel.block.unwrap_or([1; 3]);
            let of_lane = ids.contains(&Builtin::SubgroupLane) && extents[1..] != [1, 1];
            let in_number = of_lane && extents[axis.index()] > 1;
            !setting.in_block && (in_number || ids.iter().any(of_block))
        };
        let only_number = |id: &Builtin| *id == Builtin::GlobalThreadId;
        Translation {
            setting,
            at: accesses.map(|access| access.facts.as_slice()),
            chosen,
            reading,
            system: System::new(),
            names: HashMap::new(),
            values: HashMap::new(),
            under: 0,
            defined: vec![],
            xors: HashMap::new(),
            injections: HashMap::new(),
            without: vec![],
            monotone: vec![],
            open: vec![],
            divisions: HashMap::new(),
            sums: vec![],
            conditions: vec![],
            always: vec![],
            split: Axis::ALL.map(is_split),
            used: [false; 3],
            blocks: [false; 3],
            threads: [false; 3],
            by_number: !ids.is_empty() && ids.iter().all(only_number),
        }
    }

    /// The first term by number whose cases are not told apart. Those that the threads have in common come last: often only
    /// a sum with them matters.
    pub(super) fn first_open(&self) -> Option<Stop> {
        let first = self
            .open
            .iter()
            .min_by_key(|(term, side, _)| (side.is_none(), *term, *side));
        first.map(|&(term, side, count)| Stop::Cases { side, term, count })
    }

    /// The constraints, the conditions of the numbered facts, and those of everything.
    pub(super) fn finish(mut self) -> (System, Vec<Condition>, Needs) {
        if self.reading == Reading::Digits {
            self.system.count_from_bounds();
        }
        (self.system, self.conditions, self.always)
    }

    pub(super) fn variable(&mut self, name: Name, natural: bool) -> Result<(Var, bool), Stop> {
        if let Some(var) = self.names.get(&name) {
            return Ok((*var, false));
        }
        let uniform = match name {
            Name::Symbol(_) | Name::Remainder(None, _) | Name::Sum(_) => true,
            Name::SubgroupSize | Name::SubgroupsOfBlock | Name::PartsOfBlock => true,
            Name::Atom(..) | Name::Remainder(Some(_), _) | Name::Subgroup(..) => false,
        };
        let var = self.system.variable(natural, uniform);
        let var = var.ok_or(Stop::NoProof)?;
        self.names.insert(name, var);
        Ok((var, true))
    }

    /// The equalities of the indices.
    pub(super) fn indices(&mut self, a: &Access, b: &Access) -> Result<(), Stop> {
        let pairs: Vec<(&Affine, &Affine)> = match (&a.form, &b.form) {
            _ if !a.coordinates.is_empty() && a.coordinates.len() == b.coordinates.len() => {
                let both = a.coordinates.iter().zip(&b.coordinates);
                both.filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)))
                    .collect()
            }
            (Some(a), Some(b)) => vec![(a, b)],
            (_, _) => vec![],
        };
        if pairs.is_empty() {
            return Err(Stop::NoProof);
        }
        for (of_a, of_b) in pairs {
            for (affine, access) in [(of_a, a), (of_b, b)] {
                self.rely_on(affine);
                let plain = affine.form.sole_atom().is_some() && !affine.needs_exact;
                if !plain {
                    super::super::add(
                        &mut self.always,
                        vec![Precondition::NoOverflow(access.index)],
                    );
                }
            }
            let first = self.form(&of_a.form, Side::First)?;
            let second = self.form(&of_b.form, Side::Second)?;
            let difference = first.minus(&second).ok_or(Stop::NoProof)?;
            self.system.zero(difference, 0);
        }
        Ok(())
    }

    /// The atoms that were translated.
    pub(super) fn atoms(&self) -> HashSet<Atom> {
        let terms = self.values.keys().filter(|(side, ..)| side.is_some());
        let terms = terms.map(|(_, number, unsigned)| Atom::Term(*number, *unsigned));
        let names = self.names.keys().filter_map(|name| match name {
            Name::Atom(_, atom) => Some(*atom),
            Name::Symbol(_) | Name::Remainder(..) | Name::Sum(_) | Name::SubgroupSize => None,
            Name::SubgroupsOfBlock | Name::PartsOfBlock | Name::Subgroup(..) => None,
        });
        terms.chain(names).collect()
    }

    /// Adds the conditions under which a value has its form to those of everything.
    pub(super) fn rely_on(&mut self, affine: &Affine) {
        let needs = needs_of(&affine.exact, &affine.extents);
        super::super::add(&mut self.always, needs);
    }

    /// Adds the conditions of a fact to those of everything.
    pub(super) fn rely_on_fact(&mut self, fact: &Fact) {
        let needs = needs_of(&fact.exact, &fact.extents);
        super::super::add(&mut self.always, needs);
    }

    /// Adds a fact about the values of a thread.
    pub(super) fn fact(&mut self, fact: &Fact, side: Side) -> Result<(), Stop> {
        let condition = needs_of(&fact.exact, &fact.extents);
        let own = match condition.is_empty() {
            true => 0,
            false => match self.reason(Condition::OfLaunch(condition)) {
                Some(reason) => reason,
                None => return Ok(()),
            },
        };
        let reasons = self.under | own;
        let outer = std::mem::replace(&mut self.under, reasons);
        let form = self.form(&fact.form, side);
        self.under = outer;
        let form = match form {
            Err(Stop::NoProof) => return Ok(()),
            other => other?,
        };
        match fact.sign {
            Sign::NotNegative => {
                let signed = form.signed_above();
                if let Some(var) = signed.filter(|var| !self.defined.contains(var)) {
                    self.defined.push(var);
                    self.system.natural(var, reasons).ok_or(Stop::NoProof)?;
                }
                self.system.at_least_zero(form, reasons);
            }
            Sign::Zero => {
                // As an equality it may be eliminated, as two inequalities it serves as bounds.
                if let Some(opposite) = form.scaled(-1) {
                    self.system.at_least_zero(form.clone(), reasons);
                    self.system.at_least_zero(opposite, reasons);
                }
                self.system.zero(form, reasons);
                let outer = std::mem::replace(&mut self.under, reasons);
                let found = self.without_bits(fact, side);
                self.under = outer;
                found?;
            }
            Sign::NotZero => self.system.not_zero(form, reasons),
        }
        Ok(())
    }

    /// The number of a condition, as a set; `None` if there are too many.
    pub(super) fn reason(&mut self, condition: Condition) -> Option<Reasons> {
        let known = self.conditions.iter().position(|known| *known == condition);
        let number = known.unwrap_or(self.conditions.len());
        if known.is_none() {
            self.conditions.push(condition);
        }
        1_u128.checked_shl(number as u32)
    }

    pub(super) fn form(&mut self, form: &Form<Poly>, side: Side) -> Result<Polynomial, Stop> {
        let mut sum = self.poly(&form.base, side)?;
        for (atom, coefficient) in form.terms() {
            let factor = self.poly(coefficient, side)?;
            let value = self.atom(*atom, side)?;
            let by_rest = || self.by_remainder(*atom, &factor, side);
            let product = match self.reading {
                Reading::Digits => by_rest().or_else(|| value.times(&factor)),
                Reading::Plain | Reading::Sums | Reading::OfIndex => value.times(&factor),
            };
            let product = product.and_then(|product| sum.plus(&product));
            sum = product.ok_or(Stop::NoProof)?;
        }
        Ok(sum)
    }

    /// A negative multiple of `divisor · quotient`, as a multiple of `remainder - dividend`.
    fn by_remainder(&self, quotient: Atom, factor: &Polynomial, side: Side) -> Option<Polynomial> {
        let Atom::Term(number, _) = quotient else {
            return None;
        };
        let [dividend, divisor, rest] = self.divisions.get(&(side, number))?;
        let multiple = factor.scaled(-1)?.quotient(divisor)?;
        rest.minus(dividend)?.times(&multiple)
    }

    /// Lets a variable stand for each sum of symbols that is a factor of a thread's value. The sum may be the base of a digit
    /// then. False if there are no such sums.
    pub(super) fn name_sums(&mut self, accesses: [&Access; 2]) -> Result<bool, Stop> {
        let mut factors: Vec<Poly> = vec![];
        for access in accesses {
            let forms = access
                .form
                .iter()
                .chain(access.coordinates.iter().flatten());
            let of_facts = access.facts.iter().map(|fact| &fact.form);
            for form in forms.map(|affine| &affine.form).chain(of_facts) {
                self.setting.sums_of(form, &mut factors);
            }
        }
        for factor in factors {
            let value = self.poly(&factor, Side::First)?;
            let name = Name::Sum(self.sums.len());
            let sum = Polynomial::var(self.variable(name, true)?.0);
            let more = sum.minus(&value).ok_or(Stop::NoProof)?;
            let less = value.minus(&sum).ok_or(Stop::NoProof)?;
            self.system.at_least_zero(more, 0);
            self.system.at_least_zero(less, 0);
            self.sums.push((factor, sum));
        }
        Ok(!self.sums.is_empty())
    }

    fn poly(&mut self, poly: &Poly, side: Side) -> Result<Polynomial, Stop> {
        let known = self.sums.iter().find_map(|(factor, sum)| {
            let (by, rest) = poly.without(factor)?;
            Some((sum.scaled(i64::try_from(by).ok()?)?, rest))
        });
        if let Some((multiple, rest)) = known {
            let rest = self.poly(&rest, side)?;
            return rest.plus(&multiple).ok_or(Stop::NoProof);
        }
        let mut sum = Polynomial::number(0);
        for (symbols, v) in poly.terms().ok_or(Stop::NoProof)? {
            let v = i64::try_from(v).map_err(|_| Stop::NoProof)?;
            let mut product = Polynomial::number(v);
            for symbol in symbols {
                let factor = self.symbol(*symbol, side)?;
                product = product.times(&factor).ok_or(Stop::NoProof)?;
            }
            sum = sum.plus(&product).ok_or(Stop::NoProof)?;
        }
        Ok(sum)
    }

    pub(super) fn symbol(&mut self, symbol: Symbol, side: Side) -> Result<Polynomial, Stop> {
        if let Symbol::Term(number, unsigned) = symbol {
            return self.term(number, unsigned, None, side);
        }
        let (var, new) = self.variable(Name::Symbol(symbol), symbol.is_natural())?;
        let value = Polynomial::var(var);
        if let (Symbol::Link(link, _), true) = (symbol, new) {
            self.assume(link, &value)?;
        }
        if let (Symbol::Extent(extent, axis), true) = (symbol, new) {
            self.at_least(&value, 1)?;
            if extent == Extent::Global && !self.setting.in_block {
                let [block, grid] = [Extent::Block, Extent::Grid].map(|of| self.extent(of, axis));
                let all = block?.times(&grid?).ok_or(Stop::NoProof)?;
                let rest = all.minus(&value).ok_or(Stop::NoProof)?;
                self.system.at_least_zero(rest, 0);
            }
        }
        Ok(value)
    }

    /// Adds the assumed bounds of a constant.
    fn assume(&mut self, link: LinkId, value: &Polynomial) -> Result<(), Stop> {
        let assumed = self.setting.assumed.bounds;
        for bound in assumed.iter().filter(|bound| bound.link == link) {
            let number = i64::try_from(bound.number).map_err(|_| Stop::NoProof)?;
            let mut limit = Polynomial::number(number);
            for of in bound.times.into_iter().flatten() {
                let ty = self.setting.kernel.links[of.index()].ty.as_scalar();
                let unsigned = ty.is_some_and(|ty| !ty.is_signed());
                let factor = self.symbol(Symbol::Link(of, unsigned), Side::First)?;
                limit = limit.times(&factor).ok_or(Stop::NoProof)?;
            }
            let rest = match bound.is_least {
                true => value.minus(&limit),
                false => limit.minus(value),
            };
            let reason = self.reason(Condition::OfConstant(*bound));
            let (rest, reason) = (rest.ok_or(Stop::NoProof)?, reason.ok_or(Stop::NoProof)?);
            self.system.at_least_zero(rest, reason);
        }
        Ok(())
    }

    pub(super) fn extent(&mut self, extent: Extent, axis: u8) -> Result<Polynomial, Stop> {
        if let (Extent::Block, Some(block)) = (extent, self.setting.kernel.block) {
            return Ok(Polynomial::number(block[usize::from(axis)].into()));
        }
        self.symbol(Symbol::Extent(extent, axis), Side::First)
    }

    /// Adds the fact that a value is at least a number.
    pub(super) fn at_least(&mut self, value: &Polynomial, least: i64) -> Result<(), Stop> {
        let rest = value.minus(&Polynomial::number(least));
        self.system.at_least_zero(rest.ok_or(Stop::NoProof)?, 0);
        Ok(())
    }

    /// Adds the fact that a value is below another one.
    pub(super) fn below(&mut self, value: &Polynomial, end: &Polynomial) -> Result<(), Stop> {
        let rest = end.minus(value).ok_or(Stop::NoProof)?;
        self.at_least(&rest, 1)
    }

    fn atom(&mut self, atom: Atom, side: Side) -> Result<Polynomial, Stop> {
        match atom {
            Atom::Id(id) => self.id(id, side),
            Atom::Term(number, unsigned) => self.term(number, unsigned, Some(side), side),
            Atom::Local(_) | Atom::Param(_) | Atom::Exchange(..) | Atom::Quotient(_) => {
                let natural = atom.is_unsigned_value(self.setting.kernel);
                let (var, _) = self.variable(Name::Atom(side, atom), natural)?;
                Ok(Polynomial::var(var))
            }
        }
    }
}

fn needs_of(exact: &[crate::ExprId], extents: &[(Axis, u64)]) -> Needs {
    let exact = exact.iter().map(|e| Precondition::NoOverflow(*e));
    let extents = extents
        .iter()
        .map(|(axis, n)| Precondition::ExtentAtMost(*axis, *n));
    let mut needs = vec![];
    super::super::add(&mut needs, exact.chain(extents).collect());
    needs
}

impl Setting<'_> {
    /// Collects the sums of several natural terms that are factors of atoms, also within the definitions of terms.
    fn sums_of(self, form: &Form<Poly>, found: &mut Vec<Poly>) {
        self.terms.each_form(form, 5, |form| {
            for (_, factor) in form.terms() {
                let terms = factor.terms().map_or(0, Iterator::count);
                if terms > 1 && factor.is_natural() && !found.contains(factor) {
                    found.push(factor.clone());
                }
            }
        });
    }

    /// Collects the ids that a form mentions, also within the definitions of its terms.
    fn ids_of(self, form: &Form<Poly>, found: &mut Vec<Builtin>) {
        self.terms.each_form(form, 8, |form| {
            for (atom, _) in form.terms() {
                match *atom {
                    Atom::Id(id) if !found.contains(&id) => found.push(id),
                    Atom::Id(_) | Atom::Local(_) | Atom::Param(_) | Atom::Term(..) => {}
                    Atom::Exchange(..) | Atom::Quotient(_) => {}
                }
            }
        });
    }
}
