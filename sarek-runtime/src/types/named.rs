//! Compile-time checks that a name in a kernel means what the macro assumed.

/// Implemented for `Self = T` alone, so the bound `N: Means<K>` requires equal types.
#[diagnostic::on_unimplemented(
    message = "SRK0316: `{Self}` is not the item that kernels know by this name",
    label = "another of that name",
    note = "why: a macro sees only names, so rustc checks that they have the assumed meaning",
    note = "instead: rename it, or call the known item by its own path, as in `sarek::global_idx_x()` and `f32::min(a, b)`"
)]
pub trait Means<T> {}

impl<T> Means<T> for T {}

/// A trait that no type implements. A function may assume it in its own bounds alone.
pub trait Assumed<T> {}

/// Checks that the function named in a kernel is the known one. It works because each function has
/// its own type.
pub const fn named<K: Copy, N: Copy + Means<K>>(_known: K, _named: N) {}
