//! The validator: what must hold of a [`Kernel`] before anything else looks at it.
//!
//! [`Rule`] is the list of what is checked. Nodes that nothing uses are not looked at, since a pass
//! may leave them behind. All violations are reported at once, in order of evaluation.
//!
//! The type that lengths, ids and indices have is `usize`, or `u32` or `u64` throughout once
//! [`crate::passes::narrow_usize`] or [`crate::passes::widen_usize`] has run.

mod structure;
mod types;

use std::fmt;

use crate::{ExprId, Kernel, LocalId, NativeId, ParamId, SiteId, StmtId};

/// Checks a kernel against every [`Rule`].
///
/// # Errors
/// Everything that is wrong with it.
pub fn validate(kernel: &Kernel) -> Result<(), Vec<Violation>> {
    let mut violations = structure::check(kernel);
    // Types and scopes are read through handles, so they wait until the handles are sound.
    if violations.is_empty() {
        violations = types::check(kernel);
    }
    if violations.is_empty() {
        Ok(())
    } else {
        Err(violations)
    }
}

/// One rule that a node breaks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Violation {
    /// The node.
    pub node: Node,
    /// The rule.
    pub rule: Rule,
}

/// What a [`Violation`] speaks of.
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
        /// The rules.
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
    /// `expr_types`, `expr_locs` and `stmt_locs` are as long as what they describe.
    ParallelTables "the tables of types and locations are as long as their arenas";
    /// Every handle and list points into its arena.
    HandleInRange "a handle points into its arena";
    /// Every expression, statement and native block is used at most once, and no block contains
    /// itself.
    Forest "a node is used once";
    /// No two loops have one label.
    LabelUnique "a label belongs to one loop";
    /// A loop is unrolled once or more, up to [`Unroll::MOST`](crate::Unroll::MOST) times, or as a `usize` constant says.
    Unroll "a loop is unrolled a sensible number of times";
    /// `Break` and `Continue` name a loop around them.
    LabelInScope "`break` and `continue` name an enclosing loop";
    /// A local has one `Let` or `For`.
    DeclaredOnce "a local is declared once";
    /// A local is named only after its declaration, within the block of it.
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
    /// A load does not name atomics, a store names what is mutable, an atomic operation atomics.
    AccessAllowed "memory is used as its declaration allows";
    /// A length is a `usize`, and only a shared array's is the launch's.
    ArrayLength "an array's length is a constant, or a shared array's the launch's";
    /// The kind of a node's site is what the node can fail at.
    SiteKind "a site's kind fits its node";
    /// Lengths, ids and indices have one type: `usize`, or `u32` or `u64` after the pass.
    IndexType "lengths, ids and indices have the index type";
    /// An expression's type is what its operands make it, and its operands have types that the
    /// node takes.
    ExprType "an expression has the type of its operation";
    /// An intrinsic has the operands and the type of its signature.
    Signature "an intrinsic is called as its signature says";
    /// `as` connects two types that Rust's `as` connects.
    CastTypes "a cast connects types that `as` connects";
    /// Conditions are `bool`.
    ConditionType "a condition is a `bool`";
    /// An assigned, initial or stored value has the type of its destination.
    ValueType "a value has the type of its destination";
    /// A `For` counts in an integer type, which its bounds have too.
    ForType "a counted loop's local and bounds have one integer type";
    /// What is printed is a scalar, in a format that Rust has for it.
    PrintFormat "a printed argument is a scalar that has its format";

    /// A native block has at most one text for each target.
    NativeTargets "a native block has at most one text for a target";

    /// What native text yields is assigned to a mutable local: a scalar of which nothing is known.
    NativeResult "what native text yields goes to a mutable scalar local";
    /// The arithmetic that faults stands in ascending order, each once.
    OverflowOrder "checked arithmetic is listed in ascending order";
    /// `NoOverflow` speaks of an integer expression.
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

/// Whether a site handle points into the arena; shared by both halves.
fn site_in_range(kernel: &Kernel, site: Option<SiteId>) -> bool {
    site.is_none_or(|s| s.index() < kernel.sites.len())
}

#[cfg(test)]
mod tests;
