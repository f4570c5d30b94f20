//! Lowers expressions: one match arm for each kind of syntax.

use sarek_ir::{Compound, Expr, ExprId, Scalar};

use super::{Lowerer, PendingLiteral, Value, mark_of};
use crate::diagnostics::codes;
use crate::lower::memory::array::peeled;
use crate::parse::scalar_type;
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// Lowers an expression; its effects go to the open block.
    pub(super) fn value(&mut self, expr: &syn::Expr) -> Value {
        let expects_own = std::mem::take(&mut self.expects_own);
        self.expects_own = expects_own && passes_on(expr);
        match expr {
            syn::Expr::Assign(e) => self.assign(e),
            syn::Expr::Binary(e) => self.binary(e),
            syn::Expr::Block(e) => self.nested(e.block.brace_token.span.open().into(), |this| {
                this.block_expr(e)
            }),
            syn::Expr::Break(e) => self.break_expr(e),
            syn::Expr::Call(e) => self.call(e),
            syn::Expr::Cast(e) => self.cast(e),
            // rustc evaluates it in the user's function, where a fault in it is an error.
            syn::Expr::Const(e) => self.scoped_block(&e.block),
            syn::Expr::Continue(e) => self.continue_expr(e),
            syn::Expr::ForLoop(e) => self.nested(e.for_token.range(), |this| this.for_loop(e)),
            syn::Expr::Array(e) => self.array_value(e),
            syn::Expr::Field(e) => self.field(e),
            syn::Expr::Group(e) => self.value(&e.expr),
            syn::Expr::If(e) => self.if_expr(e),
            syn::Expr::Index(e) => self.load(e),
            syn::Expr::Lit(e) => self.literal(e, false),
            syn::Expr::Loop(e) => self.nested(e.loop_token.range(), |this| this.loop_expr(e)),
            syn::Expr::Macro(e) => self.macro_call(&e.mac),
            syn::Expr::Match(e) => self.match_expr(e),
            syn::Expr::MethodCall(e) => self.method_call(e),
            syn::Expr::Paren(e) => self.value(&e.expr),
            syn::Expr::Path(e) => self.path(e),
            syn::Expr::Repeat(e) => self.repeat_value(e),
            syn::Expr::Try(e) => self.question(e),
            syn::Expr::Return(e) => self.return_expr(e),
            syn::Expr::Struct(e) => self.struct_literal(e),
            syn::Expr::Unary(e) => self.unary(e),
            syn::Expr::Unsafe(e) => {
                self.unsafe_depth += 1;
                let value = self.scoped_block(&e.block);
                self.unsafe_depth -= 1;
                value
            }
            syn::Expr::While(e) => self.nested(e.while_token.range(), |this| this.while_loop(e)),
            syn::Expr::Tuple(e) if e.elems.is_empty() => Value::Unit,
            syn::Expr::Tuple(e) => self.tuple(e),
            other => self.unsupported(other),
        }
    }

    /// Reports a kind of expression that kernels do not support.
    fn unsupported(&mut self, expr: &syn::Expr) -> Value {
        let (what, instead) = match expr {
            syn::Expr::Async(_) | syn::Expr::Await(_) => (
                "async code is",
                "write its code in place: a kernel runs without pauses",
            ),
            syn::Expr::Closure(_) => (
                "a closure here is",
                "bind it first, `let f = |x| …;`, and call it",
            ),
            syn::Expr::Infer(_) => ("`_` is", "write a value"),
            syn::Expr::Let(_) => (
                "`let` here is",
                "write it in the condition of an `if` or `while`, joined by `&&`",
            ),
            syn::Expr::Range(_) => ("a range is", "loop over it with `for`"),
            syn::Expr::RawAddr(_) | syn::Expr::Reference(_) => {
                ("a reference is", "index the slice where the value is used")
            }
            syn::Expr::TryBlock(_) => ("a `try` block is", "use `match` on the value"),
            syn::Expr::Yield(_) => (
                "`yield` is",
                "write its code in place: a kernel runs without pauses",
            ),
            syn::Expr::Verbatim(_) => ("this syntax is", "use plain expressions"),
            // All other expressions are lowered above; a kind that a later syn adds is reported.
            _ => ("this expression is", "use plain expressions"),
        };
        self.errors
            .unsupported(codes::EXPRESSION, expr.range(), what, instead);
        Value::Never
    }

    /// Lowers an expression that must have a scalar value. If it has none, reports that and uses a
    /// value of unknown type, so that lowering continues.
    pub(super) fn scalar(&mut self, expr: &syn::Expr) -> ExprId {
        match self.scalar_or_never(expr) {
            Some(id) => id,
            None => self.placeholder(expr.range()),
        }
    }

    /// As [`Self::scalar`]; `None` if control does not get past the expression.
    pub(super) fn scalar_or_never(&mut self, expr: &syn::Expr) -> Option<ExprId> {
        match self.value(expr) {
            Value::Scalar(id) => Some(id),
            Value::Never => None,
            Value::Unit => {
                self.errors.at(
                    codes::UNIT_VALUE,
                    expr.range(),
                    "a value is needed here, but this is `()`",
                    "end each branch with a value",
                );
                None
            }
        }
    }

    /// A value for unreachable or wrong code.
    pub(super) fn placeholder(&mut self, span: SourceRange) -> ExprId {
        self.constant(sarek_ir::Value::Bool(false), span);
        let id = ExprId(self.kernel.exprs.len() as u32 - 1);
        self.expr_types[id.index()] = self.error_type();
        id
    }

    /// Lowers operands in order. If the statements of a later operand could change the value of an
    /// earlier one, the earlier one is evaluated into a local first.
    pub(super) fn operands(&mut self, exprs: &[&syn::Expr]) -> Vec<ExprId> {
        self.more_operands(vec![], exprs)
    }

    /// The same after operands that are lowered already.
    pub(super) fn more_operands(
        &mut self,
        mut ids: Vec<ExprId>,
        exprs: &[&syn::Expr],
    ) -> Vec<ExprId> {
        for expr in exprs {
            let mark = self.mark();
            let id = self.scalar(expr);
            if self.mark() > mark {
                let mut at = mark;
                for earlier in &mut ids {
                    if !self.kernel.is_fixed_leaf(*earlier) {
                        *earlier = self.spill_at(at, *earlier);
                        at += 1;
                    }
                }
            }
            ids.push(id);
        }
        ids
    }

    /// A literal, whose value is set once its type is known. `-1` is one literal, so that `MIN` can
    /// be written.
    pub(super) fn literal(&mut self, e: &syn::ExprLit, negative: bool) -> Value {
        // Rust has no literals of 16-bit floats.
        let suffix = |s: &str| Scalar::from_name(s).filter(|ty| !ty.is_half());
        let ty = match &e.lit {
            syn::Lit::Bool(b) => {
                return Value::Scalar(self.constant(sarek_ir::Value::Bool(b.value), b.span));
            }
            syn::Lit::Byte(byte) if matches!(byte.suffix(), "" | "u8") => {
                let value = sarek_ir::Value::U8(byte.value());
                return Value::Scalar(self.constant(value, byte.range()));
            }
            syn::Lit::Int(int) => match (int.suffix(), suffix(int.suffix())) {
                ("", _) => self.types.int(),
                (_, Some(scalar)) => self.types.known(scalar),
                (other, None) => return self.bad_suffix(other, int.range()),
            },
            syn::Lit::Float(float) => match (float.suffix(), suffix(float.suffix())) {
                ("", _) => self.types.float(),
                (_, Some(scalar)) => self.types.known(scalar),
                (other, None) => return self.bad_suffix(other, float.range()),
            },
            other => {
                let instead = "write a number, a byte such as `b'a'`, a character as a number, `'a' as u32`, or a `bool`";
                self.errors
                    .unsupported(codes::LITERAL, other.range(), "this literal is", instead);
                return Value::Never;
            }
        };
        if let Some(mark) = mark_of(&e.attrs) {
            self.marked(mark, ty, e.lit.range());
            self.marked_literals.insert(mark, e.lit.range());
        }
        let expr = self.expr(
            Expr::Literal(sarek_ir::Value::Bool(false)),
            ty,
            e.lit.range(),
        );
        self.literals.push(PendingLiteral {
            expr,
            lit: e.lit.clone(),
            negative,
            beyond: false,
            neutral: false,
        });
        Value::Scalar(expr)
    }

    fn bad_suffix(&mut self, suffix: &str, span: SourceRange) -> Value {
        if Scalar::from_name(suffix).is_some_and(Scalar::is_half) {
            self.errors.at(
                codes::HALF,
                span,
                format!("`{suffix}` has no literals"),
                format!("write `{suffix}::from_f32_const(1.5)`"),
            );
            return Value::Never;
        }
        let what = format!("a literal of type `{suffix}` is");
        self.errors.unsupported(
            codes::LITERAL,
            span,
            &what,
            "write one of `i8 u8 i16 u16 i32 u32 i64 u64 usize f32 f64`",
        );
        Value::Never
    }

    fn cast(&mut self, e: &syn::ExprCast) -> Value {
        let arg = match character(&e.expr) {
            Some(character) => {
                let to = scalar_type(&e.ty, self.errors);
                if to.is_some_and(|to| !to.is_int()) {
                    self.errors.at(
                        codes::CAST,
                        e.as_token.range(),
                        "a character converts to integers only",
                        format!("write `{} as u32 as …`", character.token()),
                    );
                }
                if !to.is_some_and(|to| to.is_int()) {
                    return Value::Never;
                }
                let value = sarek_ir::Value::U32(character.value().into());
                self.constant(value, character.range())
            }
            None => self.scalar(&e.expr),
        };
        let Some(to) = scalar_type(&e.ty, self.errors) else {
            return Value::Never;
        };
        let from = match self.types.look(self.ty(arg)) {
            super::Known::Scalar(from) => Some(from),
            _ => None,
        };
        if let Some(half) = from.into_iter().chain([to]).find(|ty| ty.is_half()) {
            self.errors.at(
                codes::HALF,
                e.as_token.range(),
                format!("`{half}` cannot be converted with `as`"),
                format!("write `{half}::from_f32(x)` or `x.to_f32()`"),
            );
            return Value::Never;
        }
        let target = self.types.known(to);
        let arg = self.named_variant(arg);
        // As in rustc, a bare literal under `as` takes the target's type where it can.
        if self.is_bare_literal(arg) && self.types.unify(self.ty(arg), target).is_ok() {
            return Value::Scalar(arg);
        }
        Value::Scalar(self.expr(Expr::Cast { arg }, target, e.range()))
    }

    /// The value, copied to a local if it is a variant that the kernel makes.
    fn named_variant(&mut self, id: ExprId) -> ExprId {
        match self.kernel.expr(id) {
            Expr::Compound(made)
                if matches!(
                    self.kernel.compounds[made.index()],
                    Compound::Construct { .. }
                ) =>
            {
                self.named(id)
            }
            _ => id,
        }
    }

    fn is_bare_literal(&self, expr: ExprId) -> bool {
        let open = matches!(
            self.types.look(self.ty(expr)),
            super::Known::Int | super::Known::Float
        );
        open && self.literals.iter().any(|p| p.expr == expr)
    }
}

/// The character of a literal such as `'a'`.
fn character(expr: &syn::Expr) -> Option<&syn::LitChar> {
    match peeled(expr) {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Char(character),
            ..
        }) => Some(character),
        _ => None,
    }
}

/// True if the type that is expected of an expression is that of its operands or of its last expression, too.
fn passes_on(expr: &syn::Expr) -> bool {
    matches!(
        expr,
        syn::Expr::Binary(_)
            | syn::Expr::Block(_)
            | syn::Expr::Group(_)
            | syn::Expr::If(_)
            | syn::Expr::Paren(_)
            | syn::Expr::Unary(_)
            | syn::Expr::Unsafe(_)
    )
}
