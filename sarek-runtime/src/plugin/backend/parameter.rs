//! The parameters of foreign kernels, as backends get them.

use std::any::TypeId;

use sarek_ir::Scalar;

/// A parameter of an entry point.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// The name, for messages and in WGSL.
    pub name: String,
    /// The kind of parameter.
    pub kind: Passed,
}

/// The way an argument is passed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Passed {
    /// By value.
    Scalar(Scalar),
    /// As memory of elements.
    Vector {
        /// The scalar type of which elements consist.
        unit: Scalar,
        /// The size of an element in bytes.
        size: usize,
        /// True if the text may write it.
        mutable: bool,
        /// The element's type in Rust, for messages.
        element: &'static str,
        /// The element's type, for comparisons.
        id: TypeId,
    },
}
