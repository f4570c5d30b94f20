//! The reference interpreter: [`Machine`] runs whole blocks of threads, with the results of operators
//! that [`crate::operators`] defines.

mod block;
mod collective;
mod host;
mod lane;
mod launch;
mod sanitize;
mod thread;

#[cfg(test)]
pub(crate) use block::cases;
pub use block::{Machine, Stop};
pub use collective::{Brought, atomic, subgroup};
pub use host::{Fault, Host, Like};

pub use crate::nodes::{Ids, SUBGROUP};
pub use sanitize::{Deed, Finding, LocalUse, Sanitize, Spot};
