//! Values without a linear form, as variables of forms that have a definition.
//!
//! A [`Term`] has one value for each thread and each evaluation. Terms that all threads have in common stand in forms as
//! [`Symbol::Term`], the others as [`Atom::Term`].

use std::collections::HashSet;

use super::{Affine, Atom, Fact, Form, Poly, Symbol};

/// A value that has no linear form.
#[derive(Clone, PartialEq, Debug)]
pub struct Term {
    /// The definition, as far as it is known.
    pub definition: Definition,
    /// Facts about the value.
    pub facts: Vec<Fact>,
}

impl Term {
    /// The forms of the definition and the facts.
    pub fn forms(&self) -> impl Iterator<Item = &Form<Poly>> {
        let mut forms: Vec<&Form<Poly>> = vec![];
        match &self.definition {
            Definition::Any => {}
            Definition::Product(a, b) | Definition::Xor(a, b) => forms.extend([a, b]),
            Definition::Quotient { dividend, divisor } => forms.extend([dividend, divisor]),
            Definition::Injective(_, of) => forms.push(of),
            Definition::OneOf(cases) => {
                for (value, facts) in cases {
                    forms.push(&value.form);
                    forms.extend(facts.iter().map(|fact| &fact.form));
                }
            }
            Definition::ByCases {
                operands, branches, ..
            } => {
                forms.extend(operands);
                for branch in branches {
                    forms.extend(branch.value.iter().map(|value| &value.form));
                    forms.extend(branch.facts.iter().map(|fact| &fact.form));
                }
            }
        }
        forms.extend(self.facts.iter().map(|fact| &fact.form));
        forms.into_iter()
    }
}

impl Term {
    /// The facts that hold in one of its cases.
    pub fn facts_of(&self, case: usize) -> &[Fact] {
        match &self.definition {
            Definition::OneOf(cases) => &cases[case].1,
            Definition::ByCases { branches, .. } => &branches[case].facts,
            Definition::Any
            | Definition::Product(..)
            | Definition::Quotient { .. }
            | Definition::Xor(..)
            | Definition::Injective(..) => &[],
        }
    }
}

/// The definition of a [`Term`].
#[derive(Clone, PartialEq, Debug)]
pub enum Definition {
    /// Any value for which the facts hold.
    Any,
    /// A product of two values that differ between threads.
    Product(Form<Poly>, Form<Poly>),
    /// A quotient, rounded down. The divisor is positive.
    #[allow(missing_docs)]
    Quotient {
        dividend: Form<Poly>,
        divisor: Form<Poly>,
    },
    /// The bitwise exclusive or of two values of an unsigned type.
    Xor(Form<Poly>, Form<Poly>),
    /// One of these values, each with the facts that hold in its case.
    OneOf(Vec<(Affine, Vec<Fact>)>),
    /// A function of other values, such as a minimum, whose cases a proof tells apart only if it must.
    #[allow(missing_docs)]
    ByCases {
        function: Function,
        operands: Vec<Form<Poly>>,
        branches: Vec<Branch>,
    },
    /// A function of one value that gives different results for different values.
    Injective(Function, Form<Poly>),
}

/// The function of a [`Definition`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// A minimum.
    Min,
    /// A maximum.
    Max,
    /// A difference: the branches say all.
    Choice,
    /// 2 to the power of the operand.
    Power,
    /// The bitwise and.
    And,
    /// An operation that wraps by definition. The branch names its expression.
    Wrapping,
    /// The value of a local in one of a loop's turns, which this term numbers: all terms of a loop have the same turn.
    Turn(u32),
    /// The bits of an unsigned value of the given width in reverse order, shifted to the right.
    #[allow(missing_docs)]
    Reversed { bits: u32, shift: u32 },
}

/// A case of [`Definition::ByCases`]. Its facts decide whether it applies.
#[derive(Clone, PartialEq, Debug)]
pub struct Branch {
    /// The value in this case, if it is known.
    pub value: Option<Affine>,
    /// The facts that hold in this case.
    pub facts: Vec<Fact>,
}

/// The terms of one kernel.
#[derive(Clone, Default, Debug)]
pub struct Terms {
    list: Vec<Term>,
}

impl Terms {
    /// The term with a number.
    pub fn get(&self, number: u32) -> &Term {
        &self.list[number as usize]
    }

    /// Shows a form and those of the terms in it, down to a number of levels. Each term is shown once: a walk along each way
    /// to it would take exponential time.
    pub fn each_form(&self, form: &Form<Poly>, levels: u32, mut show: impl FnMut(&Form<Poly>)) {
        let mut seen: HashSet<u32> = HashSet::new();
        let mut level = vec![form];
        for _ in 0..levels {
            let mut next = vec![];
            for form in level {
                show(form);
                let unseen = terms_in(form).filter(|number| seen.insert(*number));
                next.extend(unseen.flat_map(|number| self.get(number).forms()));
            }
            level = next;
        }
    }

    /// All terms with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &Term)> {
        (0..).zip(&self.list)
    }

    /// A term that stands for this value. Equal definitions are one term, because a thread that evaluates them gets one
    /// value. A definition that leaves a choice is always a new term.
    pub(super) fn defined(&mut self, definition: Definition) -> u32 {
        let same = |term: &Term| term.definition == definition;
        let chooses = match definition {
            Definition::Any | Definition::OneOf(_) => true,
            Definition::Product(..)
            | Definition::Quotient { .. }
            | Definition::Xor(..)
            | Definition::ByCases { .. }
            | Definition::Injective(..) => false,
        };
        if !chooses && let Some(number) = self.list.iter().position(same) {
            return number as u32;
        }
        self.list.push(Term {
            definition,
            facts: vec![],
        });
        self.list.len() as u32 - 1
    }

    /// A value of which nothing is known.
    pub fn any(&mut self) -> u32 {
        self.defined(Definition::Any)
    }

    /// Gives a term of which nothing is known its value in each turn of a loop. Another term may number the turns.
    pub(super) fn tell_turns_apart(&mut self, number: u32, of: u32, branches: Vec<Branch>) {
        let definition = &mut self.list[number as usize].definition;
        if *definition == Definition::Any {
            *definition = Definition::ByCases {
                function: Function::Turn(of),
                operands: vec![],
                branches,
            };
        }
    }

    /// Adds a fact about a term's value.
    pub fn add_fact(&mut self, number: u32, fact: Fact) {
        self.list[number as usize].facts.push(fact);
    }
}

/// The numbers of the terms that a form names.
fn terms_in(form: &Form<Poly>) -> impl Iterator<Item = u32> {
    let atoms = form.terms().iter().filter_map(|(atom, _)| match *atom {
        Atom::Term(number, _) => Some(number),
        Atom::Id(_) | Atom::Local(_) | Atom::Param(_) => None,
        Atom::Exchange(..) | Atom::Quotient(_) => None,
    });
    let symbols = form.symbols().filter_map(|symbol| match symbol {
        Symbol::Term(number, _) => Some(number),
        Symbol::Param(..) | Symbol::Len(_) | Symbol::Link(..) | Symbol::Extent(..) => None,
        Symbol::Block(_) | Symbol::Local(..) | Symbol::Excess(_) | Symbol::Opaque(..) => None,
    });
    atoms.chain(symbols)
}

/// A term as a form: a variable of threads, or a symbol if all threads have it in common.
pub fn term_form(number: u32, unsigned: bool, in_common: bool) -> Form<Poly> {
    match in_common {
        true => Form::of(Poly::symbol(Symbol::Term(number, unsigned))),
        false => Form::atom(Atom::Term(number, unsigned)),
    }
}
