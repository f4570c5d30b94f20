//! Random tokens and mutated kernels for sarek's frontend, which must answer each by an expansion or by errors.
//!
//! [`seeds`] are the kernels of this repository, [`mutate`] makes inputs of them, [`input`] is one such input and the format
//! of `fuzz/corpus/frontend`, [`execute`](mod@execute) hands it to the frontend and the writers. [`worker`] does so many times in a process
//! of its own, which [`supervise`] watches for crashes and hangs; [`shrink`] makes what it finds small.
//!
//! An input is known by its number alone, so that a run of millions can be split and its findings made again.

pub mod execute;
pub mod input;
pub mod mutate;
mod random;
pub mod seeds;
pub mod shrink;
pub mod supervise;
pub mod tree;
pub mod worker;
