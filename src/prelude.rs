//! What a program with kernels imports: `use sarek::prelude::*;`.

pub use sarek_macros::{KernelType, device, kernel, native, superstep};
pub use sarek_runtime::direct::collective::{
    barrier, block_fence, device_fence, shared_array, shared_slice, subgroup_all, subgroup_any,
    subgroup_ballot, subgroup_broadcast, subgroup_exclusive_sum, subgroup_inclusive_sum,
    subgroup_max, subgroup_min, subgroup_product, subgroup_shuffle, subgroup_shuffle_down,
    subgroup_shuffle_up, subgroup_shuffle_xor, subgroup_sum,
};
pub use sarek_runtime::direct::ids::*;
pub use sarek_runtime::direct::view::{View2, View3, ViewMut2, ViewMut3};
pub use sarek_runtime::{Atomic, Device, Float, Int, KernelType, Num, Scalar, Stream, Vector};
