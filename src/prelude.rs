//! The imports of a program with kernels: `use sarek::prelude::*;`.

#[doc(no_inline)]
pub use crate::{
    Atomic, Device, Float, Int, KernelType, Num, Scalar, Stream, Vector, View2, View3, ViewMut2,
    ViewMut3,
};
#[doc(no_inline)]
pub use crate::{
    Swizzle2 as _, Swizzle3 as _, Swizzle4 as _, bf16, f16, f32x2, f32x3, f32x4, f64x2, f64x3,
    f64x4, i32x2, i32x3, i32x4, u32x2, u32x3, u32x4,
};
#[doc(no_inline)]
pub use crate::{
    barrier, block_fence, device_fence, shared_array, shared_slice, subgroup_all, subgroup_any,
    subgroup_ballot, subgroup_broadcast, subgroup_exclusive_sum, subgroup_inclusive_sum,
    subgroup_lane, subgroup_max, subgroup_min, subgroup_product, subgroup_shuffle,
    subgroup_shuffle_down, subgroup_shuffle_up, subgroup_shuffle_xor, subgroup_size, subgroup_sum,
};
#[doc(no_inline)]
pub use crate::{
    block_dim_x, block_dim_y, block_dim_z, block_idx_x, block_idx_y, block_idx_z, global_dim_x,
    global_dim_y, global_dim_z, global_idx_x, global_idx_y, global_idx_z, global_thread_id,
    grid_dim_x, grid_dim_y, grid_dim_z, item_id, thread_idx_x, thread_idx_y, thread_idx_z,
};
#[doc(no_inline)]
pub use crate::{device, kernel, kernel_test, native, superstep};
