//! The half of the rules that speaks of types. It runs once the handles are known to be sound.

use super::{Node, Rule, Violation};
use crate::{
    ArgType, BinaryOp, Block, Expr, ExprId, Intrinsic, Kernel, List, ParamId, ParamKind,
    Precondition, Scalar, SiteId, SiteKind, Stmt, StmtId, UnaryOp,
};

pub(super) fn check(kernel: &Kernel) -> Vec<Violation> {
    let mut check = Check {
        kernel,
        index_type: None,
        violations: vec![],
    };
    for (i, param) in kernel.params.iter().enumerate() {
        match param.kind {
            ParamKind::Slice { elem, mutable: _ } => check.require(
                elem != Scalar::Usize,
                Node::Param(ParamId(i as u32)),
                Rule::BufferElement,
            ),
            ParamKind::Scalar(_) => {}
        }
    }
    check.block(kernel.body);
    for (i, p) in kernel.preconditions.iter().enumerate() {
        match p {
            Precondition::SingleThread(_) | Precondition::ExtentAtMost(..) => {}
            Precondition::NoOverflow(e) => check.require(
                kernel.type_of(*e).is_int(),
                Node::Precondition(i as u32),
                Rule::PreconditionType,
            ),
        }
    }
    check.violations
}

struct Check<'a> {
    kernel: &'a Kernel,
    /// What the first length, id or index was found to be.
    index_type: Option<Scalar>,
    violations: Vec<Violation>,
}

impl Check<'_> {
    fn require(&mut self, holds: bool, node: Node, rule: Rule) {
        if !holds {
            self.violations.push(node.breaks(rule));
        }
    }

    fn is_index_type(&mut self, ty: Scalar) -> bool {
        let possible = matches!(ty, Scalar::Usize | Scalar::U32 | Scalar::U64);
        possible && *self.index_type.get_or_insert(ty) == ty
    }

    /// The element type of a slice parameter and whether it is mutable.
    fn slice(&mut self, param: ParamId, node: Node) -> Option<(Scalar, bool)> {
        match self.kernel.params[param.index()].kind {
            ParamKind::Slice { elem, mutable } => Some((elem, mutable)),
            ParamKind::Scalar(_) => {
                self.require(false, node, Rule::SliceParam);
                None
            }
        }
    }

    fn index_site(&mut self, site: Option<SiteId>, buffer: ParamId, node: Node) {
        let fits =
            site.is_none_or(|s| self.kernel.sites[s.index()].kind == SiteKind::Index(buffer));
        self.require(fits, node, Rule::SiteKind);
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
                        self.require(ty == local.ty, node, Rule::ValueType);
                    }
                    None => self.require(local.mutable, node, Rule::ImmutableInitialised),
                }
            }
            Stmt::Assign { local, value } => {
                let ty = self.expr(value);
                self.require(ty == kernel.locals[local.index()].ty, node, Rule::ValueType);
            }
            Stmt::Store {
                buffer,
                index,
                value,
                site,
            } => self.store(node, buffer, index, value, site),
            Stmt::Assert { cond, site } => {
                self.condition(cond, node);
                let fits = matches!(kernel.sites[site.index()].kind, SiteKind::Assert(_));
                self.require(fits, node, Rule::SiteKind);
            }
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
                self.require(ty.is_int() && start == ty && end == ty, node, Rule::ForType);
                self.block(body);
            }
            Stmt::Break { label: _ } | Stmt::Continue { label: _ } | Stmt::Return => {}
            Stmt::Native { native } => {
                if let Some(fallback) = kernel.natives[native.index()].fallback {
                    self.block(fallback);
                }
            }
        }
    }

    fn store(
        &mut self,
        node: Node,
        buffer: ParamId,
        index: ExprId,
        value: ExprId,
        site: Option<SiteId>,
    ) {
        let value = self.expr(value);
        let index = self.expr(index);
        if let Some((elem, mutable)) = self.slice(buffer, node) {
            self.require(mutable, node, Rule::StoreMutable);
            self.require(value == elem, node, Rule::ValueType);
            self.index_site(site, buffer, node);
        }
        let is_index = self.is_index_type(index);
        self.require(is_index, node, Rule::IndexType);
    }

    fn condition(&mut self, cond: ExprId, node: Node) {
        let ty = self.expr(cond);
        self.require(ty == Scalar::Bool, node, Rule::ConditionType);
    }

    /// Checks a tree of expressions and returns the type that it is said to have.
    fn expr(&mut self, id: ExprId) -> Scalar {
        let (kernel, node) = (self.kernel, Node::Expr(id));
        let ty = kernel.type_of(id);
        let fits = match kernel.expr(id) {
            Expr::Literal(value) => value.scalar() == ty,
            Expr::Link(link) => kernel.links[link.index()].ty == ty,
            Expr::Local(local) => kernel.locals[local.index()].ty == ty,
            Expr::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(scalar) => scalar == ty,
                ParamKind::Slice { .. } => {
                    self.require(false, node, Rule::ScalarParam);
                    true
                }
            },
            Expr::Len(param) => {
                self.slice(param, node);
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
                buffer,
                index,
                site,
            } => {
                let index = self.expr(index);
                let is_index = self.is_index_type(index);
                self.require(is_index, node, Rule::IndexType);
                let slice = self.slice(buffer, node);
                if slice.is_some() {
                    self.index_site(site, buffer, node);
                }
                slice.is_none_or(|(elem, _)| elem == ty)
            }
            Expr::Unary { op, arg } => self.expr(arg) == ty && unary(op, ty),
            Expr::Binary { op, lhs, rhs } => {
                let (l, r) = (self.expr(lhs), self.expr(rhs));
                binary(op, l, r) == Some(ty)
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
                ty.is_int() && l == ty && r == ty
            }
            Expr::And { lhs, rhs } | Expr::Or { lhs, rhs } => {
                let (l, r) = (self.expr(lhs), self.expr(rhs));
                [l, r, ty] == [Scalar::Bool; 3]
            }
            Expr::Cast { arg } => {
                let from = self.expr(arg);
                self.require(casts(from, ty), node, Rule::CastTypes);
                true
            }
            Expr::Call { intrinsic, args } => {
                let fits = self.call(intrinsic, args, ty);
                self.require(fits, node, Rule::Signature);
                true
            }
            Expr::Faulted => ty == Scalar::Bool,
        };
        self.require(fits, node, Rule::ExprType);
        ty
    }

    fn call(&mut self, intrinsic: Intrinsic, args: List, ty: Scalar) -> bool {
        let types: Vec<Scalar> = self.kernel.list(args).map(|a| self.expr(a)).collect();
        let Some((&on, rest)) = types.split_first() else {
            return false;
        };
        let takes = intrinsic.stands_on(on);
        let args_fit = rest.len() == intrinsic.args().len()
            && rest.iter().zip(intrinsic.args()).all(|(&t, a)| match a {
                ArgType::Same => t == on,
                ArgType::Fixed(s) => t == *s,
            });
        takes && args_fit && intrinsic.result_type(on) == ty
    }
}

/// Does a prefix operator stand on the type?
fn unary(op: UnaryOp, ty: Scalar) -> bool {
    match op {
        UnaryOp::Neg => ty.is_signed() || ty.is_float(),
        UnaryOp::Not => ty.is_int() || ty == Scalar::Bool,
    }
}

/// The type of an infix operation; `None` where there is none.
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

/// Does Rust's `as` lead from one type to the other?
fn casts(from: Scalar, to: Scalar) -> bool {
    from == to || (to != Scalar::Bool && (from != Scalar::Bool || to.is_int()))
}
