//! The structures of DLPack, and the reasons for which they are refused. Conversions are in [`interop`](crate::interop).

pub mod abi;

use abi::{DLDataType, DLDevice, type_code};

/// The reasons for [`Error::Tensor`](crate::Error::Tensor): why a tensor does not become a vector, or a vector no tensor.
/// The tensor was given back to its producer.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A pointer is null.
    #[error("the pointer of {0} is null")]
    Null(&'static str),
    /// The structure has an unknown layout.
    #[error("version {0}.{1} of DLPack has another layout than version 1")]
    Version(u32, u32),
    /// The memory is that of another device.
    #[error("its memory is on device {} of type {}; copy it to the host first", .0.device_id, .0.device_type)]
    Device(DLDevice),
    /// The elements have another type.
    #[error("its elements are of {}, and the vector's of {}", named(.found), named(.expected))]
    Type {
        /// The vector's type of elements.
        expected: DLDataType,
        /// The tensor's.
        found: DLDataType,
    },
    /// The type of elements has no counterpart in DLPack.
    #[error("DLPack has no type for elements of `{0}`")]
    NoType(&'static str),
    /// The number of dimensions is another one.
    #[error("it has {found} dimensions, not {expected}")]
    Rank {
        /// The wanted number.
        expected: usize,
        /// The tensor's number, which may be negative.
        found: i32,
    },
    /// A shape is not possible, or has another number of elements than the vector.
    #[error("its shape {shape:?} {problem}")]
    Shape {
        /// The shape.
        shape: Vec<i64>,
        /// The problem.
        problem: &'static str,
    },
    /// The elements are not contiguous in row-major order.
    #[error(
        "its strides {strides:?} are not row-major for shape {shape:?}; make it contiguous first"
    )]
    Strides {
        /// The shape.
        shape: Vec<i64>,
        /// The strides, in elements.
        strides: Vec<i64>,
    },
    /// The first element's offset is past the end of the address space.
    #[error("its byte offset {0} leads out of memory")]
    ByteOffset(u64),
    /// The address of the first element is not a multiple of the type's alignment.
    #[error("its first element is at address {address:#x}, which is no multiple of {alignment}")]
    Misaligned {
        /// The address.
        address: usize,
        /// The alignment.
        alignment: usize,
    },
    /// The tensor may not be written.
    #[error("it may not be written")]
    ReadOnly,
}

/// A type's name, such as `float32`.
fn named(of: &DLDataType) -> String {
    let name = match of.code {
        type_code::INT => "int",
        type_code::UINT => "uint",
        type_code::FLOAT => "float",
        type_code::BFLOAT => "bfloat",
        type_code::COMPLEX => "complex",
        type_code::BOOL => "bool",
        other => return format!("type code {other} of {} bits", of.bits),
    };
    match of.lanes {
        1 => format!("{name}{}", of.bits),
        lanes => format!("{lanes} lanes of {name}{}", of.bits),
    }
}
