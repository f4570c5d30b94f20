//! Lowers Rust syntax to IR, and infers all types.
//!
//! One walk does both. It appends IR nodes and gives each a type variable, which unification
//! narrows ([`types`]). [`finish`] replaces the variables by types after the whole body.
//!
//! IR expressions are pure. An expression with an effect therefore becomes a statement of the open
//! block, at the point where Rust would evaluate it. Operands whose value that statement could
//! change are first spilled into locals ([`Lowerer::operands`]).
//!
//! Every syntax node is either lowered exactly or reported. The only wildcard arms are those that
//! syn's `#[non_exhaustive]` types require, and they report, too.

mod arguments;
mod attributes;
mod builder;
mod calls;
mod collective;
mod compound;
mod desugar;
mod expr;
mod fault_sites;
mod finish;
pub mod known_names;
mod macros;
mod memory;
mod numeric;
mod operator;
mod own_operator;
mod requires;
mod resolve;
mod stmt;
mod template;
mod types;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proc_macro2::{Span, TokenStream};
use sarek_ir::analysis::race::ConstantBound;
use sarek_ir::analysis::race::called::AssumedFunction;
use sarek_ir::{
    CallableId, CompoundId, ExprId, Kernel, LabelId, LocalId, Memory, ParamId, Scalar, StmtId,
};

use crate::diagnostics::{Errors, codes};
use crate::parse::{Attribute, CallableKind, Parameters, Signature, body_recovery};
use crate::tokens::range::{Ranged, SourceRange};
use crate::tokens::{path_text, plain_name};

pub use attributes::MARK;
pub(crate) use attributes::{is_harmless, is_unroll, mark_of};
pub use calls::callee::Callee;
pub(crate) use calls::callee::unnamed_name;
pub(crate) use calls::device::constants_name;
pub(crate) use calls::method::is_known_method;
pub(crate) use desugar::variant::part_of_variant;
pub use resolve::method_audit::Probe;
pub(crate) use types::type_syntax::{made, member, scalar_tokens};
use types::{Known, Ty};

/// A lowered body.
pub struct Lowered {
    /// The name of the function, and of the struct beside it.
    pub name: syn::Ident,
    /// The kernel, with all types resolved.
    pub kernel: Kernel,
    /// The source span of each expression.
    pub expr_spans: Vec<SourceRange>,
    /// The source span of each statement.
    pub stmt_spans: Vec<SourceRange>,
    /// The value of each link: tokens that rustc evaluates.
    pub links: Vec<TokenStream>,
    /// Bounds of links by which the kernel is free of races. rustc checks them.
    pub constant_bounds: Vec<ConstantBound>,
    /// The assumptions about called functions by which the kernel is free of races. rustc checks them.
    pub assumed_functions: Vec<AssumedFunction>,
    /// Paths that were taken for constants of core, each with a test that rustc evaluates.
    pub audits: Vec<TokenStream>,
    /// The called functions, in the order of [`Kernel::functions`].
    pub callees: Vec<Callee>,
    /// The callable parameters of a function.
    pub callables: Vec<CallableBody>,
    /// For a function: true for each parameter that may receive a shared array.
    pub takes: Vec<bool>,
    /// For a function: the parameters that must be uniform in a block for it to be free of races.
    pub agreed: BTreeSet<ParamId>,
    /// True for an `unsafe fn`, of which nothing is proved.
    pub is_unsafe: bool,
    /// The maximum depth of nested calls of itself, if some of them are no tail calls.
    pub max_depth: Option<u32>,
    /// True if the first parameter is `self`, which compiled bodies always take as `&mut Self`.
    pub has_receiver: bool,
    /// The links whose type has no name. They are written where they are used.
    pub open_links: HashSet<usize>,
    /// The functions that implement casts from and to type parameters.
    pub conversions: HashMap<ExprId, TokenStream>,
    /// Its type parameters and const parameters.
    pub parameters: Parameters,
    /// True if its types may depend on the error gate, see [`crate::emit::error_gate`].
    pub has_gate: bool,
    /// The error gate's constant, if the compiled body depends on it.
    pub gate: Option<TokenStream>,
    /// True once some token names that constant.
    pub names_gate: Cell<bool>,
    /// Assertions about callees, which rustc evaluates.
    pub checks: Vec<TokenStream>,
    /// Tests for rustc that methods are the ones that kernels support.
    pub probes: Vec<Probe>,
    /// The associated constant with the values of the links.
    pub linked: TokenStream,
    /// The associated constant with the facts of the called functions.
    pub facts: TokenStream,
    /// The associated constant with the numbers of fault sites before each called function, in the order of
    /// [`Lowered::functions_of`], and after the last.
    pub sites: TokenStream,
    /// The type of each marked `let` and literal of the source, by its mark.
    pub marks: HashMap<u32, Scalar>,
    /// The literals, by their marks, whose types rustc must infer. See [`crate::emit::literal_types`].
    pub inferred_literals: BTreeSet<u32>,
    /// The code from which rustc infers them. It stands before the code that uses their types.
    pub literal_types: TokenStream,
    /// The information about each type that only the user's crate knows: tokens that rustc evaluates.
    pub type_infos: Vec<TokenStream>,
    /// The type of each parameter; for a slice, the element type.
    pub param_types: Vec<TokenStream>,
    /// The element type of each shared array.
    pub shared_types: Vec<TokenStream>,
    /// The locals that are arrays in memory and no values, with their dimensions, outermost first.
    pub arrays: HashMap<LocalId, Vec<sarek_ir::Length>>,
    /// The dimensions of shared arrays of arrays.
    pub shared_dims: HashMap<sarek_ir::SharedId, Vec<sarek_ir::Length>>,
    /// The type of each constant that only the user's crate knows.
    pub link_types: Vec<TokenStream>,
    /// The path by which the source names the type or variant that an operation constructs or
    /// matches.
    pub paths: HashMap<CompoundId, TokenStream>,
    /// The variants constructed by their names alone.
    pub units: HashSet<CompoundId>,
    /// The locals that `&mut T` parameters refer to. Passed on by name, they become `&mut T` or
    /// `&T`, as the callee requires.
    pub references: HashSet<LocalId>,
    /// The comparisons of values of several parts, with the types that are compared.
    pub compared: HashMap<ExprId, TokenStream>,
    /// The values of arguments `&value` that are scalars, or arrays passed as slices, as the callee
    /// requires.
    pub borrowed: HashSet<ExprId>,
    /// The local arrays that some call may change.
    pub lent_mutably: HashSet<LocalId>,
    /// The preludes of its native blocks, in the order of [`Kernel::prelude_links`].
    pub preludes: Vec<syn::Path>,
    /// Code that formats prints with values of several parts: the bodies of
    /// [`sarek_ir::link::Links::printers`].
    pub printers: Vec<TokenStream>,
    /// The slices behind views, with the number of dimensions of the view.
    pub views: BTreeMap<ParamId, u32>,
}

/// A callable parameter, as a compiled body takes it.
pub struct CallableBody {
    /// The trait by which it is called.
    pub kind: CallableKind,
    /// Its type.
    pub body: TokenStream,
    /// The source span of its type.
    pub span: SourceRange,
}

/// The result of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// `()`
    Unit,
    /// No result: control does not get past the expression.
    Never,
    /// A scalar, or a value of several parts.
    Scalar(ExprId),
}

/// The bindings of names, with the place of each binding; innermost scope last.
type Scopes = Vec<HashMap<String, (Binding, Span)>>;

/// The meaning of a name.
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
    /// A callable parameter, in [`Lowerer::callables`].
    Callable(CallableId),
    /// A local `const`, in [`Lowerer::consts`].
    Const(usize),
    /// In a guard: a name for a part of the scrutinee, in [`Lowerer::aliases`].
    Part(usize),
    /// `&mut` of a place, in [`Lowerer::referred`].
    Place(usize),
    /// `&x[a..b]`, in [`Lowerer::sub_slices`].
    SubSlice(usize),
}

/// A block whose statements are being collected.
#[derive(Default)]
struct OpenBlock {
    stmts: Vec<StmtId>,
    /// True if control cannot reach the statements that follow.
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
    /// The local that receives the value of `break value`.
    result: Option<LocalId>,
    /// True if some `break` leaves it.
    left: bool,
}

/// A literal whose value is determined once its type is known.
struct PendingLiteral {
    expr: ExprId,
    lit: syn::Lit,
    negative: bool,
    /// True if its value is one more than the written one, as the end of a range.
    beyond: bool,
    /// True for the number with which a sum or product begins, an integer or a float.
    neutral: bool,
}

/// The state of the walk.
pub struct Lowerer<'e> {
    errors: &'e mut Errors,
    kernel: Kernel,
    types: types::Types,
    expr_types: Vec<Ty>,
    /// The type of each local; for an array, the element type.
    local_types: Vec<Ty>,
    /// The locals that are arrays.
    arrays: Vec<(LocalId, sarek_ir::Length)>,
    /// The slices behind views, with the number of dimensions of the view.
    views: BTreeMap<ParamId, u32>,
    /// The element type of each shared array.
    shared_types: Vec<Ty>,
    /// The type of each parameter; for a slice, the element type.
    param_types: Vec<Ty>,
    /// The types that the source names in a type position without generic arguments, so that they
    /// take none.
    complete_types: HashSet<String>,
    type_infos: Vec<TokenStream>,
    /// The types for which probes of literals are being written.
    probed: RefCell<Vec<Ty>>,
    paths: HashMap<CompoundId, TokenStream>,
    units: HashSet<CompoundId>,
    /// The dimensions of arrays, outermost first. Slices have none.
    shapes: HashMap<Memory, Vec<memory::length::Dim>>,
    expr_spans: Vec<SourceRange>,
    stmt_spans: Vec<SourceRange>,
    literals: Vec<PendingLiteral>,
    /// The bindings of names, with the place of each binding.
    scopes: Scopes,
    /// Names that were reported because another macro binds them.
    foreign: HashSet<String>,
    /// The file that contains `#[kernel]`.
    file: Option<String>,
    /// Locals made for the results of control flow, until a `let` names them.
    results: HashSet<LocalId>,
    /// The path of the façade crate.
    krate: TokenStream,
    blocks: Vec<OpenBlock>,
    loops: Vec<LoopFrame>,
    labels: u32,
    /// The number of open `unsafe` blocks.
    unsafe_depth: u32,
    links: Vec<TokenStream>,
    link_types: Vec<Ty>,
    link_tokens: Vec<TokenStream>,
    param_tokens: Vec<TokenStream>,
    consts: Vec<syn::ItemConst>,
    aliases: Vec<desugar::scrutinee::Scrutinee>,
    callees: Vec<Callee>,
    /// True if the error gate's constant is available.
    has_gate: bool,
    /// True once some token names that constant.
    names_gate: Cell<bool>,
    /// The path of the constant with the callees' facts.
    facts: TokenStream,
    closures: Vec<calls::closure::Closure>,
    callables: Vec<calls::callable::OwnCallable>,
    /// `&mut T` parameters, with the locals that are copied back to them.
    references: Vec<(ParamId, LocalId)>,
    borrowed: HashSet<ExprId>,
    lent_mutably: HashSet<LocalId>,
    /// The locals with the value of what may be a reference in the source, so that `*name` is that value.
    lent: HashSet<LocalId>,
    /// The parameters of closures, which may be references to references.
    closure_parameters: HashSet<LocalId>,
    /// The places that references in the source refer to.
    referred: Vec<memory::place::Place>,
    /// The parts of slices that have names.
    sub_slices: Vec<memory::sub_slice::SubSlice>,
    /// The methods that made an `Option` of an element that other threads may change at a barrier.
    held_elements: Vec<(String, Span)>,
    /// The number of names that desugared code has been given.
    made_names: u32,
    is_function: bool,
    own_name: Option<desugar::recursion::OwnName>,
    /// The maximum depth of the function's nested calls of itself.
    inline: Option<u32>,
    /// The function's parameter types and result type, for calls of itself.
    own_types: (Vec<Ty>, Option<Ty>),
    recursion: Option<desugar::recursion::Recursion>,
    /// True if the function calls itself, so that its parameters are variables.
    is_recursive: bool,
    /// Names of type parameters.
    parameters: HashSet<String>,
    /// The type parameters among them that are numbers: `T: Float`.
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
    /// The names that audits already cover, see [`resolve::name_audit`].
    audited_names: HashSet<String>,
    /// Tests for rustc that methods are the ones that kernels support.
    method_audits: Vec<resolve::method_audit::MethodAudit>,
    /// The comparisons of values whose types have names, and those types.
    compared: Vec<(ExprId, Ty)>,
    /// True if a value of the user's own type is expected of the next expression, so that its operators are probably the user's.
    expects_own: bool,
    /// True while the body of a numeric method is lowered.
    in_body: bool,
    /// The constants that only rustc can evaluate, by their source text.
    linked: HashMap<String, sarek_ir::LinkId>,
    /// The tests of constants among the audits.
    tested: HashSet<String>,
    /// The type of each `let` and literal, by its mark.
    marks: BTreeMap<u32, Ty>,
    /// The same for code that is lowered again, such as a closure at each of its calls.
    marked_again: Vec<(u32, Ty, SourceRange)>,
    /// The literals among them.
    marked_literals: BTreeMap<u32, SourceRange>,
    /// The literals whose types rustc must infer.
    inferred_literals: RefCell<BTreeSet<u32>>,
    /// Types of stand-in values, which need not become known.
    unreachable: Vec<Ty>,
    /// Pairs of types: the first is the unsigned integer of the same width as the second.
    unsigned_of: Vec<(Ty, Ty)>,
    /// The operands of `native!` texts.
    natives: Vec<macros::native::Operand>,
    preludes: Vec<syn::Path>,
    printers: Vec<TokenStream>,
    /// The locals that hold items, which are stored before the kernel returns.
    items: Vec<(ParamId, LocalId, SourceRange)>,
}

/// Lowers a kernel's body. `None` when an error was reported.
pub fn lower(
    signature: &Signature,
    body: &syn::Block,
    attribute: &Attribute,
    krate: &TokenStream,
    errors: &mut Errors,
) -> Option<Lowered> {
    if body_recovery::is_in(body) {
        return None;
    }
    let mut lowerer = Lowerer::new(signature, attribute.block, krate, errors);
    attributes::check(body, lowerer.errors);
    lowerer.kernel.strict = attribute.strict.is_some();
    lowerer.declare_result(signature.result_type.as_ref(), signature.name.range());
    lowerer.is_recursive = !desugar::recursion::last_calls(signature, body).is_empty();
    lowerer.bind_arguments(signature);
    lowerer.audit_bounds();
    for pat in &signature.unread {
        lowerer.bind_error_types(pat);
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
    /// Completes the result with data from the signature.
    fn finished(self, signature: &Signature) -> Option<Lowered> {
        let lowered = self.finish(signature.name.clone())?;
        Some(Lowered {
            linked: calls::device::constants(signature, "linked"),
            facts: calls::device::constants(signature, "callees"),
            sites: calls::device::constants(signature, "sites"),
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
            has_gate: signature.is_plain,
            names_gate: Cell::new(false),
            facts: calls::device::constants(signature, "callees"),
            closures: vec![],
            callables: vec![],
            references: vec![],
            borrowed: HashSet::new(),
            lent_mutably: HashSet::new(),
            lent: HashSet::new(),
            closure_parameters: HashSet::new(),
            referred: vec![],
            sub_slices: vec![],
            held_elements: vec![],
            made_names: 0,
            is_function: signature.is_function,
            own_name: desugar::recursion::OwnName::of(signature),
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
            numbers: Parameters::numbers(&signature.generics, &resolve::name_audit::NUMBERS),
            bounds: Parameters::bounds(&signature.generics),
            checks: vec![],
            probes: vec![],
            audits: vec![],
            audited_names: HashSet::new(),
            method_audits: vec![],
            compared: vec![],
            expects_own: false,
            in_body: false,
            linked: HashMap::new(),
            tested: HashSet::new(),
            marks: BTreeMap::new(),
            marked_again: vec![],
            marked_literals: BTreeMap::new(),
            inferred_literals: RefCell::default(),
            unreachable: vec![],
            unsigned_of: vec![],
            natives: vec![],
            preludes: vec![],
            printers: vec![],
            items: vec![],
        }
    }
}

/// The file that contains a token, if it has a name.
pub(crate) fn file_of(span: Span) -> Option<String> {
    // Names in `<…>` or `(…)` denote no file.
    let name = span.file();
    let is_file = !name.is_empty() && !name.starts_with(['<', '(']);
    is_file.then_some(name)
}

/// True if two names of one text are the same name to Rust. A name that a `macro_rules!` macro
/// writes differs from a name that its caller writes. Spans cannot be compared, but their debug
/// text shows the hygiene context.
fn same_context(a: Span, b: Span) -> bool {
    let context = |span: Span| format!("{:?}", span.located_at(Span::call_site()));
    context(a) == context(b)
}
