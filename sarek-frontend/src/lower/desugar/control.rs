//! `if`, loops, labelled blocks, and the jumps that leave them.

use sarek_ir::{Block, Expr, ExprId, LabelId, LocalId, Scalar, Stmt, UnaryOp};

use super::let_conditions::has_let;
use crate::diagnostics::{Mistake, codes};
use crate::lower::{LoopFrame, Lowerer, OpenBlock, Ty, Value, same_context};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    pub(in crate::lower) fn if_expr(&mut self, e: &syn::ExprIf) -> Value {
        let expects_own = std::mem::take(&mut self.expects_own);
        if has_let(&e.cond) {
            return self.if_let(e);
        }
        let cond = self.scalar(&e.cond);
        self.expect(cond, Scalar::Bool);
        self.expects_own = expects_own;
        let (mut then, then_value) = self.in_block(|this| this.scoped_block(&e.then_branch));
        self.expects_own = expects_own && e.else_branch.is_some();
        let (mut otherwise, else_value) = match &e.else_branch {
            Some((_, expr)) => self.in_block(|this| this.value(expr)),
            None => (OpenBlock::default(), Value::Unit),
        };
        let span = e.if_token.range();
        let Ok(result) = self.merge(&mut then, then_value, &mut otherwise, else_value, e) else {
            return Value::Never;
        };
        let ended = then.ended && otherwise.ended;
        let (then, otherwise) = (self.close(then), self.close(otherwise));
        if let Some(local) = result {
            self.push(Stmt::Let { local, init: None }, span);
        }
        self.push(
            Stmt::If {
                cond,
                then,
                otherwise,
            },
            span,
        );
        if ended {
            self.end();
            return Value::Never;
        }
        result.map_or(Value::Unit, |local| Value::Scalar(self.read(local, span)))
    }

    /// The local that both branches assign, if the `if` has a value. An error if only one branch
    /// has a value, which is reported.
    fn merge(
        &mut self,
        then: &mut OpenBlock,
        then_value: Value,
        otherwise: &mut OpenBlock,
        else_value: Value,
        e: &syn::ExprIf,
    ) -> Result<Option<LocalId>, ()> {
        let first = match (then_value, else_value) {
            (Value::Scalar(id), Value::Scalar(_) | Value::Never) => id,
            (Value::Never, Value::Scalar(id)) => id,
            (Value::Scalar(_), Value::Unit) | (Value::Unit, Value::Scalar(_)) => {
                self.errors.at(
                    codes::BRANCHES,
                    e.if_token.range(),
                    "this `if` has a value in one branch and none in the other",
                    "end both branches with a value, or neither",
                );
                return Err(());
            }
            (Value::Unit | Value::Never, Value::Unit | Value::Never) => return Ok(None),
        };
        let local = self.result(self.ty(first));
        self.assign_result(then, then_value, local);
        self.assign_result(otherwise, else_value, local);
        Ok(Some(local))
    }

    /// Ends a block with the assignment of its result.
    pub(in crate::lower) fn assign_result(
        &mut self,
        block: &mut OpenBlock,
        value: Value,
        local: LocalId,
    ) {
        let Value::Scalar(value) = value else {
            return;
        };
        let span = self.span(value);
        self.unify(self.local_types[local.index()], self.ty(value), span);
        if !block.ended {
            block
                .stmts
                .push(self.detached(Stmt::Assign { local, value }, span));
        }
    }

    /// A local for the result of an `if`, a block or a loop. It is read once.
    pub(in crate::lower) fn result(&mut self, ty: Ty) -> LocalId {
        let local = self.local("value", ty, true);
        self.results.insert(local);
        local
    }

    /// Marks the rest of the open block as unreachable.
    pub(in crate::lower) fn end(&mut self) {
        self.blocks.last_mut().expect("a block is open").ended = true;
    }

    pub(in crate::lower) fn block_expr(&mut self, e: &syn::ExprBlock) -> Value {
        let Some(label) = &e.label else {
            return self.scoped_block(&e.block);
        };
        // A labelled block is a loop with a `break` at its end.
        let span = label.name.range();
        let frame = self.frame(Some(label), true, true);
        let target = frame.label;
        let (mut block, value, frame) = self.in_frame(frame, |this| this.scoped_block(&e.block));
        let mut result = frame.result;
        if let Value::Scalar(id) = value {
            let local = result.unwrap_or_else(|| self.result(self.ty(id)));
            self.assign_result(&mut block, value, local);
            result = Some(local);
        }
        if !block.ended {
            block
                .stmts
                .push(self.detached(Stmt::Break { label: target }, span));
        }
        let reached = frame.left || value != Value::Never;
        self.finish_loop(target, None, block, result, reached, span)
    }

    /// Lowers a loop or a block unless it is nested too deeply in loops. Analyses walk a loop at
    /// least twice, so they take 2ⁿ times as long inside n loops.
    pub(in crate::lower) fn nested(
        &mut self,
        span: SourceRange,
        lower: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        const DEEPEST: usize = 16;
        if self.loops.len() >= DEEPEST {
            let mistake = Mistake::new(
                codes::SYNTAX,
                format!("loops in a kernel may nest at most {DEEPEST} deep"),
                "move the inner loops into a `#[device]` function",
            );
            let why =
                "the macro analyzes a loop more than once, so each level doubles the compile time";
            self.errors.report(span, &mistake.because(why));
            return Value::Never;
        }
        lower(self)
    }

    pub(in crate::lower) fn loop_expr(&mut self, e: &syn::ExprLoop) -> Value {
        let frame = self.frame(e.label.as_ref(), false, true);
        let target = frame.label;
        self.unroll(&e.attrs, target);
        let (block, value, frame) = self.in_frame(frame, |this| this.scoped_block(&e.body));
        self.unit_body(value);
        self.finish_loop(
            target,
            None,
            block,
            frame.result,
            frame.left,
            e.loop_token.range(),
        )
    }

    pub(in crate::lower) fn while_loop(&mut self, e: &syn::ExprWhile) -> Value {
        if has_let(&e.cond) {
            return self.while_let(e);
        }
        let frame = self.frame(e.label.as_ref(), false, false);
        let (target, span) = (frame.label, e.while_token.range());
        self.unroll(&e.attrs, target);
        let (head, cond) = self.in_block(|this| {
            let cond = this.scalar(&e.cond);
            this.expect(cond, Scalar::Bool);
            cond
        });
        let (mut block, value, _) = self.in_frame(frame, |this| this.scoped_block(&e.body));
        self.unit_body(value);
        if head.stmts.is_empty() {
            return self.finish_loop(target, Some(cond), block, None, true, span);
        }
        // The condition has statements. They stand at the head of the body, followed by a
        // conditional `break`.
        let mut stmts = head.stmts;
        if !head.ended {
            stmts.push(self.break_unless(cond, target, span));
        }
        stmts.append(&mut block.stmts);
        block.stmts = stmts;
        self.finish_loop(target, None, block, None, true, span)
    }

    fn break_unless(
        &mut self,
        cond: ExprId,
        label: LabelId,
        span: SourceRange,
    ) -> sarek_ir::StmtId {
        let cond = self.known(
            Expr::Unary {
                op: UnaryOp::Not,
                arg: cond,
            },
            Scalar::Bool,
            span,
        );
        let leave = self.detached(Stmt::Break { label }, span);
        let then = self.kernel.push_block(&[leave]);
        self.detached(
            Stmt::If {
                cond,
                then,
                otherwise: Block::EMPTY,
            },
            span,
        )
    }

    /// Closes a loop's body and pushes the loop.
    pub(in crate::lower) fn finish_loop(
        &mut self,
        label: LabelId,
        cond: Option<ExprId>,
        body: OpenBlock,
        result: Option<LocalId>,
        left: bool,
        span: SourceRange,
    ) -> Value {
        let body = self.close(body);
        if let Some(local) = result {
            self.push(Stmt::Let { local, init: None }, span);
        }
        self.push(Stmt::Loop { label, cond, body }, span);
        if !left {
            self.end();
            return Value::Never;
        }
        result.map_or(Value::Unit, |local| Value::Scalar(self.read(local, span)))
    }

    pub(in crate::lower) fn frame(
        &mut self,
        label: Option<&syn::Label>,
        is_block: bool,
        takes_value: bool,
    ) -> LoopFrame {
        self.labels += 1;
        LoopFrame {
            name: label.map(|l| l.name.ident.clone()),
            label: LabelId(self.labels - 1),
            is_block,
            takes_value,
            result: None,
            left: false,
        }
    }

    /// Runs `body` inside a loop.
    pub(in crate::lower) fn in_frame<R>(
        &mut self,
        frame: LoopFrame,
        body: impl FnOnce(&mut Self) -> R,
    ) -> (OpenBlock, R, LoopFrame) {
        self.loops.push(frame);
        let (block, value) = self.in_block(body);
        (
            block,
            value,
            self.loops.pop().expect("the frame pushed above"),
        )
    }

    /// Reports a loop body with a value.
    pub(in crate::lower) fn unit_body(&mut self, value: Value) {
        if let Value::Scalar(id) = value {
            let span = self.span(id);
            self.errors.at(
                codes::VALUE_UNUSED,
                span,
                "the body of a loop has no value",
                "end this expression with `;`",
            );
        }
    }

    pub(in crate::lower) fn break_expr(&mut self, e: &syn::ExprBreak) -> Value {
        let value = match &e.expr {
            Some(expr) => match self.scalar_or_never(expr) {
                Some(id) => Some(id),
                None => return Value::Never,
            },
            None => None,
        };
        let Some(target) = self.target(e.label.as_ref(), e.break_token.range(), "break") else {
            return Value::Never;
        };
        if let Some(value) = value {
            self.break_with(target, value);
        }
        self.loops[target].left = true;
        let label = self.loops[target].label;
        self.push(Stmt::Break { label }, e.break_token.range());
        Value::Never
    }

    fn break_with(&mut self, target: usize, value: ExprId) {
        let span = self.span(value);
        if !self.loops[target].takes_value {
            self.errors.at(
                codes::BREAK,
                span,
                "`break` can have a value only in `loop` and labelled blocks",
                "assign to a variable before it",
            );
            return;
        }
        let local = match self.loops[target].result {
            Some(local) => local,
            None => self.result(self.ty(value)),
        };
        self.loops[target].result = Some(local);
        self.unify(self.local_types[local.index()], self.ty(value), span);
        self.push(Stmt::Assign { local, value }, span);
    }

    pub(in crate::lower) fn continue_expr(&mut self, e: &syn::ExprContinue) -> Value {
        let Some(target) = self.target(e.label.as_ref(), e.continue_token.range(), "continue")
        else {
            return Value::Never;
        };
        if self.loops[target].is_block {
            self.errors.at(
                codes::BREAK,
                e.range(),
                "`continue` needs the label of a loop, but this is the label of a block",
                "write `break`, or label a loop",
            );
        }
        let label = self.loops[target].label;
        self.push(Stmt::Continue { label }, e.continue_token.range());
        Value::Never
    }

    /// The loop that a `break` or `continue` refers to.
    fn target(
        &mut self,
        label: Option<&syn::Lifetime>,
        span: SourceRange,
        word: &str,
    ) -> Option<usize> {
        let found = match label {
            Some(label) => {
                let named = |l: &LoopFrame| l.name.as_ref().is_some_and(|n| *n == label.ident);
                let found = self.loops.iter().rposition(named);
                let bound = found.and_then(|i| self.loops[i].name.as_ref());
                if bound.is_some_and(|b| !same_context(b.span(), label.ident.span())) {
                    self.errors.at(
                        codes::HYGIENE,
                        label.range(),
                        format!("`{label}` is used in a macro but labels a loop outside it, or the reverse"),
                        "rename one of them: Rust treats them as different labels",
                    );
                }
                found
            }
            None => self.loops.iter().rposition(|l| !l.is_block),
        };
        if found.is_none() {
            match label {
                Some(label) => {
                    self.errors.at(
                        codes::BREAK,
                        label.range(),
                        format!("no enclosing loop has the label `{label}`"),
                        "write the label before a loop around this",
                    );
                }
                None => self.errors.at(
                    codes::BREAK,
                    span,
                    format!("`{word}` is outside a loop"),
                    "write `return` to end the thread",
                ),
            }
        }
        found
    }

    pub(in crate::lower) fn return_expr(&mut self, e: &syn::ExprReturn) -> Value {
        if self.is_function {
            let value = e.expr.as_ref().map_or(Value::Unit, |e| self.value(e));
            self.leave_function(value, e.return_token.range());
        } else if let Some(expr) = &e.expr
            && let Value::Scalar(_) = self.value(expr)
        {
            self.errors.at(
                codes::RETURN_VALUE,
                expr.range(),
                "a kernel returns nothing",
                "write its results to a `&mut [T]`",
            );
        }
        self.store_items();
        self.push(Stmt::Return, e.return_token.range());
        Value::Never
    }
}
