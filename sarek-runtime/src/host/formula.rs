//! The result of a `#[device]` function as a polynomial in its parameters.
//!
//! The macro of a kernel does not see the bodies of the functions that it calls. If a race proof needs the result of one,
//! it assumes a [`Form`], and rustc compares that with the [`Formula`] of the function.
//!
//! A formula is a polynomial over the integers in normal form. All its arithmetic is of the result's type `T`, and each
//! variable stands for `parameter as T`. Two equal polynomials then have equal values even where `T` wraps, because the
//! values modulo a power of two are a ring.

/// More terms than these have no formula.
const MOST_TERMS: usize = 8;

/// More factors of a term than these have no formula.
const MOST_FACTORS: usize = 3;

/// The number in place of a parameter's position for a value that is no polynomial, such as a quotient. Its text stands in
/// place of a field's name.
pub const TREE: usize = usize::MAX;

/// The same for a value that depends on no parameter, such as an id.
pub const CLOSED: usize = usize::MAX - 1;

/// A parameter of a function, or a field of one.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    parameter: usize,
    /// The name of the field; empty for the parameter itself.
    field: &'static str,
}

#[derive(Clone, Copy, Debug)]
struct Term {
    coefficient: i128,
    /// The factors in ascending order.
    factors: [Variable; MOST_FACTORS],
    degree: usize,
}

/// The result of a function as a polynomial in its parameters, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    state: State,
    /// Terms without common factors, none with the coefficient 0.
    terms: [Term; MOST_TERMS],
    len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Known,
    /// The result is no such polynomial.
    Unknown,
    /// The function has errors, so that nothing is reported about its result.
    Missing,
}

/// An argument of a call within a function.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // it exists during the evaluation of constants only
pub enum Passed {
    /// A value.
    Formula(Formula),
    /// A parameter of the caller, of a type with fields.
    Parameter(usize),
}

/// A condition on a term of a [`Formula`].
#[derive(Clone, Copy, Debug)]
pub struct FormTerm<'a> {
    /// The factors.
    pub factors: &'a [Variable],
    /// The least coefficient.
    pub least: i128,
    /// The largest coefficient.
    pub most: i128,
}

/// A form of a result: the conditions on its terms. It has no others.
pub type Form<'a> = &'a [FormTerm<'a>];

impl Variable {
    /// A parameter, by its position, or one of its fields. The name is empty for the parameter itself.
    pub const fn new(parameter: usize, field: &'static str) -> Variable {
        Variable { parameter, field }
    }

    /// Negative, 0 or positive, as this variable comes before the other, is the same, or comes after it.
    const fn order(self, other: Variable) -> i32 {
        if self.parameter != other.parameter {
            return if self.parameter < other.parameter {
                -1
            } else {
                1
            };
        }
        let (a, b) = (self.field.as_bytes(), other.field.as_bytes());
        let mut at = 0;
        while at < a.len() && at < b.len() {
            if a[at] != b[at] {
                return a[at] as i32 - b[at] as i32;
            }
            at += 1;
        }
        a.len() as i32 - b.len() as i32
    }
}

impl Term {
    const ONE: Term = Term {
        coefficient: 1,
        factors: [Variable::new(0, ""); MOST_FACTORS],
        degree: 0,
    };

    /// The product with a variable; `None` if it has too many factors.
    const fn with(mut self, factor: Variable) -> Option<Term> {
        if self.degree == MOST_FACTORS {
            return None;
        }
        let mut at = self.degree;
        while at > 0 && self.factors[at - 1].order(factor) > 0 {
            self.factors[at] = self.factors[at - 1];
            at -= 1;
        }
        self.factors[at] = factor;
        self.degree += 1;
        Some(self)
    }

    /// True if both have the same factors.
    const fn is_like(&self, other: &Term) -> bool {
        let mut at = 0;
        while at < self.degree && at < other.degree {
            if self.factors[at].order(other.factors[at]) != 0 {
                return false;
            }
            at += 1;
        }
        self.degree == other.degree
    }
}

impl Formula {
    /// The formula of a result that is no such polynomial.
    pub const UNKNOWN: Formula = Formula {
        state: State::Unknown,
        terms: [Term::ONE; MOST_TERMS],
        len: 0,
    };

    /// The formula of a placeholder for a missing function. It has every form.
    pub(super) const MISSING: Formula = Formula {
        state: State::Missing,
        ..Formula::UNKNOWN
    };

    /// A number.
    pub const fn number(value: i128) -> Formula {
        let zero = Formula {
            state: State::Known,
            ..Formula::UNKNOWN
        };
        zero.plus_term(Term {
            coefficient: value,
            ..Term::ONE
        })
    }

    /// A variable.
    pub const fn variable(variable: Variable) -> Formula {
        match Term::ONE.with(variable) {
            Some(term) => Formula::number(0).plus_term(term),
            None => Formula::UNKNOWN,
        }
    }

    /// `self + by * other`
    pub const fn plus(self, other: Formula, by: i128) -> Formula {
        let mut sum = match (self.state, other.state) {
            (State::Known, State::Known) => self,
            (State::Missing, _) | (_, State::Missing) => return Formula::MISSING,
            (State::Unknown, _) | (_, State::Unknown) => return Formula::UNKNOWN,
        };
        let mut at = 0;
        while at < other.len {
            let mut term = other.terms[at];
            let Some(coefficient) = term.coefficient.checked_mul(by) else {
                return Formula::UNKNOWN;
            };
            term.coefficient = coefficient;
            sum = sum.plus_term(term);
            at += 1;
        }
        sum
    }

    /// `self * other`
    pub const fn times(self, other: Formula) -> Formula {
        let mut product = Formula::number(0).plus(self, 0).plus(other, 0);
        let mut i = 0;
        while i < self.len {
            let mut j = 0;
            while j < other.len {
                let mut term = self.terms[i];
                let Some(coefficient) = term.coefficient.checked_mul(other.terms[j].coefficient)
                else {
                    return Formula::UNKNOWN;
                };
                term.coefficient = coefficient;
                let mut at = 0;
                while at < other.terms[j].degree {
                    match term.with(other.terms[j].factors[at]) {
                        Some(more) => term = more,
                        None => return Formula::UNKNOWN,
                    }
                    at += 1;
                }
                product = product.plus_term(term);
                j += 1;
            }
            i += 1;
        }
        product
    }

    /// The result of a call with these arguments.
    pub const fn of(self, passed: &[Passed]) -> Formula {
        let mut sum = Formula::number(0).plus(self, 0);
        let mut i = 0;
        while i < self.len {
            let term = self.terms[i];
            let mut product = Formula::number(term.coefficient);
            let mut at = 0;
            while at < term.degree {
                let Variable { parameter, field } = term.factors[at];
                let factor = if parameter == CLOSED {
                    Formula::variable(term.factors[at])
                } else if parameter == TREE {
                    // Its operands are parameters of the callee.
                    Formula::UNKNOWN
                } else {
                    match passed[parameter] {
                        Passed::Formula(formula) if field.is_empty() => formula,
                        Passed::Parameter(own) if !field.is_empty() => {
                            Formula::variable(Variable::new(own, field))
                        }
                        Passed::Formula(_) | Passed::Parameter(_) => Formula::UNKNOWN,
                    }
                };
                product = product.times(factor);
                at += 1;
            }
            sum = sum.plus(product, 1);
            i += 1;
        }
        sum
    }

    const fn plus_term(mut self, term: Term) -> Formula {
        if !matches!(self.state, State::Known) || term.coefficient == 0 {
            return self;
        }
        let mut at = 0;
        while at < self.len && !self.terms[at].is_like(&term) {
            at += 1;
        }
        if at == MOST_TERMS {
            return Formula::UNKNOWN;
        }
        if at == self.len {
            self.terms[at] = term;
            self.len += 1;
            return self;
        }
        let Some(sum) = self.terms[at].coefficient.checked_add(term.coefficient) else {
            return Formula::UNKNOWN;
        };
        self.terms[at].coefficient = sum;
        if sum == 0 {
            self.len -= 1;
            self.terms[at] = self.terms[self.len];
        }
        self
    }

    /// The coefficient of a product of variables; 0 if nothing is known.
    pub const fn coefficient(&self, factors: &[Variable]) -> i128 {
        let mut like = Term::ONE;
        let mut at = 0;
        while at < factors.len() {
            match like.with(factors[at]) {
                Some(more) => like = more,
                None => return 0,
            }
            at += 1;
        }
        let mut at = 0;
        while at < self.len {
            if self.terms[at].is_like(&like) {
                return self.terms[at].coefficient;
            }
            at += 1;
        }
        0
    }

    /// The coefficient of a product of variables without its sign, or 0 if it does not have this sign.
    pub const fn factor(&self, factors: &[Variable], is_negative: bool) -> u64 {
        let coefficient = self.coefficient(factors);
        let size = if is_negative {
            -coefficient
        } else {
            coefficient
        };
        if size < 0 || size > u64::MAX as i128 {
            return 0;
        }
        size as u64
    }

    /// True if the result has this form.
    pub const fn has(&self, form: Form<'_>) -> bool {
        if matches!(self.state, State::Missing) {
            return true;
        }
        let (mut at, mut found) = (0, 0);
        while at < form.len() {
            let FormTerm {
                factors,
                least,
                most,
            } = form[at];
            let coefficient = self.coefficient(factors);
            if coefficient < least || coefficient > most {
                return false;
            }
            if coefficient != 0 {
                found += 1;
            }
            at += 1;
        }
        matches!(self.state, State::Known) && found == self.len
    }

    /// True if both are the same polynomial.
    pub const fn is(&self, other: &Formula) -> bool {
        match (self.state, other.state) {
            (State::Missing, _) | (_, State::Missing) => true,
            (State::Unknown, _) | (_, State::Unknown) => false,
            (State::Known, State::Known) => {
                let mut at = 0;
                while at < self.len {
                    let mut like = 0;
                    while like < other.len
                        && !(self.terms[at].is_like(&other.terms[like])
                            && self.terms[at].coefficient == other.terms[like].coefficient)
                    {
                        like += 1;
                    }
                    if like == other.len {
                        return false;
                    }
                    at += 1;
                }
                self.len == other.len
            }
        }
    }
}

#[cfg(test)]
mod tests;
