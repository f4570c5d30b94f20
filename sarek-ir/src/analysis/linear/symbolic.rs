//! Resolves expressions to affine forms of ids and bounded locals.

use crate::analysis::shape::same;

use std::collections::HashSet;

use super::poly::{Extent, Poly, Symbol, is_unsigned};
use super::values::Values;
use crate::{
    Axis, BinaryOp, Builtin, Compound, CompoundId, Expr, ExprId, Kernel, Local, LocalId, Memory,
    ParamId, ParamKind, Scalar, Stmt,
};

/// A value that varies from thread to thread: a variable of affine forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atom {
    /// An id.
    Id(Builtin),
    /// An immutable local whose value has no form: a loop counter or a loaded value.
    Local(LocalId),
    /// A scalar parameter of a function, for which threads may pass different values.
    Param(ParamId),
    /// An id XORed with a mask that is the same for all threads, `id ^ mask`. The number identifies the mask.
    Exchange(Builtin, u32),
}

impl Atom {
    /// True if it is a value of an unsigned type, of which nothing else is known.
    pub fn is_unsigned_value(self, kernel: &Kernel) -> bool {
        let ty = match self {
            Atom::Local(local) => kernel.locals[local.index()].ty.as_scalar(),
            Atom::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(ty) => Some(ty),
                ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => None,
            },
            Atom::Id(_) | Atom::Exchange(..) => None,
        };
        ty.is_some_and(is_unsigned)
    }
}

/// `base + Σ coefficient · atom`
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Affine {
    /// The part that is the same for all threads.
    pub base: Poly,
    /// The varying part: each atom once, no coefficient 0.
    pub terms: Vec<(Atom, Poly)>,
    /// True if the form holds only if no operation in the expression overflows.
    pub needs_exact: bool,
    /// The form holds only if the launch has at most this many threads along the axis.
    pub extents: Vec<(Axis, u64)>,
}

impl Affine {
    pub(super) fn of(base: Poly) -> Affine {
        Affine {
            base,
            ..Affine::default()
        }
    }

    fn atom(atom: Atom) -> Affine {
        Affine {
            terms: vec![(atom, Poly::constant(1))],
            ..Affine::default()
        }
    }

    /// The coefficient of an atom; 0 if it does not occur.
    pub fn coefficient(&self, atom: Atom) -> Poly {
        let found = self.terms.iter().find(|(a, _)| *a == atom);
        found.map_or_else(Poly::default, |(_, c)| c.clone())
    }

    /// Replaces an atom's coefficient.
    pub(in crate::analysis) fn set(&mut self, atom: Atom, coefficient: Poly) {
        self.terms.retain(|(a, _)| *a != atom);
        if !coefficient.is_zero() {
            self.terms.push((atom, coefficient));
        }
    }

    /// The value, if it is the same for all threads.
    pub fn uniform(&self) -> Option<&Poly> {
        self.terms.is_empty().then_some(&self.base)
    }

    /// The id, if the form is exactly one id.
    fn pure_id(&self) -> Option<Builtin> {
        match self.terms.as_slice() {
            [(Atom::Id(id), c)] if self.base.is_zero() && c.as_constant() == Some(1) => Some(*id),
            _ => None,
        }
    }

    /// True if it is an id, perhaps cast, under no conditions except those on extents.
    pub(super) fn is_plain_id(&self) -> bool {
        self.pure_id().is_some() && !self.needs_exact
    }

    /// Adds the conditions of another form from which this one was made.
    fn with_conditions(mut self, other: &Affine) -> Affine {
        self.needs_exact |= other.needs_exact;
        self.extents.extend_from_slice(&other.extents);
        self
    }

    /// `self + by * other`
    pub(super) fn plus(&self, other: &Affine, by: i128) -> Affine {
        let mut sum = self.clone().with_conditions(other);
        sum.base = self.base.plus(&other.base.scaled(by));
        for (atom, c) in &other.terms {
            sum.set(*atom, self.coefficient(*atom).plus(&c.scaled(by)));
        }
        sum
    }

    /// The product with a value that is the same for all threads.
    pub(in crate::analysis) fn times(&self, by: &Poly) -> Affine {
        let mut product = self.clone();
        product.base = self.base.times(by);
        product.terms = self.terms.iter().map(|(a, c)| (*a, c.times(by))).collect();
        product.terms.retain(|(_, c)| !c.is_zero());
        product
    }
}

/// Resolves expressions of one kernel.
pub(super) struct Resolver<'a> {
    pub(super) kernel: &'a Kernel,
    /// The initialisers of immutable locals.
    inits: Vec<Option<ExprId>>,
    /// The expressions that name opaque symbols.
    opaque: Vec<ExprId>,
    /// The masks of exchanges.
    masks: Vec<Poly>,
    /// Substitutions of symbols that follow from the launch requirements.
    pub(super) given: Vec<(Symbol, Poly)>,
    /// The parameters that vary between threads; for a slice, its contents vary.
    varying: HashSet<ParamId>,
    /// The values of locals at the current point, in the analysis of a single block.
    pub(super) block: Option<Values>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(kernel: &'a Kernel) -> Resolver<'a> {
        Resolver::among(kernel, HashSet::new())
    }

    /// A resolver that treats these parameters as varying.
    pub(super) fn among(kernel: &'a Kernel, varying: HashSet<ParamId>) -> Resolver<'a> {
        let mut inits = vec![None; kernel.locals.len()];
        for stmt in kernel.stmts.iter() {
            if let Stmt::Let { local, init } = stmt
                && !kernel.locals[local.index()].mutable
            {
                inits[local.index()] = *init;
            }
        }
        let mut resolver = Resolver {
            kernel,
            inits,
            opaque: vec![],
            masks: vec![],
            given: vec![],
            varying,
            block: None,
        };
        resolver.take_requirements();
        resolver
    }

    /// A symbol, or its substitute from the launch requirements.
    fn symbol(&self, symbol: Symbol) -> Affine {
        let given = self.given.iter().find(|(of, _)| *of == symbol);
        Affine::of(given.map_or_else(|| Poly::symbol(symbol), |(_, is)| is.clone()))
    }

    /// The initialiser of an immutable local.
    pub(super) fn init(&self, local: LocalId) -> Option<ExprId> {
        self.inits[local.index()]
    }

    /// True if the expression has one value per thread. It, and the initialisers of its locals, read no mutable
    /// local, no memory that threads write, and no `&mut` parameter.
    pub(super) fn is_constant(&self, id: ExprId) -> bool {
        let here = match self.kernel.expr(id) {
            Expr::Local(local) => {
                !self.kernel.locals[local.index()].mutable
                    && self.init(local).is_none_or(|init| self.is_constant(init))
            }
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
    pub(super) fn is_plain(&self, id: ExprId) -> bool {
        match self.kernel.expr(id) {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. } => true,
            Expr::Local(local) => self.init(local).is_none_or(|init| self.is_plain(init)),
            Expr::Compound(compound) => {
                let field = self.field(compound);
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
    fn field(&self, compound: CompoundId) -> Option<ExprId> {
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
    pub(super) fn affine(&mut self, id: ExprId) -> Option<Affine> {
        let kernel = self.kernel;
        let ty = kernel.type_of(id).as_scalar()?;
        if !ty.is_int() {
            return None;
        }
        let form = match kernel.expr(id) {
            Expr::Literal(value) => Affine::of(Poly::constant(value.as_int()?)),
            Expr::Link(link) => self.symbol(Symbol::Link(link, is_unsigned(ty))),
            // A function may assign through a reference.
            Expr::Param(p) if self.is_reference(p) => return None,
            Expr::Param(p) if self.varying.contains(&p) => Affine::atom(Atom::Param(p)),
            Expr::Param(p) => self.symbol(Symbol::Param(p, is_unsigned(ty))),
            Expr::Len(p) => self.symbol(Symbol::Len(p)),
            Expr::Builtin(b) => self.builtin(b),
            Expr::Local(local) => return self.local(local),
            Expr::Binary { op, lhs, rhs } => match self.binary(op, lhs, rhs, ty) {
                Some(form) => form,
                None => return self.opaque(id),
            },
            // An index that is out of bounds faults before the access.
            Expr::Bounded { index, .. } => return self.affine(index),
            Expr::Cast { arg } => match self.affine(arg) {
                Some(form) => cast(form, kernel.scalar_of(arg), ty),
                None => return self.opaque(id),
            },
            Expr::Compound(compound) => match self.field(compound) {
                Some(field) => return self.affine(field),
                None => return self.opaque(id),
            },
            Expr::Load { .. } | Expr::Unary { .. } | Expr::Divide { .. } | Expr::Call { .. } => {
                return self.opaque(id);
            }
            Expr::And { .. } | Expr::Or { .. } | Expr::Faulted => return None,
        };
        Some(form)
    }

    /// The coordinates of an element of a strided view; empty for any other index.
    pub(super) fn coordinates(&mut self, index: ExprId) -> Vec<Option<Affine>> {
        let kernel = self.kernel;
        if let Expr::Local(local) = kernel.expr(index) {
            let init = self.init(local);
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

    fn builtin(&self, builtin: Builtin) -> Affine {
        match (Symbol::of_builtin(builtin), self.kernel.block) {
            (Some(Symbol::Extent(Extent::Block, axis)), Some(block)) => {
                Affine::of(Poly::constant(block[usize::from(axis)].into()))
            }
            (Some(symbol), _) => Affine::of(Poly::symbol(symbol)),
            (None, _) => Affine::atom(Atom::Id(builtin)),
        }
    }

    fn local(&mut self, local: LocalId) -> Option<Affine> {
        let Local { mutable, .. } = self.kernel.locals[local.index()];
        if let Some(values) = &self.block {
            let known = values.get(local);
            return known.or_else(|| (!mutable).then(|| Affine::atom(Atom::Local(local))));
        }
        if mutable {
            return None;
        }
        let resolved = self.inits[local.index()].and_then(|init| self.affine(init));
        Some(resolved.unwrap_or_else(|| Affine::atom(Atom::Local(local))))
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, ty: Scalar) -> Option<Affine> {
        let (l, r) = (self.affine(lhs)?, self.affine(rhs)?);
        if op == BinaryOp::BitXor {
            return self.exchange(&l, &r).or_else(|| self.exchange(&r, &l));
        }
        let mut form = match op {
            BinaryOp::Add => l.plus(&r, 1),
            BinaryOp::Sub => l.plus(&r, -1),
            BinaryOp::Mul => match (l.uniform(), r.uniform()) {
                (_, Some(by)) => l.times(by).with_conditions(&r),
                (Some(by), None) => r.times(by).with_conditions(&l),
                (None, None) => return None,
            },
            BinaryOp::Shl => {
                let by = r.uniform()?.as_constant()?;
                let fits = (0..i128::from(ty.bits())).contains(&by);
                l.times(&Poly::constant(1 << fits.then_some(by)?))
            }
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => return None,
        };
        // Modulo 2^64, small factors keep distinct ids distinct; 32-bit arithmetic wraps much sooner.
        let plain = |(_, c): &(Atom, Poly)| c.as_constant().is_some_and(|c| c.abs() < 1 << 16);
        form.needs_exact |= ty.bits() < 64 || !form.terms.iter().all(plain);
        Some(form)
    }

    /// True if the parameter is a `&mut T`.
    fn is_reference(&self, param: ParamId) -> bool {
        match self.kernel.params[param.index()].kind {
            ParamKind::Reference(_) => true,
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Slice { .. } => false,
        }
    }

    fn exchange(&mut self, id: &Affine, mask: &Affine) -> Option<Affine> {
        let of = id.pure_id().filter(|_| !id.needs_exact)?;
        let is_thread = matches!(of, Builtin::ThreadIdx(_) | Builtin::GlobalIdx(_));
        let by = mask.uniform().filter(|_| is_thread && !mask.needs_exact)?;
        let known = self.masks.iter().position(|m| m == by);
        let number = known.unwrap_or_else(|| {
            self.masks.push(by.clone());
            self.masks.len() - 1
        });
        let form = Affine::atom(Atom::Exchange(of, number as u32));
        Some(form.with_conditions(id).with_conditions(mask))
    }

    /// A symbol for an expression that is the same for all threads of the launch.
    fn opaque(&mut self, id: ExprId) -> Option<Affine> {
        if !self.is_uniform(id) {
            return None;
        }
        let kernel = self.kernel;
        let known = self.opaque.iter().copied().find(|&e| same(kernel, e, id));
        let name = known.unwrap_or_else(|| {
            self.opaque.push(id);
            id
        });
        let unsigned = is_unsigned(kernel.scalar_of(id));
        Some(Affine::of(Poly::symbol(Symbol::Opaque(name, unsigned))))
    }

    /// True if the expression has the same value in all threads, at every evaluation.
    fn is_uniform(&self, id: ExprId) -> bool {
        let kernel = self.kernel;
        match kernel.expr(id) {
            Expr::Literal(_) | Expr::Link(_) | Expr::Len(_) => true,
            Expr::Param(param) => !self.is_reference(param) && !self.varying.contains(&param),
            Expr::Builtin(b) => Symbol::of_builtin(b).is_some(),
            Expr::Local(local) => {
                let init = self.inits[local.index()];
                init.is_some_and(|init| self.is_uniform(init))
            }
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

/// Casts a form between integer types, and adds the conditions under which the cast preserves the value.
fn cast(mut form: Affine, from: Scalar, to: Scalar) -> Affine {
    let (from_min, from_max) = limits(from);
    let (to_min, to_max) = limits(to);
    if to_min <= from_min && from_max <= to_max {
        return form;
    }
    match form.pure_id() {
        Some(Builtin::GlobalIdx(axis) | Builtin::ThreadIdx(axis) | Builtin::BlockIdx(axis)) => {
            if to.bits() < 64 {
                form.extents.push((axis, to_max as u64 + 1));
            }
        }
        Some(_) | None => form.needs_exact = true,
    }
    form
}

fn limits(ty: Scalar) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}
