//! A [`Kernel`], the handles of its arenas, and its nodes other than expressions and statements.

use std::borrow::Cow;
use std::ops::Range;

use crate::print::Printer;
use crate::{
    Arithmetic, Axis, Call, Callable, Closure, Compound, Expr, Memory, Place, Print, Root, Scalar,
    SharedArray, Stmt, Table, Type, TypeDef, Unroll, Value,
};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its arena.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

handles! {
    /// An expression in [`Kernel::exprs`].
    ExprId;
    /// A statement in [`Kernel::stmts`].
    StmtId;
    /// A local in [`Kernel::locals`].
    LocalId;
    /// A parameter in [`Kernel::params`].
    ParamId;
    /// A link in [`Kernel::links`].
    LinkId;
    /// A site, which can fault, in [`Kernel::sites`].
    SiteId;
    /// A native block in [`Kernel::natives`].
    NativeId;
    /// A print in [`Kernel::prints`].
    PrintId;
    /// A loop; unique in its kernel.
    LabelId;
    /// A shared array in [`Kernel::shared`].
    SharedId;
    /// A constant array in [`Kernel::tables`].
    TableId;
    /// A type in [`Kernel::types`].
    TypeId;
    /// An operation on compound values, in [`Kernel::compounds`].
    CompoundId;
    /// A place in [`Kernel::places`].
    PlaceId;
    /// A call in [`Kernel::calls`].
    CallId;
    /// A closure in [`Kernel::closures`].
    ClosureId;
    /// A callable parameter in [`Kernel::callables`].
    CallableId;
    /// A function in [`Kernel::functions`].
    FunctionId;
    /// A type of the user's crate, in [`Kernel::type_links`].
    TypeLinkId;
    /// The name of a field or variant, in [`Kernel::names`].
    NameId;
}

/// A run of handles in [`Kernel::lists`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct List {
    /// Position of the first handle.
    pub start: u32,
    /// Number of handles.
    pub len: u32,
}

impl List {
    /// The positions that the list covers.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A sequence of statements: a [`List`] of [`StmtId`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block(pub List);

impl Block {
    /// No statements.
    pub const EMPTY: Block = Block(List { start: 0, len: 0 });

    /// True if it has no statements.
    pub const fn is_empty(self) -> bool {
        self.0.len == 0
    }
}

/// A location in the user's source: line from 1, column from 1; `0:0` when unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Loc {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1; larger columns than fit are clamped.
    pub column: u16,
    /// The file.
    pub file: FileId,
}

impl Loc {
    /// A location in the kernel's own file.
    pub const fn new(line: u32, column: u16) -> Loc {
        Loc {
            line,
            column,
            file: FileId::OWN,
        }
    }
}

/// A source file: the kernel's own, or that of a function that it calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FileId(pub u16);

impl FileId {
    /// The kernel's own file, [`Kernel::file`]. Number `n` above 0 is entry `n - 1` of [`Kernel::files`].
    pub const OWN: FileId = FileId(0);
}

/// One kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The function's name.
    pub name: Cow<'static, str>,
    /// The source file, for messages.
    pub file: Cow<'static, str>,
    /// The other source files that locations in the kernel refer to: those of macros that wrote a part of it, and of
    /// functions linked into it.
    pub files: Cow<'static, [Cow<'static, str>]>,
    /// The block size that `#[kernel(block = …)]` fixes.
    pub block: Option<[u32; 3]>,
    /// True if floats must be the same to the bit on all targets, as `#[kernel(strict)]` asks. See
    /// [`analysis::exact`](crate::analysis::exact) for the operations that such a kernel may use.
    pub strict: bool,
    /// Parameters in order.
    pub params: Cow<'static, [Param]>,
    /// Shared arrays, one for each place that creates one.
    pub shared: Cow<'static, [SharedArray]>,
    /// Constant arrays that are indexed at run time.
    pub tables: Cow<'static, [Table]>,
    /// Compound types.
    pub types: Cow<'static, [TypeDef]>,
    /// Names of fields and variants.
    pub names: Cow<'static, [Cow<'static, str>]>,
    /// Operations on compound values.
    pub compounds: Cow<'static, [Compound]>,
    /// Places inside locals and elements.
    pub places: Cow<'static, [Place]>,
    /// Calls of `#[device]` functions.
    pub calls: Cow<'static, [Call]>,
    /// Closures passed to calls.
    pub closures: Cow<'static, [Closure]>,
    /// Callable parameters of a `#[device]` function, which are not in [`Kernel::params`].
    pub callables: Cow<'static, [Callable]>,
    /// The paths of `#[device]` functions, for messages.
    pub functions: Cow<'static, [Cow<'static, str>]>,
    /// The paths of types that only the user's crate knows, for messages.
    pub type_links: Cow<'static, [Cow<'static, str>]>,
    /// The local that holds the result of a `#[device]` function when it returns.
    pub result: Option<LocalId>,
    /// Locals, in order of declaration.
    pub locals: Cow<'static, [Local]>,
    /// Expressions.
    pub exprs: Cow<'static, [Expr]>,
    /// The type of each expression.
    pub expr_types: Cow<'static, [Type]>,
    /// The source location of each expression.
    pub expr_locs: Cow<'static, [Loc]>,
    /// Statements.
    pub stmts: Cow<'static, [Stmt]>,
    /// The source location of each statement.
    pub stmt_locs: Cow<'static, [Loc]>,
    /// Storage of [`List`]s.
    pub lists: Cow<'static, [u32]>,
    /// Loops with an unroll hint.
    pub unrolls: Cow<'static, [(LabelId, Unroll)]>,
    /// Arithmetic whose overflow is a fault, with its site, in ascending order. All other arithmetic wraps. Empty in
    /// crates without debug assertions, see [`crate::EncodedKernel::new`].
    pub overflows: Cow<'static, [(ExprId, SiteId)]>,
    /// The code that each thread runs.
    pub body: Block,
    /// Sites that can fault.
    pub sites: Cow<'static, [Site]>,
    /// Native blocks.
    pub natives: Cow<'static, [Native]>,
    /// Texts that native blocks need before the kernel; no duplicates.
    pub preludes: Cow<'static, [Prelude]>,
    /// The paths of preludes that only the user's crate knows, for messages.
    pub prelude_links: Cow<'static, [Cow<'static, str>]>,
    /// Lines that the kernel prints.
    pub prints: Cow<'static, [Print]>,
    /// Constants that only the user's crate knows.
    pub links: Cow<'static, [Link]>,
    /// Requirements on a launch for the kernel to be race-free, and those that the user states.
    pub preconditions: Cow<'static, [Precondition]>,
    /// The last strides of the views of a linked kernel. They are 1 unless a launch says otherwise, see
    /// [`passes::settle_strides`](crate::passes::settle_strides).
    pub last_strides: Cow<'static, [ParamId]>,
}

/// A kernel's parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// Its kind and type.
    pub kind: ParamKind,
    /// For a slice of a linked kernel: the guaranteed alignment, up to 16 bytes, of an element of the source's type on
    /// every device. 0 if there is no guarantee.
    pub align: u32,
}

/// The kind of a parameter, with its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamKind {
    /// A scalar.
    Scalar(Scalar),
    /// A compound value, or a value of a type that is known only when the kernel is linked.
    Value(TypeId),
    /// `&mut T`, of a `#[device]` function.
    Reference(Type),
    /// `&[elem]`, `&mut [elem]` or `&[Atomic<elem>]`.
    #[allow(missing_docs)]
    Slice { elem: Type, access: Access },
}

/// The operations that a kernel may perform on a slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Load: `&[T]`.
    Read,
    /// Load and store: `&mut [T]`.
    Write,
    /// Atomic operations only: `&[Atomic<T>]`.
    Atomic,
}

/// A local variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// The name in the source, or one that the frontend generated; not unique.
    pub name: Cow<'static, str>,
    /// Its type.
    pub ty: Type,
    /// True if it is assigned after its declaration.
    pub mutable: bool,
}

/// A location that can fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// The check.
    pub kind: SiteKind,
    /// The source location.
    pub loc: Loc,
    /// True if a launch may be able to prove the check, false if it depends on data that only the device sees. Native
    /// code is compiled with and without the provable checks; the others always stay.
    pub provable: bool,
}

/// The check of a site, which determines the fault's detail value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SiteKind {
    /// An index into memory. The detail is the index.
    Index(Memory),
    /// An index along a dimension of memory, counted from 0. The detail is the index.
    Dimension(Memory, u32),
    /// An integer divisor, which must not be 0 (nor -1 under `MIN`). The detail is the divisor.
    Divisor,
    /// An integer that must fit its type. The detail is 0.
    Overflow(Arithmetic),
    /// A condition, with the message of its failure. The detail is 0.
    Assert(Cow<'static, str>),
    /// No condition: the thread fails on arrival, with this message. The detail is 0.
    Panic(Cow<'static, str>),
}

/// Code written in the languages of targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Native {
    /// At most one text for each target.
    pub texts: Cow<'static, [NativeText]>,
    /// The code for all other targets. Without it, such targets cannot run the kernel.
    pub fallback: Option<Block>,
    /// The local that receives the result. If present, each text is an expression; otherwise, statements. The fallback
    /// assigns the local by itself.
    pub result: Option<LocalId>,
    /// The name of an intrinsic whose texts are registered when a program runs: see
    /// [`passes::spell_intrinsics`](crate::passes::spell_intrinsics). Then the only text here names no target, and its
    /// pieces are the operands. A target without a registered text cannot run the kernel; executors that run no text
    /// use the fallback.
    pub intrinsic: Option<Cow<'static, str>>,
}

/// One target's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeText {
    /// The target's name, as [`crate::write::Dialect::name`] gives it.
    pub target: Cow<'static, str>,
    /// Verbatim text and operands, in order.
    pub pieces: Cow<'static, [Piece]>,
    /// The source location of the text.
    pub origin: Origin,
}

/// The source location of a text, for messages of the target's compiler.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    /// The source file; empty for the kernel's own.
    pub file: Cow<'static, str>,
    /// The line on which the text begins, from 1; 0 if unknown.
    pub line: u32,
    /// True if each line of the text is on a line of its own in the source.
    pub by_line: bool,
}

/// Text that a target needs before the kernel: functions that native blocks call, includes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Prelude {
    /// Pairs of a target's name and its text.
    pub texts: Cow<'static, [(Cow<'static, str>, Cow<'static, str>)]>,
    /// The source location of the text.
    pub origin: Origin,
}

/// A piece of native text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Text emitted verbatim.
    Text(Cow<'static, str>),
    /// The target's name of a local. The text may assign the local if it is mutable. An array local is assigned element
    /// by element.
    Local(LocalId),
    /// The target's name of a parameter: a value, or a buffer.
    Param(ParamId),
    /// The target's name of a shared array.
    Shared(SharedId),
    /// The target's name of a scalar inside a local; the text may assign it.
    Place(PlaceId),
}

/// A constant that only the user's crate knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The path in the source, for messages.
    pub path: Cow<'static, str>,
    /// The type that inference found; rustc checks it.
    pub ty: Type,
}

/// A requirement on a launch; checked on the host at each launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precondition {
    /// The launch has one thread along this axis.
    SingleThread(Axis),
    /// The launch has at most this many threads along an axis.
    ExtentAtMost(Axis, u64),
    /// The launch has at most this many threads of a block along an axis.
    BlockAtMost(Axis, u64),
    /// The launch has at most this many blocks along an axis.
    GridAtMost(Axis, u64),
    /// If the launch has several blocks along x, their size there is a multiple of this number.
    BlockMultipleOf(u32),
    /// In no thread does the expression, or any part of it, leave the range of its type.
    NoOverflow(ExprId),
    /// The assertion at this site of the kernel holds: a requirement of the user on scalars, lengths and extents.
    Holds(SiteId),
    /// The integer argument is positive, or the slice is not empty.
    Positive(ParamId),
    /// All subgroups of the device are of this many threads. The last one of a block may have fewer.
    SubgroupSize(u32),
    /// The same, for a constant that linking replaces by its value.
    SubgroupSizeIs(LinkId),
    /// All subgroups of the device are of one size.
    EqualSubgroups,
    /// If the launch has several blocks along x, their size there is a multiple of the size of subgroups.
    WholeSubgroups,
    /// The size of blocks along x is a multiple of the size of subgroups.
    BlockOfSubgroups,
}

impl Kernel {
    /// A kernel that does nothing.
    pub const EMPTY: Kernel = Kernel {
        name: Cow::Borrowed(""),
        file: Cow::Borrowed(""),
        files: Cow::Borrowed(&[]),
        block: None,
        strict: false,
        params: Cow::Borrowed(&[]),
        shared: Cow::Borrowed(&[]),
        tables: Cow::Borrowed(&[]),
        types: Cow::Borrowed(&[]),
        names: Cow::Borrowed(&[]),
        compounds: Cow::Borrowed(&[]),
        places: Cow::Borrowed(&[]),
        calls: Cow::Borrowed(&[]),
        closures: Cow::Borrowed(&[]),
        callables: Cow::Borrowed(&[]),
        functions: Cow::Borrowed(&[]),
        type_links: Cow::Borrowed(&[]),
        result: None,
        locals: Cow::Borrowed(&[]),
        exprs: Cow::Borrowed(&[]),
        expr_types: Cow::Borrowed(&[]),
        expr_locs: Cow::Borrowed(&[]),
        stmts: Cow::Borrowed(&[]),
        stmt_locs: Cow::Borrowed(&[]),
        lists: Cow::Borrowed(&[]),
        unrolls: Cow::Borrowed(&[]),
        overflows: Cow::Borrowed(&[]),
        body: Block::EMPTY,
        sites: Cow::Borrowed(&[]),
        natives: Cow::Borrowed(&[]),
        preludes: Cow::Borrowed(&[]),
        prelude_links: Cow::Borrowed(&[]),
        prints: Cow::Borrowed(&[]),
        links: Cow::Borrowed(&[]),
        preconditions: Cow::Borrowed(&[]),
        last_strides: Cow::Borrowed(&[]),
    };

    /// The expression.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }

    /// The type of an expression.
    pub fn type_of(&self, id: ExprId) -> Type {
        self.expr_types[id.index()]
    }

    /// The type of a scalar expression. All expressions of a closed kernel are scalars.
    pub fn scalar_of(&self, id: ExprId) -> Scalar {
        self.expr_types[id.index()].scalar()
    }

    /// The statement.
    pub fn stmt(&self, id: StmtId) -> Stmt {
        self.stmts[id.index()]
    }

    /// The unroll hint of a loop, if it has one.
    pub fn unroll(&self, label: LabelId) -> Option<Unroll> {
        let mut unrolls = self.unrolls.iter();
        unrolls.find_map(|(of, unroll)| (*of == label).then_some(*unroll))
    }

    /// The source file of a location.
    pub fn file_of(&self, loc: Loc) -> &str {
        match usize::from(loc.file.0).checked_sub(1) {
            Some(other) => &self.files[other],
            None => &self.file,
        }
    }

    /// The location as the origin of text that a writer generated.
    pub(crate) fn origin_of(&self, loc: Loc) -> Origin {
        let file = match loc.file {
            FileId::OWN => Cow::Borrowed(""),
            FileId(other) => self.files[usize::from(other) - 1].clone(),
        };
        Origin {
            file,
            line: loc.line,
            by_line: false,
        }
    }

    /// The location as text: file, line and column.
    pub fn place_of(&self, loc: Loc) -> String {
        format!("{}:{}:{}", self.file_of(loc), loc.line, loc.column)
    }

    /// The statements of a block.
    pub fn block(&self, block: Block) -> impl DoubleEndedIterator<Item = StmtId> + '_ {
        self.lists[block.0.range()].iter().map(|&i| StmtId(i))
    }

    /// The expressions of a list.
    pub fn list(&self, list: List) -> impl ExactSizeIterator<Item = ExprId> + '_ {
        self.lists[list.range()].iter().map(|&i| ExprId(i))
    }

    /// The constant, if the expression is a literal.
    pub fn literal(&self, id: ExprId) -> Option<Value> {
        match self.expr(id) {
            Expr::Literal(v) => Some(v),
            _ => None,
        }
    }

    /// True if nothing is left to link.
    pub fn is_closed(&self) -> bool {
        self.links.is_empty()
            && self.calls.is_empty()
            && self.places.is_empty()
            && self.compounds.is_empty()
            && self.type_links.is_empty()
            && self.prelude_links.is_empty()
            && !self
                .prints
                .iter()
                .any(|print| matches!(print.printer, Printer::Link(_)))
            && self.has_scalars_only()
    }

    /// True if everything that it declares, used or not, is a scalar or has scalar elements.
    fn has_scalars_only(&self) -> bool {
        let is_scalar = |ty: Type| ty.as_scalar().is_some();
        let params = self.params.iter().all(|param| match param.kind {
            ParamKind::Scalar(_) => true,
            ParamKind::Slice { elem, .. } | ParamKind::Reference(elem) => is_scalar(elem),
            ParamKind::Value(_) => false,
        });
        let locals = (0..).map(LocalId).zip(self.locals.iter());
        let mut locals =
            locals.map(|(id, local)| self.array(id).map_or(local.ty, |(elem, _)| elem));
        params && locals.all(is_scalar) && self.shared.iter().all(|array| is_scalar(array.elem))
    }

    /// The locals that the texts of a native block may change, including its result.
    pub fn changed_by_text(&self, id: NativeId) -> Vec<LocalId> {
        let native = &self.natives[id.index()];
        let pieces = native.texts.iter().flat_map(|text| text.pieces.iter());
        let named = pieces.filter_map(|piece| match piece {
            Piece::Local(local) => {
                let local_is_scalar = self.locals[local.index()].ty.as_scalar().is_some();
                let kept = local_is_scalar && !self.locals[local.index()].mutable;
                (!kept).then_some(*local)
            }
            Piece::Place(place) => match self.places[place.index()].root {
                Root::Local(local) => Some(local),
                Root::Param(_) | Root::Element { .. } => None,
            },
            Piece::Text(_) | Piece::Param(_) | Piece::Shared(_) => None,
        });
        let mut all: Vec<LocalId> = named.chain(native.result).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The locals that the texts of a native block name.
    pub fn named_by_text(&self, id: NativeId) -> Vec<LocalId> {
        let native = &self.natives[id.index()];
        let pieces = native.texts.iter().flat_map(|text| text.pieces.iter());
        let named = pieces.filter_map(|piece| match piece {
            Piece::Local(local) => Some(*local),
            Piece::Place(place) => match self.places[place.index()].root {
                Root::Local(local) => Some(local),
                Root::Param(_) | Root::Element { .. } => None,
            },
            Piece::Text(_) | Piece::Param(_) | Piece::Shared(_) => None,
        });
        let mut all: Vec<LocalId> = named.collect();
        all.sort();
        all.dedup();
        all
    }

    /// The name of a field or variant.
    pub fn name(&self, id: NameId) -> &str {
        &self.names[id.index()]
    }
}
