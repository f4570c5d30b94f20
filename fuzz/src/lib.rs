//! Differential testing: generates random well-typed kernels, runs each on every backend and compares the results.
//!
//! 1. [`generate`](mod@generate) turns a seed into a [`tree`] that prints as a Rust function. [`literals`] generates kernels of unsuffixed
//!    literals, whose types only rustc can infer.
//! 2. [`case`] adds the launch; it is also the file format of `corpus/`. [`items`] links a kernel with its types and functions, without rustc.
//! 3. [`judge`] runs one case on all devices and compares each with the oracle. [`worker`] does this in another process, since a driver's
//!    compiler may crash or hang. [`batch`] compiles many cases with rustc at once, to test the compiled bodies too.
//! 4. [`verdict`] is the result for one case, and [`tally`] counts the results of a run. [`shrink`] reduces a failing kernel.
//!
//! [`races`] and [`forms`] test the proof of race freedom against the [`sanitizer`]: on functions, and on usual forms of indices.

pub mod batch;
pub mod case;
pub mod compiler;
pub mod data;
pub mod forms;
pub mod generate;
pub mod items;
pub mod judge;
mod known;
pub mod literals;
pub mod phases;
pub mod races;
mod replay;
pub mod sanitizer;
pub mod shrink;
pub mod tally;
pub mod tree;
pub mod verdict;
pub mod worker;
