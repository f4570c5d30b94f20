//! Expands Rust's control flow and patterns to the few statements of the IR.
//!
//! Loops, `match`, `?`, `let … else`, destructuring and tail recursion end here: the IR has only `if`, counted and
//! conditional loops, labels and stores.

pub(super) mod control;
pub(super) mod equality;
pub(super) mod iterator;
pub(super) mod iterator_ends;
pub(super) mod let_conditions;
pub(super) mod matching;
pub(super) mod or_patterns;
pub(super) mod pattern;
pub(super) mod range;
pub(super) mod recursion;
pub(super) mod scrutinee;
pub(super) mod slice_search;
pub(super) mod struct_assign;
pub(super) mod try_op;
pub(super) mod unroll;
pub(super) mod variant;
