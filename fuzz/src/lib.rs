//! Random well-typed kernels, run on every backend and compared.
//!
//! [`gen`](mod@generate) makes a tree ([`tree`]) that prints as a Rust function, [`case`] adds the launch to it and is the format
//! of `corpus/`, [`items`] links what stands before a kernel without rustc, [`judge`] runs one case on all devices and compares. [`worker`] does so in another process,
//! since a driver's compiler may crash or hang; [`verdict`] is what it tells and [`tally`] what a run has seen; [`shrink`] makes a
//! failing tree small; [`races`] holds the proof of races to the sanitizer; [`batch`] has rustc compile many cases at once, for the compiled body and the user's own
//! function. [`literals`] makes kernels of literals whose types only rustc knows.

pub mod batch;
pub mod case;
pub mod compiler;
pub mod data;
pub mod generate;
pub mod items;
pub mod judge;
mod known;
pub mod literals;
pub mod races;
mod replay;
pub mod shrink;
pub mod tally;
pub mod tree;
pub mod turns;
pub mod verdict;
pub mod worker;
