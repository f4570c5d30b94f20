//! Shared code of the benchmarks.
//!
//! A benchmark runs pairs: a kernel by sarek, and the same work by hand. The speed of a machine drifts, so the result is
//! the ratio of both times, from alternating samples in one run ([`runner`]). A pair is timed only after both sides
//! gave the same results ([`agree`]).

pub mod agree;
pub mod block;
pub mod input;
pub mod kernels;
pub mod runner;
pub mod unchecked;

/// The result of a benchmark's steps, which stop at the first error.
pub type Fallible<T = ()> = Result<T, Box<dyn std::error::Error>>;
