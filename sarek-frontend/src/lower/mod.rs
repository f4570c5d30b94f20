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
mod callable;
mod callee;
mod closure;
mod collective;
mod compound;
mod control;
mod copied;
mod device;
mod expr;
mod fill;
mod finish;
mod given;
mod held;
mod inferred;
mod instance;
mod intrinsic;
mod length;
mod let_conditions;
mod literals;
mod macros;
mod matching;
mod method;
mod native;
mod nodes;
mod numeric;
mod operator;
mod optional;
mod packed;
mod parameter;
mod path;
mod pattern;
mod place;
mod print;
mod question;
mod range;
mod receiver;
mod recursion;
mod requires;
mod shared;
mod similar;
mod sites;
mod stand_in;
mod std_functions;
mod stmt;
mod struct_assign;
mod subject;
pub mod tables;
mod template;
mod types;
mod unroll;
mod variant;
mod view;
mod widening;
mod written;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use sarek_ir::{
    CallableId, CompoundId, ExprId, Kernel, LabelId, LocalId, Memory, ParamId, Scalar, StmtId,
};

use crate::diagnostics::{Errors, codes};
use crate::emit::audited;
use crate::parse::{Attribute, CallableKind, Parameters, Signature, aside};

pub use attributes::MARK;
pub(crate) use attributes::{is_harmless, is_unroll, mark_of};
pub use callee::Callee;
pub(crate) use callee::unnamed_name;
pub(crate) use device::constants_name;
pub(crate) use method::is_known_method;
pub use receiver::Probe;
use types::{Known, Ty};
pub(crate) use variant::part_of_variant;
pub(crate) use written::{made, member, scalar_tokens};

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
    /// What a function is given to call.
    pub callables: Vec<CallableBody>,
    /// Of a function: which parameters may be lent shared arrays.
    pub takes: Vec<bool>,
    /// Of a function: the parameters on which the threads of a block must agree for it to be free of races.
    pub agreed: BTreeSet<ParamId>,
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
    /// May its types depend on whether the user's function type checks? See [`audited`].
    pub is_audited: bool,
    /// What tells whether it does, if that is asked.
    pub audited: Option<TokenStream>,
    /// Does something name that constant?
    pub names_audit: Cell<bool>,
    /// Assertions about what is called, for rustc to evaluate.
    pub checks: Vec<TokenStream>,
    /// Tests, for rustc, that methods are those that kernels know.
    pub probes: Vec<Probe>,
    /// The associated constant that holds the links' values.
    pub linked: TokenStream,
    /// The associated constant that holds what is known of the functions called.
    pub facts: TokenStream,
    /// The type of each marked `let` and literal of the source, by its mark.
    pub marks: HashMap<u32, Scalar>,
    /// The literals, by their marks, whose types rustc is asked for. See [`crate::emit::told`].
    pub told_literals: BTreeSet<u32>,
    /// What tells them, to stand before what asks.
    pub told: TokenStream,
    /// The information about each type that only the user's crate knows: tokens that rustc evaluates.
    pub type_infos: Vec<TokenStream>,
    /// The type of each parameter; of a slice, of its elements.
    pub param_types: Vec<TokenStream>,
    /// The type of each shared array's elements.
    pub shared_types: Vec<TokenStream>,
    /// The locals that are arrays to index, not values, with their dimensions, outermost first.
    pub arrays: HashMap<LocalId, Vec<sarek_ir::Length>>,
    /// The dimensions of shared arrays of arrays.
    pub shared_dims: HashMap<sarek_ir::SharedId, Vec<sarek_ir::Length>>,
    /// The type of each constant that only the user's crate knows.
    pub link_types: Vec<TokenStream>,
    /// How the source names what an operation makes or takes apart.
    pub paths: HashMap<CompoundId, TokenStream>,
    /// The variants made by their names alone.
    pub units: HashSet<CompoundId>,
    /// The locals that `&mut T` parameters refer to: lent on by their names, they are `&mut T` or `&T`, as the callee has it.
    pub references: HashSet<LocalId>,
    /// The values of arguments `&value` that are scalars or arrays lent as slices, as the callee has it.
    pub borrowed: HashSet<ExprId>,
    /// The local arrays that some call may change.
    pub lent_mutably: HashSet<LocalId>,
    /// The texts that its native blocks need, in the order of [`Kernel::prelude_links`].
    pub preludes: Vec<syn::Path>,
    /// What makes the texts of prints with values of several parts, the bodies of [`sarek_ir::link::Links::printers`].
    pub printers: Vec<TokenStream>,
    /// The slices that are seen as views, and how many dimensions those have.
    pub views: BTreeMap<ParamId, u32>,
}

/// How a compiled body takes what its function is given to call.
pub struct CallableBody {
    /// How it may be called.
    pub kind: CallableKind,
    /// Its type.
    pub body: TokenStream,
    /// Where the source gives its type.
    pub span: Span,
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
    /// What the function is given to call, in [`Lowerer::callables`].
    Callable(CallableId),
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
    views: BTreeMap<ParamId, u32>,
    /// The type of each shared array's elements.
    shared_types: Vec<Ty>,
    /// The type of each parameter; of a slice, of its elements.
    param_types: Vec<Ty>,
    /// The types that the source writes without arguments, so that they have none.
    complete_types: HashSet<String>,
    type_infos: Vec<TokenStream>,
    /// The types of literals that are being written.
    probed: RefCell<Vec<Ty>>,
    paths: HashMap<CompoundId, TokenStream>,
    units: HashSet<CompoundId>,
    /// The dimensions of arrays, outermost first. Slices have none.
    shapes: HashMap<Memory, Vec<length::Dim>>,
    expr_spans: Vec<Span>,
    stmt_spans: Vec<Span>,
    literals: Vec<PendingLiteral>,
    /// What names mean, by their text, and where each was bound.
    scopes: Scopes,
    /// Names that were reported as bound in another macro.
    foreign: HashSet<String>,
    /// The file that `#[kernel]` stands in.
    file: Option<String>,
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
    aliases: Vec<subject::Subject>,
    callees: Vec<Callee>,
    /// Does a constant tell whether the user's function type checks?
    is_audited: bool,
    /// Is that constant named?
    names_audit: Cell<bool>,
    /// Where it will be found what is known of them.
    facts: TokenStream,
    closures: Vec<closure::Closure>,
    callables: Vec<callable::OwnCallable>,
    /// `&mut T` parameters, with the locals that are copied back to them.
    references: Vec<(ParamId, LocalId)>,
    borrowed: HashSet<ExprId>,
    lent_mutably: HashSet<LocalId>,
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
    /// Those of them that are numbers: `T: Float`.
    numbers: HashSet<String>,
    /// The bounds of type parameters, by their names.
    bounds: Vec<(String, syn::Path)>,
    open_links: HashSet<usize>,
    /// Types of constant parameters.
    constants: HashMap<String, syn::Type>,
    conversions: HashMap<ExprId, TokenStream>,
    checks: Vec<TokenStream>,
    probes: Vec<Probe>,
    audits: Vec<TokenStream>,
    /// The names that those hold to what they mean, see [`held`].
    held: HashSet<String>,
    /// Tests, for rustc, that methods are those that kernels know.
    asked: Vec<receiver::Asked>,
    /// The body of a numeric method is being lowered.
    in_body: bool,
    /// The constants that only rustc can evaluate, by how they are written.
    linked: HashMap<String, sarek_ir::LinkId>,
    /// The tests of constants among them.
    tested: HashSet<String>,
    /// The type of each `let` and literal, by its mark.
    marks: BTreeMap<u32, Ty>,
    /// The same of what is lowered again, as a closure at each of its calls.
    marked_again: Vec<(u32, Ty, Span)>,
    /// The literals among them.
    marked_literals: BTreeMap<u32, Span>,
    /// Those whose types rustc is asked for.
    told_literals: RefCell<BTreeSet<u32>>,
    /// Types of stand-in values, which need not be known.
    unreachable: Vec<Ty>,
    /// Types that are the unsigned integer of another's width.
    unsigned_of: Vec<(Ty, Ty)>,
    /// What texts of `native!` name.
    natives: Vec<native::Operand>,
    preludes: Vec<syn::Path>,
    printers: Vec<TokenStream>,
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
    if aside::is_in(body) {
        return None;
    }
    let mut lowerer = Lowerer::new(signature, attribute.block, krate, errors);
    attributes::check(body, lowerer.errors);
    lowerer.kernel.strict = attribute.strict.is_some();
    lowerer.declare_result(signature.yields.as_ref(), signature.name.span());
    lowerer.is_recursive = !recursion::last_calls(signature, body).is_empty();
    lowerer.bind_arguments(signature);
    lowerer.hold_bounds();
    for pat in &signature.unread {
        lowerer.bind_stand_ins(pat);
    }
    if signature.is_function {
        match &signature.intrinsic {
            Some(name) => lowerer.intrinsic_body(name, signature, body),
            None => lowerer.function_body(signature, body),
        }
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
            codes::RETURN_VALUE,
            span,
            "a kernel returns nothing",
            "end this expression with `;`",
        );
    }
    lowerer.finished(signature)
}

impl<'e> Lowerer<'e> {
    /// The result, with what the signature tells.
    fn finished(self, signature: &Signature) -> Option<Lowered> {
        let lowered = self.finish(signature.name.clone())?;
        Some(Lowered {
            linked: device::constants(signature, "linked"),
            facts: device::constants(signature, "callees"),
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
        let parameters = signature.generics.type_params();
        let parameters: HashSet<String> = parameters.map(|p| p.ident.to_string()).collect();
        Lowerer {
            errors,
            kernel,
            types: types::Types::among(parameters.clone()),
            expr_types: vec![],
            local_types: vec![],
            arrays: vec![],
            views: BTreeMap::new(),
            shared_types: vec![],
            param_types: vec![],
            complete_types: HashSet::new(),
            type_infos: vec![],
            probed: RefCell::default(),
            paths: HashMap::new(),
            units: HashSet::new(),
            shapes: HashMap::new(),
            expr_spans: vec![],
            stmt_spans: vec![],
            literals: vec![],
            scopes: vec![HashMap::new()],
            foreign: HashSet::new(),
            file: file_of(Span::call_site()),
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
            is_audited: audited::is_possible(signature),
            names_audit: Cell::new(false),
            facts: device::constants(signature, "callees"),
            closures: vec![],
            callables: vec![],
            references: vec![],
            borrowed: HashSet::new(),
            lent_mutably: HashSet::new(),
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
            parameters,
            numbers: Parameters::numbers(&signature.generics, &held::NUMBERS),
            bounds: Parameters::bounds(&signature.generics),
            checks: vec![],
            probes: vec![],
            audits: vec![],
            held: HashSet::new(),
            asked: vec![],
            in_body: false,
            linked: HashMap::new(),
            tested: HashSet::new(),
            marks: BTreeMap::new(),
            marked_again: vec![],
            marked_literals: BTreeMap::new(),
            told_literals: RefCell::default(),
            unreachable: vec![],
            unsigned_of: vec![],
            natives: vec![],
            preludes: vec![],
            printers: vec![],
            items: vec![],
        }
    }
}

/// The location of a span.
/// The file that a token stands in, where it has a name.
pub(crate) fn file_of(span: Span) -> Option<String> {
    // Of what is no file, the names are in `<…>` or `(…)`.
    let name = span.file();
    let is_file = !name.is_empty() && !name.starts_with(['<', '(']);
    is_file.then_some(name)
}

/// Are two names of one text the same name to Rust? Names that a `macro_rules!` macro writes differ from
/// those that its caller writes. Spans do not compare, but their debug text tells their context apart.
fn same_context(a: Span, b: Span) -> bool {
    let context = |span: Span| format!("{:?}", span.located_at(Span::call_site()));
    context(a) == context(b)
}

/// A path as text, without spaces.
pub(crate) fn path_text(path: impl quote::ToTokens) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// A name without the `r#` of a raw identifier.
pub(crate) fn plain_name(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_string()
}
