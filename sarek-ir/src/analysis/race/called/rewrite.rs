//! Rewrites a kernel so that it uses a formula of a call's arguments in place of the call's result.

use super::forms::{field, leaf};
use super::{Argument, Coefficient, Form, Operator, Part, Scale, Term, Tree};
use crate::analysis::local_uses::{self, LocalUse};
use crate::{
    BinaryOp, Block, CallId, Compound, CompoundId, DivideOp, Expr, ExprId, Intrinsic, Kernel, Link,
    LinkId, Loc, Local, LocalId, ParamKind, Scalar, Site, SiteId, SiteKind, Stmt, StmtId, Value,
};

/// A sum that the kernel computes.
#[derive(Clone, Debug)]
pub(super) struct Template(Vec<(Term, Factor)>);

/// The factor of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Factor {
    /// No factor.
    None,
    Number(i128),
    Constants(Vec<LinkId>),
    /// A new constant.
    Own,
}

impl Template {
    /// The sum of a single form.
    pub(super) fn of(form: &Form) -> Template {
        let each = form.terms.iter().map(|term| {
            let factor = match &term.scale {
                Scale::One => Factor::None,
                Scale::Constants(constants) => Factor::Constants(constants.clone()),
                Scale::Between(..) => Factor::Own,
            };
            (term.clone(), factor)
        });
        Template(each.collect())
    }

    /// The sum of all terms of several forms, each with a new constant.
    pub(super) fn sum<'a>(forms: impl Iterator<Item = &'a Form>) -> Template {
        let mut terms: Vec<(Term, Factor)> = vec![];
        for term in forms.flat_map(|form| &form.terms) {
            if !terms.iter().any(|(of, _)| of.is_like(term)) {
                terms.push((term.clone(), Factor::Own));
            }
        }
        Template(terms)
    }

    /// The same sum, for one of the forms: it makes the same expressions. `None` if a factor of the form is no single
    /// expression.
    pub(super) fn only(&self, form: &Form) -> Option<Template> {
        let each = self.0.iter().map(|(term, _)| {
            let own = form.terms.iter().find(|own| own.is_like(term));
            let factor = match own.map(|own| &own.scale) {
                None => Factor::Number(0),
                Some(Scale::One) => Factor::Number(1),
                Some(Scale::Constants(constants)) if constants.len() == 1 => {
                    Factor::Constants(constants.clone())
                }
                Some(Scale::Constants(_)) => return None,
                Some(Scale::Between(..)) => Factor::Own,
            };
            Some((term.clone(), factor))
        });
        each.collect::<Option<Vec<_>>>().map(Template)
    }
}

impl Term {
    /// True if both multiply the same arguments and have the same sign.
    fn is_like(&self, other: &Term) -> bool {
        self.arguments == other.arguments && self.is_negative == other.is_negative
    }
}

/// Puts the value of a template in place of the results of calls of one function. Returns the new constants. `None` if
/// the kernel does not have the shape for that.
pub(super) fn rewrite(
    kernel: &mut Kernel,
    calls: &[CallId],
    template: &Template,
) -> Option<Vec<Coefficient>> {
    let of_call = |call: &CallId| {
        let result = kernel.calls[call.index()].result?;
        let ty = kernel.locals[result.index()].ty.as_scalar()?;
        ty.is_int().then_some(ty)
    };
    let ty = of_call(calls.first()?)?;
    if !calls.iter().all(|call| of_call(call) == Some(ty)) {
        return None;
    }
    let mut coefficients = vec![];
    let factors = template.0.iter().map(|(term, factor)| match factor {
        Factor::Own => {
            let link = LinkId(kernel.links.len() as u32);
            let path = format!("coefficient {}", coefficients.len() + 1);
            kernel.links.to_mut().push(Link {
                path: path.into(),
                ty: ty.into(),
            });
            coefficients.push(Coefficient {
                link,
                arguments: term.arguments.clone(),
                is_negative: term.is_negative,
            });
            Factor::Constants(vec![link])
        }
        other => other.clone(),
    });
    let factors: Vec<Factor> = factors.collect();
    let terms = template.0.iter().map(|(term, _)| term).zip(factors);
    let terms: Vec<(&Term, Factor)> = terms.collect();
    for call in calls {
        At::of(kernel, *call, ty)?.replace(&terms)?;
    }
    Some(coefficients)
}

/// A call that is rewritten.
struct At<'a> {
    kernel: &'a mut Kernel,
    call: CallId,
    stmt: StmtId,
    /// The block that contains the call and declares its result.
    block: Block,
    result: LocalId,
    ty: Scalar,
    loc: Loc,
    /// New statements before the call.
    before: Vec<StmtId>,
}

impl<'a> At<'a> {
    /// `None` if something else assigns the local for the result, or if another block declares it.
    fn of(kernel: &'a mut Kernel, call: CallId, ty: Scalar) -> Option<At<'a>> {
        let result = kernel.calls[call.index()].result?;
        let (mut stmt, mut writes) = (None, 0);
        for id in (0..kernel.stmts.len() as u32).map(StmtId) {
            if kernel.stmt(id) == (Stmt::Call { call }) {
                stmt = Some(id);
            }
            local_uses::itself(kernel, id, &mut |local, used| {
                writes += u32::from(local == result && used == LocalUse::Write);
            });
        }
        let stmt = stmt.filter(|_| writes == 1)?;
        let declares = |id: StmtId| {
            kernel.stmt(id)
                == Stmt::Let {
                    local: result,
                    init: None,
                }
        };
        let contains = |block: &Block| kernel.block(*block).any(|id| id == stmt);
        let around: Vec<Block> = blocks(kernel).into_iter().filter(contains).collect();
        let [block] = around[..] else {
            return None;
        };
        kernel.block(block).any(declares).then_some(())?;
        Some(At {
            loc: kernel.stmt_locs[stmt.index()],
            kernel,
            call,
            stmt,
            block,
            result,
            ty,
            before: vec![],
        })
    }

    fn replace(mut self, terms: &[(&Term, Factor)]) -> Option<()> {
        let mut sum: Option<ExprId> = None;
        let positive = terms.iter().filter(|(term, _)| !term.is_negative);
        let negative = terms.iter().filter(|(term, _)| term.is_negative);
        for (term, factor) in positive.chain(negative) {
            let value = self.term(term, factor)?;
            sum = Some(match (sum, term.is_negative) {
                (Some(sum), false) => self.binary(BinaryOp::Add, sum, value),
                (Some(sum), true) => self.binary(BinaryOp::Sub, sum, value),
                (None, false) => value,
                (None, true) => return None,
            });
        }
        let (kernel, loc) = (self.kernel, self.loc);
        let name = kernel.locals[self.result.index()].name.clone();
        let local = kernel.push_local(Local {
            name,
            ty: self.ty.into(),
            mutable: false,
        });
        for expr in kernel.exprs.to_mut() {
            if *expr == Expr::Local(self.result) {
                *expr = Expr::Local(local);
            }
        }
        let after = kernel.push_stmt(Stmt::Let { local, init: sum }, loc);
        let mut stmts = vec![];
        for id in kernel.block(self.block) {
            if id == self.stmt {
                stmts.extend(&self.before);
            }
            stmts.push(id);
            if id == self.stmt {
                stmts.push(after);
            }
        }
        let new = kernel.push_block(&stmts);
        set_block(kernel, self.block, new);
        Some(())
    }

    fn push(&mut self, expr: Expr) -> ExprId {
        self.kernel.push_expr(expr, self.ty, self.loc)
    }

    fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.push(Expr::Binary { op, lhs, rhs })
    }

    fn term(&mut self, term: &Term, factor: &Factor) -> Option<ExprId> {
        let mut parts = vec![];
        for argument in &term.arguments {
            parts.push(match argument {
                Part::Argument(argument) => self.argument(*argument)?,
                Part::Tree(tree) => self.tree(tree)?,
            });
        }
        match factor {
            Factor::None => {}
            Factor::Number(number) => {
                let value = Value::int(self.ty, *number)?;
                parts.push(self.push(Expr::Literal(value)));
            }
            Factor::Constants(links) => {
                for link in links {
                    if self.kernel.links[link.index()].ty.as_scalar() != Some(self.ty) {
                        return None;
                    }
                    parts.push(self.push(Expr::Link(*link)));
                }
            }
            Factor::Own => unreachable!("it has got its constant"),
        }
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        Some(parts.fold(first, |product, part| {
            self.binary(BinaryOp::Mul, product, part)
        }))
    }

    /// An expression with the value of a tree, of the result's type.
    fn tree(&mut self, tree: &Tree) -> Option<ExprId> {
        let (op, of) = match tree {
            Tree::Id(id) => {
                let (kernel, loc) = (&mut *self.kernel, self.loc);
                let id = kernel.push_expr(Expr::Builtin(*id), Scalar::Usize, loc);
                return Some(match self.ty {
                    Scalar::Usize => id,
                    _ => self.push(Expr::Cast { arg: id }),
                });
            }
            Tree::Parameter(position, field) => {
                let (position, field) = (*position, *field);
                return self.argument(Argument { position, field });
            }
            Tree::Number(number) => {
                let value = Value::int(self.ty, *number)?;
                return Some(self.push(Expr::Literal(value)));
            }
            Tree::Binary(op, of) => (*op, of.clone()),
        };
        let (lhs, rhs) = (self.tree(&of[0])?, self.tree(&of[1])?);
        let binary = match op {
            Operator::Add => BinaryOp::Add,
            Operator::Sub => BinaryOp::Sub,
            Operator::Mul => BinaryOp::Mul,
            Operator::And => BinaryOp::BitAnd,
            Operator::Or => BinaryOp::BitOr,
            Operator::Xor => BinaryOp::BitXor,
            Operator::Div => return Some(self.divide(DivideOp::Div, lhs, rhs)),
            Operator::Rem => return Some(self.divide(DivideOp::Rem, lhs, rhs)),
            Operator::Min | Operator::Max => {
                let intrinsic = match op {
                    Operator::Max => Intrinsic::Max,
                    _ => Intrinsic::Min,
                };
                let args = self.kernel.push_list(&[lhs, rhs]);
                return Some(self.push(Expr::Call { intrinsic, args }));
            }
        };
        Some(self.binary(binary, lhs, rhs))
    }

    /// A quotient or remainder, whose divisor is checked as in the function.
    fn divide(&mut self, op: DivideOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let site = SiteId(self.kernel.sites.len() as u32);
        self.kernel.sites.to_mut().push(Site {
            kind: SiteKind::Divisor,
            loc: self.loc,
            provable: true,
        });
        let site = Some(site);
        self.push(Expr::Divide { op, lhs, rhs, site })
    }

    /// An expression of the result's type that reads an argument again.
    fn argument(&mut self, argument: Argument) -> Option<ExprId> {
        let at = argument.position as usize;
        let crate::Argument::Value(given) = self.kernel.calls[self.call.index()].args[at] else {
            return None;
        };
        let (read, ty) = match argument.field {
            Some(name) => {
                let of = leaf(self.kernel, given)?;
                let (read, _) = field(self.kernel, of, name)?;
                let ty = self.kernel.type_of(read);
                let base_ty = self.kernel.type_of(given);
                let base = self.kernel.push_expr(of, base_ty, self.loc);
                let compound = CompoundId(self.kernel.compounds.len() as u32);
                let compounds = self.kernel.compounds.to_mut();
                compounds.push(Compound::Field { base, name });
                (Expr::Compound(compound), ty)
            }
            None => (self.read_again(at, given), self.kernel.type_of(given)),
        };
        let read = self.kernel.push_expr(read, ty, self.loc);
        match ty.as_scalar() {
            Some(ty) if ty == self.ty => Some(read),
            Some(_) | None => Some(self.push(Expr::Cast { arg: read })),
        }
    }

    /// An expression with the value of an argument. An argument that is no leaf gets a local before the call.
    fn read_again(&mut self, at: usize, given: ExprId) -> Expr {
        let expr = self.kernel.expr(given);
        let is_fixed = match expr {
            Expr::Literal(_) | Expr::Link(_) | Expr::Len(_) | Expr::Builtin(_) => true,
            Expr::Param(param) => match self.kernel.params[param.index()].kind {
                ParamKind::Scalar(_) => true,
                ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => false,
            },
            Expr::Local(local) => !self.kernel.locals[local.index()].mutable,
            _ => false,
        };
        if is_fixed {
            return expr;
        }
        let kernel = &mut *self.kernel;
        let ty = kernel.type_of(given);
        let local = kernel.push_local(Local {
            name: "argument".into(),
            ty,
            mutable: false,
        });
        let init = Some(given);
        let stmt = kernel.push_stmt(Stmt::Let { local, init }, self.loc);
        self.before.push(stmt);
        let read = kernel.push_local_read(local, self.loc);
        let call = &mut kernel.calls.to_mut()[self.call.index()];
        call.args.to_mut()[at] = crate::Argument::Value(read);
        Expr::Local(local)
    }
}

/// All blocks of the kernel.
fn blocks(kernel: &Kernel) -> Vec<Block> {
    let stmts = (0..kernel.stmts.len() as u32).map(StmtId);
    let inner = stmts.flat_map(|id| kernel.blocks_of(id));
    std::iter::once(kernel.body).chain(inner).collect()
}

/// Puts a block in place of another.
fn set_block(kernel: &mut Kernel, old: Block, new: Block) {
    let swap = |block: &mut Block| {
        if *block == old {
            *block = new;
        }
    };
    swap(&mut kernel.body);
    for stmt in kernel.stmts.to_mut() {
        match stmt {
            Stmt::If {
                then, otherwise, ..
            } => {
                swap(then);
                swap(otherwise);
            }
            Stmt::Loop { body, .. } | Stmt::For { body, .. } => swap(body),
            _ => {}
        }
    }
    for closure in kernel.closures.to_mut() {
        swap(&mut closure.body);
    }
    for native in kernel.natives.to_mut() {
        native.fallback.as_mut().into_iter().for_each(swap);
    }
}
