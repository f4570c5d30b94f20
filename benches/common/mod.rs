//! What the benchmarks share.
//!
//! A benchmark runs pairs: a kernel by sarek, and the same work by hand. Machines drift, so what is
//! stated is the ratio of the two, measured in one run, sample beside sample ([`runner`]). No pair is
//! timed before both sides have computed the same ([`agree`]).

pub mod agree;
pub mod block;
pub mod input;
pub mod kernels;
pub mod runner;
pub mod unchecked;

/// What a benchmark's steps return: they stop at the first error.
pub type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;
