//! `if let`, `let … else` and `while let`: conditions that bind names.

use sarek_ir::{ExprId, Scalar, Stmt};

use super::matching::{Arm, Outcome};
use super::scrutinee::Scrutinee;
use super::slice_search::Element;
use crate::diagnostics::codes;
use crate::lower::{Lowerer, OpenBlock, Value};
use crate::tokens::range::Ranged;

/// The value against which the pattern of a `let` in a condition is matched.
enum Tested {
    Subject(Scrutinee),
    Element(Element),
}

impl Lowerer<'_> {
    /// An `if` whose condition contains `let`.
    pub(in crate::lower) fn if_let(&mut self, e: &syn::ExprIf) -> Value {
        let span = e.if_token.range();
        let parts = conditions(&e.cond);
        let mut outcome = Outcome::default();
        if let [syn::Expr::Let(only)] = parts.as_slice() {
            return self.if_one_let(e, only);
        }
        if e.else_branch.is_none() {
            self.scopes.push(Default::default());
            self.chain(&parts, |this| {
                let value = this.scoped_block(&e.then_branch);
                this.arrive(&mut outcome, value, span);
            });
            self.scopes.pop();
            if outcome.result.is_some() {
                self.errors.at(
                    codes::BRANCHES,
                    span,
                    "this `if` has a value in one branch and none in the other",
                    "end both branches with a value, or neither",
                );
            }
            return Value::Unit;
        }
        // The taken branch leaves a block that runs once.
        let frame = self.frame(None, true, false);
        let label = frame.label;
        let (block, (), _) = self.in_frame(frame, |this| {
            this.scopes.push(Default::default());
            this.chain(&parts, |this| {
                let value = this.scoped_block(&e.then_branch);
                this.arrive(&mut outcome, value, span);
                this.push(Stmt::Break { label }, span);
            });
            this.scopes.pop();
            let value = match &e.else_branch {
                Some((_, expr)) => this.value(expr),
                None => Value::Unit,
            };
            this.arrive(&mut outcome, value, span);
            this.push(Stmt::Break { label }, span);
        });
        let body = self.close(block);
        let (whole, ()) = self.in_block(|this| {
            let stmt = Stmt::Loop {
                label,
                cond: None,
                body,
            };
            this.push(stmt, span);
        });
        self.yield_outcome(outcome, whole, span)
    }

    fn if_one_let(&mut self, e: &syn::ExprIf, cond: &syn::ExprLet) -> Value {
        let span = e.if_token.range();
        let Some((test, bound)) = self.let_test(&cond.pat, &cond.expr) else {
            return Value::Never;
        };
        let mut outcome = Outcome::default();
        let (then, ()) = self.in_block(|this| {
            this.scopes.push(Default::default());
            this.bind_let(&cond.pat, &bound);
            let value = this.scoped_block(&e.then_branch);
            this.scopes.pop();
            this.arrive(&mut outcome, value, span);
        });
        let (otherwise, ()) = self.in_block(|this| {
            let value = match &e.else_branch {
                Some((_, expr)) => this.value(expr),
                None => Value::Unit,
            };
            this.arrive(&mut outcome, value, span);
        });
        let (whole, ()) = self.in_block(|this| this.branch(test, then, otherwise, span));
        self.yield_outcome(outcome, whole, span)
    }

    /// Tests the parts of a condition one after another, and runs `then` if all hold. Their names
    /// are bound in the open scope.
    fn chain(&mut self, parts: &[&syn::Expr], then: impl FnOnce(&mut Self)) {
        let Some((first, rest)) = parts.split_first() else {
            return then(self);
        };
        let span = first.range();
        let syn::Expr::Let(cond) = first else {
            let test = self.scalar(first);
            self.expect(test, Scalar::Bool);
            let (block, ()) = self.in_block(|this| this.chain(rest, then));
            return self.branch(test, block, OpenBlock::default(), span);
        };
        let Some((test, bound)) = self.let_test(&cond.pat, &cond.expr) else {
            return;
        };
        let (block, ()) = self.in_block(|this| {
            this.bind_let(&cond.pat, &bound);
            this.chain(rest, then);
        });
        self.branch(test, block, OpenBlock::default(), span);
    }

    /// The test of `let pat = value`, and what the pattern is matched against.
    fn let_test(&mut self, pat: &syn::Pat, value: &syn::Expr) -> Option<(ExprId, Tested)> {
        if let Some(element) = self.element_tested(pat, value) {
            let (test, place) = element?;
            return Some((test, Tested::Element(place)));
        }
        let subject = self.matched(value, [pat])?;
        let arm = Arm {
            pat,
            guard: None,
            body: value,
        };
        let (test, _) = self.arm_test(&arm, &subject);
        Some((test, Tested::Subject(subject)))
    }

    fn bind_let(&mut self, pat: &syn::Pat, bound: &Tested) {
        match bound {
            Tested::Subject(subject) => self.bind_cases(pat, subject, &[]),
            Tested::Element(element) => self.bind_element(pat, element),
        }
    }

    /// A `while` whose condition contains `let`.
    pub(in crate::lower) fn while_let(&mut self, e: &syn::ExprWhile) -> Value {
        let frame = self.frame(e.label.as_ref(), false, false);
        let (label, span) = (frame.label, e.while_token.range());
        self.unroll(&e.attrs, label);
        let parts = conditions(&e.cond);
        let (mut block, (), _) = self.in_frame(frame, |this| {
            this.scopes.push(Default::default());
            this.chain(&parts, |this| {
                let value = this.scoped_block(&e.body);
                this.unit_body(value);
                this.push(Stmt::Continue { label }, span);
            });
            this.scopes.pop();
        });
        if !block.ended {
            block.stmts.push(self.detached(Stmt::Break { label }, span));
        }
        self.finish_loop(label, None, block, None, true, span)
    }

    /// `let pat = value else { … }`, and destructuring without an `else`.
    pub(in crate::lower) fn let_pattern(&mut self, local: &syn::Local) -> Value {
        let span = local.let_token.range();
        let Some(init) = &local.init else {
            self.errors.at(
                codes::MATCH,
                local.pat.range(),
                "the variables of this pattern have no value",
                "initialize them here",
            );
            return Value::Unit;
        };
        let tested = match &init.diverge {
            Some(_) => self
                .let_test(&local.pat, &init.expr)
                .map(|(test, bound)| (Some(test), bound)),
            None => self
                .matched(&init.expr, [&local.pat])
                .map(|subject| (None, Tested::Subject(subject))),
        };
        let Some((test, bound)) = tested else {
            return Value::Never;
        };
        if let (Some(test), Some((_, diverge))) = (test, &init.diverge) {
            let (otherwise, value) = self.in_block(|this| this.value(diverge));
            if !otherwise.ended && value != Value::Never {
                self.errors.at(
                    codes::MATCH,
                    diverge.range(),
                    "this `else` does not leave the code around it",
                    "end it with `return`, `break` or `continue`",
                );
            }
            self.branch(test, OpenBlock::default(), otherwise, span);
        }
        self.bind_let(&local.pat, &bound);
        Value::Unit
    }
}

/// True if a part of a condition is a `let`.
pub(in crate::lower) fn has_let(cond: &syn::Expr) -> bool {
    conditions(cond)
        .iter()
        .any(|part| matches!(part, syn::Expr::Let(_)))
}

/// The parts of a condition that `&&` joins.
fn conditions(cond: &syn::Expr) -> Vec<&syn::Expr> {
    match cond {
        syn::Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_)) => {
            let mut parts = conditions(&e.left);
            parts.extend(conditions(&e.right));
            parts
        }
        syn::Expr::Group(e) => conditions(&e.expr),
        other => vec![other],
    }
}
