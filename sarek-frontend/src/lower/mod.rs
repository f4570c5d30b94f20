//! Rust syntax to IR.
//!
//! One walk lowers and infers at once: nodes are pushed with type variables beside them, and
//! [`finish`] replaces the variables by types when the whole body has been seen. IR expressions are
//! pure, so whatever has an effect becomes a statement of the open block at the point where Rust
//! would evaluate it; operands whose value that statement could change are spilled into locals
//! first ([`Lowerer::operands`]).
//!
//! Every syntax node is lowered exactly or reported. The only wildcard arms are those that
//! syn's `#[non_exhaustive]` forces, and they report.

mod alternatives;
mod arguments;
mod array;
mod associated;
mod atomic;
mod attributes;
mod call;
mod closure;
mod collective;
mod compound;
mod control;
mod device;
mod expr;
mod fill;
mod finish;
mod half;
mod length;
mod macros;
mod matching;
mod method;
mod native;
mod operator;
mod packed;
mod parameter;
mod path;
mod pattern;
mod place;
mod range;
mod recursion;
mod requires;
mod shared;
mod stmt;
mod types;
mod view;
mod written;

use std::collections::{HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use sarek_ir::{
    CompoundId, Expr, ExprId, Kernel, LabelId, Loc, Local, LocalId, Memory, ParamId, Scalar, Site,
    SiteId, SiteKind, Stmt, StmtId, Value as Constant,
};

use crate::diagnostics::Errors;
use crate::parse::{Attribute, Parameters, Signature};

pub use attributes::MARK;
pub(crate) use attributes::mark_of;
pub use device::Callee;
use types::{Known, Ty};
pub(crate) use written::{member, scalar_tokens};

/// A lowered body.
pub struct Lowered {
    /// The name of the function, and of the struct beside it.
    pub name: syn::Ident,
    /// The kernel, types resolved.
    pub kernel: Kernel,
    /// Where each expression stands.
    pub expr_spans: Vec<Span>,
    /// Where each statement stands.
    pub stmt_spans: Vec<Span>,
    /// The value of each link: tokens that rustc evaluates.
    pub links: Vec<TokenStream>,
    /// Paths that were taken for constants of core, with a test of each that rustc evaluates.
    pub audits: Vec<TokenStream>,
    /// The functions that it calls, in the order of [`Kernel::functions`].
    pub callees: Vec<Callee>,
    /// Of a function: which parameters may be lent shared arrays.
    pub takes: Vec<bool>,
    /// Is it declared `unsafe fn`, so that nothing is proved of it?
    pub is_unsafe: bool,
    /// How many calls of itself it may nest in one, if it has some that do not come last.
    pub nests: Option<u32>,
    /// Is the first parameter `self`, which compiled bodies always take as `&mut Self`?
    pub has_receiver: bool,
    /// The links whose type has no name: they stand where they are used.
    pub open_links: HashSet<usize>,
    /// The functions that casts from and to type parameters are.
    pub conversions: HashMap<ExprId, TokenStream>,
    /// Its type parameters and constants.
    pub parameters: Parameters,
    /// Assertions about what is called, for rustc to evaluate.
    pub checks: Vec<TokenStream>,
    /// The associated constant that holds the links' values.
    pub linked: TokenStream,
    /// The type of each marked `let` and literal of the source, by its mark.
    pub marks: HashMap<u32, Scalar>,
    /// The information about each type that only the user's crate knows: tokens that rustc evaluates.
    pub type_infos: Vec<TokenStream>,
    /// The type of each parameter; of a slice, of its elements.
    pub param_types: Vec<TokenStream>,
    /// The type of each shared array's elements.
    pub shared_types: Vec<TokenStream>,
    /// The locals that are arrays to index, not values.
    pub arrays: HashSet<LocalId>,
    /// The type of each constant that only the user's crate knows.
    pub link_types: Vec<TokenStream>,
    /// How the source names what an operation makes or takes apart.
    pub paths: HashMap<CompoundId, TokenStream>,
    /// The texts that its native blocks need, in the order of [`Kernel::prelude_links`].
    pub preludes: Vec<syn::Path>,
}

/// What an expression yields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// `()`
    Unit,
    /// Nothing: control went elsewhere.
    Never,
    /// A scalar, or a value of several parts.
    Scalar(ExprId),
}

/// What names mean, by their text, and where each was bound; innermost scope last.
type Scopes = Vec<HashMap<String, (Binding, Span)>>;

/// What a name means.
#[derive(Clone, Copy, Debug)]
enum Binding {
    Local(LocalId),
    Scalar(ParamId),
    /// `&T` or `&mut T`: a local that holds the value.
    Reference(LocalId),
    Memory(Memory),
    /// A strided view of the slice.
    View(ParamId),
    /// A closure, in [`Lowerer::closures`].
    Closure(usize),
    /// A local `const`, in [`Lowerer::consts`].
    Const(usize),
    /// What a guard calls a part of the value that is matched, in [`Lowerer::aliases`].
    Part(usize),
}

/// A block whose statements are being collected.
#[derive(Default)]
struct OpenBlock {
    stmts: Vec<StmtId>,
    /// Control cannot reach what follows.
    ended: bool,
}

/// An enclosing loop or labelled block.
struct LoopFrame {
    name: Option<syn::Ident>,
    label: LabelId,
    /// A labelled block: no unlabelled `break`, no `continue`.
    is_block: bool,
    /// `loop` and labelled blocks may yield a value.
    takes_value: bool,
    /// Where `break value` puts it.
    result: Option<LocalId>,
    /// Does some `break` leave it?
    left: bool,
}

/// A literal whose value waits for its type.
struct PendingLiteral {
    expr: ExprId,
    lit: syn::Lit,
    negative: bool,
    /// One more than what the user wrote, as the end of a range.
    beyond: bool,
}

/// The state of the walk.
pub struct Lowerer<'e> {
    errors: &'e mut Errors,
    kernel: Kernel,
    types: types::Types,
    expr_types: Vec<Ty>,
    /// The type of each local; of an array, of its elements.
    local_types: Vec<Ty>,
    /// The locals that are arrays.
    arrays: Vec<(LocalId, sarek_ir::Length)>,
    /// The slices that are seen as views, and how many dimensions those have.
    views: HashMap<ParamId, u32>,
    /// The type of each shared array's elements.
    shared_types: Vec<Ty>,
    /// The type of each parameter; of a slice, of its elements.
    param_types: Vec<Ty>,
    type_infos: Vec<TokenStream>,
    paths: HashMap<CompoundId, TokenStream>,
    /// The dimensions of arrays, outermost first. Slices have none.
    shapes: HashMap<Memory, Vec<length::Dim>>,
    expr_spans: Vec<Span>,
    stmt_spans: Vec<Span>,
    literals: Vec<PendingLiteral>,
    /// What names mean, by their text, and where each was bound.
    scopes: Scopes,
    /// Names that were reported as bound in another macro.
    foreign: HashSet<String>,
    /// Locals made for what control flow yields, until a `let` names them.
    results: HashSet<LocalId>,
    /// The path of the façade crate.
    krate: TokenStream,
    blocks: Vec<OpenBlock>,
    loops: Vec<LoopFrame>,
    labels: u32,
    /// How many `unsafe` blocks are open.
    unsafe_depth: u32,
    links: Vec<TokenStream>,
    link_types: Vec<Ty>,
    link_tokens: Vec<TokenStream>,
    param_tokens: Vec<TokenStream>,
    consts: Vec<syn::ItemConst>,
    aliases: Vec<pattern::Subject>,
    callees: Vec<Callee>,
    closures: Vec<closure::Closure>,
    /// `&mut T` parameters, with the locals that are copied back to them.
    references: Vec<(ParamId, LocalId)>,
    is_function: bool,
    own_name: Option<recursion::OwnName>,
    /// How many calls of itself the function may nest in one.
    inline: Option<u32>,
    /// What the function takes and yields, for calls of itself.
    own_types: (Vec<Ty>, Option<Ty>),
    recursion: Option<recursion::Recursion>,
    /// Does the function call itself, so that its parameters are variables?
    is_recursive: bool,
    /// Names of type parameters.
    parameters: HashSet<String>,
    open_links: HashSet<usize>,
    /// Types of constant parameters.
    constants: HashMap<String, syn::Type>,
    conversions: HashMap<ExprId, TokenStream>,
    checks: Vec<TokenStream>,
    audits: Vec<TokenStream>,
    marks: Vec<(u32, Ty)>,
    /// Types of stand-in values, which need not be known.
    unreachable: Vec<Ty>,
    /// Types that are the unsigned integer of another's width.
    unsigned_of: Vec<(Ty, Ty)>,
    /// What texts of `native!` name.
    natives: Vec<native::Operand>,
    preludes: Vec<syn::Path>,
    /// The locals that hold items, which are stored before the kernel returns.
    items: Vec<(ParamId, LocalId, Span)>,
}

/// Lowers a kernel's body. `None` when an error was reported.
pub fn lower(
    signature: &Signature,
    body: &syn::Block,
    attribute: &Attribute,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<Lowered> {
    let mut lowerer = Lowerer::new(signature, attribute.block, krate, errors);
    attributes::check(body, lowerer.errors);
    lowerer.declare_result(signature.yields.as_ref(), signature.name.span());
    lowerer.is_recursive = !recursion::last_calls(signature, body).is_empty();
    lowerer.bind_arguments(signature);
    if signature.is_function {
        lowerer.function_body(signature, body);
        return lowerer.finished(signature);
    }
    for condition in &attribute.requires {
        lowerer.require(condition);
    }
    let value = lowerer.scoped_block(body);
    lowerer.store_items();
    if let (Value::Scalar(id), true) = (value, signature.returns_nothing) {
        let span = lowerer.expr_spans[id.index()];
        lowerer.errors.at(
            span,
            "a kernel returns nothing: end this expression with `;`",
        );
    }
    lowerer.finished(signature)
}

impl<'e> Lowerer<'e> {
    /// The result, with what the signature tells.
    fn finished(self, signature: &Signature) -> Option<Lowered> {
        let lowered = self.finish(signature.name.clone())?;
        Some(Lowered {
            linked: device::linked(signature),
            parameters: Parameters::of(&signature.generics),
            is_unsafe: signature.is_unsafe,
            has_receiver: signature
                .arguments
                .first()
                .is_some_and(|a| a.name == "self"),
            ..lowered
        })
    }

    fn new(
        signature: &Signature,
        block: Option<[u32; 3]>,
        krate: &TokenStream,
        errors: &'e mut Errors,
    ) -> Self {
        let mut kernel = Kernel::new(plain_name(&signature.name));
        kernel.block = block;
        Lowerer {
            errors,
            kernel,
            types: types::Types::default(),
            expr_types: vec![],
            local_types: vec![],
            arrays: vec![],
            views: HashMap::new(),
            shared_types: vec![],
            param_types: vec![],
            type_infos: vec![],
            paths: HashMap::new(),
            shapes: HashMap::new(),
            expr_spans: vec![],
            stmt_spans: vec![],
            literals: vec![],
            scopes: vec![HashMap::new()],
            foreign: HashSet::new(),
            results: HashSet::new(),
            krate: krate.clone(),
            blocks: vec![OpenBlock::default()],
            loops: vec![],
            labels: 0,
            unsafe_depth: 0,
            links: vec![],
            link_types: vec![],
            link_tokens: vec![],
            param_tokens: vec![],
            consts: vec![],
            aliases: vec![],
            callees: vec![],
            closures: vec![],
            references: vec![],
            is_function: signature.is_function,
            own_name: recursion::OwnName::of(signature),
            inline: signature.inline,
            own_types: (vec![], None),
            recursion: None,
            is_recursive: false,
            constants: signature
                .generics
                .const_params()
                .map(|p| (p.ident.to_string(), p.ty.clone()))
                .collect(),
            conversions: HashMap::new(),
            open_links: HashSet::new(),
            parameters: signature
                .generics
                .type_params()
                .map(|p| p.ident.to_string())
                .collect(),
            checks: vec![],
            audits: vec![],
            marks: vec![],
            unreachable: vec![],
            unsigned_of: vec![],
            natives: vec![],
            preludes: vec![],
            items: vec![],
        }
    }

    // Names.

    fn bind(&mut self, name: &syn::Ident, binding: Binding) {
        let scope = self.scopes.last_mut().expect("a scope is open");
        scope.insert(name.to_string(), (binding, name.span()));
    }

    fn find(&mut self, name: &syn::Ident) -> Option<Binding> {
        self.find_text(&name.to_string(), name.span())
    }

    /// What a name means: the innermost binding of its text. A name that a macro wrote does not mean
    /// a variable of the same text that the macro's caller wrote, nor the reverse, so that is an
    /// error. (Constants are items, which macros do not hide.)
    fn find_text(&mut self, name: &str, span: Span) -> Option<Binding> {
        let scopes = self.scopes.iter().rev();
        let (binding, bound) = scopes.into_iter().find_map(|s| s.get(name).copied())?;
        let is_item = matches!(binding, Binding::Const(_));
        if !is_item && !same_context(bound, span) && self.foreign.insert(name.to_string()) {
            let message = format!(
                "`{name}` is written in a macro here and outside of it where it is bound, or the reverse, so that they \
                 are two names to Rust: rename one of them"
            );
            self.errors.at(span, message);
        }
        Some(binding)
    }

    // Nodes.

    fn expr(&mut self, expr: Expr, ty: Ty, span: Span) -> ExprId {
        self.expr_types.push(ty);
        self.expr_spans.push(span);
        self.kernel.push_expr(expr, Scalar::Bool, loc(span))
    }

    fn known(&mut self, expr: Expr, ty: Scalar, span: Span) -> ExprId {
        let ty = self.types.known(ty);
        self.expr(expr, ty, span)
    }

    fn constant(&mut self, value: Constant, span: Span) -> ExprId {
        self.known(Expr::Literal(value), value.scalar(), span)
    }

    fn ty(&self, expr: ExprId) -> Ty {
        self.expr_types[expr.index()]
    }

    fn span(&self, expr: ExprId) -> Span {
        self.expr_spans[expr.index()]
    }

    /// Adds a statement to the open block, unless control cannot reach it.
    fn push(&mut self, stmt: Stmt, span: Span) {
        let id = self.detached(stmt, span);
        let open = self.blocks.last_mut().expect("a block is open");
        if !open.ended {
            open.stmts.push(id);
            open.ended = matches!(
                stmt,
                Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return | Stmt::Panic { .. }
            );
        }
    }

    fn detached(&mut self, stmt: Stmt, span: Span) -> StmtId {
        self.stmt_spans.push(span);
        self.kernel.push_stmt(stmt, loc(span))
    }

    /// How many statements the open block has; a place to come back to.
    fn mark(&self) -> usize {
        self.blocks.last().expect("a block is open").stmts.len()
    }

    fn insert(&mut self, at: usize, stmt: Stmt, span: Span) {
        let id = self.detached(stmt, span);
        self.blocks
            .last_mut()
            .expect("a block is open")
            .stmts
            .insert(at, id);
    }

    /// Runs `body` with a fresh block open; returns the block and whether its end is reached.
    fn in_block<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (OpenBlock, R) {
        self.blocks.push(OpenBlock::default());
        let result = body(self);
        (self.blocks.pop().expect("the block pushed above"), result)
    }

    fn close(&mut self, open: OpenBlock) -> sarek_ir::Block {
        self.kernel.push_block(&open.stmts)
    }

    fn site(&mut self, kind: SiteKind, span: Span) -> SiteId {
        self.kernel.push_site(Site {
            kind,
            file: "".into(),
            loc: loc(span),
            provable: true,
        })
    }

    // Locals.

    fn local(&mut self, name: &str, ty: Ty, mutable: bool) -> LocalId {
        self.local_types.push(ty);
        let name = name.strip_prefix("r#").unwrap_or(name).to_string();
        self.kernel.push_local(Local {
            name: name.into(),
            ty: Scalar::Bool.into(),
            mutable,
        })
    }

    fn read(&mut self, local: LocalId, span: Span) -> ExprId {
        let ty = self.local_types[local.index()];
        self.expr(Expr::Local(local), ty, span)
    }

    /// Evaluates an expression now, at position `at` of the open block; returns a read of it.
    fn spill_at(&mut self, at: usize, expr: ExprId) -> ExprId {
        let (ty, span) = (self.ty(expr), self.span(expr));
        let local = self.local("t", ty, false);
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
    fn reusable(&mut self, expr: ExprId) -> ExprId {
        if self.is_leaf(expr) {
            return expr;
        }
        let at = self.mark();
        self.spill_at(at, expr)
    }

    /// Another node for a leaf.
    fn copy(&mut self, leaf: ExprId) -> ExprId {
        let (expr, ty, span) = (self.kernel.expr(leaf), self.ty(leaf), self.span(leaf));
        let copy = self.expr(expr, ty, span);
        let pending = self.literals.iter().find(|p| p.expr == leaf);
        if let Some((lit, negative, beyond)) =
            pending.map(|p| (p.lit.clone(), p.negative, p.beyond))
        {
            self.literals.push(PendingLiteral {
                expr: copy,
                lit,
                negative,
                beyond,
            });
        }
        copy
    }

    /// Does it read nothing that a statement can change, and is it one node?
    fn is_leaf(&self, expr: ExprId) -> bool {
        match self.kernel.expr(expr) {
            Expr::Literal(_) | Expr::Link(_) | Expr::Param(_) | Expr::Len(_) | Expr::Builtin(_) => {
                true
            }
            Expr::Local(local) => !self.kernel.locals[local.index()].mutable,
            Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        }
    }

    // Types.

    fn unify(&mut self, left: Ty, right: Ty, span: Span) {
        if let Err(mismatch) = self.types.unify(left, right) {
            self.errors.at(
                span,
                format!(
                    "mismatched types: {} is needed here, this is {}",
                    mismatch.left, mismatch.right
                ),
            );
        }
    }

    fn expect(&mut self, expr: ExprId, scalar: Scalar) {
        let (wanted, ty, span) = (self.types.known(scalar), self.ty(expr), self.span(expr));
        self.unify(wanted, ty, span);
    }
}

/// The location of a span.
fn loc(span: Span) -> Loc {
    let start = span.start();
    Loc {
        line: start.line as u32,
        column: start.column as u32 + 1,
    }
}

/// Are two names of one text the same name to Rust? Names that a `macro_rules!` macro writes differ from
/// those that its caller writes. Spans do not compare, but their debug text tells their context apart.
fn same_context(a: Span, b: Span) -> bool {
    let context = |span: Span| format!("{:?}", span.located_at(Span::call_site()));
    context(a) == context(b)
}

/// A path as text, without spaces.
fn path_text(path: impl quote::ToTokens) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// A name without the `r#` of a raw identifier.
fn plain_name(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_string()
}
