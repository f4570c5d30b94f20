use sarek_ir::{Scalar, Value};

use crate::direct::{Direct, Reference};

/// A type that stands in vectors.
///
/// # Safety
/// Its layout is that of [`Element::SCALAR`] in Rust, it has no padding, and it owns nothing.
pub unsafe trait Element: Copy + Default + Send + Sync + 'static {
    /// The kernel language's name of the type.
    const SCALAR: Scalar;
}

/// A type that is passed to a kernel by value.
pub trait ScalarArg: Copy + 'static {
    /// The value as the kernel sees it.
    fn value(self) -> Value;
}

/// A kernel's static definition, as `#[kernel]` writes it.
#[derive(Clone, Copy)]
pub struct KernelDef {
    /// The kernel, perhaps with links open.
    pub ir: &'static sarek_ir::Kernel,
    /// The values of [`sarek_ir::Kernel::links`].
    pub links: &'static [Value],
    /// For a closed kernel, `(target, text)` of the default variant of each built-in dialect.
    pub sources: &'static [(&'static str, &'static str)],
    /// The compiled body.
    pub direct: Direct,
    /// The function as the user wrote it, thread by thread.
    pub reference: Option<Reference>,
}

/// What `#[kernel]` implements for the struct that it puts beside the function.
pub trait Kernel {
    /// The definition.
    const DEF: KernelDef;
}
