//! Calls of kernels in kernels, which are an error.

use super::Kernel;

/// Supplies the items that a call looks up on a kernel's struct, which has no function's items.
/// rustc finds this trait on references to the struct, and then reports that the struct itself does
/// not implement it.
#[diagnostic::on_unimplemented(
    message = "SRK0701: a kernel is not a `#[device]` function\n\
               why: the host launches a kernel for many threads, and a kernel cannot launch another\n\
               instead: move the common code into a `#[device]` function, and call that",
    label = "a kernel"
)]
#[allow(non_upper_case_globals)]
pub trait CalledKernel {
    /// A placeholder type.
    type Any;
    /// The item that determines the instance.
    const __sarek_infer: Self::Any;
    /// The compiled body.
    const __sarek_body: Self::Any;
    /// The compiled body for all lanes of a block.
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
