//! The compile error for launches that are run before they have an index space.

use super::Ready;

/// A launch that has an index space.
#[diagnostic::on_unimplemented(
    message = "SRK1102: this launch does not say yet how many threads it runs",
    label = "needs an index space before it",
    note = "why: a kernel says what one thread does, and nothing in its arguments tells how many there are",
    note = "instead: write `.over(n)` before it, or `.grid(blocks).block(threads)`"
)]
pub trait Shaped: Sized {}

impl Shaped for Ready<'_> {}
