//! Memory for elements of a type.

use sarek_ir::{Scalar, TypeInfo, link};

use crate::plugin::tag::{StorageKind, Tag};

/// Memory for the elements of a vector, see [`super::BackendDevice::alloc_elements`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BufferRequest<'a> {
    /// The size in bytes, never 0; a multiple of that of an element.
    pub bytes: usize,
    /// The type of the elements, with its layout.
    pub element: TypeInfo,
    /// The storage; `None` for the device's own memory.
    pub storage: Option<&'a Tag<StorageKind>>,
}

impl BufferRequest<'_> {
    /// The scalar type that kernels see, and the number of such scalars in an element: the type of
    /// the buffer's [`sarek_ir::write::Slot`].
    pub fn unit(&self) -> (Scalar, u64) {
        link::unit(&self.element)
    }

    /// The number of elements that it has room for.
    pub fn elements(&self) -> usize {
        self.bytes / (self.element.size() as usize).max(1)
    }
}
