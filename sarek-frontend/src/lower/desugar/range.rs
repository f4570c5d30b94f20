//! `for` over ranges, with `.rev()` and `.step_by(n)`.
//!
//! An IR loop counts upwards by one. A plain `a..b` is such a loop, and `(a..b).rev()` counts
//! upwards and mirrors the counter. All other forms become a loop that carries the current value,
//! and a flag that there is one. This state is advanced at the head of the body, so that `continue`
//! needs no special case. The last step is not taken past the end, so that ranges up to `MAX`
//! terminate.

use sarek_ir::{
    BinaryOp, DivideOp, Expr, ExprId, Intrinsic, LocalId, Scalar, SiteKind, Stmt, Value as Constant,
};

use crate::diagnostics::{Mistake, codes};
use crate::lower::{Binding, Known, Lowerer, Ty, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// An adapter of a range.
#[derive(Clone, Copy)]
enum Adapter<'a> {
    Rev,
    StepBy(&'a syn::Expr),
}

/// A range whose bounds are leaves.
#[derive(Clone, Copy)]
struct Bounds {
    start: ExprId,
    end: ExprId,
    inclusive: bool,
    ty: Ty,
}

/// The loop's variable.
struct Variable<'a> {
    pat: Option<&'a syn::PatIdent>,
    ty: Ty,
}

impl Lowerer<'_> {
    pub(in crate::lower) fn for_loop(&mut self, e: &syn::ExprForLoop) -> Value {
        if let Some(value) = self.for_each_item(e) {
            return value;
        }
        let variable = self.binding_pattern(&e.pat);
        let mut adapters = vec![];
        let Some(range) = self.range_of(&e.expr, &mut adapters) else {
            return Value::Unit;
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            self.errors.unsupported(
                codes::LOOP_RANGE,
                range.range(),
                "an unbounded range is",
                "give the range both ends",
            );
            return Value::Unit;
        };
        let ids = self.operands(&[start, end]);
        let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        self.audit_adapters(&e.expr, self.ty(ids[0]), closed);
        let int = self.types.int();
        self.unify(int, self.ty(ids[0]), start.range());
        self.unify(self.ty(ids[0]), self.ty(ids[1]), end.range());
        let Some((pat, ty)) = variable else {
            return Value::Unit;
        };
        self.unify(ty, self.ty(ids[0]), e.pat.range());
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        let bounds = Bounds {
            start: ids[0],
            end: ids[1],
            inclusive,
            ty,
        };
        let variable = Variable { pat, ty };
        match (self.half_open(bounds), adapters.as_slice()) {
            (Some(bounds), []) => self.counted(e, bounds, variable, None),
            (Some(bounds), [Adapter::Rev]) => {
                let (start, end) = (self.reusable(bounds.start), self.reusable(bounds.end));
                let bounds = Bounds {
                    start,
                    end,
                    ..bounds
                };
                self.counted(e, bounds, variable, Some(bounds));
            }
            (_, _) => self.carried(e, bounds, variable, &adapters),
        }
        Value::Unit
    }

    /// The same range as a half-open one: unchanged, or with a literal end plus one.
    fn half_open(&mut self, bounds: Bounds) -> Option<Bounds> {
        if !bounds.inclusive {
            return Some(bounds);
        }
        let pending = self.literals.iter().find(|p| p.expr == bounds.end)?;
        let syn::Lit::Int(int) = &pending.lit else {
            return None;
        };
        // If the type is not known yet, it may turn out smaller, which is reported then.
        let most = match self.types.look(bounds.ty) {
            crate::lower::Known::Scalar(ty) if ty.bits() < 32 => {
                (1 << (ty.bits() - u32::from(ty.is_signed()))) - 1
            }
            crate::lower::Known::Scalar(_)
            | crate::lower::Known::Int
            | crate::lower::Known::Float
            | crate::lower::Known::Nothing => i64::from(i32::MAX),
            crate::lower::Known::Compound
            | crate::lower::Known::Foreign
            | crate::lower::Known::Parameter => {
                return None;
            }
        };
        let last = int.base10_parse::<i64>().ok().filter(|n| *n < most)?;
        let next = if pending.negative {
            -last + 1
        } else {
            last + 1
        };
        let span = self.span(bounds.end);
        let lit = syn::Lit::Int(syn::LitInt::new(
            &next.unsigned_abs().to_string(),
            span.first,
        ));
        let end = self.expr(Expr::Literal(Constant::Bool(false)), bounds.ty, span);
        self.literals.push(crate::lower::PendingLiteral {
            expr: end,
            lit,
            negative: next < 0,
            beyond: true,
            neutral: false,
        });
        Some(Bounds {
            end,
            inclusive: false,
            ..bounds
        })
    }

    /// The range under adapters. `adapters` receives these in the order in which they apply.
    fn range_of<'a>(
        &mut self,
        expr: &'a syn::Expr,
        adapters: &mut Vec<Adapter<'a>>,
    ) -> Option<&'a syn::ExprRange> {
        match expr {
            syn::Expr::Range(range) => Some(range),
            syn::Expr::Paren(e) => self.range_of(&e.expr, adapters),
            syn::Expr::Group(e) => self.range_of(&e.expr, adapters),
            syn::Expr::MethodCall(call) => {
                let range = self.range_of(&call.receiver, adapters)?;
                let adapter = match (call.method.to_string().as_str(), call.args.first()) {
                    ("rev", None) => Adapter::Rev,
                    ("step_by", Some(step)) if call.args.len() == 1 => Adapter::StepBy(step),
                    (name, _) => {
                        let what = format!("`.{name}(…)` on a range is");
                        self.errors.unsupported(
                            codes::LOOP_RANGE,
                            call.method.range(),
                            &what,
                            "use `.rev()` and `.step_by(n)`",
                        );
                        return None;
                    }
                };
                adapters.push(adapter);
                Some(range)
            }
            other => {
                let mistake = match self.number_named(other) {
                    Some(name) => {
                        let what = format!("`{name}` is a number, and no range");
                        Mistake::new(codes::LOOP_RANGE, what, format!("write `0..{name}`"))
                            .because("a `for` loop needs a beginning and an end")
                    }
                    None => Mistake::new(
                        codes::LOOP_RANGE,
                        "a `for` loop over this is not supported in a kernel",
                        "loop over a range such as `0..n`",
                    ),
                };
                self.errors.report(other.range(), &mistake);
                None
            }
        }
    }

    /// The name, if it is that of a variable or parameter with an integer.
    fn number_named<'a>(&mut self, expr: &'a syn::Expr) -> Option<&'a syn::Ident> {
        let syn::Expr::Path(path) = expr else {
            return None;
        };
        let name = path.path.get_ident()?;
        let ty = match self.find(name)? {
            Binding::Local(local) => self.local_types[local.index()],
            Binding::Scalar(param) => self.param_types[param.index()],
            Binding::Reference(_)
            | Binding::Memory(_)
            | Binding::View(_)
            | Binding::Closure(_)
            | Binding::Callable(_)
            | Binding::Const(_)
            | Binding::Part(_)
            | Binding::Place(_)
            | Binding::SubSlice(_) => return None,
        };
        match self.types.look(ty) {
            Known::Scalar(scalar) if scalar.is_int() => Some(name),
            Known::Int => Some(name),
            _ => None,
        }
    }

    /// `a..b`, counted upwards. `mirror` holds the original bounds of a reversed range.
    fn counted(
        &mut self,
        e: &syn::ExprForLoop,
        bounds: Bounds,
        var: Variable<'_>,
        mirror: Option<Bounds>,
    ) {
        let span = e.for_token.range();
        let (start, end) = match mirror {
            Some(_) => (self.copy(bounds.start), self.copy(bounds.end)),
            None => (bounds.start, bounds.end),
        };
        let name = var
            .pat
            .map_or_else(|| "_i".to_string(), |p| p.ident.to_string());
        let counter = self.local(&name, var.ty, false);
        let frame = self.frame(e.label.as_ref(), false, false);
        let label = frame.label;
        self.unroll(&e.attrs, label);
        let (block, value, _) = self.in_frame(frame, |this| {
            let current = match mirror {
                None => counter,
                Some(bounds) => {
                    let i = this.read(counter, span);
                    let (first, last) = (this.copy(bounds.start), this.copy(bounds.end));
                    let one = this.one(bounds.ty, span);
                    let last = this.wrapping(Intrinsic::WrappingSub, last, one, span);
                    let done = this.wrapping(Intrinsic::WrappingSub, i, first, span);
                    let mirrored = this.wrapping(Intrinsic::WrappingSub, last, done, span);
                    this.let_local(&name, mirrored, span)
                }
            };
            this.loop_body(e, current, &var)
        });
        self.unit_body(value);
        let body = self.close(block);
        self.push(
            Stmt::For {
                label,
                local: counter,
                start,
                end,
                body,
            },
            span,
        );
    }

    /// Lowers the body, with the variable bound to `current`.
    fn loop_body(&mut self, e: &syn::ExprForLoop, current: LocalId, var: &Variable<'_>) -> Value {
        self.scopes.push(Default::default());
        if let Some(pat) = var.pat {
            let mut local = current;
            if pat.mutability.is_some() {
                let value = self.read(current, pat.ident.range());
                local = self.local(&pat.ident.to_string(), var.ty, true);
                self.push(
                    Stmt::Let {
                        local,
                        init: Some(value),
                    },
                    pat.ident.range(),
                );
            }
            self.bind(&pat.ident, Binding::Local(local));
        }
        let value = self.scoped_block(&e.body);
        self.scopes.pop();
        value
    }

    /// Any chain of at most one `rev` and one `step_by`, as a loop that carries the current value.
    fn carried(
        &mut self,
        e: &syn::ExprForLoop,
        bounds: Bounds,
        var: Variable<'_>,
        adapters: &[Adapter<'_>],
    ) {
        let span = e.for_token.range();
        let (down, step, stepped_first) = match adapters {
            [] => (false, None, false),
            [Adapter::Rev] => (true, None, false),
            [Adapter::StepBy(step)] => (false, Some(*step), false),
            [Adapter::Rev, Adapter::StepBy(step)] => (true, Some(*step), false),
            [Adapter::StepBy(step), Adapter::Rev] => (true, Some(*step), true),
            _ => {
                let instead = "use at most one `.rev()` and one `.step_by(n)`";
                self.errors.unsupported(
                    codes::LOOP_RANGE,
                    e.expr.range(),
                    "this chain of adapters is",
                    instead,
                );
                return;
            }
        };
        let (start, end) = (self.reusable(bounds.start), self.reusable(bounds.end));
        let bounds = Bounds {
            start,
            end,
            ..bounds
        };
        let step = step.map(|step| self.step(step));
        let first = self.first(bounds, down, step.filter(|_| stepped_first), span);
        let name = var
            .pat
            .map_or_else(|| "_i".to_string(), |p| p.ident.to_string());
        let next = self.local("next", var.ty, true);
        self.push(
            Stmt::Let {
                local: next,
                init: Some(first),
            },
            span,
        );
        let (a, b) = (self.copy(bounds.start), self.copy(bounds.end));
        let op = if bounds.inclusive {
            BinaryOp::Le
        } else {
            BinaryOp::Lt
        };
        let some = self.plain(op, a, b, span);
        let bool_ty = self.types.known(Scalar::Bool);
        let more = self.local("more", bool_ty, true);
        self.push(
            Stmt::Let {
                local: more,
                init: Some(some),
            },
            span,
        );

        let frame = self.frame(e.label.as_ref(), false, false);
        let label = frame.label;
        self.unroll(&e.attrs, label);
        let (block, value, _) = self.in_frame(frame, |this| {
            let current = this.read(next, span);
            let current = this.let_local(&name, current, span);
            this.advance(bounds, down, step, current, next, more, span);
            this.loop_body(e, current, &var)
        });
        self.unit_body(value);
        let cond = self.read(more, span);
        self.finish_loop(label, Some(cond), block, None, true, span);
    }

    /// The step as a leaf, with an assertion that it is positive.
    fn step(&mut self, step: &syn::Expr) -> ExprId {
        let id = self.scalar(step);
        self.expect(id, Scalar::Usize);
        let id = self.reusable(id);
        let positive = self.literals.iter().any(|p| {
            p.expr == id && matches!(&p.lit, syn::Lit::Int(n) if n.base10_parse::<u64>().is_ok_and(|n| n > 0))
        });
        if !positive {
            let (k, zero) = (
                self.copy(id),
                self.constant(Constant::Usize(0), step.range()),
            );
            let cond = self.plain(BinaryOp::Ne, k, zero, step.range());
            let kind = SiteKind::Assert("the step of `step_by` is zero".into());
            let site = self.site(kind, step.range());
            self.push(Stmt::Assert { cond, site }, step.range());
        }
        id
    }

    /// The first value of a non-empty range. `step` is `Some` if steps count from the other end.
    fn first(
        &mut self,
        bounds: Bounds,
        down: bool,
        step: Option<ExprId>,
        span: SourceRange,
    ) -> ExprId {
        if !down {
            return self.copy(bounds.start);
        }
        let mut last = self.copy(bounds.end);
        if !bounds.inclusive {
            let one = self.one(bounds.ty, span);
            last = self.wrapping(Intrinsic::WrappingSub, last, one, span);
        }
        let Some(step) = step else {
            return last;
        };
        // last - (last - start) % step
        let last = self.reusable(last);
        let (again, start, k) = (self.copy(last), self.copy(bounds.start), self.copy(step));
        let span_len = self.distance(again, start, bounds.ty, span);
        // On accelerators, a thread with a zero step continues to this division.
        let site = Some(self.site(SiteKind::Divisor, span));
        let rest = Expr::Divide {
            op: DivideOp::Rem,
            lhs: span_len,
            rhs: k,
            site,
        };
        let rest = self.known(rest, Scalar::Usize, span);
        let rest = self.expr(Expr::Cast { arg: rest }, bounds.ty, span);
        self.wrapping(Intrinsic::WrappingSub, last, rest, span)
    }

    /// Sets `more` to true if there is a value after `current`, and `next` to `current ± step`.
    #[allow(clippy::too_many_arguments)]
    fn advance(
        &mut self,
        bounds: Bounds,
        down: bool,
        step: Option<ExprId>,
        current: LocalId,
        next: LocalId,
        more: LocalId,
        span: SourceRange,
    ) {
        let here = self.read(current, span);
        let limit = self.copy(if down { bounds.start } else { bounds.end });
        let value = match step {
            None => self.plain(BinaryOp::Ne, here, limit, span),
            Some(step) => {
                let left = self.distance(here, limit, bounds.ty, span);
                let k = self.copy(step);
                let reaches_limit = down || bounds.inclusive;
                self.plain(
                    if reaches_limit {
                        BinaryOp::Ge
                    } else {
                        BinaryOp::Gt
                    },
                    left,
                    k,
                    span,
                )
            }
        };
        self.push(Stmt::Assign { local: more, value }, span);
        let here = self.read(current, span);
        let by = match step {
            None => self.one(bounds.ty, span),
            Some(step) => {
                let arg = self.copy(step);
                self.expr(Expr::Cast { arg }, bounds.ty, span)
            }
        };
        let op = if down {
            Intrinsic::WrappingSub
        } else {
            Intrinsic::WrappingAdd
        };
        let value = self.wrapping(op, here, by, span);
        self.push(Stmt::Assign { local: next, value }, span);
    }

    /// `a.abs_diff(b) as usize`
    fn distance(&mut self, a: ExprId, b: ExprId, ty: Ty, span: SourceRange) -> ExprId {
        let args = self.kernel.push_list(&[a, b]);
        let unsigned = self.types.any();
        self.unsigned_of.push((unsigned, ty));
        let call = Expr::Call {
            intrinsic: Intrinsic::AbsDiff,
            args,
        };
        let arg = self.expr(call, unsigned, span);
        self.known(Expr::Cast { arg }, Scalar::Usize, span)
    }

    pub(in crate::lower) fn wrapping(
        &mut self,
        intrinsic: Intrinsic,
        a: ExprId,
        b: ExprId,
        span: SourceRange,
    ) -> ExprId {
        let (ty, args) = (self.ty(a), self.kernel.push_list(&[a, b]));
        self.expr(Expr::Call { intrinsic, args }, ty, span)
    }

    fn one(&mut self, ty: Ty, span: SourceRange) -> ExprId {
        let expr = self.expr(Expr::Literal(Constant::Bool(false)), ty, span);
        let lit = syn::Lit::Int(syn::LitInt::new("1", span.first));
        self.literals.push(crate::lower::PendingLiteral {
            expr,
            lit,
            negative: false,
            beyond: false,
            neutral: false,
        });
        expr
    }

    fn let_local(&mut self, name: &str, value: ExprId, span: SourceRange) -> LocalId {
        let local = self.local(name, self.ty(value), false);
        self.push(
            Stmt::Let {
                local,
                init: Some(value),
            },
            span,
        );
        local
    }
}
