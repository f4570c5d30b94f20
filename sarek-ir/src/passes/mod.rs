//! Passes that transform kernels; each bridges one difference between the IR and a target.
//!
//! A pass preserves the contract of the [crate documentation](crate) and adds the postcondition listed there.
//! `write/legalize.rs` runs them in this order, for [`crate::write::render`]:
//!
//! 1. [`select_natives`], [`lower_panics`], [`expand_prints`]
//! 2. [`cut_after_exits`]
//! 3. [`elide_checks`]
//! 4. [`settle_strides`], where the last strides of all views are 1
//! 5. [`park_returns`](fn@park_returns): adds barriers and a shared array
//! 6. [`predicate_barriers`](fn@predicate_barriers), where the target asks for it: moves barriers and adds none
//! 7. [`contain_returns`], where each block executes several logical blocks
//! 8. [`narrow_usize`] or [`widen_usize`]
//! 9. [`place_tables`](fn@place_tables)
//! 10. [`widen_small`]
//! 11. [`lower_labels`]
//! 12. [`fold_continues`]
//! 13. [`spill_stores`]
//! 14. [`guard_loops`], if the text has a fault buffer
//! 15. [`expand_atomics`]
//!
//! [`spell_intrinsics`] runs before them, by the caller that has the texts. Compiled bodies use [`flag_returns`]. [`blank_natives`] serves to compare a text
//! with the one without the users' own code.

mod blank_natives;
mod contain_returns;
mod cut_after_exits;
mod elide_checks;
mod expand_atomics;
mod expand_prints;
mod flag_returns;
mod fold_continues;
mod guard_loops;
mod hoist_decls;
mod lower_labels;
mod lower_panics;
mod park_returns;
mod place_tables;
mod predicate_barriers;
mod resize_usize;
mod select_natives;
mod settle_strides;
mod spell_intrinsics;
mod spill_stores;
mod widen_small;

pub use blank_natives::blank_natives;
pub use contain_returns::contain_returns;
pub use cut_after_exits::cut_after_exits;
pub use elide_checks::elide_checks;
pub use expand_atomics::expand_atomics;
pub use expand_prints::{OUTPUT_WORDS, expand_prints};
pub use flag_returns::flag_returns;
pub use fold_continues::fold_continues;
pub use guard_loops::guard_loops;
pub use lower_labels::lower_labels;
pub use lower_panics::lower_panics;
pub use park_returns::park_returns;
pub use place_tables::{BoundTables, place_tables};
pub use predicate_barriers::predicate_barriers;
pub use resize_usize::{narrow_usize, widen_usize};
pub use select_natives::select_natives;
pub use settle_strides::settle_strides;
pub use spell_intrinsics::{Spelling, spell_intrinsics};
pub use spill_stores::spill_stores;
pub use widen_small::widen_small;

use crate::{Block, Kernel, StmtId};

/// A rewriting function: pushes the statements that replace a statement.
type Rewrite<'a> = &'a mut dyn FnMut(&mut Kernel, StmtId, &mut Vec<StmtId>);

/// Rewrites every statement of the kernel, inner ones first.
pub(crate) fn rewrite(kernel: &mut Kernel, f: Rewrite<'_>) {
    kernel.body = rewrite_block(kernel, kernel.body, f);
}

fn rewrite_block(kernel: &mut Kernel, block: Block, f: Rewrite<'_>) -> Block {
    let before: Vec<StmtId> = kernel.block(block).collect();
    let mut after = Vec::with_capacity(before.len());
    for &stmt in &before {
        kernel.map_blocks(stmt, &mut |kernel, inner| {
            rewrite_block(kernel, inner, &mut *f)
        });
        f(kernel, stmt, &mut after);
    }
    if after == before {
        block
    } else {
        kernel.push_block(&after)
    }
}

fn holds_barrier(kernel: &Kernel, block: Block) -> bool {
    let mut inner = kernel.stmts_in(kernel.block(block));
    inner.any(|id| kernel.stmt(id).waits_for_block())
}
