//! Polynomials with integer coefficients over values that are the same for a whole launch.

use std::collections::BTreeMap;

use crate::{Builtin, ExprId, LinkId, LocalId, Memory, ParamId, Scalar};

/// A value that is the same for all threads of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Symbol {
    /// A scalar parameter; is its type unsigned?
    Param(ParamId, bool),
    /// The length of a slice.
    Len(Memory),
    /// A launch constant of the user's crate; is its type unsigned?
    Link(LinkId, bool),
    /// An extent: block, grid or global, by its axis.
    Extent(Extent, u8),
    /// The index of the block along an axis, where one block is looked at.
    Block(u8),
    /// What a local is for all threads of a block from some point on; is its type unsigned?
    Local(LocalId, u32, bool),
    /// By how much a requirement is met: a number that is not negative.
    Excess(u32),
    /// Any other expression of such values, named by the first of its shape; is its type unsigned?
    Opaque(ExprId, bool),
}

/// Which extent.
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
    /// The symbol of a builtin that is one for the whole launch.
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

    /// Is it never negative?
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

/// Is a type unsigned?
pub(super) fn is_unsigned(ty: Scalar) -> bool {
    ty.is_int() && !ty.is_signed()
}

/// A sum of products of symbols with integer coefficients; terms with coefficient 0 are left out,
/// so that equal polynomials compare equal.
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

    /// The number that it is, if it is one.
    pub fn as_constant(&self) -> Option<i128> {
        match self.0.first_key_value() {
            None => Some(0),
            Some((symbols, v)) if symbols.is_empty() && self.0.len() == 1 => Some(*v),
            Some(_) => None,
        }
    }

    /// Is it 0?
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Is it at least 0 whatever its symbols are? `false` when that is not plain to see.
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

    /// Is it a multiple of another one, which is a product of a number and symbols?
    pub fn is_multiple_of(&self, of: &Poly) -> bool {
        let Some((symbols, factor)) = of.0.first_key_value().filter(|_| of.0.len() == 1) else {
            return false;
        };
        self.0
            .iter()
            .all(|(product, v)| without(product, symbols).is_some() && v % factor == 0)
    }

    /// Its terms that are multiples of `of`, a product of a number and symbols, divided by it, and the others.
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

    /// Is it odd, and so not 0, whatever its symbols are?
    pub fn is_odd(&self) -> bool {
        let odd = |(symbols, v): (&Vec<Symbol>, &i128)| symbols.is_empty() == (v % 2 != 0);
        self.0.contains_key(&vec![]) && self.0.iter().all(odd)
    }

    /// Its value where symbols have these; `None` where that is too large.
    pub fn evaluate(&self, of: impl Fn(Symbol) -> i128) -> Option<i128> {
        self.0.iter().try_fold(0i128, |sum, (symbols, v)| {
            let product = symbols.iter().try_fold(*v, |p, s| p.checked_mul(of(*s)));
            sum.checked_add(product?)
        })
    }

    /// The symbols that occur by themselves, with factor 1.
    pub fn lone_symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.0
            .iter()
            .filter_map(|(symbols, v)| match symbols.as_slice() {
                [only] if *v == 1 => Some(*only),
                _ => None,
            })
    }

    /// Does a symbol occur?
    pub fn has(&self, symbol: Symbol) -> bool {
        self.0.keys().any(|symbols| symbols.contains(&symbol))
    }

    /// Each of its terms with one of its symbols left out, as long as something else than 1 is left; these may be what
    /// the symbol counts.
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

/// A product without some of its factors; `None` if they are not among them.
fn without(product: &[Symbol], factors: &[Symbol]) -> Option<Vec<Symbol>> {
    let mut rest = product.to_vec();
    for factor in factors {
        let at = rest.iter().position(|symbol| symbol == factor)?;
        rest.remove(at);
    }
    Some(rest)
}
