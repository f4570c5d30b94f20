//! The compile error for launches that are run before they have an index space.

use super::Ready;

/// A launch that has an index space.
#[diagnostic::on_unimplemented(
    message = "SRK1102: this launch does not set its number of threads",
    label = "needs an index space before it",
    note = "why: a kernel describes one thread, and its arguments do not determine the number of threads",
    note = "instead: write `.over(n)` before it, or `.grid(blocks).block(threads)`"
)]
pub trait Shaped: Sized {}

impl Shaped for Ready<'_> {}
