//! A mutation-based fuzzer for sarek's frontend, which must answer every input with an expansion or with errors, and never panic.
//!
//! 1. [`seeds`] collects the kernels of this repository, and [`mutate`] makes an [`input`] from them: random tokens or a mutated kernel.
//!    An input is also the file format of `fuzz/corpus/frontend`.
//! 2. [`execute`](mod@execute) runs the frontend and the writers on one input. [`worker`] does this many times in another process, which
//!    [`supervise`] watches for crashes and hangs.
//! 3. [`shrink`] reduces a failing input.
//!
//! The number of an input determines it. So millions of inputs can be split among processes, and a finding can be reproduced from its number.

pub mod execute;
pub mod input;
pub mod mutate;
mod random;
pub mod seeds;
pub mod shrink;
pub mod supervise;
pub mod tree;
pub mod worker;
