//! The intermediate representation (IR) of sarek kernels, with its analyses, passes, interpreter and source writers.
//!
//! # The contract
//!
//! A [`Kernel`] is a set of flat arenas addressed by `u32` handles. So one definition serves as owned data inside the macro
//! and as `const` data inside the user's binary. Nothing in it refers to a device or to Rust syntax.
//!
//! **Expressions are pure.** Evaluating an [`Expr`] reads locals, parameters, ids and memory, and may fault at a [`Site`];
//! it changes nothing. Everything that has an effect is a [`Stmt`]. Rust evaluates operands from left to right; where that
//! order could be observed, the frontend stores the operands in locals first. So a writer may print any expression as one
//! target expression. Only [`Expr::And`] and [`Expr::Or`] have an order of their own: they evaluate the right side only if
//! the left side doesn't decide the result.
//!
//! [`facts`] tells for each node what it reads, changes, checks and costs; [`Kernel::exprs_in`] and [`Kernel::stmts_in`] walk.
//!
//! **A node has one parent.** An expression is an operand of at most one node. A statement is in at most one block, and a
//! block belongs to at most one statement. So a kernel is a forest, and a pass may rewrite a node in place: nothing else
//! sees the change. A [`Precondition`] names an expression without being its parent. A pass may leave nodes without
//! a parent behind.
//!
//! **A macro sees one item.** A *hole* stands for anything defined elsewhere: [`Expr::Link`], [`TypeDef::Link`] and the
//! types that follow from it, [`Stmt::Call`]. [`link::link`] fills the holes, and splits every struct, tuple, enum and
//! array value ([`Compound`], [`Stmt::Update`]) into scalars; the result is a *closed* kernel. The uniformity and race
//! analyses run before linking, at compile time. The range analysis, the passes, the writers and the interpreter see closed
//! kernels only.
//!
//! **Closures** passed to a call are blocks of that call ([`Closure`]). [`Kernel::children`] lists them among the children
//! of the statement. A walk over statements must assume that such a block runs any number of times, and for only some of
//! the threads.
//!
//! **Types are explicit.** `expr_types[i]` is the type of `exprs[i]`; there is no implicit conversion. [`Memory`] is not a
//! value: only loads, stores, atomic operations and [`Expr::Len`] name slices, shared arrays, local arrays and constant
//! arrays ([`Table`]). Constant arrays are never stored to. A [`Stmt::Let`] without a value declares a local array, and its
//! elements are stored before they are loaded.
//!
//! **Cooperation.** At a [`Stmt::Barrier`], all threads of a block that have not returned arrive together
//! ([`analysis::barriers`] checks this). After it, the whole block sees everything that each thread wrote before it.
//! Between two barriers the order of threads is unspecified. [`Stmt::Atomic`] and [`Stmt::Subgroup`] are statements because
//! they have effects or depend on which threads arrive; their result goes to a local.
//!
//! **Integers wrap**, except in the arithmetic listed in [`Kernel::overflows`], where overflow is a fault. Shifts mask
//! their count. `as` saturates from floats and truncates between integers. Comparisons with NaN are false, except `!=`. If
//! a target's plain operator differs, its writer compensates; the IR keeps these meanings.
//!
//! **Faults.** A node that can fail carries `Some(site)`. At a failing site the thread records the fault, and the bad
//! access never touches memory. On host backends the thread then stops. On accelerators it continues with a harmless value
//! and leaves its next unbounded loop; a loop around barriers ends once any thread of the block has faulted. The pass
//! [`passes::elide_checks`] turns a site into `None` once it is proved; a writer prints the unchecked form for `None`.
//!
//! **Statements.** [`Stmt::Let`] declares a local in its enclosing block. The frontend has resolved shadowing, so a name
//! may repeat but a [`LocalId`] is declared once. A local without an initialiser is assigned before it is read. `Loop`
//! evaluates its condition before each iteration. `For` counts from `start` up to, not including, `end`, both evaluated
//! once; its local is fresh and immutable in each iteration. `Break` and `Continue` name an enclosing loop. `Return` ends
//! the thread, or the function that contains it. `Panic` ends the thread, and is a fault.
//!
//! # After each pass
//!
//! [`link::link`] comes first. [`passes`] has the order of the others. This table has what holds after each:
//!
//! | pass | postcondition |
//! |---|---|
//! | [`link::link`] | the kernel is closed: all values are scalars, all local arrays have scalar elements; no calls, no links |
//! | [`passes::select_natives`] | no native block has a fallback that the target needs |
//! | [`passes::lower_panics`] | no statement panics |
//! | [`passes::expand_prints`] | no statement prints; each print is a record written to the memory of an added parameter |
//! | [`passes::cut_after_exits`] | no statement follows an exit in its block |
//! | [`passes::elide_checks`] | sites that the launch proved are `None`, or removed from [`Kernel::overflows`] |
//! | [`passes::settle_strides`] | the last strides of views are 1 |
//! | [`passes::park_returns`] | no barrier follows a `return` that only some threads of a block take; no expression that decides whether and how often a barrier is reached can fault |
//! | [`passes::predicate_barriers`](fn@passes::predicate_barriers) | no barrier is in a branch, and no jump skips one |
//! | [`passes::contain_returns`] | no `return` is left; the body is in a loop that runs once, and threads leave it by `break` |
//! | [`passes::narrow_usize`] | no `usize` is left; it became `u32` |
//! | [`passes::widen_usize`] | no `usize` is left; it became `u64` |
//! | [`passes::place_tables`](fn@passes::place_tables) | constant arrays have element types that targets can write as constants; larger arrays are slices |
//! | [`passes::widen_small`] | 8- and 16-bit numbers are only stored, and cast from and to their 32-bit type (16-bit floats also from `f64`); arithmetic has 32 or 64 bits, except checked divisions |
//! | [`passes::lower_labels`] | `Break` and `Continue` name the innermost loop only |
//! | [`passes::fold_continues`] | in a loop that contains a barrier, no `Continue` skips a statement |
//! | [`passes::spill_stores`] | index and operands of a checked store or an atomic operation are locals or constants |
//! | [`passes::guard_loops`] | unbounded loops end once their thread has faulted; those around barriers, once a thread of the block has |
//! | [`passes::expand_atomics`] | only atomic operations that the target has are left |
//!
//! [`fn@validate`] checks the contract; writers, analyses and backends trust a validated kernel.

pub mod analysis;
pub mod encode;
pub mod interp;
pub mod link;
mod nodes;
pub mod numeric;
pub mod operators;
pub mod optimize;
pub mod passes;
#[cfg(any(test, feature = "sketch"))]
pub mod sketch;
mod text;
pub mod validate;
pub mod write;

pub use encode::EncodedKernel;
pub use link::{LeafAt, leaves};
pub use nodes::*;
pub use numeric::{ArgType, Exactness, Intrinsic, ResultType, TypeClass};
pub use validate::validate;
