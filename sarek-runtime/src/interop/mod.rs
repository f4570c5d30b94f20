//! Conversions between vectors and the types of other libraries, one module for each library.
//!
//! A module is behind the feature of its name. Memory is shared where both sides have the same
//! layout; the documentation of a function says when it copies instead.

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "bytemuck")]
pub mod bytemuck;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(any(
    feature = "glam",
    feature = "mint",
    feature = "nalgebra",
    feature = "num-complex"
))]
mod elements;
#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "mint")]
mod mint;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "num-complex")]
mod num_complex;
#[cfg(feature = "rayon")]
mod rayon;
#[cfg(feature = "serde")]
mod serde;
