//! The validator: checks the invariants of a [`Kernel`] before any other code relies on them.
//!
//! [`Rule`] lists the invariants. Unused nodes are not checked, because passes may leave them behind. All
//! violations are reported at once, in order of evaluation.
//!
//! Lengths, ids and indices have one type throughout: `usize`, or `u32` or `u64` after
//! [`crate::passes::narrow_usize`] or [`crate::passes::widen_usize`].

mod structure;
mod types;

use std::fmt;

use crate::{ExprId, Kernel, LocalId, NativeId, ParamId, SiteId, StmtId};

/// Checks a kernel against every [`Rule`].
///
/// # Errors
/// All violations.
pub fn validate(kernel: &Kernel) -> Result<(), Vec<Violation>> {
    let mut violations = structure::check(kernel);
    // The checks of types and scopes follow handles, so they require sound handles.
    if violations.is_empty() {
        violations = types::check(kernel);
    }
    if violations.is_empty() {
        Ok(())
    } else {
        Err(violations)
    }
}

/// A node that breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Violation {
    /// The node.
    pub node: Node,
    /// The rule.
    pub rule: Rule,
}

/// The subject of a [`Violation`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The kernel as a whole.
    Kernel,
    /// A parameter.
    Param(ParamId),
    /// A local.
    Local(LocalId),
    /// An expression.
    Expr(ExprId),
    /// A statement.
    Stmt(StmtId),
    /// A native block.
    Native(NativeId),
    /// A precondition, by its position.
    Precondition(u32),
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident $text:literal;)*) => {
        /// The invariants of a kernel.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Rule {
            $($(#[$doc])* $name,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// The rule in words.
            pub const fn text(self) -> &'static str {
                match self { $(Rule::$name => $text,)* }
            }
        }
    };
}

rules! {
    /// The tables `expr_types`, `expr_locs` and `stmt_locs` are as long as their arenas.
    ParallelTables "the tables of types and locations are as long as their arenas";
    /// Every handle and list points into its arena.
    HandleInRange "a handle points into its arena";
    /// Every expression, statement and native block is used at most once, and no block contains
    /// itself.
    Forest "a node is used once";
    /// No two loops have the same label.
    LabelUnique "a label belongs to one loop";
    /// A loop is unrolled as a whole, from 1 to [`Unroll::MOST`](crate::Unroll::MOST) times, or as often as a
    /// `usize` constant says.
    Unroll "a loop is unrolled a sensible number of times";
    /// `Break` and `Continue` name an enclosing loop.
    LabelInScope "`break` and `continue` name an enclosing loop";
    /// Exactly one `Let` or `For` declares a local.
    DeclaredOnce "a local is declared once";
    /// A local is used only after its declaration, within the block that declares it.
    LocalInScope "a local is used within its scope";
    /// Only mutable locals are assigned.
    AssignMutable "an immutable local is not assigned";
    /// An immutable local's `Let` has an initialiser.
    ImmutableInitialised "an immutable local has an initialiser";
    /// No slice has elements of type `usize`.
    BufferElement "`usize` does not stand in buffers";
    /// Accesses and `Len` name slices and arrays.
    Memory "an access names a slice or an array";
    /// `Param` names a scalar parameter.
    ScalarParam "a value names a scalar parameter";
    /// A load does not access atomics, a store accesses writable memory, and an atomic operation accesses
    /// atomics.
    AccessAllowed "memory is used as its declaration allows";
    /// A length is a `usize`, and only the length of a shared array may depend on the launch.
    ArrayLength "an array's length is a constant, or a shared array's the launch's";
    /// The kind of a node's site fits the way in which the node may fail.
    SiteKind "a site's kind fits its node";
    /// Lengths, ids and indices have one type: `usize`, or `u32` or `u64` after the passes.
    IndexType "lengths, ids and indices have the index type";
    /// An expression has the type that follows from its operands, and the node accepts the types of its
    /// operands.
    ExprType "an expression has the type of its operation";
    /// The operands and the type of an intrinsic fit its signature.
    Signature "an intrinsic is called as its signature says";
    /// Rust's `as` converts between the two types of a cast.
    CastTypes "a cast connects types that `as` connects";
    /// Conditions are `bool`.
    ConditionType "a condition is a `bool`";
    /// An assigned, initial or stored value has the type of its destination.
    ValueType "a value has the type of its destination";
    /// A `For` counts in an integer type, and its bounds have the same type.
    ForType "a counted loop's local and bounds have one integer type";
    /// A printed value is a scalar, in a format that Rust supports for it.
    PrintFormat "a printed argument is a scalar that has its format";

    /// A native block has at most one text for each target.
    NativeTargets "a native block has at most one text for a target";

    /// The result of native text goes to a mutable scalar local. Nothing is known about its value.
    NativeResult "what native text yields goes to a mutable scalar local";
    /// Checked arithmetic is listed in ascending order, each expression once.
    OverflowOrder "checked arithmetic is listed in ascending order";
    /// `NoOverflow` refers to an integer expression, and `Holds` to an assertion.
    PreconditionType "an overflow precondition speaks of an integer";
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Node::Kernel => f.write_str("kernel")?,
            Node::Param(ParamId(i)) => write!(f, "parameter {i}")?,
            Node::Local(LocalId(i)) => write!(f, "local {i}")?,
            Node::Expr(ExprId(i)) => write!(f, "expression {i}")?,
            Node::Stmt(StmtId(i)) => write!(f, "statement {i}")?,
            Node::Native(NativeId(i)) => write!(f, "native block {i}")?,
            Node::Precondition(i) => write!(f, "precondition {i}")?,
        }
        write!(f, " breaks the rule that {}", self.rule.text())
    }
}

impl Node {
    /// The violation of a rule by this node.
    const fn breaks(self, rule: Rule) -> Violation {
        Violation { node: self, rule }
    }
}

/// True if a site handle points into its arena; used by both modules.
fn site_in_range(kernel: &Kernel, site: Option<SiteId>) -> bool {
    site.is_none_or(|s| s.index() < kernel.sites.len())
}

#[cfg(test)]
mod tests;
