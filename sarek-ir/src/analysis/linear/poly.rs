//! Polynomials with integer coefficients over values that all threads have in common, see [`Symbol`].

use std::collections::BTreeMap;

use super::Symbol;

/// A sum of products of symbols with integer coefficients.
///
/// Arithmetic is exact. A polynomial of which a coefficient would leave `i128` is *unknown*: every further result
/// is unknown, too, it equals nothing, and each question about it is answered as if nothing were proved.
#[derive(Clone, Debug, Default)]
pub struct Poly {
    /// The coefficients by their sorted products. No coefficient is 0, so that equal polynomials compare equal.
    terms: BTreeMap<Vec<Symbol>, i128>,
    unknown: bool,
}

impl PartialEq for Poly {
    fn eq(&self, other: &Poly) -> bool {
        !self.unknown && !other.unknown && self.terms == other.terms
    }
}

impl Poly {
    /// A number.
    pub fn constant(v: i128) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(vec![], Some(v));
        poly
    }

    /// A symbol.
    pub fn symbol(symbol: Symbol) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(vec![symbol], Some(1));
        poly
    }

    fn unknown() -> Poly {
        Poly {
            unknown: true,
            ..Poly::default()
        }
    }

    /// The polynomial itself, unless it is unknown.
    pub fn known(self) -> Option<Poly> {
        (!self.unknown).then_some(self)
    }

    /// The value, if it is a constant.
    pub fn as_constant(&self) -> Option<i128> {
        match self.terms.first_key_value() {
            _ if self.unknown => None,
            None => Some(0),
            Some((symbols, v)) if symbols.is_empty() && self.terms.len() == 1 => Some(*v),
            Some(_) => None,
        }
    }

    /// True if it is 0.
    pub fn is_zero(&self) -> bool {
        !self.unknown && self.terms.is_empty()
    }

    /// True if it is provably at least 0 for all values of its symbols. `false` proves nothing.
    pub fn is_natural(&self) -> bool {
        let natural =
            |(symbols, v): (&Vec<Symbol>, &i128)| *v >= 0 && symbols.iter().all(|s| s.is_natural());
        !self.unknown && self.terms.iter().all(natural)
    }

    /// Adds `v` times a product; `None` is a number that does not fit.
    fn add_term(&mut self, symbols: Vec<Symbol>, v: Option<i128>) {
        let old = self.terms.get(&symbols).copied().unwrap_or(0);
        match v.and_then(|v| old.checked_add(v)) {
            None => *self = Poly::unknown(),
            Some(0) => _ = self.terms.remove(&symbols),
            Some(sum) => _ = self.terms.insert(symbols, sum),
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Poly) -> Poly {
        let mut sum = self.clone();
        for (symbols, v) in &other.terms {
            sum.add_term(symbols.clone(), Some(*v));
            if sum.unknown {
                return sum;
            }
        }
        sum.or_unknown([self, other])
    }

    /// The polynomial, or an unknown one if it was made from an unknown one.
    fn or_unknown(mut self, from: [&Poly; 2]) -> Poly {
        if from.iter().any(|poly| poly.unknown) {
            self = Poly::unknown();
        }
        self
    }

    /// The difference.
    pub fn minus(&self, other: &Poly) -> Poly {
        self.plus(&other.scaled(-1))
    }

    /// The only term, if there is one alone.
    fn single_term(&self) -> Option<(&Vec<Symbol>, &i128)> {
        let single = !self.unknown && self.terms.len() == 1;
        self.terms.first_key_value().filter(|_| single)
    }

    /// True if `of` is a single term, and this polynomial a multiple of it.
    pub fn is_multiple_of(&self, of: &Poly) -> bool {
        let Some((symbols, factor)) = of.single_term() else {
            return false;
        };
        let divisible = |(product, v): (&Vec<Symbol>, &i128)| {
            without(product, symbols).is_some() && v.checked_rem(*factor) == Some(0)
        };
        !self.unknown && self.terms.iter().all(divisible)
    }

    /// Divides by `of`, a single term: the quotient of the terms that are multiples of it, and the remaining
    /// terms.
    pub fn divided(&self, of: &Poly) -> (Poly, Poly) {
        let (mut quotient, mut rest) = (Poly::default(), Poly::default());
        let Some((symbols, factor)) = of.single_term() else {
            return (quotient, self.clone());
        };
        for (product, v) in &self.terms {
            match without(product, symbols) {
                Some(left) if v.checked_rem(*factor) == Some(0) => {
                    quotient.add_term(left, Some(v / factor));
                }
                Some(_) | None => rest.add_term(product.clone(), Some(*v)),
            }
        }
        (quotient, rest.or_unknown([self, of]))
    }

    /// True if it is provably odd, and so not 0, for all values of its symbols.
    pub fn is_odd(&self) -> bool {
        let odd = |(symbols, v): (&Vec<Symbol>, &i128)| symbols.is_empty() == (v % 2 != 0);
        !self.unknown && self.terms.contains_key(&vec![]) && self.terms.iter().all(odd)
    }

    /// A multiple of `part`, by the factor, and the remaining terms, if these are fewer by the number of terms of `part`.
    pub fn without(&self, part: &Poly) -> Option<(i128, Poly)> {
        let (product, factor) = part.terms.first_key_value()?;
        let by = self.terms.get(product)?.checked_div(*factor)?;
        let rest = self.minus(&part.scaled(by)).known()?;
        (rest.terms.len() + part.terms.len() == self.terms.len()).then_some((by, rest))
    }

    /// The products of symbols with their coefficients; `None` if the polynomial is unknown.
    pub fn terms(&self) -> Option<impl Iterator<Item = (&[Symbol], i128)>> {
        let terms = self
            .terms
            .iter()
            .map(|(product, v)| (product.as_slice(), *v));
        (!self.unknown).then_some(terms)
    }

    /// The value for these symbol values; `None` if it overflows.
    pub fn evaluate(&self, of: impl Fn(Symbol) -> i128) -> Option<i128> {
        let start = (!self.unknown).then_some(0i128)?;
        self.terms.iter().try_fold(start, |sum, (symbols, v)| {
            let product = symbols.iter().try_fold(*v, |p, s| p.checked_mul(of(*s)));
            sum.checked_add(product?)
        })
    }

    /// The symbols that are terms by themselves, with coefficient 1.
    pub fn lone_symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.terms
            .iter()
            .filter_map(|(symbols, v)| match symbols.as_slice() {
                [only] if *v == 1 => Some(*only),
                _ => None,
            })
    }

    /// True if the symbol may occur.
    pub fn has(&self, symbol: Symbol) -> bool {
        self.unknown || self.terms.keys().any(|symbols| symbols.contains(&symbol))
    }

    /// Each term divided by one of its symbols, made positive, unless the quotient is 1. The symbol may count
    /// multiples of this quotient.
    pub fn counted(&self) -> Vec<Poly> {
        let mut found: Vec<Poly> = vec![];
        for (symbols, v) in &self.terms {
            for at in 0..symbols.len() {
                let mut rest = symbols.clone();
                rest.remove(at);
                let mut unit = Poly::default();
                unit.add_term(rest, v.checked_abs());
                if unit.as_constant() != Some(1) && !found.contains(&unit) {
                    found.push(unit);
                }
            }
        }
        found
    }

    /// The product with a number.
    pub fn scaled(&self, by: i128) -> Poly {
        self.times(&Poly::constant(by))
    }

    /// The product.
    pub fn times(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (a, v) in &self.terms {
            for (b, w) in &other.terms {
                let mut symbols = [a.as_slice(), b.as_slice()].concat();
                symbols.sort();
                product.add_term(symbols, v.checked_mul(*w));
                if product.unknown {
                    return product;
                }
            }
        }
        product.or_unknown([self, other])
    }
}

/// Divides a product by some factors; `None` if it lacks one of them.
fn without(product: &[Symbol], factors: &[Symbol]) -> Option<Vec<Symbol>> {
    let mut rest = product.to_vec();
    for factor in factors {
        let at = rest.iter().position(|symbol| symbol == factor)?;
        rest.remove(at);
    }
    Some(rest)
}
