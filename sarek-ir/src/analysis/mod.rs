//! What can be known about a kernel without running it. Each analysis lives here once, and
//! everyone asks it; all of them trust a validated kernel.
//!
//! | module | question | asked by |
//! |---|---|---|
//! | [`requirements`] | what must a device have? | eligibility |
//! | [`uniformity`] | which values are the same for all threads of a block? | barriers, accesses |
//! | [`spine`] | what decides whether and how often barriers are come to? | passes |
//! | [`barriers`] | do all threads of a block come to each barrier? | frontend |
//! | [`contract`] | what must the callers of a function see to, for barriers in it? | frontend |
//! | [`access`] | which element does a thread touch, as a formula of its ids? | races |
//! | [`race`] | can two threads collide, and what must a launch satisfy lest they do? | frontend |
//! | [`regions`] | which statements can a lane run alone, and where do its locals live? | compiled bodies |
//! | [`exact`] | what is not the same to the bit on every device? | frontend |
//! | [`private`] | how much memory does each thread need for its arrays? | launches |
//! | [`range`] | which checks cannot fail in this launch? | launches |

pub mod access;
pub mod barriers;
pub mod contract;
pub mod exact;
pub mod local_uses;
pub mod private;
pub mod race;
pub mod range;
pub mod regions;
pub mod requirements;
mod shape;
pub mod spine;
pub mod uniformity;

#[cfg(test)]
pub(crate) mod random;
