//! Static analyses of a kernel. Each fact is computed by one module, and all users ask that module. Every
//! analysis relies on a validated kernel.
//!
//! | module | result | used by |
//! |---|---|---|
//! | [`requirements`] | the features that a device must have | eligibility |
//! | [`uniformity`] | the values that are the same for all threads of a block | barriers, accesses |
//! | [`spine`] | the statements that decide whether and how often barriers are reached | passes |
//! | [`barriers`] | the barriers that some threads of a block may miss | frontend |
//! | [`contract`] | the conditions that barriers in a function put on its callers | frontend |
//! | [`linear`] | the linear form of an index, and the inequalities of guards | races, ranges, compiled bodies |
//! | [`access`] | the element that a thread accesses, as a linear form of its ids | races |
//! | [`race`] | the races of a kernel, and the preconditions for a launch without races | frontend |
//! | [`regions`] | the statements that a lane can run alone, and the storage of their locals | compiled bodies |
//! | [`exact`] | the operations whose results may differ in bits between devices | frontend |
//! | [`local_uses`] | the locals that a statement declares, reads and writes | other analyses, passes |
//! | [`private`] | the memory that each thread needs for its local arrays | launches |
//! | [`range`] | the checks that cannot fail in one launch | launches |
//! | [`termination`] | the loops that surely end | backends |
//! | [`refute`] | a proof that constraints on two threads have no solution | races |

pub mod access;
pub mod barriers;
pub mod contract;
pub mod exact;
pub mod linear;
pub mod local_uses;
pub mod private;
pub mod race;
pub mod range;
mod refute;
pub mod regions;
pub mod requirements;
pub(crate) mod shape;
pub mod spine;
mod stepped;
pub mod termination;
pub mod uniformity;

#[cfg(test)]
pub(crate) mod random;
