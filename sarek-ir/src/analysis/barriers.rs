//! Checks that all threads of a block arrive at each barrier together.
//!
//! A barrier is legal if all threads of the block that have not returned reach it in the same iterations. So a
//! `return` that some threads take before the barrier is harmless. A condition or loop around the barrier that
//! differs between threads is an error. So is a `break` or `continue` past the barrier that only some threads
//! take. [`Uniformity`] tells which conditions differ.
//!
//! In a function, threads that return continue in the caller, where they may reach another barrier. So a
//! `return` that only some threads take before a barrier is an error there, too. [`super::contract`] computes
//! the conditions on callers.
//!
//! Subgroup operations are legal anywhere: the threads that reach them take part.

use super::uniformity::{Among, Apart, Uniformity};
use crate::{Kernel, StmtId};

/// A barrier that some threads may miss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The barrier.
    pub barrier: StmtId,
    /// The reason why threads are apart before it.
    pub why: Apart,
}

/// Checks the barriers of a kernel, or of a function that gets the same arguments in all threads of a block.
///
/// # Errors
/// All barriers that some threads may miss, in source order.
pub fn check(kernel: &Kernel, is_function: bool) -> Result<(), Vec<Divergence>> {
    let among = Among {
        function: is_function,
        ..Among::default()
    };
    let uniformity = Uniformity::among(kernel, &among);
    let mut found = vec![];
    for barrier in kernel.stmts_in(kernel.block(kernel.body)) {
        if kernel.stmt(barrier).waits_for_block()
            && let Some(why) = uniformity.apart(barrier)
        {
            found.push(Divergence { barrier, why });
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

#[cfg(test)]
mod tests;
