//! Definitions of kernels: those that macro expansions make, and those of foreign kernels.

pub(crate) mod foreign;
mod links;
mod native;
mod text;

pub use links::{leaf, links};
pub use native::{NativePrelude, native, no_fallback};
pub use text::Text;

use sarek_ir::link::Links;

use crate::host::{Direct, DirectArg, IndexSpace, RawFault};

/// A kernel's static definition, which `#[kernel]` generates.
#[derive(Clone, Copy)]
pub struct KernelDef {
    /// The kernel's IR, possibly with open links.
    pub ir: &'static sarek_ir::EncodedKernel,
    /// The items of the user's crate that the kernel refers to; each instance of a generic kernel
    /// has its own.
    pub links: fn() -> Links,
    /// For a closed kernel, pairs `(target, text)` with the default variant in each built-in
    /// dialect.
    pub sources: &'static [(&'static str, &'static str)],
    /// The compiled body.
    pub direct: Direct,
    /// The environments that its text needs: `#[kernel(env(…))]`.
    pub environments: &'static [&'static str],
    /// True if launches may be optimized: threads that do not wait for each other may run in any order, because the
    /// kernel was proved free of races, and `#[kernel(optimize = false)]` does not forbid it.
    pub optimize: bool,
}

impl KernelDef {
    /// The definition of a kernel with errors, whose compilation fails anyway.
    #[doc(hidden)]
    pub const BROKEN: KernelDef = KernelDef {
        ir: sarek_ir::EncodedKernel::EMPTY,
        links: Links::default,
        sources: &[],
        direct: Direct {
            run: broken,
            #[cfg(feature = "reference")]
            reference: no_reference,
            cost: 0,
            row_wise: false,
            any_block: false,
            tall: false,
            arrays: 0,
            constants: 0,
        },
        environments: &[],
        optimize: false,
    };
}

/// # Safety
/// No requirement.
unsafe fn broken(
    _: &[DirectArg],
    _: &IndexSpace,
    _: std::ops::Range<u64>,
    _: bool,
) -> Result<(), RawFault> {
    Ok(())
}

/// # Safety
/// No requirement.
#[cfg(feature = "reference")]
unsafe fn no_reference(_: &[DirectArg], _: &IndexSpace) {}
