//! The kernel language of sarek as data: IR, analyses, passes and source writers.
//!
//! # The contract
//!
//! A [`Kernel`] is a set of flat arenas addressed by `u32` handles, so that one definition is
//! owned data inside the macro and `const` data inside the user's binary. Nothing in it refers to
//! a device or to Rust syntax.
//!
//! **Expressions are pure.** Evaluating an [`Expr`] reads locals, parameters, ids and memory, and
//! may fault at a [`Site`]; it changes nothing. Whatever has an effect is a [`Stmt`]. The frontend
//! materialises operands into locals wherever Rust's left-to-right order could be observed, so a
//! writer is free to print an expression as one target expression. The exceptions that keep their
//! own order are [`Expr::And`] and [`Expr::Or`], which evaluate their right side only when the left
//! one asks for it.
//!
//! **An expression belongs to one place.** Every `ExprId` is used by at most one expression or
//! statement, and the same holds of statements and blocks: a kernel is a forest, and a pass may
//! rewrite a node in place. (A [`Precondition`] refers to an expression without using it. A pass
//! may leave nodes that nothing uses.)
//!
//! **A macro sees one item.** What it cannot see is a *hole*: [`Expr::Link`], [`TypeDef::Link`] and the types that
//! follow from it, [`Stmt::Call`]. [`link::link`] fills the holes and splits every value of several parts
//! ([`Compound`], [`Stmt::Update`]) into scalars. Uniformity and races are analysed before it, at compile time; ranges,
//! passes, writers and the interpreter see closed kernels only.
//!
//! **Closures** that a call gives on are blocks of that call ([`Closure`]): whoever walks statements finds them in
//! [`Kernel::parts`], and takes them for blocks that run any number of times, for some threads only.
//!
//! **Types are closed.** `expr_types[i]` is the type of `exprs[i]`; there is no implicit conversion.
//! [`Memory`] is not a value: slices, shared arrays, local arrays and constant ones ([`Table`]) are named by loads, stores,
//! atomic operations and [`Expr::Len`] only; nothing is stored to constants. A local array is declared by a [`Stmt::Let`] without a value, and its
//! elements are stored before they are loaded.
//!
//! **Working together.** [`Stmt::Barrier`] stands where all threads of a block that have not returned arrive
//! together ([`analysis::barriers`] checks it); what each thread wrote before it, all of the block see
//! after it. Between two barriers the order of threads is unspecified. [`Stmt::Atomic`] and [`Stmt::Subgroup`]
//! are statements because they have effects or depend on who arrives; their result is a local.
//!
//! **Integers wrap**, but for the arithmetic in [`Kernel::overflows`], where what does not fit is a fault as well. Shifts mask their count, `as` saturates from floats and truncates between
//! integers, comparisons with NaN are false except `!=`. A target where the plain operator means
//! something else is the writer's business, never the IR's.
//!
//! **Faults.** A node that can fail carries `Some(site)`. At a failing site the thread records the
//! fault and either stops (host backends) or goes on with a harmless value and leaves its next
//! unbounded loop (accelerators; a loop around barriers once any thread of the block has faulted); the bad
//! access itself never touches memory. The pass
//! [`passes::elide_checks`] turns a site into `None` once it is proved; a writer that sees `None`
//! prints the unchecked form.
//!
//! **Statements.** [`Stmt::Let`] declares a local in the block it stands in; locals are unique in
//! the kernel (shadowing was resolved by the frontend), so a name may repeat but a [`LocalId`] is
//! declared once. A local without an initialiser is assigned before it is read. `Loop` evaluates
//! its condition before each iteration. `For` counts from `start` up to, not including, `end`,
//! both evaluated once; its local is fresh and immutable in each iteration. `Break` and `Continue` name an enclosing
//! loop; `Return` ends the thread, or the function that it stands in; `Panic` ends the thread, and is a fault.
//!
//! # After each pass
//!
//! | pass | what holds after it |
//! |---|---|
//! | [`link::link`] | the kernel is closed: scalars, arrays of scalars as locals, no calls, no links |
//! | [`passes::select_natives`] | no native block has a fallback that the target needs |
//! | [`passes::lower_panics`] | no statement panics |
//! | [`passes::expand_prints`] | nothing is printed; what was is a record in the memory of one more parameter |
//! | [`passes::cut_after_exits`] | nothing follows an exit in its block |
//! | [`passes::elide_checks`] | sites that the launch proved are `None`, or no more in [`Kernel::overflows`] |
//! | [`passes::settle_strides`] | the last strides of views are 1 |
//! | [`passes::park_returns`] | no barrier stands behind a `return` that some threads of a block take without the others; nothing that decides whether and how often a barrier is come to can fault |
//! | [`passes::predicate_barriers`](fn@passes::predicate_barriers) | no barrier stands in a branch, and no jump leads past one |
//! | [`passes::narrow_usize`] | no `usize` is left; it became `u32` |
//! | [`passes::widen_usize`] | no `usize` is left; it became `u64` |
//! | [`passes::place_tables`](fn@passes::place_tables) | constant arrays are of numbers that targets write as constants; larger ones are slices |
//! | [`passes::widen_small`] | numbers of 8 and 16 bits are held, and cast from and to their 32-bit type (those of 16-bit floats from `f64`, too); checked divisions apart, arithmetic has 32 or 64 bits |
//! | [`passes::guard_loops`] | unbounded loops end once their thread has faulted, those around barriers once a thread of the block has |
//! | [`passes::lower_labels`] | `Break` and `Continue` name the innermost loop only |
//! | [`passes::fold_continues`] | no loop with a barrier in it has a `Continue` after which something would be left out |
//! | [`passes::spill_stores`] | index and operands of a checked store or an atomic operation are locals or constants |
//! | [`passes::expand_atomics`] | only atomic operations that the target has are left |
//!
//! [`fn@validate`] checks the contract; writers, analyses and backends trust a validated kernel.

pub mod analysis;
pub mod bfloat16;
pub mod binary16;
pub mod builder;
mod closure;
mod collective;
mod compound;
pub mod eval;
mod expr;
mod info;
mod kernel;
pub mod link;
mod memory;
pub mod numeric;
mod operands;
mod overflow;
pub mod packed;
pub mod passes;
pub mod print;
mod scalar;
pub mod sketch;
mod stmt;
mod text;
mod ty;
pub mod validate;
mod value;
mod word;
pub mod write;

pub use closure::{Callable, Called, Closure, Given};
pub use collective::{AtomicOp, Scope, SubgroupOp};
pub use compound::{Argument, Call, Compound, Place, Root, Step, ViewPart};
pub use expr::{Axis, BinaryOp, Builtin, DivideOp, Expr, UnaryOp};
pub use info::{EnumInfo, FieldInfo, StructInfo, TypeInfo, VariantInfo};
pub use kernel::{
    Access, Block, CallId, CallableId, ClosureId, CompoundId, ExprId, FileId, FunctionId, Kernel,
    LabelId, Link, LinkId, List, Loc, Local, LocalId, NameId, Native, NativeId, NativeText, Origin,
    Param, ParamId, ParamKind, Piece, PlaceId, Precondition, Prelude, PrintId, SharedId, Site,
    SiteId, SiteKind, StmtId, TableId, TypeId, TypeLinkId,
};
pub use link::{LeafAt, leaves};
pub use memory::{Length, Memory, SHARED_ALIGNMENT, SharedArray, Table, TableValues};
pub use numeric::{ArgType, Exactness, Intrinsic, ResultType, TypeClass};
pub use overflow::Arithmetic;
pub use packed::Packed;
pub use print::Print;
pub use scalar::Scalar;
pub use stmt::{Stmt, Unroll};
pub use ty::{Type, TypeDef};
pub use validate::validate;
pub use value::Value;
