//! Forms before a launch: coefficients are polynomials over the values that a launch fixes.
//!
//! Immutable locals are replaced by their initialisers. Machine arithmetic may wrap; if the wrapped value might
//! then differ from the form in a way that matters, [`Affine::needs_exact`] is set.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::read::{FormOf, Source, read};
use super::symbol::is_unsigned;
use super::values::Values;
use super::{Affine, Atom, Extent, Fact, Form, Interval, Poly, Symbol, Terms};
use crate::analysis::shape::same;
use crate::{
    BinaryOp, Builtin, Compound, CompoundId, Expr, ExprId, Intrinsic, Kernel, List, LocalId,
    Memory, ParamId, ParamKind, Scalar, Stmt,
};

/// Reads the expressions of one kernel.
pub struct Resolver<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The initialisers of immutable locals.
    inits: Vec<Option<ExprId>>,
    /// Of each local, whether it has [one value per thread](Resolver::is_constant).
    constant: Vec<OnceCell<bool>>,
    /// The expressions that name opaque symbols.
    opaque: Vec<ExprId>,
    /// The masks of exchanges.
    masks: Vec<Poly>,
    /// Substitutions of symbols that follow from the launch requirements.
    given: Vec<(Symbol, Poly)>,
    /// The parameters that vary between threads; for a slice, its contents vary.
    varying: HashSet<ParamId>,
    /// The values of locals at the current point, in the analysis of a single block.
    pub block: Option<Values>,
    /// The forms of immutable locals that were read before. Without them, each use of a local would read its
    /// initialiser again, and chains of locals would take exponential time.
    read: HashMap<LocalId, Option<Affine>>,
    /// The locals that were found to be the same for all threads, or not.
    uniform: HashMap<LocalId, bool>,
    /// The terms, if this is a [resolver of values](Resolver::of_values).
    pub(super) terms: Option<Terms>,
    /// The stated values of expressions, see [`Resolver::state_value`].
    pub(super) stated: HashMap<ExprId, Affine>,
    /// The coordinates of the elements of views that immutable locals name, in a resolver of values.
    positions: HashMap<LocalId, Vec<Option<Affine>>>,
    /// The facts that follow if an immutable local is true, and if it is false, in a resolver of values.
    pub(super) conditions: HashMap<LocalId, [Vec<Fact>; 2]>,
    /// The values that are powers of two, or 0, if these expressions do not overflow.
    pub(super) powers_of_two: Vec<(Poly, Vec<ExprId>)>,
}

impl<'a> Resolver<'a> {
    /// A reader for a kernel, or for a function whose parameters are the same for all threads.
    pub fn new(kernel: &'a Kernel) -> Resolver<'a> {
        Resolver::among(kernel, HashSet::new())
    }

    /// A resolver that treats these parameters as varying.
    pub fn among(kernel: &'a Kernel, varying: HashSet<ParamId>) -> Resolver<'a> {
        let mut resolver = Resolver::without_requirements(kernel, varying);
        resolver.take_requirements();
        resolver
    }

    pub(super) fn without_requirements(
        kernel: &'a Kernel,
        varying: HashSet<ParamId>,
    ) -> Resolver<'a> {
        let mut inits = vec![None; kernel.locals.len()];
        for stmt in kernel.stmts.iter() {
            if let Stmt::Let { local, init } = stmt
                && !kernel.locals[local.index()].mutable
            {
                inits[local.index()] = *init;
            }
        }
        Resolver {
            kernel,
            inits,
            constant: vec![OnceCell::new(); kernel.locals.len()],
            opaque: vec![],
            masks: vec![],
            given: vec![],
            varying,
            block: None,
            read: HashMap::new(),
            uniform: HashMap::new(),
            terms: None,
            stated: HashMap::new(),
            powers_of_two: vec![],
            positions: HashMap::new(),
            conditions: HashMap::new(),
        }
    }

    /// A symbol, or its substitute from the launch requirements.
    fn substituted(&self, symbol: Symbol) -> Poly {
        let given = self.given.iter().find(|(of, _)| *of == symbol);
        given.map_or_else(|| Poly::symbol(symbol), |(_, is)| is.clone())
    }

    /// True if the symbol is substituted, or occurs in a substitute.
    pub(super) fn is_substituted(&self, symbol: Symbol) -> bool {
        let mut given = self.given.iter();
        given.any(|(of, by)| *of == symbol || by.has(symbol))
    }

    /// The initialiser of an immutable local.
    pub fn init(&self, local: LocalId) -> Option<ExprId> {
        self.inits[local.index()]
    }

    /// True if the expression has one value per thread. It, and the initialisers of its locals, read no mutable
    /// local, no memory that threads write, and no `&mut` parameter.
    pub fn is_constant(&self, id: ExprId) -> bool {
        let here = match self.kernel.expr(id) {
            Expr::Local(local) => *self.constant[local.index()].get_or_init(|| {
                !self.kernel.locals[local.index()].mutable
                    && self.init(local).is_none_or(|init| self.is_constant(init))
            }),
            Expr::Load { memory, .. } => !self.kernel.is_shared_between_threads(memory),
            Expr::Param(param) => !self.is_reference(param),
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => true,
        };
        here && self
            .kernel
            .operands(id)
            .iter()
            .all(|&e| self.is_constant(e))
    }

    /// True if evaluating the expression computes nothing that could overflow.
    pub fn is_plain(&self, id: ExprId) -> bool {
        match self.kernel.expr(id) {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. } => true,
            Expr::Local(local) => self.init(local).is_none_or(|init| self.is_plain(init)),
            Expr::Compound(compound) => {
                let field = self.initialiser(compound);
                field.is_some_and(|field| self.is_plain(field))
            }
            Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Faulted => false,
        }
    }

    /// The initialiser of a field, for a local bound to a tuple or struct: `let (i, j) = (…);`. `None` if the
    /// field is not constant.
    fn initialiser(&self, compound: CompoundId) -> Option<ExprId> {
        let compounds = &self.kernel.compounds;
        let Compound::Field { base, name } = &compounds[compound.index()] else {
            return None;
        };
        let Expr::Local(local) = self.kernel.expr(*base) else {
            return None;
        };
        let Expr::Compound(made) = self.kernel.expr(self.init(local)?) else {
            return None;
        };
        let Compound::Construct { fields, .. } = &compounds[made.index()] else {
            return None;
        };
        let (_, field) = fields.iter().find(|(of, _)| of == name)?;
        Some(*field).filter(|field| self.is_constant(*field))
    }

    /// The form of an integer expression; `None` if it has none.
    pub fn affine(&mut self, id: ExprId) -> Option<Affine> {
        read(self, id)
    }

    /// The form of an immutable local's initialiser.
    fn immutable(&mut self, local: LocalId) -> Option<Affine> {
        let init = self.inits[local.index()]?;
        if let Some(known) = self.read.get(&local) {
            return known.clone();
        }
        let form = self.affine(init);
        self.read.insert(local, form.clone());
        form
    }

    /// The form of an immutable local before the code that binds it, in a resolver of values: a step of a loop may be a local
    /// of its body.
    fn unbound(&mut self, local: LocalId) -> Option<Affine> {
        self.terms.as_ref()?;
        let init = self.init(local).filter(|init| self.is_constant(*init))?;
        let mut form = self.affine(init)?;
        if form.needs_exact || !(self.is_plain(init) || form.is_plain_id()) {
            form.exact.push(init);
        }
        Some(form)
    }

    /// Substitutes a symbol from now on.
    pub(super) fn substitute(&mut self, symbol: Symbol, by: Poly) {
        self.given.push((symbol, by));
        self.read.clear();
    }

    /// Records the coordinates that an immutable local gets here, if it names an element of a strided view.
    pub fn bind_position(&mut self, local: LocalId, init: ExprId) {
        if !self.kernel.locals[local.index()].mutable && self.terms.is_some() {
            let found = self.coordinates(init);
            if !found.is_empty() {
                self.positions.insert(local, found);
            }
        }
    }

    /// The coordinates of an element of a strided view; empty for any other index.
    pub fn coordinates(&mut self, index: ExprId) -> Vec<Option<Affine>> {
        let kernel = self.kernel;
        if let Expr::Local(local) = kernel.expr(index) {
            // The resolver of values would read the current values of mutable locals.
            if let Some(known) = self.positions.get(&local) {
                return known.clone();
            }
            let lasts = |init: &ExprId| self.terms.is_none() || self.is_constant(*init);
            let init = self.init(local).filter(lasts);
            return init.map_or_else(Vec::new, |init| self.coordinates(init));
        }
        let Expr::Compound(compound) = kernel.expr(index) else {
            return vec![];
        };
        match kernel.compounds[compound.index()] {
            Compound::At { indices, .. } => kernel.list(indices).map(|i| self.affine(i)).collect(),
            Compound::Field { .. }
            | Compound::Index { .. }
            | Compound::IsVariant { .. }
            | Compound::Payload { .. }
            | Compound::Construct { .. }
            | Compound::Array { .. }
            | Compound::Repeat { .. }
            | Compound::Len { .. } => vec![],
        }
    }

    /// True if the parameter is a `&mut T`.
    fn is_reference(&self, param: ParamId) -> bool {
        match self.kernel.params[param.index()].kind {
            ParamKind::Reference(_) => true,
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Slice { .. } => false,
        }
    }

    /// True if the expression has the same value in all threads, at every evaluation.
    fn is_uniform(&mut self, id: ExprId) -> bool {
        let kernel = self.kernel;
        match kernel.expr(id) {
            Expr::Literal(_) | Expr::Link(_) | Expr::Len(_) => true,
            Expr::Param(param) => !self.is_reference(param) && !self.varying.contains(&param),
            Expr::Builtin(b) => Symbol::of_builtin(b).is_some(),
            Expr::Local(local) => match (self.uniform.get(&local), self.inits[local.index()]) {
                (Some(known), _) => *known,
                (None, None) => false,
                (None, Some(init)) => {
                    let uniform = self.is_uniform(init);
                    self.uniform.insert(local, uniform);
                    uniform
                }
            },
            Expr::Load { memory, index, .. } => match memory {
                Memory::Slice(param) => {
                    !kernel.is_shared_between_threads(memory)
                        && !self.varying.contains(&param)
                        && self.is_uniform(index)
                }
                Memory::Table(_) => self.is_uniform(index),
                Memory::Shared(_) | Memory::Local(_) => false,
            },
            Expr::Faulted => false,
            Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_) => kernel.operands(id).iter().all(|&e| self.is_uniform(e)),
        }
    }
}

impl Source for Resolver<'_> {
    type Coefficient = Poly;

    fn kernel(&self) -> &Kernel {
        self.kernel
    }

    fn symbol(&mut self, _: ExprId, symbol: Symbol) -> Option<Affine> {
        let poly = match symbol {
            // A function may assign through a reference.
            Symbol::Param(param, _) if self.is_reference(param) => return None,
            Symbol::Param(param, _) if self.varying.contains(&param) => {
                return Some(Affine::atom(Atom::Param(param)));
            }
            Symbol::Extent(Extent::Block, axis) => match self.kernel.block {
                Some(block) => Poly::constant(block[usize::from(axis)].into()),
                None => self.substituted(symbol),
            },
            Symbol::Param(..)
            | Symbol::Link(..)
            | Symbol::Len(_)
            | Symbol::Extent(..)
            | Symbol::Block(_)
            | Symbol::Local(..)
            | Symbol::Excess(_)
            | Symbol::Opaque(..)
            | Symbol::Term(..) => self.substituted(symbol),
        };
        Some(Affine::of(Form::of(poly)))
    }

    fn id(&mut self, _: ExprId, builtin: Builtin) -> Option<Affine> {
        Some(Affine::atom(Atom::Id(builtin)))
    }

    fn local(&mut self, _: ExprId, local: LocalId) -> Option<Affine> {
        let mutable = self.kernel.locals[local.index()].mutable;
        let known = match (&self.block, mutable) {
            (Some(values), true) => values.get(local),
            (Some(values), false) => values.get(local).or_else(|| self.unbound(local)),
            (None, true) => None,
            (None, false) => self.immutable(local),
        };
        known.or_else(|| (!mutable).then(|| Affine::atom(Atom::Local(local))))
    }

    /// A symbol for an expression that is the same for all threads of the launch.
    fn opaque(&mut self, id: ExprId) -> Option<Affine> {
        if !self.is_uniform(id) {
            return self.opaque_value(id);
        }
        if let Some(value) = self.common_zero_or_one(id) {
            return Some(value);
        }
        let kernel = self.kernel;
        let known = self.opaque.iter().copied().find(|&e| same(kernel, e, id));
        let name = known.unwrap_or_else(|| {
            self.opaque.push(id);
            id
        });
        let unsigned = is_unsigned(kernel.scalar_of(id));
        Some(Affine::of(Form::of(Poly::symbol(Symbol::Opaque(
            name, unsigned,
        )))))
    }

    fn wrapped(&mut self, mut exact: Affine, _: BinaryOp, ty: Scalar) -> Option<Affine> {
        // Modulo 2^64, small factors keep distinct ids distinct; 32-bit arithmetic wraps much sooner.
        let small = |(_, c): &(Atom, Poly)| c.as_constant().is_some_and(|c| c.abs() < 1 << 16);
        exact.needs_exact |= ty.bits() < 64 || !exact.form.terms().iter().all(small);
        Some(exact)
    }

    /// Adds the conditions under which the cast preserves the value.
    fn cast(&mut self, mut value: Affine, from: Scalar, to: Scalar) -> Option<Affine> {
        let to_range = Interval::of(to);
        if Interval::of(from).within(to_range) {
            return Some(value);
        }
        match value.form.sole_atom() {
            Some(Atom::Id(
                Builtin::GlobalIdx(axis) | Builtin::ThreadIdx(axis) | Builtin::BlockIdx(axis),
            )) => {
                if to.bits() < 64 {
                    value.extents.push((axis, to_range.hi as u64 + 1));
                }
            }
            Some(_) | None => value.needs_exact = true,
        }
        Some(value)
    }

    fn quotient(
        &mut self,
        dividend: &Affine,
        divisor: i128,
        floors: bool,
        ty: Scalar,
    ) -> Option<Affine> {
        let divisor = Affine::of(Form::constant(divisor));
        self.ratio(dividend, &divisor, floors, ty)
    }

    fn ratio(
        &mut self,
        dividend: &Affine,
        divisor: &Affine,
        floors: bool,
        ty: Scalar,
    ) -> Option<Affine> {
        let natural = is_unsigned(ty) || self.never_negative(&dividend.form);
        let positive = is_unsigned(ty) || divisor.form.as_constant().is_some_and(|d| d > 0);
        match floors || natural {
            true if positive => self.quotient_term(dividend, divisor, natural),
            true => self.signed_quotient(dividend, divisor, natural),
            false if positive => self.truncated_quotient(dividend, divisor),
            false => None,
        }
    }

    fn product(&mut self, lhs: &Affine, rhs: &Affine, ty: Scalar) -> Option<Affine> {
        self.product_term(lhs, rhs, is_unsigned(ty))
    }

    fn power_of_two(&mut self, exponent: &Affine) -> Option<Affine> {
        self.power_term(exponent)
    }

    fn intrinsic(&mut self, id: ExprId, of: (Intrinsic, List), ty: Scalar) -> Option<Affine> {
        self.intrinsic_term(id, of, ty)
    }

    /// An index that is out of bounds faults before the access.
    fn passes(&mut self, _: ExprId, _: ExprId) -> bool {
        true
    }

    /// An id XORed with a mask. The resolver of values takes any operands of an unsigned type.
    fn exchange(&mut self, id: &Affine, mask: &Affine, ty: Scalar) -> FormOf<Self> {
        if self.terms.is_some() {
            return is_unsigned(ty).then(|| self.xor_term(id, mask))?;
        }
        let of = match id.form.sole_atom().filter(|_| !id.needs_exact)? {
            Atom::Id(of @ (Builtin::ThreadIdx(_) | Builtin::GlobalIdx(_))) => of,
            Atom::Id(_) | Atom::Local(_) | Atom::Param(_) => return None,
            Atom::Exchange(..) | Atom::Quotient(_) | Atom::Term(..) => return None,
        };
        let by = mask.form.uniform().filter(|_| !mask.needs_exact)?;
        let known = self.masks.iter().position(|m| m == by);
        let number = known.unwrap_or_else(|| {
            self.masks.push(by.clone());
            self.masks.len() - 1
        });
        let form = Affine::atom(Atom::Exchange(of, number as u32));
        Some(form.with_conditions(id).with_conditions(mask))
    }

    fn common_bits(&mut self, lhs: &Affine, rhs: &Affine, ty: Scalar) -> FormOf<Self> {
        is_unsigned(ty).then(|| self.and_term(lhs, rhs))?
    }

    /// The initialiser of a field of a tuple or struct in a local, if it is constant.
    fn field(&self, compound: CompoundId) -> Option<ExprId> {
        self.initialiser(compound)
    }
}
