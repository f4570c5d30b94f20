//! `match` and `matches!`.
//!
//! A `match` becomes a chain of `if`s. rustc checks that the arms cover all values, so the last arm
//! without a guard needs no test.

use sarek_ir::{Expr, ExprId, LocalId, Scalar, Stmt, UnaryOp};
use syn::parse::{Parse, ParseStream};

use super::or_patterns::alternatives;
use crate::diagnostics::codes;

use super::pattern::{Bound, PatternMatch};
use super::scrutinee::Scrutinee;
use crate::lower::{Binding, Lowerer, OpenBlock, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// The results of the branches of a `match` or `if`.
#[derive(Default)]
pub(in crate::lower) struct Outcome {
    /// The local that they assign.
    pub result: Option<LocalId>,
    /// True if a branch has no value.
    unit: bool,
    /// True if control gets past a branch.
    reached: bool,
}

/// An arm of a `match`.
pub(in crate::lower) struct Arm<'a> {
    pub pat: &'a syn::Pat,
    pub guard: Option<&'a syn::Expr>,
    pub body: &'a syn::Expr,
}

/// The arguments of `matches!`.
struct Matches {
    expr: syn::Expr,
    pat: syn::Pat,
    guard: Option<syn::Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Matches> {
        let expr = input.parse()?;
        input.parse::<syn::Token![,]>()?;
        let pat = syn::Pat::parse_multi(input)?;
        let guard = match input.parse::<Option<syn::Token![if]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        input.parse::<Option<syn::Token![,]>>()?;
        Ok(Matches { expr, pat, guard })
    }
}

impl Lowerer<'_> {
    pub(in crate::lower) fn match_expr(&mut self, e: &syn::ExprMatch) -> Value {
        let Some(subject) = self.matched(&e.expr, e.arms.iter().map(|arm| &arm.pat)) else {
            return Value::Never;
        };
        let arms: Vec<Arm<'_>> = e.arms.iter().map(split_guard).collect();
        let Some(last) = arms.iter().rposition(|arm| arm.guard.is_none()) else {
            self.errors.at(
                codes::MATCH,
                e.match_token.range(),
                "the arms do not cover all values",
                "give the last arm no guard",
            );
            return Value::Never;
        };
        let mut outcome = Outcome::default();
        let (block, ()) = self.in_block(|this| this.arms(&arms[..=last], &subject, &mut outcome));
        // The arms after the last one are unreachable, but may contain errors.
        for arm in &arms[last + 1..] {
            self.in_block(|this| this.arm_body(arm, &subject, &[]));
        }
        self.yield_outcome(outcome, block, e.match_token.range())
    }

    /// Lowers the arms; the last one needs no test.
    fn arms(&mut self, arms: &[Arm<'_>], subject: &Scrutinee, outcome: &mut Outcome) {
        let Some((arm, rest)) = arms.split_first() else {
            return;
        };
        let span = arm.pat.range();
        if rest.is_empty() {
            let value = self.arm_body(arm, subject, &[]);
            return self.arrive(outcome, value, span);
        }
        let (cond, held) = self.arm_test(arm, subject);
        let (then, ()) = self.in_block(|this| {
            let value = this.arm_body(arm, subject, &held);
            this.arrive(outcome, value, span);
        });
        let (otherwise, ()) = self.in_block(|this| this.arms(rest, subject, outcome));
        self.branch(cond, then, otherwise, span);
    }

    /// The test that the arm takes the value. Its guard runs only if the pattern matches. If a
    /// guard decides between alternatives that bind names, also returns a local for each
    /// alternative but the last. It is true if that alternative was taken.
    pub(in crate::lower) fn arm_test(
        &mut self,
        arm: &Arm<'_>,
        subject: &Scrutinee,
    ) -> (ExprId, Vec<LocalId>) {
        let span = arm.pat.range();
        let cases = alternatives(arm.pat);
        let others = match arm.guard {
            Some(_) if self.binds_names(&cases[0], subject) => cases.len() - 1,
            Some(_) | None => 0,
        };
        let held: Vec<LocalId> = (0..others).map(|_| self.not_taken(span)).collect();
        let mut test: Option<ExprId> = None;
        for (at, case) in cases.iter().enumerate() {
            let (block, case) = self.in_block(|this| {
                let fits = this.case_test(case, arm.guard, subject);
                let Some(&local) = held.get(at) else {
                    return fits;
                };
                this.push(Stmt::Assign { local, value: fits }, span);
                this.read(local, span)
            });
            test = Some(match test {
                None => {
                    self.splice(block);
                    case
                }
                Some(lhs) => self.either(lhs, block, case, span),
            });
        }
        let test = test.unwrap_or_else(|| self.truth(true, span));
        (test, held)
    }

    fn binds_names(&mut self, case: &syn::Pat, subject: &Scrutinee) -> bool {
        !self.pattern(case, subject).names.is_empty()
    }

    /// A local that becomes true when an alternative is taken.
    fn not_taken(&mut self, span: SourceRange) -> LocalId {
        let ty = self.types.known(Scalar::Bool);
        let local = self.local("taken", ty, true);
        let init = Some(self.truth(false, span));
        self.push(Stmt::Let { local, init }, span);
        local
    }

    /// `lhs || rhs`; the statements of `rhs` run only if `lhs` is false.
    pub(in crate::lower) fn either(
        &mut self,
        lhs: ExprId,
        mut block: OpenBlock,
        rhs: ExprId,
        span: SourceRange,
    ) -> ExprId {
        if block.stmts.is_empty() {
            return self.known(Expr::Or { lhs, rhs }, Scalar::Bool, span);
        }
        let ty = self.types.known(Scalar::Bool);
        let local = self.local("taken", ty, true);
        let init = Some(lhs);
        self.push(Stmt::Let { local, init }, span);
        let assign = self.detached(Stmt::Assign { local, value: rhs }, span);
        block.stmts.push(assign);
        let taken = self.read(local, span);
        self.branch(taken, OpenBlock::default(), block, span);
        self.read(local, span)
    }

    /// Appends the statements of a block to the open one.
    pub(in crate::lower) fn splice(&mut self, mut block: OpenBlock) {
        let open = self.blocks.last_mut().expect("a block is open");
        if !open.ended {
            open.stmts.append(&mut block.stmts);
            open.ended = block.ended;
        }
    }

    fn case_test(
        &mut self,
        pat: &syn::Pat,
        guard: Option<&syn::Expr>,
        subject: &Scrutinee,
    ) -> ExprId {
        let span = pat.range();
        let found = self.pattern(pat, subject);
        let Some(guard) = guard else {
            return found.test.unwrap_or_else(|| self.truth(true, span));
        };
        self.scopes.push(Default::default());
        let (mut block, guarded) = self.in_block(|this| {
            this.alias(&found);
            let guarded = this.scalar(guard);
            this.expect(guarded, Scalar::Bool);
            guarded
        });
        self.scopes.pop();
        if block.stmts.is_empty() {
            let both = self.both(found.test, Some(guarded));
            return both.unwrap_or_else(|| self.truth(true, span));
        }
        // The guard has statements, which run only if the pattern matches.
        let local = self.not_taken(span);
        if !block.ended {
            let assign = Stmt::Assign {
                local,
                value: guarded,
            };
            block.stmts.push(self.detached(assign, span));
        }
        let test = found.test.unwrap_or_else(|| self.truth(true, span));
        self.branch(test, block, OpenBlock::default(), span);
        self.read(local, span)
    }

    /// Binds the names of a guard to parts of the scrutinee. A whole array is copied instead.
    fn alias(&mut self, found: &PatternMatch) {
        for bound in &found.names {
            if self.is_whole_array(&bound.subject) {
                self.bind_name(bound);
                continue;
            }
            self.aliases.push(bound.subject.clone());
            let alias = Binding::Part(self.aliases.len() - 1);
            self.bind(&bound.ident, alias);
        }
    }

    /// Binds the names of an arm and runs its body. `held` is the result of [`Lowerer::arm_test`].
    pub(in crate::lower) fn arm_body(
        &mut self,
        arm: &Arm<'_>,
        subject: &Scrutinee,
        held: &[LocalId],
    ) -> Value {
        self.scopes.push(Default::default());
        self.bind_cases(arm.pat, subject, held);
        let value = self.value(arm.body);
        self.scopes.pop();
        value
    }

    /// Binds the names of a pattern that is known to match, from the first alternative that
    /// matches, or from the one that was taken.
    pub(in crate::lower) fn bind_cases(
        &mut self,
        pat: &syn::Pat,
        subject: &Scrutinee,
        held: &[LocalId],
    ) {
        let cases = alternatives(pat);
        let mut found: Vec<PatternMatch> = cases
            .iter()
            .map(|case| self.pattern(case, subject))
            .collect();
        for (case, local) in found.iter_mut().zip(held) {
            case.test = Some(self.read(*local, pat.range()));
        }
        if found.iter().all(|case| case.names.is_empty()) {
            return;
        }
        match <[PatternMatch; 1]>::try_from(found) {
            Ok([only]) => self.bind_names(&only.names),
            Err(cases) => self.bind_first_of(cases, pat.range()),
        }
    }

    /// Binds the names of a pattern.
    pub(in crate::lower) fn bind_names(&mut self, names: &[Bound]) {
        for bound in names {
            self.bind_name(bound);
        }
    }

    /// Binds the names of the first alternative that matches.
    fn bind_first_of(&mut self, mut cases: Vec<PatternMatch>, span: SourceRange) {
        let Some(last) = cases.pop() else { return };
        let mut locals: Vec<(String, LocalId)> = vec![];
        for bound in &last.names {
            let ty = self.subject_type(&bound.subject);
            let local = self.local(&bound.ident.to_string(), ty, true);
            self.push(Stmt::Let { local, init: None }, bound.ident.range());
            locals.push((bound.ident.to_string(), local));
        }
        let (mut chain, ()) = self.in_block(|this| this.assign_names(&last, &locals));
        for case in cases.into_iter().rev() {
            let (then, ()) = self.in_block(|this| this.assign_names(&case, &locals));
            let test = case.test.unwrap_or_else(|| self.truth(true, span));
            let (outer, ()) = self.in_block(|this| this.branch(test, then, chain, span));
            chain = outer;
        }
        let open = self.blocks.last_mut().expect("a block is open");
        open.stmts.append(&mut chain.stmts);
        for (bound, (_, local)) in last.names.iter().zip(&locals) {
            self.bind(&bound.ident, Binding::Local(*local));
        }
    }

    fn assign_names(&mut self, case: &PatternMatch, locals: &[(String, LocalId)]) {
        for bound in &case.names {
            let span = bound.ident.range();
            let name = bound.ident.to_string();
            // rustc reports names that not all alternatives bind.
            let Some((_, local)) = locals.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            if self.is_array_in_place(&bound.subject) {
                self.errors.unsupported(
                    codes::PATTERN,
                    span,
                    "a name for an array in one of several alternatives is",
                    "write an arm for each alternative",
                );
                continue;
            }
            let value = self.read_subject(&bound.subject, span);
            let local = *local;
            self.unify(self.local_types[local.index()], self.ty(value), span);
            self.push(Stmt::Assign { local, value }, span);
        }
    }

    /// `matches!(value, pat if guard)`
    pub(in crate::lower) fn matches_macro(&mut self, mac: &syn::Macro) -> Value {
        let call: Matches = match mac.parse_body() {
            Ok(call) => call,
            Err(error) => {
                self.errors.push(error);
                return Value::Never;
            }
        };
        self.audit_macro(&mac.path);
        let Some(subject) = self.matched(&call.expr, [&call.pat]) else {
            return Value::Never;
        };
        let arm = Arm {
            pat: &call.pat,
            guard: call.guard.as_ref(),
            body: &call.expr,
        };
        Value::Scalar(self.arm_test(&arm, &subject).0)
    }

    // Branches.

    /// Ends a branch, which is the open block, with the assignment of its value.
    pub(in crate::lower) fn arrive(
        &mut self,
        outcome: &mut Outcome,
        value: Value,
        span: SourceRange,
    ) {
        match value {
            Value::Never => return,
            Value::Unit => outcome.unit = true,
            Value::Scalar(value) => {
                let ty = self.ty(value);
                let local = match outcome.result {
                    Some(local) => local,
                    None => self.result(ty),
                };
                outcome.result = Some(local);
                let at = self.span(value);
                self.unify(self.local_types[local.index()], ty, at);
                self.push(Stmt::Assign { local, value }, at);
            }
        }
        outcome.reached |= !self.blocks.last().expect("a block is open").ended;
        if outcome.unit && outcome.result.is_some() {
            self.errors.at(
                codes::BRANCHES,
                span,
                "one branch has a value and another has none",
                "end all branches with a value, or none of them",
            );
        }
    }

    /// Pushes the statements of a whole `match` or `if`, after the declaration of its result.
    pub(in crate::lower) fn yield_outcome(
        &mut self,
        outcome: Outcome,
        mut whole: OpenBlock,
        span: SourceRange,
    ) -> Value {
        if let Some(local) = outcome.result {
            self.push(Stmt::Let { local, init: None }, span);
        }
        whole.ended = false;
        self.splice(whole);
        if !outcome.reached {
            self.end();
            return Value::Never;
        }
        match outcome.result {
            Some(local) => Value::Scalar(self.read(local, span)),
            None => Value::Unit,
        }
    }

    /// `if cond { then } else { otherwise }`
    pub(in crate::lower) fn branch(
        &mut self,
        cond: ExprId,
        then: OpenBlock,
        otherwise: OpenBlock,
        span: SourceRange,
    ) {
        let ended = then.ended && otherwise.ended;
        let (mut cond, mut then, mut otherwise) = (cond, self.close(then), self.close(otherwise));
        if then.is_empty() && !otherwise.is_empty() {
            let not = Expr::Unary {
                op: UnaryOp::Not,
                arg: cond,
            };
            cond = self.known(not, Scalar::Bool, span);
            std::mem::swap(&mut then, &mut otherwise);
        }
        let branch = Stmt::If {
            cond,
            then,
            otherwise,
        };
        self.push(branch, span);
        if ended {
            self.end();
        }
    }
}

fn split_guard(arm: &syn::Arm) -> Arm<'_> {
    match &arm.pat {
        syn::Pat::Guard(guarded) => Arm {
            pat: &guarded.pat,
            guard: Some(&guarded.guard),
            body: &arm.body,
        },
        pat => Arm {
            pat,
            guard: None,
            body: &arm.body,
        },
    }
}
