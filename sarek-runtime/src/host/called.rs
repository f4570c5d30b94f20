//! Kernels that are called in kernels.

use crate::Kernel;

/// What calls find on a kernel's struct, which has none of a function's items: rustc goes on to references of it, and misses this trait on
/// the struct itself.
#[diagnostic::on_unimplemented(
    message = "SRK0701: a kernel is no `#[device]` function\n\
               why: a kernel is launched by the host, for many threads, and no device of ours launches for itself\n\
               instead: move what both do into a `#[device]` function, and call that",
    label = "a kernel"
)]
#[allow(non_upper_case_globals)]
pub trait CalledKernel {
    /// Anything.
    type Any;
    /// What tells the instance.
    const __sarek_infer: Self::Any;
    /// The compiled body.
    const __sarek_body: Self::Any;
    /// The same for all lanes of a block.
    const __sarek_block: Self::Any;
}

#[diagnostic::do_not_recommend]
#[allow(non_upper_case_globals)]
impl<K: Kernel> CalledKernel for &K {
    type Any = ();
    const __sarek_infer: () = ();
    const __sarek_body: () = ();
    const __sarek_block: () = ();
}
