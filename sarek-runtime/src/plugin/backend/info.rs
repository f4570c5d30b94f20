//! The description that a device gives of itself.

use sarek_ir::Scalar;
use serde::{Deserialize, Serialize};

use crate::Element;
use crate::plugin::tag::{DeviceKind, Tag};

/// The properties and limits of a device. It is serde data, in which a missing field has its
/// default.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceInfo {
    /// The driver's name for the device.
    pub name: String,
    /// The kind of device: one of the framework's, or one that the backend has added.
    pub kind: Tag<DeviceKind>,
    /// Replaces the backend's priority if it is lower, for example for a software device.
    pub priority: Option<i32>,
    /// True if kernels access host memory directly: vectors need no copy on this device.
    pub host_memory: bool,
    /// The features that kernels may require.
    pub features: Features,
    /// The largest block along each axis, in threads.
    pub max_block: [u32; 3],
    /// The most threads in a block.
    pub max_block_threads: u32,
    /// The largest grid along each axis, in blocks; larger grids are folded.
    pub max_grid: [u32; 3],
    /// The most shared memory of a block, in bytes.
    pub max_shared: u64,
    /// The most memory for the local arrays of a thread, in bytes.
    pub max_private: u64,
    /// The most memory for the local arrays of all threads of a block, in bytes.
    pub max_private_block: u64,
    /// The largest buffer in bytes.
    pub max_buffer: u64,
    /// The most buffers of a kernel.
    pub max_buffers: u32,
    /// The number of threads that run in lockstep, 1 if unknown. Automatic block sizes are
    /// multiples of it.
    pub warp: u32,
    /// The number of threads of each subgroup but the last one of a block, in the order of their numbers, x running fastest.
    /// 0 if there are no subgroups, or if their size may differ.
    pub subgroup: u32,
    /// The number of processors that run blocks at the same time, 0 if unknown.
    pub compute_units: u32,
    /// The device memory in bytes, 0 if unknown.
    pub memory: u64,
    /// True if host and device share their memory.
    pub unified: bool,
    /// The offset in bytes of a bound part of a buffer must be a multiple of this.
    pub alignment: usize,
    /// True if several parts of one buffer may be arguments of a launch at no cost, even if some
    /// are written. Small buffers are then parts of larger ones.
    pub slabs: bool,
    /// True if the device's texts have no 8- and 16-bit elements, but words of 32 bits. Such elements
    /// share words in buffers, which texts in `native!` cannot name. In shared and local arrays,
    /// each takes a word.
    pub words: bool,
}

impl DeviceInfo {
    /// True if kernels may compute with this type, and buffers may have elements of it. Launches ask before anything is rendered.
    pub fn supports(&self, scalar: Scalar) -> bool {
        let has = self.features;
        match scalar {
            Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::Usize => true,
            Scalar::Bool | Scalar::I8 | Scalar::U8 => has.storage8,
            Scalar::I16 | Scalar::U16 | Scalar::Bf16 => has.storage16,
            Scalar::F16 => has.f16,
            Scalar::I64 | Scalar::U64 => has.i64,
            Scalar::F64 => has.f64,
        }
    }

    /// The size in bytes of the smallest element of a shared or local array.
    pub(crate) fn least_element(&self) -> u64 {
        match self.features.storage8 && !self.words {
            true => 1,
            false => 4,
        }
    }

    /// The same for all parts of a type.
    pub fn supports_type<T: Element>(&self) -> bool {
        let mut parts = sarek_ir::leaves(&T::TYPE).into_iter();
        parts.all(|part| self.supports(part.scalar))
    }
}

/// Describes a nameless device with 32-bit arithmetic and no limits; for `..DeviceInfo::default()`.
impl Default for DeviceInfo {
    fn default() -> DeviceInfo {
        DeviceInfo {
            name: String::new(),
            kind: DeviceKind::software(),
            priority: None,
            host_memory: false,
            features: Features::default(),
            max_block: [u32::MAX; 3],
            max_block_threads: u32::MAX,
            max_grid: [u32::MAX; 3],
            max_shared: 1 << 30,
            max_private: u64::MAX,
            max_private_block: u64::MAX,
            max_buffer: isize::MAX as u64,
            max_buffers: u32::MAX,
            warp: 1,
            subgroup: 0,
            compute_units: 0,
            memory: 0,
            unified: false,
            alignment: 256,
            slabs: false,
            words: false,
        }
    }
}

/// The features that kernels may require beyond 32-bit arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    /// `f64` arithmetic and buffers.
    pub f64: bool,
    /// Elementary functions on `f64` (`exp`, `sin`, …; not `sqrt`).
    pub f64_math: bool,
    /// 64-bit integers.
    pub i64: bool,
    /// Buffers of 8-bit elements (`bool`, `i8`, `u8`).
    pub storage8: bool,
    /// Buffers of 16-bit elements (`i16`, `u16`, `bf16`).
    pub storage16: bool,
    /// Buffers and shared arrays of `f16`.
    pub f16: bool,
    /// Atomic operations on 64-bit elements.
    pub atomics64: bool,
    /// Subgroups and their operations.
    pub subgroups: bool,
    /// Subgroups in blocks of several dimensions.
    pub shaped_subgroups: bool,
    /// Memory fences without a barrier.
    pub fences: bool,
    /// The renderer supports [`Variant::strided`](sarek_ir::write::Variant::strided), so that the
    /// device runs the schedules `grid_stride` and `single_thread`. Devices that compile nothing
    /// run these in any case.
    pub strided: bool,
    /// Floats that follow IEEE 754 to the bit, as `#[kernel(strict)]` requires: `+ - * /`, `sqrt`
    /// and `mul_add` are rounded to nearest, operations are never fused, and subnormal numbers are
    /// kept.
    pub strict: bool,
}
