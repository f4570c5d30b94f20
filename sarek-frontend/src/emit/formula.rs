//! The result of a function as a polynomial in its parameters: code that rustc evaluates to a `Formula`.
//!
//! The body is followed statement by statement. A local has a formula if straight-line code assigns it `+`, `-` and `*`
//! of integers of the result's type. Anything else leaves it without one. A call has the formula of the callee at its
//! arguments.

use std::collections::HashMap;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use sarek_ir::analysis::local_uses::{self, LocalUse};
use sarek_ir::analysis::race::called::{Operator, Tree};
use sarek_ir::{
    Argument, BinaryOp, CallId, Compound, DivideOp, Expr, ExprId, Intrinsic, Kernel, LocalId,
    ParamId, ParamKind, Scalar, Stmt, StmtId,
};

use crate::lower::Lowered;

/// The formula of a function's result, as an expression of type `Formula`.
pub(super) fn of_result(lowered: &Lowered, krate: &TokenStream) -> TokenStream {
    let formula = quote!(#krate::__private::host::formula::Formula);
    let kernel = &lowered.kernel;
    let result = kernel.result.and_then(|local| {
        let ty = kernel.locals[local.index()].ty.as_scalar()?;
        Some((local, ty)).filter(|_| ty.is_int())
    });
    let known = result.and_then(|(result, ty)| {
        let mut walk = Walk {
            lowered,
            ty,
            host: quote!(#krate::__private::host),
            values: HashMap::new(),
            trees: HashMap::new(),
            code: TokenStream::new(),
            names: 0,
        };
        walk.body()?;
        match walk.values.remove(&result)? {
            Value::Formula(name) => {
                let code = walk.code;
                Some(quote!({ #code #name }))
            }
            Value::Parameter(_) => None,
        }
    });
    known.unwrap_or_else(|| quote!(#formula::UNKNOWN))
}

/// The variable that stands for a tree.
pub(super) fn variable(host: &TokenStream, tree: &Tree, kernel: &Kernel) -> TokenStream {
    let (of, text) = (quote!(#host::formula), tree.text(kernel));
    let parameter = match tree.is_closed() {
        true => quote!(#of::CLOSED),
        false => quote!(#of::TREE),
    };
    quote!(#of::Variable::new(#parameter, #text))
}

/// The value of a local.
#[derive(Clone)]
enum Value {
    /// The variable that holds its formula.
    Formula(Ident),
    /// A parameter of a type with fields.
    Parameter(ParamId),
}

struct Walk<'a> {
    lowered: &'a Lowered,
    /// The type of the result, and of all arithmetic.
    ty: Scalar,
    host: TokenStream,
    values: HashMap<LocalId, Value>,
    /// The values of locals as trees.
    trees: HashMap<LocalId, Tree>,
    code: TokenStream,
    names: u32,
}

impl Walk<'_> {
    /// Follows the body up to its end or its first `return`. `None` if it may return at another place.
    fn body(&mut self) -> Option<()> {
        let kernel = &self.lowered.kernel;
        for id in kernel.block(kernel.body) {
            match kernel.stmt(id) {
                Stmt::Return => return Some(()),
                Stmt::Let { local, init } => {
                    let tree = init.and_then(|init| self.tree(init));
                    let value = init.and_then(|init| self.value(init));
                    self.set(local, value);
                    self.set_tree(local, tree);
                }
                Stmt::Assign { local, value } => {
                    let tree = self.tree(value);
                    let value = self.value(value);
                    self.set(local, value);
                    self.set_tree(local, tree);
                }
                Stmt::Call { call } => {
                    let value = self.call(call);
                    self.forget(id);
                    if let Some(result) = kernel.calls[call.index()].result {
                        self.set(result, value);
                    }
                }
                // An assertion that fails ends the thread.
                Stmt::Assert { .. }
                | Stmt::Store { .. }
                | Stmt::Print { .. }
                | Stmt::Barrier
                | Stmt::Fence { .. }
                | Stmt::If { .. }
                | Stmt::Loop { .. }
                | Stmt::For { .. }
                | Stmt::Atomic { .. }
                | Stmt::Subgroup { .. }
                | Stmt::Update { .. }
                | Stmt::Native { .. } => self.forget(id),
                Stmt::Panic { .. } | Stmt::Break { .. } | Stmt::Continue { .. } => return None,
            }
            let inner = kernel.stmts_in([id]).skip(1);
            let returns = |id: StmtId| matches!(kernel.stmt(id), Stmt::Return);
            if inner.into_iter().any(returns) {
                return None;
            }
        }
        Some(())
    }

    fn set(&mut self, local: LocalId, value: Option<Value>) {
        match value {
            Some(value) => _ = self.values.insert(local, value),
            None => _ = self.values.remove(&local),
        }
        self.trees.remove(&local);
    }

    fn set_tree(&mut self, local: LocalId, tree: Option<Tree>) {
        if let Some(tree) = tree {
            self.trees.insert(local, tree);
        }
    }

    /// Drops the values of the locals that a statement may assign.
    fn forget(&mut self, id: StmtId) {
        let (values, trees) = (&mut self.values, &mut self.trees);
        local_uses::stmt(&self.lowered.kernel, id, &mut |local, used| {
            if used != LocalUse::Read {
                values.remove(&local);
                trees.remove(&local);
            }
        });
    }

    /// Binds a formula to a variable.
    fn bind(&mut self, formula: &TokenStream) -> Value {
        let name = format_ident!("__formula{}", self.names, span = Span::mixed_site());
        self.names += 1;
        self.code.extend(quote!(let #name = #formula;));
        Value::Formula(name)
    }

    /// The formula of a parameter, or of a field of one.
    fn variable(&self, param: ParamId, field: &str) -> TokenStream {
        let (host, param) = (&self.host, Literal::usize_unsuffixed(param.index()));
        quote!(#host::formula::Formula::variable(#host::formula::Variable::new(#param, #field)))
    }

    fn value(&mut self, id: ExprId) -> Option<Value> {
        if let Some(param) = self.parameter(id) {
            return Some(Value::Parameter(param));
        }
        match self.lowered.kernel.expr(id) {
            Expr::Local(local) => self.values.get(&local).cloned(),
            _ => {
                let formula = self.formula(id)?;
                Some(self.bind(&formula))
            }
        }
    }

    /// The parameter that an expression of a type with fields reads.
    fn parameter(&self, id: ExprId) -> Option<ParamId> {
        let kernel = &self.lowered.kernel;
        match kernel.expr(id) {
            Expr::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Value(_) => Some(param),
                ParamKind::Scalar(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => None,
            },
            Expr::Local(local) => match self.values.get(&local)? {
                Value::Parameter(param) => Some(*param),
                Value::Formula(_) => None,
            },
            _ => None,
        }
    }

    /// The formula of an integer. All arithmetic and all numbers have the type of the result. An integer of another type
    /// is a variable, which a form casts to that type.
    fn formula(&mut self, id: ExprId) -> Option<TokenStream> {
        self.polynomial(id).or_else(|| self.of_tree(id))
    }

    /// The formula of an integer that is a literal, a variable, a sum or a product.
    fn polynomial(&mut self, id: ExprId) -> Option<TokenStream> {
        let kernel = &self.lowered.kernel;
        let ty = kernel.type_of(id).as_scalar().filter(|ty| ty.is_int())?;
        let is_of_result = ty == self.ty;
        match kernel.expr(id) {
            Expr::Literal(value) if is_of_result => {
                let number = Literal::i128_unsuffixed(value.as_int()?);
                let host = &self.host;
                Some(quote!(#host::formula::Formula::number(#number)))
            }
            Expr::Link(link) if is_of_result => {
                let (at, host) = (link.index(), &self.host);
                if self.lowered.open_links.contains(&at) {
                    return None;
                }
                let (linked, at) = (&self.lowered.linked, Literal::usize_unsuffixed(at));
                Some(
                    quote!(#host::formula::Formula::number(#linked.#at as ::core::primitive::i128)),
                )
            }
            Expr::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(_) => Some(self.variable(param, "")),
                ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => None,
            },
            Expr::Local(local) => match self.values.get(&local)? {
                Value::Formula(name) => Some(quote!(#name)),
                Value::Parameter(_) => None,
            },
            Expr::Compound(_) => self.field(id),
            Expr::Cast { arg } if is_of_result => self.field(arg).or_else(|| self.formula(arg)),
            Expr::Binary {
                op: BinaryOp::Shl,
                lhs,
                rhs,
            } if is_of_result => {
                let by = match kernel.expr(rhs) {
                    Expr::Literal(by) => u32::try_from(by.as_int()?).ok()?,
                    _ => return None,
                };
                let by = (by < ty.bits()).then(|| Literal::i128_unsuffixed(1 << by))?;
                let (lhs, host) = (self.formula(lhs)?, &self.host);
                let of = quote!(#host::formula::Formula);
                Some(quote!(#of::times(#lhs, #of::number(#by))))
            }
            Expr::Binary {
                op: op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
                lhs,
                rhs,
            } if is_of_result => {
                let (lhs, rhs) = (self.formula(lhs)?, self.formula(rhs)?);
                let host = &self.host;
                let of = quote!(#host::formula::Formula);
                match op {
                    BinaryOp::Add => Some(quote!(#of::plus(#lhs, #rhs, 1))),
                    BinaryOp::Sub => Some(quote!(#of::plus(#lhs, #rhs, -1))),
                    BinaryOp::Mul => Some(quote!(#of::times(#lhs, #rhs))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The formula of a value that is no polynomial: a variable that stands for it.
    fn of_tree(&self, id: ExprId) -> Option<TokenStream> {
        let (kernel, host) = (&self.lowered.kernel, &self.host);
        let variable = variable(host, &self.tree(id)?, kernel);
        Some(quote!(#host::formula::Formula::variable(#variable)))
    }

    /// The value of an integer of the result's type as a tree.
    fn tree(&self, id: ExprId) -> Option<Tree> {
        let kernel = &self.lowered.kernel;
        if kernel.type_of(id).as_scalar() != Some(self.ty) {
            return None;
        }
        let unsigned = !self.ty.is_signed();
        let number = |id: ExprId| match kernel.expr(id) {
            Expr::Literal(value) => value.as_int(),
            _ => None,
        };
        let binary = |op: Operator, lhs: ExprId, rhs: ExprId| {
            Some(Tree::binary(op, self.tree(lhs)?, self.tree(rhs)?))
        };
        match kernel.expr(id) {
            Expr::Literal(value) => value.as_int().map(Tree::Number),
            Expr::Local(local) => self.trees.get(&local).cloned(),
            Expr::Cast { arg } => self.leaf(arg),
            Expr::Binary { op, lhs, rhs } => match op {
                BinaryOp::Add => binary(Operator::Add, lhs, rhs),
                BinaryOp::Sub => binary(Operator::Sub, lhs, rhs),
                BinaryOp::Mul => binary(Operator::Mul, lhs, rhs),
                BinaryOp::BitXor => binary(Operator::Xor, lhs, rhs),
                BinaryOp::BitOr => binary(Operator::Or, lhs, rhs),
                BinaryOp::BitAnd => match number(rhs).or_else(|| number(lhs)) {
                    Some(mask) if unsigned && (mask + 1).count_ones() == 1 => {
                        let of = if number(rhs).is_some() { lhs } else { rhs };
                        let by = Tree::Number(mask + 1);
                        Some(Tree::binary(Operator::Rem, self.tree(of)?, by))
                    }
                    _ => binary(Operator::And, lhs, rhs),
                },
                BinaryOp::Shl | BinaryOp::Shr => {
                    let by = number(rhs).filter(|by| (0..self.ty.bits().into()).contains(by))?;
                    let factor = Tree::Number(1_i128.checked_shl(by as u32)?);
                    let op = match op {
                        BinaryOp::Shl => Operator::Mul,
                        _ if unsigned => Operator::Div,
                        _ => return None,
                    };
                    Some(Tree::binary(op, self.tree(lhs)?, factor))
                }
                _ => None,
            },
            Expr::Divide { op, lhs, rhs, .. } => match op {
                DivideOp::Div => binary(Operator::Div, lhs, rhs),
                DivideOp::Rem => binary(Operator::Rem, lhs, rhs),
                DivideOp::DivEuclid if unsigned => binary(Operator::Div, lhs, rhs),
                DivideOp::RemEuclid if unsigned => binary(Operator::Rem, lhs, rhs),
                DivideOp::DivEuclid | DivideOp::RemEuclid => None,
            },
            Expr::Call { intrinsic, args } => {
                let op = match intrinsic {
                    Intrinsic::Min => Operator::Min,
                    Intrinsic::Max => Operator::Max,
                    _ => return None,
                };
                let mut args = kernel.list(args);
                binary(op, args.next()?, args.next()?)
            }
            _ => self.leaf(id),
        }
    }

    /// An id, a parameter, or a field of one, of any integer type.
    fn leaf(&self, id: ExprId) -> Option<Tree> {
        let kernel = &self.lowered.kernel;
        match kernel.expr(id) {
            Expr::Builtin(id) => (!id.is_of_subgroup()).then_some(Tree::Id(id)),
            Expr::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(ty) => ty.is_int().then_some(Tree::Parameter(param.0, None)),
                ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => None,
            },
            Expr::Compound(compound) => match kernel.compounds[compound.index()] {
                Compound::Field { base, name } => {
                    Some(Tree::Parameter(self.parameter(base)?.0, Some(name)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The formula of a field of a parameter, whose type need not be known.
    fn field(&self, id: ExprId) -> Option<TokenStream> {
        let kernel = &self.lowered.kernel;
        let Expr::Compound(compound) = kernel.expr(id) else {
            return None;
        };
        let Compound::Field { base, name } = kernel.compounds[compound.index()] else {
            return None;
        };
        let param = self.parameter(base)?;
        Some(self.variable(param, &kernel.names[name.index()]))
    }

    /// The formula of a call's result.
    fn call(&mut self, id: CallId) -> Option<Value> {
        let kernel = &self.lowered.kernel;
        let call = &kernel.calls[id.index()];
        let ty = kernel.locals[call.result?.index()].ty.as_scalar();
        let function = call.called.function()?;
        let callee = &self.lowered.callees[function.index()];
        if ty != Some(self.ty) || callee.is_self || !call.callable_args.is_empty() {
            return None;
        }
        let host = self.host.clone();
        let passed: Vec<TokenStream> = call.args.iter().map(|arg| self.passed(*arg)).collect();
        let result = callee.formula();
        let formula = quote!(#host::formula::Formula::of(#result, &[#(#passed),*]));
        Some(self.bind(&formula))
    }

    fn passed(&mut self, arg: Argument) -> TokenStream {
        let host = self.host.clone();
        let value = match arg {
            Argument::Value(value) => self.value(value),
            Argument::Memory(_) | Argument::Local(_) => None,
        };
        match value {
            Some(Value::Formula(name)) => quote!(#host::formula::Passed::Formula(#name)),
            Some(Value::Parameter(param)) => {
                let param = Literal::usize_unsuffixed(param.index());
                quote!(#host::formula::Passed::Parameter(#param))
            }
            None => quote!(#host::formula::Passed::Formula(#host::formula::Formula::UNKNOWN)),
        }
    }
}
