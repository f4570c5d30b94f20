//! Polynomials with integer coefficients over values that all threads have in common, see [`Symbol`].

use std::collections::BTreeMap;

use crate::{Builtin, ExprId, LinkId, LocalId, Memory, ParamId, Scalar};

/// A value that is the same for all threads of a launch or, in the analysis of a single block, of that block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Symbol {
    /// A scalar parameter. The flag is true if its type is unsigned.
    Param(ParamId, bool),
    /// The length of a slice.
    Len(Memory),
    /// A launch constant of the user's crate. The flag is true if its type is unsigned.
    Link(LinkId, bool),
    /// An extent of the block, the grid or the launch, along an axis.
    Extent(Extent, u8),
    /// The index of the block along an axis, in the analysis of a single block.
    Block(u8),
    /// The value that a local has in all threads of a block after one assignment. The number identifies the
    /// assignment; the flag is true if the type is unsigned.
    Local(LocalId, u32, bool),
    /// The slack variable of a launch requirement, by the requirement's number; never negative.
    Excess(u32),
    /// Any other expression of such values, named by the first expression of its shape. The flag is true if its
    /// type is unsigned.
    Opaque(ExprId, bool),
}

/// The kind of an extent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Extent {
    /// Threads of a block.
    Block,
    /// Blocks of the grid.
    Grid,
    /// Threads of the launch.
    Global,
}

impl Symbol {
    /// The symbol of a builtin that is the same for the whole launch.
    pub fn of_builtin(builtin: Builtin) -> Option<Symbol> {
        let axis = |a: crate::Axis| a.index() as u8;
        match builtin {
            Builtin::BlockDim(a) => Some(Symbol::Extent(Extent::Block, axis(a))),
            Builtin::GridDim(a) => Some(Symbol::Extent(Extent::Grid, axis(a))),
            Builtin::GlobalDim(a) => Some(Symbol::Extent(Extent::Global, axis(a))),
            Builtin::ThreadIdx(_)
            | Builtin::BlockIdx(_)
            | Builtin::GlobalIdx(_)
            | Builtin::GlobalThreadId
            | Builtin::SubgroupSize
            | Builtin::SubgroupLane => None,
        }
    }

    /// True if it is never negative.
    fn is_natural(self) -> bool {
        match self {
            Symbol::Len(_) | Symbol::Extent(..) | Symbol::Block(_) | Symbol::Excess(_) => true,
            Symbol::Param(_, unsigned)
            | Symbol::Link(_, unsigned)
            | Symbol::Local(_, _, unsigned)
            | Symbol::Opaque(_, unsigned) => unsigned,
        }
    }
}

/// True if the type is an unsigned integer.
pub(super) fn is_unsigned(ty: Scalar) -> bool {
    ty.is_int() && !ty.is_signed()
}

/// A sum of products of symbols with integer coefficients. Terms with coefficient 0 are left out, so that equal
/// polynomials compare equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Poly(BTreeMap<Vec<Symbol>, i128>);

impl Poly {
    /// A number.
    pub fn constant(v: i128) -> Poly {
        let mut poly = Poly::default();
        poly.add_term(vec![], v);
        poly
    }

    /// A symbol.
    pub fn symbol(symbol: Symbol) -> Poly {
        Poly(BTreeMap::from([(vec![symbol], 1)]))
    }

    /// The value, if it is a constant.
    pub fn as_constant(&self) -> Option<i128> {
        match self.0.first_key_value() {
            None => Some(0),
            Some((symbols, v)) if symbols.is_empty() && self.0.len() == 1 => Some(*v),
            Some(_) => None,
        }
    }

    /// True if it is 0.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// True if it is provably at least 0 for all values of its symbols. `false` proves nothing.
    pub fn is_natural(&self) -> bool {
        let natural =
            |(symbols, v): (&Vec<Symbol>, &i128)| *v >= 0 && symbols.iter().all(|s| s.is_natural());
        self.0.iter().all(natural)
    }

    fn add_term(&mut self, symbols: Vec<Symbol>, v: i128) {
        let sum = self.0.get(&symbols).copied().unwrap_or(0).saturating_add(v);
        if sum == 0 {
            self.0.remove(&symbols);
        } else {
            self.0.insert(symbols, sum);
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Poly) -> Poly {
        let mut sum = self.clone();
        for (symbols, v) in &other.0 {
            sum.add_term(symbols.clone(), *v);
        }
        sum
    }

    /// The difference.
    pub fn minus(&self, other: &Poly) -> Poly {
        self.plus(&other.scaled(-1))
    }

    /// True if `of` is a single term, and this polynomial a multiple of it.
    pub fn is_multiple_of(&self, of: &Poly) -> bool {
        let Some((symbols, factor)) = of.0.first_key_value().filter(|_| of.0.len() == 1) else {
            return false;
        };
        self.0
            .iter()
            .all(|(product, v)| without(product, symbols).is_some() && v % factor == 0)
    }

    /// Divides by `of`, a single term: the quotient of the terms that are multiples of it, and the remaining
    /// terms.
    pub fn divided(&self, of: &Poly) -> (Poly, Poly) {
        let (mut quotient, mut rest) = (Poly::default(), Poly::default());
        let Some((symbols, factor)) = of.0.first_key_value().filter(|_| of.0.len() == 1) else {
            return (quotient, self.clone());
        };
        for (product, v) in &self.0 {
            match without(product, symbols) {
                Some(left) if v % factor == 0 => quotient.add_term(left, v / factor),
                Some(_) | None => rest.add_term(product.clone(), *v),
            }
        }
        (quotient, rest)
    }

    /// True if it is provably odd, and so not 0, for all values of its symbols.
    pub fn is_odd(&self) -> bool {
        let odd = |(symbols, v): (&Vec<Symbol>, &i128)| symbols.is_empty() == (v % 2 != 0);
        self.0.contains_key(&vec![]) && self.0.iter().all(odd)
    }

    /// The value for these symbol values; `None` if it overflows.
    pub fn evaluate(&self, of: impl Fn(Symbol) -> i128) -> Option<i128> {
        self.0.iter().try_fold(0i128, |sum, (symbols, v)| {
            let product = symbols.iter().try_fold(*v, |p, s| p.checked_mul(of(*s)));
            sum.checked_add(product?)
        })
    }

    /// The symbols that are terms by themselves, with coefficient 1.
    pub fn lone_symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.0
            .iter()
            .filter_map(|(symbols, v)| match symbols.as_slice() {
                [only] if *v == 1 => Some(*only),
                _ => None,
            })
    }

    /// True if the symbol occurs.
    pub fn has(&self, symbol: Symbol) -> bool {
        self.0.keys().any(|symbols| symbols.contains(&symbol))
    }

    /// Each term divided by one of its symbols, made positive, unless the quotient is 1. The symbol may count
    /// multiples of this quotient.
    pub fn counted(&self) -> Vec<Poly> {
        let mut found: Vec<Poly> = vec![];
        for (symbols, v) in &self.0 {
            for at in 0..symbols.len() {
                let mut rest = symbols.clone();
                rest.remove(at);
                let unit = Poly(BTreeMap::from([(rest, v.saturating_abs())]));
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
        for (a, v) in &self.0 {
            for (b, w) in &other.0 {
                let mut symbols = [a.as_slice(), b.as_slice()].concat();
                symbols.sort();
                product.add_term(symbols, v.saturating_mul(*w));
            }
        }
        product
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
