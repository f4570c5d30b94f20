//! Kernel to source text: one writer, and a dialect for each target.

mod variant;

pub use variant::{FAULT_WORDS, IndexWidth, Slot, SlotKind, Source, Variant};
