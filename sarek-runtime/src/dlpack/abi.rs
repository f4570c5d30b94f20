//! The structures of DLPack, as its header `dlpack.h` (version 1) declares them.

use std::ffi::c_void;

/// The number of a kind of device.
pub mod device_type {
    /// Memory of the host.
    pub const CPU: i32 = 1;
    /// Memory of a CUDA device.
    pub const CUDA: i32 = 2;
    /// Page-locked memory of the host, from CUDA.
    pub const CUDA_HOST: i32 = 3;
    /// Memory that CUDA moves between the host and its devices.
    pub const CUDA_MANAGED: i32 = 13;
}

/// The number of a kind of element.
pub mod type_code {
    /// Signed integers.
    pub const INT: u8 = 0;
    /// Unsigned integers.
    pub const UINT: u8 = 1;
    /// Floats.
    pub const FLOAT: u8 = 2;
    /// `bf16`
    pub const BFLOAT: u8 = 4;
    /// Complex numbers of two floats.
    pub const COMPLEX: u8 = 5;
    /// `bool`
    pub const BOOL: u8 = 6;
}

/// The flag of a tensor that may not be written.
pub const READ_ONLY: u64 = 1;

/// The version that this library writes, and the highest major version that it reads.
pub const VERSION: Version = Version { major: 1, minor: 0 };

/// `DLPackVersion`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Version {
    /// Structures of another major version have another layout.
    pub major: u32,
    /// Minor versions add values.
    pub minor: u32,
}

/// `DLDevice`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DLDevice {
    /// The kind, one of [`device_type`].
    pub device_type: i32,
    /// The number among devices of this kind.
    pub device_id: i32,
}

/// `DLDataType`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DLDataType {
    /// The kind, one of [`type_code`].
    pub code: u8,
    /// The bits of an element.
    pub bits: u8,
    /// The elements of a vector type; 1 for numbers.
    pub lanes: u16,
}

/// `DLTensor`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DLTensor {
    /// The memory. It may be null if there are no elements.
    pub data: *mut c_void,
    /// The place of the memory.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// The number of elements along each dimension.
    pub shape: *mut i64,
    /// The distance of neighbours along each dimension, in elements; null for row-major tensors.
    pub strides: *mut i64,
    /// The offset of the first element from `data`.
    pub byte_offset: u64,
}

/// `DLManagedTensor`, of Python capsules named `dltensor`.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// A pointer of the producer's.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// `DLManagedTensorVersioned`, of Python capsules named `dltensor_versioned`.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensorVersioned {
    /// The version of the layout of the following fields, except for the next two.
    pub version: Version,
    /// A pointer of the producer's.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// A set of flags such as [`READ_ONLY`].
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}
