//! Operators of the user's own types: calls of the methods behind them.
//!
//! An operand whose type has a name, or comes from such an operator, may be of the user's or a number. Such an operator is a
//! call of a trait that both have, so rustc selects. All other operands whose type only rustc knows, such as fields, are taken
//! for numbers. rustc reports a wrong guess.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use sarek_ir::{Argument, BinaryOp, Expr, ExprId, Scalar, Stmt, UnaryOp};

use super::calls::call_args::Arguments;
use super::calls::callee::Callee;
use super::memory::array::peeled;
use super::memory::place::Place;
use super::types::{Hole, Node};
use super::{Binding, Known, Lowerer, Ty, Value};
use crate::diagnostics::{Mistake, codes};
use crate::parse::OperatorTrait;
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// True for a type that may be the user's, with operators of its own.
    fn may_have_operators(&self, ty: Ty) -> bool {
        match self.types.node(ty) {
            Node::Named(named) => {
                named.simd.is_none()
                    && !self.is_parameter_type(ty)
                    && self.core_argument(ty, 0).is_none()
            }
            Node::Hole(Hole::Result(function)) => {
                let callee = &self.callees[function.index()];
                // An associated function, such as `V::new`.
                let is_constructor = callee.method.is_some() && !callee.has_receiver;
                callee.is_operator || is_constructor && callee.of_trait.is_none()
            }
            // It has parts itself.
            Node::Hole(_) if self.types.has_parts(ty) => true,
            Node::Hole(
                Hole::Field { .. }
                | Hole::Element { .. }
                | Hole::Payload { .. }
                | Hole::Constant(_)
                | Hole::Parameter { .. }
                | Hole::Literal { .. }
                | Hole::Callable { .. },
            )
            | Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Array(..)
            | Node::Tuple(_)
            | Node::Same(_) => false,
        }
    }

    /// `a == b` of types by their names. It is an operator of the IR on values of several parts, see `sarek_ir::link`.
    pub(super) fn own_equality(
        &mut self,
        op: BinaryOp,
        (lhs, rhs): (ExprId, ExprId),
        span: SourceRange,
    ) -> Option<ExprId> {
        let types = [self.ty(lhs), self.ty(rhs)];
        let is_number = |ty: Ty| {
            matches!(
                self.types.look(ty),
                Known::Scalar(_) | Known::Int | Known::Float | Known::Parameter | Known::Compound
            )
        };
        let is_named =
            |ty: Ty| matches!(self.types.node(ty), Node::Named(_)) && self.may_have_operators(ty);
        if types.into_iter().any(is_number) || !types.into_iter().any(is_named) {
            return None;
        }
        if !self.unify(types[0], types[1], self.span(rhs)) {
            return Some(self.placeholder(span));
        }
        let lhs = self.indexable(lhs);
        let rhs = self.indexable(rhs);
        let same = self.known(Expr::Binary { op, lhs, rhs }, Scalar::Bool, span);
        self.compared.push((same, types[0]));
        Some(same)
    }

    /// Has rustc check that `PartialEq` is derived for the types that are compared.
    pub(super) fn settle_compared(&mut self) -> HashMap<ExprId, TokenStream> {
        let mut all = HashMap::new();
        for (id, ty) in std::mem::take(&mut self.compared) {
            if self.types.resolve(ty).is_some() {
                continue;
            }
            let span = self.span(id);
            let Some(tokens) = self.type_tokens(ty).filter(|tokens| self.is_closed(tokens)) else {
                self.errors.at(
                    codes::OPERATOR,
                    span,
                    "kernels compare values of a type of your own only if its name says the whole type",
                    "bind the values to variables with such a type, or compare their fields",
                );
                continue;
            };
            let made = Span::mixed_site().located_at(span.first);
            let tokens = crate::tokens::at(&tokens, made);
            let krate = crate::tokens::at(&self.krate, made);
            if self.audited_names.insert(format!("== {tokens}")) {
                let message = Mistake::new(
                    codes::OPERATOR,
                    "kernels cannot compare values of a type with other enums inside of it",
                    "compare the fields, or `match` on both values",
                )
                .to_string();
                self.audits.push(quote_spanned! {made=>
                    #[allow(warnings, clippy::all)]
                    const _: () = {
                        const __EXAMPLES: [#tokens; 16] =
                            #krate::Examples::all(<#tokens as #krate::KernelType>::__EXAMPLES);
                        fn __is_derived(of: [#tokens; 16]) -> ::core::primitive::bool {
                            match of {
                                __EXAMPLES => true,
                                _ => false,
                            }
                        }
                        ::core::assert!(
                            #krate::Examples::are_all_whole(<#tokens as #krate::KernelType>::__EXAMPLES),
                            #message
                        );
                    };
                });
            }
            all.insert(id, tokens);
        }
        all
    }

    /// True for a type that names no parameter, so that it means the same outside of the function.
    fn is_closed(&self, tokens: &TokenStream) -> bool {
        crate::tokens::flat(tokens.clone()).all(|token| match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                name != "Self"
                    && !self.parameters.contains(&name)
                    && !self.constants.contains_key(&name)
            }
            _ => true,
        })
    }

    /// Notes the type that is expected of the next expression.
    pub(super) fn expect_own(&mut self, ty: Option<Ty>) {
        self.expects_own = ty.is_some_and(|ty| self.may_have_operators(ty));
    }

    /// The type of a place that is not lowered yet, if its expression shows it.
    pub(super) fn type_of_place(&mut self, expr: &syn::Expr) -> Option<Ty> {
        match peeled(expr) {
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().cloned();
                match self.find(&name?)? {
                    Binding::Local(local) | Binding::Reference(local) => {
                        Some(self.local_types[local.index()])
                    }
                    Binding::Scalar(param) => Some(self.param_types[param.index()]),
                    Binding::Memory(_)
                    | Binding::View(_)
                    | Binding::Closure(_)
                    | Binding::Callable(_)
                    | Binding::Const(_)
                    | Binding::Part(_)
                    | Binding::Place(_)
                    | Binding::SubSlice(_) => None,
                }
            }
            syn::Expr::Index(e) => self.find_memory(&e.expr).map(|(_, elem)| elem),
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => {
                self.type_of_place(&e.expr)
            }
            _ => None,
        }
    }

    /// True if an operand inside of an expression is known to be of the user's type.
    fn has_own_operand(&mut self, expr: &syn::Expr) -> bool {
        match peeled(expr) {
            syn::Expr::Binary(e) => self.has_own_operand(&e.left) || self.has_own_operand(&e.right),
            syn::Expr::Unary(e) if !matches!(e.op, syn::UnOp::Deref(_)) => {
                self.has_own_operand(&e.expr)
            }
            other => {
                let ty = self.type_of_place(other);
                ty.is_some_and(|ty| self.may_have_operators(ty))
            }
        }
    }

    /// The operands of `a + b`, and true if the operator is expected to be the user's. A sum has one type in general.
    pub(super) fn own_operands(
        &mut self,
        e: &syn::ExprBinary,
        expected: bool,
    ) -> (Vec<ExprId>, bool) {
        let is_sum = matches!(e.op, syn::BinOp::Add(_) | syn::BinOp::Sub(_));
        let is_operator = OperatorTrait::of_infix(&e.op).is_some();
        let expected = is_operator && expected
            || is_sum && (self.has_own_operand(&e.left) || self.has_own_operand(&e.right));
        let mut ids = vec![];
        for operand in [&e.left, &e.right] {
            self.expects_own = expected;
            ids = self.more_operands(ids, &[operand]);
        }
        self.expects_own = false;
        (ids, expected)
    }

    /// `a + b`, if an operand may be of the user's type.
    pub(super) fn own_infix(
        &mut self,
        e: &syn::ExprBinary,
        (lhs, rhs): (ExprId, ExprId),
        expected: bool,
    ) -> Option<Value> {
        let operator = OperatorTrait::of_infix(&e.op)?;
        let types = [self.ty(lhs), self.ty(rhs)];
        let is_hole = |ty: Ty| matches!(self.types.node(ty), Node::Hole(_));
        if types.into_iter().any(|ty| self.simd(ty).is_some())
            || !types
                .into_iter()
                .any(|ty| self.may_have_operators(ty) || expected && is_hole(ty))
        {
            return None;
        }
        if self.is_by_reference(&[&e.left, &e.right]) {
            return Some(Value::Never);
        }
        let given = vec![Argument::Value(lhs), Argument::Value(rhs)];
        let at = e.op.range().first;
        Some(self.call_operator(operator, given, (at, e.range())))
    }

    /// `-a`, if the operand may be of the user's type.
    pub(super) fn own_prefix(
        &mut self,
        op: UnaryOp,
        e: &syn::ExprUnary,
        arg: ExprId,
        expected: bool,
    ) -> Option<Value> {
        let operator = OperatorTrait::of_prefix(op)?;
        let is_hole = matches!(self.types.node(self.ty(arg)), Node::Hole(_));
        if !(self.may_have_operators(self.ty(arg)) || expected && is_hole) {
            return None;
        }
        if self.is_by_reference(&[&e.expr]) {
            return Some(Value::Never);
        }
        let given = vec![Argument::Value(arg)];
        Some(self.call_operator(operator, given, (e.op.range().first, e.range())))
    }

    /// `a += b` with the evaluated operands, if an operand may be of the user's type. `began` is
    /// where the statements of `b` begin, and `ended` where those of `a` do.
    pub(super) fn own_assign(
        &mut self,
        e: &syn::ExprBinary,
        (place, value): (&Place, ExprId),
        (began, ended): (usize, usize),
    ) -> Option<Value> {
        let operator = OperatorTrait::of_infix(&e.op)?;
        let left = self.place_type(place);
        match self.types.look(left) {
            Known::Scalar(_) | Known::Int | Known::Float | Known::Parameter | Known::Compound => {
                return None;
            }
            Known::Foreign | Known::Nothing => {}
        }
        let types = [left, self.ty(value)];
        if types.into_iter().any(|ty| self.simd(ty).is_some())
            || !types.into_iter().any(|ty| self.may_have_operators(ty))
        {
            return None;
        }
        if self.is_by_reference(&[&e.right]) {
            return Some(Value::Never);
        }
        // Rust evaluates the operands of numbers from the right, all others from the left.
        if ended > began && self.mark() > ended && !self.is_pure_since(began) {
            self.errors.at(
                codes::OPERATOR,
                e.op.range(),
                "the order in which the operands of this are evaluated depends on their type, which kernels do not see",
                "compute the right operand, or the index, in a `let` before",
            );
            return Some(Value::Never);
        }
        let value = self.settle(value, ended);
        let is_pure = self.is_pure_since(began);
        let (place, current) = self.read_place(place.clone(), e.left.range());
        let Place::Local(local) = place else {
            // The index is checked before the right operand is evaluated.
            let current = match is_pure && self.mark() == ended {
                true => self.spill_at(began, current),
                false => current,
            };
            let local = self.temporary(current, e.left.range());
            let back = vec![(place, local, e.left.range())];
            self.assign_by(operator, (local, value), back, e);
            return Some(Value::Unit);
        };
        self.assign_by(operator, (local, value), vec![], e);
        Some(Value::Unit)
    }

    fn assign_by(
        &mut self,
        operator: OperatorTrait,
        (local, value): (sarek_ir::LocalId, ExprId),
        back: Vec<super::calls::call_args::Back>,
        e: &syn::ExprBinary,
    ) {
        let callee = self.operator_callee(operator, e.op.range().first);
        let function = self.function_id(callee);
        let arguments = Arguments {
            args: vec![Argument::Local(local), Argument::Value(value)],
            back,
            ..Arguments::default()
        };
        self.call_with(function, arguments, false, e.range());
    }

    /// True if the statements since `mark` only compute values, so that it cannot be observed whether others come before them.
    fn is_pure_since(&self, mark: usize) -> bool {
        let block = self
            .blocks
            .last()
            .unwrap_or_else(|| unreachable!("a block is open"));
        block.stmts[mark..]
            .iter()
            .all(|stmt| match self.kernel.stmt(*stmt) {
                Stmt::Let { .. } => true,
                Stmt::Call { call } => {
                    let call = &self.kernel.calls[call.index()];
                    let mut given = call.args.iter();
                    given.all(|arg| matches!(arg, Argument::Value(_)))
                        && call.callable_args.is_empty()
                }
                _ => false,
            })
    }

    fn place_type(&mut self, place: &Place) -> Ty {
        match place {
            Place::Local(local) => self.local_types[local.index()],
            Place::Element { elem, .. } => *elem,
            Place::Part { ty, .. } => *ty,
        }
    }

    fn call_operator(
        &mut self,
        operator: OperatorTrait,
        args: Vec<Argument>,
        (at, span): (Span, SourceRange),
    ) -> Value {
        let callee = self.operator_callee(operator, at);
        let function = self.function_id(callee);
        let arguments = Arguments {
            args,
            ..Arguments::default()
        };
        self.call_with(function, arguments, true, span)
    }

    /// The method of an operator; rustc infers the types that it is for.
    fn operator_callee(&mut self, operator: OperatorTrait, at: Span) -> Callee {
        let made = Span::mixed_site().located_at(at);
        let of_trait = operator.on_devices(&self.krate, made);
        let argument = match operator.is_infix() {
            true => quote_spanned!(made=> _),
            false => quote_spanned!(made=> ()),
        };
        let path: syn::Path = syn::parse_quote!(#of_trait<#argument>);
        let owner = quote_spanned!(made=> _ as #path);
        let method = Ident::new(operator.method, at);
        Callee {
            of_trait: Some((syn::parse_quote_spanned!(made=> _), path)),
            is_operator: true,
            start: at,
            ..self.new_callee(owner, Some(method), at)
        }
    }

    /// Reports operands that are references, whose operators are not those of the values.
    fn is_by_reference(&mut self, operands: &[&syn::Expr]) -> bool {
        let mut is_one = false;
        for operand in operands {
            if !self.is_reference(operand) {
                continue;
            }
            is_one = true;
            self.errors.at(
                codes::OPERATOR,
                operand.range(),
                "this may be a reference, and kernels call the operators of a type of your own on values",
                "write `*` before it, or bind its value to a variable with a type first: `let v: V = …;`",
            );
        }
        is_one
    }

    fn is_reference(&mut self, operand: &syn::Expr) -> bool {
        match peeled(operand) {
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().cloned();
                match name.and_then(|name| self.find(&name)) {
                    Some(Binding::Local(local)) => self.lent.contains(&local),
                    Some(Binding::Reference(_) | Binding::Place(_)) => true,
                    Some(Binding::Part(part)) => self.aliases[part].is_lent(),
                    Some(
                        Binding::Scalar(_)
                        | Binding::Memory(_)
                        | Binding::View(_)
                        | Binding::Closure(_)
                        | Binding::Callable(_)
                        | Binding::Const(_)
                        | Binding::SubSlice(_),
                    )
                    | None => false,
                }
            }
            // The parameter of a closure may be a reference to a reference.
            syn::Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => match peeled(&e.expr) {
                syn::Expr::Path(path) => {
                    let name = path.path.get_ident().cloned();
                    match name.and_then(|name| self.find(&name)) {
                        Some(Binding::Local(local)) => self.closure_parameters.contains(&local),
                        _ => false,
                    }
                }
                _ => false,
            },
            syn::Expr::MethodCall(_) | syn::Expr::Try(_) => self.may_be_reference(operand),
            _ => false,
        }
    }
}
