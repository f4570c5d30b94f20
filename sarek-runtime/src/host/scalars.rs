//! The scalar types, under names that compiled bodies use, so that no item of the user shadows
//! them.

pub use ::core::primitive::{
    bool as __bool, f32 as __f32, f64 as __f64, i8 as __i8, i16 as __i16, i32 as __i32,
    i64 as __i64, u8 as __u8, u16 as __u16, u32 as __u32, u64 as __u64, usize as __usize,
};
pub use half::{bf16 as __bf16, f16 as __f16};
