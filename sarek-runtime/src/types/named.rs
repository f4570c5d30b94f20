//! A test, for rustc, that a name means what a kernel took it for.

/// Is only itself.
#[diagnostic::on_unimplemented(
    message = "SRK0316: `{Self}` is not what kernels know by this name",
    label = "another of that name",
    note = "why: a macro sees names and not what they mean, so that it has rustc check what it took them for",
    note = "instead: rename it, or call what kernels know by its own path, as in `sarek::global_idx_x()` and `f32::min(a, b)`"
)]
pub trait Means<T> {}

impl<T> Means<T> for T {}

/// No type has it: what a function assumes of it holds in that function alone.
pub trait Assumed<T> {}

/// Is the function that a kernel names the one that it knows? Each function has a type of its own.
pub const fn named<K: Copy, N: Copy + Means<K>>(_known: K, _named: N) {}
