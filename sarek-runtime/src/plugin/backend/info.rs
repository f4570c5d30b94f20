//! What a device says of itself.

use serde::{Deserialize, Serialize};

use crate::plugin::tag::{DeviceKind, Tag};

/// What a device is and can do: serde data, in which a field that is not there has its default.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceInfo {
    /// The driver's name of it.
    pub name: String,
    /// What sort of device it is: one of the framework's, or one that the backend has added.
    pub kind: Tag<DeviceKind>,
    /// Overrides the backend's priority, for example for a software device.
    pub priority: Option<i32>,
    /// Kernels use host memory as it is: vectors need no copy on this device.
    pub host_memory: bool,
    /// What kernels may require of it.
    pub features: Features,
    /// Largest block along each axis.
    pub max_block: [u32; 3],
    /// Most threads in a block.
    pub max_block_threads: u32,
    /// Largest grid along each axis; larger ones are folded.
    pub max_grid: [u32; 3],
    /// Most bytes of shared memory of one block.
    pub max_shared: u64,
    /// Most bytes of the local arrays of one thread.
    pub max_private: u64,
    /// Most bytes of the local arrays of all threads of one block.
    pub max_private_block: u64,
    /// Most bytes of one buffer.
    pub max_buffer: u64,
    /// Most buffers of one kernel.
    pub max_buffers: u32,
    /// Threads that run in lockstep, 1 if unknown; block sizes are multiples of it.
    pub warp: u32,
    /// Processors that run blocks at the same time, 0 if unknown.
    pub compute_units: u32,
    /// Bytes of device memory, 0 if unknown.
    pub memory: u64,
    /// Do host and device share their memory?
    pub unified: bool,
    /// Offsets at which a part of a buffer may be bound are multiples of so many bytes.
    pub alignment: usize,
    /// May several parts of one buffer be arguments of a launch, some of them written, at no cost? Then small
    /// buffers are parts of larger ones.
    pub slabs: bool,
}

/// A device of 32-bit arithmetic without a name, which runs anything of any size; for `..DeviceInfo::default()`.
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
            compute_units: 0,
            memory: 0,
            unified: false,
            alignment: 256,
            slabs: false,
        }
    }
}

/// What kernels may require of a device beyond 32-bit arithmetic.
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
    /// The same in blocks of several dimensions.
    pub shaped_subgroups: bool,
    /// Fences without a barrier.
    pub fences: bool,
    /// Its renderer writes [`Variant::strided`](sarek_ir::write::Variant::strided), so that it runs the schedules `grid_stride` and `single_thread`. Devices that
    /// compile nothing run them anyway.
    pub strided: bool,
    /// Floats to the bit as IEEE 754 says, which `#[kernel(strict)]` asks for: `+ - * /`, `sqrt` and `mul_add` rounded to
    /// the nearest, none of them joined with another, subnormal numbers kept.
    pub strict: bool,
}
