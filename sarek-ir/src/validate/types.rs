//! The typing rules. They are checked once all handles are known to be sound.

use super::{Node, Rule, Violation};
use crate::print::PrintPiece;
use crate::{
    Access, AtomicOp, BinaryOp, Block, Expr, ExprId, Intrinsic, Kernel, Length, List, LocalId,
    Memory, ParamId, ParamKind, PlaceId, Precondition, PrintId, Root, Scalar, SiteId, SiteKind,
    Stmt, StmtId, SubgroupOp, TableValues, Type, TypeDef, UnaryOp, Unroll,
};

pub(super) fn check(kernel: &Kernel) -> Vec<Violation> {
    let mut check = Check {
        kernel,
        index_type: None,
        violations: vec![],
    };
    for (i, param) in kernel.params.iter().enumerate() {
        match param.kind {
            ParamKind::Slice { elem, access: _ } => check.require(
                elem != Scalar::Usize,
                Node::Param(ParamId(i as u32)),
                Rule::BufferElement,
            ),
            ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {}
        }
    }
    check.arrays();
    check.unrolls();
    check.block(kernel.body);
    for (i, p) in kernel.preconditions.iter().enumerate() {
        match p {
            Precondition::SingleThread(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::SubgroupSize(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups => {}
            Precondition::Positive(param) => check.require(
                match kernel.params[param.index()].kind {
                    ParamKind::Scalar(scalar) => scalar.is_int(),
                    ParamKind::Slice { .. } => true,
                    ParamKind::Value(_) | ParamKind::Reference(_) => false,
                },
                Node::Precondition(i as u32),
                Rule::PreconditionType,
            ),
            Precondition::SubgroupSizeIs(link) => check.require(
                known(kernel.links[link.index()].ty, Scalar::is_int),
                Node::Precondition(i as u32),
                Rule::PreconditionType,
            ),
            Precondition::Holds(site) => check.require(
                matches!(kernel.sites[site.index()].kind, SiteKind::Assert(_)),
                Node::Precondition(i as u32),
                Rule::PreconditionType,
            ),
            Precondition::NoOverflow(e) => check.require(
                known(kernel.type_of(*e), Scalar::is_int),
                Node::Precondition(i as u32),
                Rule::PreconditionType,
            ),
        }
    }
    check.violations
}

struct Check<'a> {
    kernel: &'a Kernel,
    /// The type of the first length, id or index.
    index_type: Option<Scalar>,
    violations: Vec<Violation>,
}

impl Check<'_> {
    fn require(&mut self, holds: bool, node: Node, rule: Rule) {
        if !holds {
            self.violations.push(node.breaks(rule));
        }
    }

    fn is_index_type(&mut self, ty: Type) -> bool {
        let Some(ty) = ty.as_scalar() else {
            return true;
        };
        let possible = matches!(ty, Scalar::Usize | Scalar::U32 | Scalar::U64);
        possible && *self.index_type.get_or_insert(ty) == ty
    }

    /// Returns true if it is memory. Otherwise reports it.
    fn is_memory(&mut self, memory: Memory, node: Node) -> bool {
        let is = match memory {
            Memory::Slice(param) => match self.kernel.params[param.index()].kind {
                ParamKind::Slice { .. } => true,
                ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => false,
            },
            Memory::Shared(_) => true,
            Memory::Table(table) => match self.kernel.tables[table.index()].values {
                TableValues::Known { .. } => true,
                TableValues::Link(_) => false,
            },
            Memory::Local(local) => self.kernel.array(local).is_some(),
        };
        self.require(is, node, Rule::Memory);
        is
    }

    /// Checks an access of an element, and returns the element's type.
    fn element(
        &mut self,
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
        node: Node,
        may: impl Fn(Access) -> bool,
    ) -> Option<Type> {
        let index = self.expr(index);
        let is_index = self.is_index_type(index);
        self.require(is_index, node, Rule::IndexType);
        if !self.is_memory(memory, node) {
            return None;
        }
        let kernel = self.kernel;
        // An index into an array inside of a value has a site for one dimension of the whole.
        let fits = site.is_none_or(|s| match kernel.sites[s.index()].kind {
            // A closure that is called twice has two copies of its arrays, but only one of its sites.
            SiteKind::Index(of) => {
                let both = matches!(
                    (of, memory),
                    (Memory::Local(_), Memory::Local(_)) | (Memory::Table(_), Memory::Table(_))
                );
                of == memory || both
            }
            SiteKind::Dimension(..) => true,
            SiteKind::Divisor
            | SiteKind::Overflow(_)
            | SiteKind::Assert(_)
            | SiteKind::Panic(_) => false,
        });
        self.require(fits, node, Rule::SiteKind);
        self.require(may(kernel.access(memory)), node, Rule::AccessAllowed);
        Some(kernel.element_type(memory))
    }

    /// Checks that only shared arrays have lengths that depend on the launch.
    fn arrays(&mut self) {
        let kernel = self.kernel;
        for def in kernel.types.iter() {
            if let TypeDef::Array { elem: _, len } = def {
                self.length(*len, false);
            }
        }
        for array in kernel.shared.iter() {
            self.length(array.len, true);
        }
    }

    fn unrolls(&mut self) {
        for (_, unroll) in self.kernel.unrolls.iter() {
            let sensible = match *unroll {
                Unroll::Whole => true,
                Unroll::Times(times) => (1..=Unroll::MOST).contains(&times),
                Unroll::Link(link) => self.is_index_type(self.kernel.links[link.index()].ty),
            };
            self.require(sensible, Node::Kernel, Rule::Unroll);
        }
    }

    fn length(&mut self, len: Length, shared: bool) {
        let kernel = self.kernel;
        let ty = match len {
            Length::Fixed(_) => return,
            Length::Link(link) => kernel.links[link.index()].ty,
            Length::Launch(len) => {
                self.require(shared, Node::Kernel, Rule::ArrayLength);
                self.expr(len)
            }
        };
        let fits = self.is_index_type(ty);
        self.require(fits, Node::Kernel, Rule::ArrayLength);
    }

    fn operands(&mut self, args: List) -> Vec<Type> {
        self.kernel.list(args).map(|a| self.expr(a)).collect()
    }

    fn atomic(
        &mut self,
        node: Node,
        (op, memory, index): (AtomicOp, Memory, ExprId),
        args: List,
        result: Option<LocalId>,
        site: Option<SiteId>,
    ) {
        let args = self.operands(args);
        let elem = self.element(memory, index, site, node, |a| a == Access::Atomic);
        let Some(elem) = elem else { return };
        let bits = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
        let fits = args.len() == op.arity() as usize
            && args.iter().all(|ty| same(*ty, elem))
            && known(elem, |ty| !ty.is_bool() && ty.widened().is_none())
            && (!bits || known(elem, Scalar::is_int));
        self.require(fits, node, Rule::Signature);
        if let Some(result) = result {
            let ty = self.kernel.locals[result.index()].ty;
            self.require(
                same(ty, elem) && op != AtomicOp::Store,
                node,
                Rule::ValueType,
            );
        }
    }

    fn subgroup(&mut self, node: Node, op: SubgroupOp, args: List, result: LocalId) {
        let args = self.operands(args);
        let lane = args.get(1).copied();
        let lane_fits = match lane {
            Some(ty) => op.takes_lane() && self.is_index_type(ty),
            None => !op.takes_lane(),
        };
        let fits = lane_fits && (args.len() == 1 || lane.is_some());
        self.require(fits, node, Rule::Signature);
        let Some(&value) = args.first() else { return };
        let ty = self.kernel.locals[result.index()].ty;
        self.require(
            known(value, |v| op.result(v).is_some_and(|r| same(ty, r.into()))),
            node,
            Rule::Signature,
        );
    }

    fn block(&mut self, block: Block) {
        for stmt in self.kernel.block(block) {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let node = Node::Stmt(id);
        let kernel = self.kernel;
        match kernel.stmt(id) {
            Stmt::Let { local, init } => {
                let local = &kernel.locals[local.index()];
                match init {
                    Some(init) => {
                        let ty = self.expr(init);
                        self.require(same(local.ty, ty), node, Rule::ValueType);
                    }
                    None => self.require(local.mutable, node, Rule::ImmutableInitialised),
                }
            }
            Stmt::Assign { local, value } => {
                let ty = self.expr(value);
                self.require(
                    same(kernel.locals[local.index()].ty, ty),
                    node,
                    Rule::ValueType,
                );
            }
            Stmt::Store {
                memory,
                index,
                value,
                site,
            } => {
                let value = self.expr(value);
                let elem = self.element(memory, index, site, node, |a| a == Access::Write);
                self.require(elem.is_none_or(|e| same(e, value)), node, Rule::ValueType);
            }
            Stmt::Atomic {
                op,
                memory,
                index,
                args,
                result,
                site,
            } => self.atomic(node, (op, memory, index), args, result, site),
            Stmt::Subgroup { op, args, result } => self.subgroup(node, op, args, result),
            Stmt::Barrier | Stmt::Fence { .. } => {}
            Stmt::Update { place, value } => {
                self.expr(value);
                self.place(place, node);
            }
            Stmt::Call { call } => {
                for operand in kernel.call_operands(call) {
                    self.expr(operand);
                }
                for closure in kernel.closures_of(call) {
                    self.block(closure.body);
                }
            }
            Stmt::Assert { cond, site } => {
                self.condition(cond, node);
                let kind = &kernel.sites[site.index()].kind;
                // The pass `lower_panics` turns a panic into a failing assertion.
                let fits = matches!(kind, SiteKind::Assert(_) | SiteKind::Panic(_));
                self.require(fits, node, Rule::SiteKind);
            }
            Stmt::Panic { site } => {
                let fits = matches!(kernel.sites[site.index()].kind, SiteKind::Panic(_));
                self.require(fits, node, Rule::SiteKind);
            }
            Stmt::Print { print } => self.print(print, node),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                self.condition(cond, node);
                self.block(then);
                self.block(otherwise);
            }
            Stmt::Loop {
                label: _,
                cond,
                body,
            } => {
                if let Some(cond) = cond {
                    self.condition(cond, node);
                }
                self.block(body);
            }
            Stmt::For {
                label: _,
                local,
                start,
                end,
                body,
            } => {
                let ty = kernel.locals[local.index()].ty;
                let (start, end) = (self.expr(start), self.expr(end));
                let fits = known(start, Scalar::is_int) && same(ty, start) && same(ty, end);
                self.require(fits, node, Rule::ForType);
                self.block(body);
            }
            Stmt::Break { label: _ } | Stmt::Continue { label: _ } | Stmt::Return => {}
            Stmt::Native { native } => {
                let native = &kernel.natives[native.index()];
                if let Some(fallback) = native.fallback {
                    self.block(fallback);
                }
                if let Some(result) = native.result {
                    let is_array = kernel.array(result).is_some();
                    self.require(!is_array, node, Rule::NativeResult);
                }
            }
        }
    }

    /// Checks that the format of each printed argument fits its type.
    fn print(&mut self, id: PrintId, node: Node) {
        let print = &self.kernel.prints[id.index()];
        let args: Vec<ExprId> = self.kernel.list(print.args).collect();
        let types: Vec<Type> = args.into_iter().map(|arg| self.expr(arg)).collect();
        for piece in print.pieces.iter() {
            if let PrintPiece::Arg { index, format } = piece {
                let fits = known(types[*index as usize], |ty| format.fits(ty));
                self.require(fits, node, Rule::PrintFormat);
            }
        }
    }

    fn condition(&mut self, cond: ExprId, node: Node) {
        let ty = self.expr(cond);
        self.require(same(ty, Scalar::Bool.into()), node, Rule::ConditionType);
    }

    /// Checks a tree of expressions, and returns its declared type.
    fn expr(&mut self, id: ExprId) -> Type {
        let (kernel, node) = (self.kernel, Node::Expr(id));
        let ty = kernel.type_of(id);
        if let Some(site) = kernel.overflow_site(id) {
            let due = kernel.arithmetic(id).map(SiteKind::Overflow);
            let kind = &kernel.sites[site.index()].kind;
            self.require(due.as_ref() == Some(kind), node, Rule::SiteKind);
        }
        let fits = match kernel.expr(id) {
            Expr::Literal(value) => same(value.scalar().into(), ty),
            Expr::Link(link) => same(kernel.links[link.index()].ty, ty),
            Expr::Local(local) => same(kernel.locals[local.index()].ty, ty),
            Expr::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(scalar) => ty == scalar,
                ParamKind::Value(def) => same(Type::Compound(def), ty),
                ParamKind::Reference(of) => same(of, ty),
                ParamKind::Slice { .. } => {
                    self.require(false, node, Rule::ScalarParam);
                    true
                }
            },
            Expr::Len(memory) => {
                self.is_memory(memory, node);
                let is_index = self.is_index_type(ty);
                self.require(is_index, node, Rule::IndexType);
                true
            }
            Expr::Builtin(_) => {
                let is_index = self.is_index_type(ty);
                self.require(is_index, node, Rule::IndexType);
                true
            }
            Expr::Load {
                memory,
                index,
                site,
            } => {
                let elem = self.element(memory, index, site, node, |a| a != Access::Atomic);
                elem.is_none_or(|elem| same(elem, ty))
            }
            Expr::Bounded { index, len, site } => {
                let (i, n) = (self.expr(index), self.expr(len));
                let is_index = self.is_index_type(ty);
                self.require(is_index, node, Rule::IndexType);
                let site_fits = site.is_none_or(|s| {
                    matches!(
                        kernel.sites[s.index()].kind,
                        SiteKind::Dimension(..) | SiteKind::Index(_)
                    )
                });
                self.require(site_fits, node, Rule::SiteKind);
                same(i, ty) && same(n, ty)
            }
            Expr::Unary { op, arg } => same(self.expr(arg), ty) && known(ty, |ty| unary(op, ty)),
            Expr::Binary { op, lhs, rhs } => {
                let (l, r) = (self.expr(lhs), self.expr(rhs));
                known(l, |l| {
                    known(r, |r| {
                        binary(op, l, r).is_some_and(|to| same(to.into(), ty))
                    })
                })
            }
            Expr::Divide {
                op: _,
                lhs,
                rhs,
                site,
            } => {
                let (l, r) = (self.expr(lhs), self.expr(rhs));
                let site_fits =
                    site.is_none_or(|s| kernel.sites[s.index()].kind == SiteKind::Divisor);
                self.require(site_fits, node, Rule::SiteKind);
                // A type that is not known yet may turn out to be a float.
                known(ty, Scalar::is_int) && same(l, ty) && same(r, ty)
            }
            Expr::And { lhs, rhs } | Expr::Or { lhs, rhs } => {
                let (l, r) = (self.expr(lhs), self.expr(rhs));
                [l, r, ty]
                    .into_iter()
                    .all(|ty| same(ty, Scalar::Bool.into()))
            }
            Expr::Cast { arg } => {
                let from = self.expr(arg);
                let fits = known(from, |from| known(ty, |to| casts(from, to)));
                self.require(fits, node, Rule::CastTypes);
                true
            }
            Expr::Call { intrinsic, args } => {
                let fits = self.call(intrinsic, args, ty);
                self.require(fits, node, Rule::Signature);
                true
            }
            Expr::Compound(_) => {
                for operand in kernel.operands(id) {
                    self.expr(operand);
                }
                true
            }
            Expr::Faulted => ty == Scalar::Bool,
        };
        self.require(fits, node, Rule::ExprType);
        ty
    }

    fn place(&mut self, id: PlaceId, node: Node) {
        for operand in self.kernel.place_operands(id) {
            self.expr(operand);
        }
        match self.kernel.places[id.index()].root {
            Root::Local(_) | Root::Param(_) => {}
            Root::Element { memory, .. } => {
                if self.is_memory(memory, node) {
                    let may = self.kernel.access(memory) == Access::Write;
                    self.require(may, node, Rule::AccessAllowed);
                }
            }
        }
    }

    fn call(&mut self, intrinsic: Intrinsic, args: List, ty: Type) -> bool {
        let types = self.operands(args);
        let Some((&first, rest)) = types.split_first() else {
            return false;
        };
        let Some(on) = first.as_scalar() else {
            return rest.len() == intrinsic.args().len();
        };
        let takes = intrinsic.stands_on(on);
        let args_fit = rest.len() == intrinsic.args().len()
            && rest
                .iter()
                .zip(intrinsic.args())
                .all(|(&t, arg)| same(t, arg.of(on).into()));
        takes && args_fit && same(intrinsic.result_type(on).into(), ty)
    }
}

/// True if two types are equal, or may be equal because linking has yet to determine one.
fn same(a: Type, b: Type) -> bool {
    match (a, b) {
        (Type::Scalar(a), Type::Scalar(b)) => a == b,
        (Type::Compound(_), _) | (_, Type::Compound(_)) => true,
    }
}

/// True if a predicate holds for a type, or if the type is not known to be a scalar.
fn known(ty: Type, holds: impl FnOnce(Scalar) -> bool) -> bool {
    ty.as_scalar().is_none_or(holds)
}

/// True if a prefix operator accepts the type.
fn unary(op: UnaryOp, ty: Scalar) -> bool {
    match op {
        UnaryOp::Neg => ty.is_signed() || ty.is_float(),
        UnaryOp::Not => ty.is_int() || ty == Scalar::Bool,
    }
}

/// The type of an infix operation; `None` if the operator does not accept the operands.
fn binary(op: BinaryOp, l: Scalar, r: Scalar) -> Option<Scalar> {
    let same = l == r;
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => (same && l != Scalar::Bool).then_some(l),
        BinaryOp::Div | BinaryOp::Rem => (same && l.is_float()).then_some(l),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            (same && !l.is_float()).then_some(l)
        }
        BinaryOp::Shl | BinaryOp::Shr => (l.is_int() && r.is_int()).then_some(l),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            same.then_some(Scalar::Bool)
        }
    }
}

/// True if Rust's `as` converts between the two types.
fn casts(from: Scalar, to: Scalar) -> bool {
    from == to || (to != Scalar::Bool && (from != Scalar::Bool || to.is_int()))
}
