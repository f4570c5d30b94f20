//! Building blocks of the walk: names in scope, nodes of the open block, locals, and unification of
//! types.

use proc_macro2::Span;
use sarek_ir::{
    Expr, ExprId, FileId, Loc, Local, LocalId, Scalar, Site, SiteId, SiteKind, Stmt, StmtId,
    Value as Constant,
};

use super::types::{Mismatch, Ty};
use super::{Binding, Known, Lowerer, OpenBlock, PendingLiteral, file_of, same_context};
use crate::diagnostics::codes;
use crate::tokens::range::SourceRange;

impl Lowerer<'_> {
    // Names.

    pub(super) fn bind(&mut self, name: &syn::Ident, binding: Binding) {
        let scope = self.scopes.last_mut().expect("a scope is open");
        scope.insert(name.to_string(), (binding, name.span()));
    }

    pub(super) fn find(&mut self, name: &syn::Ident) -> Option<Binding> {
        self.find_text(&name.to_string(), name.span())
    }

    /// Resolves a name to the innermost binding of its text. A name in a macro does not refer to a
    /// variable of the same text outside of it, nor the reverse; that is reported. Constants are
    /// items, which macro hygiene does not separate.
    pub(super) fn find_text(&mut self, name: &str, span: Span) -> Option<Binding> {
        let scopes = self.scopes.iter().rev();
        let (binding, bound) = scopes.into_iter().find_map(|s| s.get(name).copied())?;
        let is_item = matches!(binding, Binding::Const(_));
        if !is_item && !same_context(bound, span) && self.foreign.insert(name.to_string()) {
            self.errors.at(
                codes::HYGIENE,
                span,
                format!("`{name}` is used in a macro but bound outside it, or the reverse"),
                "rename one of them: Rust treats them as different names",
            );
        }
        Some(binding)
    }

    // Nodes.

    /// The location of a token. A token from a macro in another file is located in that file.
    pub(super) fn loc(&mut self, span: Span) -> Loc {
        let start = span.start();
        let column = u16::try_from(start.column + 1).unwrap_or(u16::MAX);
        let plain = Loc::new(start.line as u32, column);
        let Some(name) = file_of(span).filter(|name| self.file.as_ref() != Some(name)) else {
            return plain;
        };
        let known = self.kernel.files.iter().position(|file| *file == name);
        let other = known.unwrap_or_else(|| {
            self.kernel.files.to_mut().push(name.into());
            self.kernel.files.len() - 1
        });
        let file = u16::try_from(other + 1).map_or(FileId::OWN, FileId);
        Loc { file, ..plain }
    }

    pub(super) fn expr(&mut self, expr: Expr, ty: Ty, span: impl Into<SourceRange>) -> ExprId {
        let span = span.into();
        self.expr_types.push(ty);
        self.expr_spans.push(span);
        let loc = self.loc(span.first);
        self.kernel.push_expr(expr, Scalar::Bool, loc)
    }

    pub(super) fn known(&mut self, expr: Expr, ty: Scalar, span: impl Into<SourceRange>) -> ExprId {
        let ty = self.types.known(ty);
        self.expr(expr, ty, span)
    }

    pub(super) fn constant(&mut self, value: Constant, span: impl Into<SourceRange>) -> ExprId {
        self.known(Expr::Literal(value), value.scalar(), span)
    }

    pub(super) fn ty(&self, expr: ExprId) -> Ty {
        self.expr_types[expr.index()]
    }

    pub(super) fn span(&self, expr: ExprId) -> SourceRange {
        self.expr_spans[expr.index()]
    }

    /// Appends a statement to the open block, unless control cannot reach it.
    pub(super) fn push(&mut self, stmt: Stmt, span: impl Into<SourceRange>) {
        let id = self.detached(stmt, span);
        let open = self.blocks.last_mut().expect("a block is open");
        if !open.ended {
            open.stmts.push(id);
            open.ended = stmt.facts().flow.ends_block();
        }
    }

    pub(super) fn detached(&mut self, stmt: Stmt, span: impl Into<SourceRange>) -> StmtId {
        let span = span.into();
        self.stmt_spans.push(span);
        let loc = self.loc(span.first);
        self.kernel.push_stmt(stmt, loc)
    }

    /// The number of statements in the open block: a position for later insertions.
    pub(super) fn mark(&self) -> usize {
        self.blocks.last().expect("a block is open").stmts.len()
    }

    pub(super) fn insert(&mut self, at: usize, stmt: Stmt, span: SourceRange) {
        let id = self.detached(stmt, span);
        self.blocks
            .last_mut()
            .expect("a block is open")
            .stmts
            .insert(at, id);
    }

    /// Runs `body` with a new open block, and returns the block with the result of `body`.
    pub(super) fn in_block<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (OpenBlock, R) {
        self.blocks.push(OpenBlock::default());
        let result = body(self);
        (self.blocks.pop().expect("the block pushed above"), result)
    }

    pub(super) fn close(&mut self, open: OpenBlock) -> sarek_ir::Block {
        self.kernel.push_block(&open.stmts)
    }

    pub(super) fn site(&mut self, kind: SiteKind, span: SourceRange) -> SiteId {
        let loc = self.loc(span.first);
        self.kernel.push_site(Site {
            kind,
            loc,
            provable: true,
        })
    }

    // Locals.

    pub(super) fn local(&mut self, name: &str, ty: Ty, mutable: bool) -> LocalId {
        self.local_types.push(ty);
        let name = name.strip_prefix("r#").unwrap_or(name).to_string();
        self.kernel.push_local(Local {
            name: name.into(),
            ty: Scalar::Bool.into(),
            mutable,
        })
    }

    pub(super) fn read(&mut self, local: LocalId, span: impl Into<SourceRange>) -> ExprId {
        let ty = self.local_types[local.index()];
        self.expr(Expr::Local(local), ty, span)
    }

    /// Evaluates an expression into a local at position `at` of the open block, and returns a read
    /// of it.
    pub(super) fn spill_at(&mut self, at: usize, expr: ExprId) -> ExprId {
        let (ty, span) = (self.ty(expr), self.span(expr));
        // The local keeps a constant's name, which messages about a bad index mention.
        let name = match self.kernel.expr(expr) {
            Expr::Link(link) => {
                let path = &self.kernel.links[link.index()].path;
                path.rsplit([':', ' '])
                    .next()
                    .filter(|last| syn::parse_str::<syn::Ident>(last).is_ok())
            }
            _ => None,
        };
        let name = name.unwrap_or("t").to_owned();
        let local = self.local(&name, ty, false);
        self.insert(
            at,
            Stmt::Let {
                local,
                init: Some(expr),
            },
            span,
        );
        self.read(local, span)
    }

    /// Makes an expression usable several times: a local or a constant, copied by [`Self::copy`].
    pub(super) fn reusable(&mut self, expr: ExprId) -> ExprId {
        if self.kernel.is_fixed_leaf(expr) {
            return expr;
        }
        let at = self.mark();
        self.spill_at(at, expr)
    }

    /// A second node for a leaf.
    pub(super) fn copy(&mut self, leaf: ExprId) -> ExprId {
        let (expr, ty, span) = (self.kernel.expr(leaf), self.ty(leaf), self.span(leaf));
        let copy = self.expr(expr, ty, span);
        let pending = self.literals.iter().find(|p| p.expr == leaf);
        let pending = pending.map(|p| PendingLiteral {
            expr: copy,
            lit: p.lit.clone(),
            ..*p
        });
        self.literals.extend(pending);
        copy
    }

    // Types.

    /// Unifies two types. Returns `false` if they differ, which is reported.
    pub(super) fn unify(&mut self, left: Ty, right: Ty, span: impl Into<SourceRange>) -> bool {
        let unified = self.types.unify(left, right);
        if let Err(mismatch) = unified {
            let what = match (mismatch.left, mismatch.right) {
                (Known::Compound, Known::Compound) => {
                    "mismatched types: this value has other parts than the expected one".into()
                }
                (left, right) => {
                    format!("mismatched types: expected {left}, found {right}")
                }
            };
            self.errors
                .at(codes::MISMATCH, span, what, converted(mismatch));
        }
        unified.is_ok()
    }

    pub(super) fn expect(&mut self, expr: ExprId, scalar: Scalar) {
        let (wanted, ty, span) = (self.types.known(scalar), self.ty(expr), self.span(expr));
        self.unify(wanted, ty, span);
    }
}

/// The suggested replacement for a value of another type.
fn converted(Mismatch { left, right }: Mismatch) -> String {
    let by_as = |ty: Scalar| !ty.is_bool() && !ty.is_half();
    match (left, right) {
        (Known::Scalar(wanted), Known::Int) if wanted.is_float() => {
            "write it with a decimal point, as in `1.0`".into()
        }
        (Known::Scalar(wanted), Known::Float) if wanted.is_int() => {
            "write it without a decimal point, as in `1`".into()
        }
        (Known::Scalar(wanted), Known::Scalar(found)) if by_as(wanted) && !found.is_half() => {
            format!("use a value of that type, or convert it, as in `x as {wanted}`")
        }
        (Known::Scalar(wanted), Known::Scalar(found)) if wanted.is_half() && found.is_half() => {
            format!("convert it, as in `{wanted}::from_f32(x.to_f32())`, which rounds")
        }
        (Known::Scalar(wanted), Known::Scalar(found)) if wanted.is_float() && found.is_half() => {
            format!("convert it, as in `x.to_{wanted}()`")
        }
        (Known::Parameter, Known::Int) => "convert it, as in `T::from_i32(2)`".into(),
        (Known::Parameter, Known::Float) => "convert it, as in `T::from_f32(2.0)`".into(),
        (Known::Parameter, Known::Scalar(found)) if is_converted(found) => {
            format!("convert it, as in `T::from_{found}(x)`")
        }
        (Known::Scalar(wanted), Known::Parameter) if is_converted(wanted) => {
            format!("convert it, as in `x.to_{wanted}()`")
        }
        _ => "use a value of that type".into(),
    }
}

/// True if the trait `Num` converts from and to it.
fn is_converted(scalar: Scalar) -> bool {
    use Scalar::{F32, F64, I32, I64, U32, U64, Usize};
    [I32, U32, I64, U64, Usize, F32, F64].contains(&scalar)
}
