//! Strips whose width follows the row: for loops that access memory more than they compute.
//!
//! In `for j in 0..8 { out[(8 * y + j) * width + x] = … }`, each turn runs along a row of memory. The longer the
//! stretch, the better the processor prefetches it. What lanes keep between turns lies in the L1 cache, which
//! costs less than memory does. All lanes of a row run in such strips, however many there are.

use std::collections::HashSet;

use proc_macro2::{Literal, TokenStream};
use sarek_ir::facts::Effect;
use sarek_ir::{Memory, StmtId};

use super::frame::Frame;
use super::{Writer, mixed};

/// The longest strip whose width follows the row.
const MOST: u32 = 1024;

/// The shortest such strip.
pub const LEAST: u32 = 8;

/// The most bytes that a lane of such a strip keeps, in the L1 cache.
const BYTES: usize = 16;

impl Writer<'_> {
    /// True if the width of strips should follow the row: lanes keep little between the loops, and
    /// these access memory more than they compute, so long stretches of rows pay off.
    pub fn is_elastic(&self, frame: &Frame<'_>, loops: &HashSet<StmtId>) -> bool {
        let stores = |stmt: &StmtId| {
            let mut inner = self.kernel.stmts_in([*stmt]);
            inner.any(|id| self.stores_to_slice(id))
        };
        let is_plain = frame.steps.is_empty() && frame.turns.is_empty();
        let is_full = frame.plan.tree.masks == 0;
        let kept = self.bytes_kept(frame.plan);
        let streams = kept == 0 || kept <= BYTES && loops.iter().any(stores);
        is_plain && is_full && streams && self.kernel.block.is_none()
    }

    /// True for a store to an element of a slice.
    pub fn stores_to_slice(&self, stmt: StmtId) -> bool {
        match self.kernel.stmt(stmt).facts().effect {
            Effect::Store(memory) => matches!(memory, Memory::Slice(_)),
            Effect::None
            | Effect::Atomic(..)
            | Effect::Place(_)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Barrier
            | Effect::Subgroup(..)
            | Effect::Call(_)
            | Effect::Native(_) => false,
        }
    }
}

/// The loop over strips whose width follows the row: as many lanes as possible for which `inside`
/// holds. `code` runs the first `__count` lanes of a strip.
pub fn elastic(inside: Option<&TokenStream>, code: &TokenStream) -> TokenStream {
    let [most, least] = [MOST, LEAST].map(Literal::u32_unsuffixed);
    let shorten = inside.map(|test| {
        mixed! {
            while __count >= #least && !#test { __count /= 2; }
        }
    });
    mixed! {
        while !__CHECK && __lanes[0] - __first >= #least {
            const __STRIP: __usize = #most;
            let mut __count = ::core::cmp::Ord::min(__lanes[0] - __first, __STRIP);
            #shorten
            if __count < #least { break; }
            let __count = __count;
            let __thread = [__first, __y, __z];
            let __lane = __row + __first;
            #code
            __first += __count;
        }
    }
}
