//! The imports of a program with kernels: `use sarek::prelude::*;`.

pub use half::{bf16, f16};
pub use sarek_macros::{KernelType, device, kernel, kernel_test, native, superstep};
pub use sarek_runtime::host::collective::{
    barrier, block_fence, device_fence, shared_array, shared_slice, subgroup_all, subgroup_any,
    subgroup_ballot, subgroup_broadcast, subgroup_exclusive_sum, subgroup_inclusive_sum,
    subgroup_max, subgroup_min, subgroup_product, subgroup_shuffle, subgroup_shuffle_down,
    subgroup_shuffle_up, subgroup_shuffle_xor, subgroup_sum,
};
pub use sarek_runtime::host::ids::*;
pub use sarek_runtime::host::view::{View2, View3, ViewMut2, ViewMut3};
pub use sarek_runtime::{Atomic, Device, Float, Int, KernelType, Num, Scalar, Stream, Vector};
pub use sarek_runtime::{
    Swizzle2 as _, Swizzle3 as _, Swizzle4 as _, f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2,
    i32x3, i32x4, u32x2, u32x3, u32x4,
};
