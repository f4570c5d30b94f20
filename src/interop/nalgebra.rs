//! Vectors, matrices and quaternions of `nalgebra` in kernels.
//!
//! `Vector2` to `Vector4`, `Matrix2` to `Matrix4` and `Quaternion` of numbers are elements of vectors,
//! parameters and fields. Their components, such as `v.x`, `m.m21` and `q.i`, can be read and assigned.
//! The methods of `nalgebra`, such as `a.dot(&b)`, are those of the traits in [`methods`].

// `Matrix4::new` takes all numbers, as that of nalgebra.
#[allow(clippy::too_many_arguments)]
pub mod methods;
