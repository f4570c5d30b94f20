//! Lowers memory: arrays, slices, views, shared arrays and atomics, and the places that are stored to.

pub(super) mod array;
pub(super) mod array_init;
pub(super) mod array_values;
pub(super) mod atomic;
pub(super) mod length;
pub(super) mod place;
pub(super) mod reference;
pub(super) mod shared;
pub(super) mod sub_slice;
pub(super) mod view;
