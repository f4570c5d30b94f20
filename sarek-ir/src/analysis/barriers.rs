//! Do barriers stand where the threads of a block arrive together?
//!
//! A barrier is legal if all threads of the block that have not returned come to it in the same iterations. So a
//! `return` that some threads take before it is no matter; a condition or a loop around it that differs between
//! threads is an error, and so is a `break` or `continue` across it that only some threads take. What differs
//! is the answer of [`Uniformity`].
//!
//! In a function, threads that return go on in its caller, where they may come to another barrier: there a `return` that
//! only some take before a barrier is an error, too. What it takes to be legal that its caller decides, is asked by
//! [`super::contract`].
//!
//! Subgroup operations may stand anywhere: the threads that are there take part.

use super::uniformity::{Among, Apart, Uniformity};
use crate::{Block, Kernel, Stmt, StmtId};

/// A barrier that some threads may miss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The barrier.
    pub barrier: StmtId,
    /// What parts the threads before it.
    pub why: Apart,
}

/// Checks the barriers of a kernel, or of a function whose callers give all threads of a block the same arguments.
///
/// # Errors
/// Every barrier that some threads may miss, in the order of the source.
pub fn check(kernel: &Kernel, is_function: bool) -> Result<(), Vec<Divergence>> {
    let among = Among {
        function: is_function,
        ..Among::default()
    };
    let uniformity = Uniformity::among(kernel, &among);
    let mut found = vec![];
    block(kernel, kernel.body, &mut |barrier| {
        if let Some(why) = uniformity.apart(barrier) {
            found.push(Divergence { barrier, why });
        }
    });
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Calls `f` for every barrier.
fn block(kernel: &Kernel, of: Block, f: &mut impl FnMut(StmtId)) {
    for id in kernel.block(of) {
        let stmt = kernel.stmt(id);
        if stmt == Stmt::Barrier {
            f(id);
        }
        for inner in kernel.children(stmt).1 {
            block(kernel, inner, f);
        }
    }
}

#[cfg(test)]
mod tests;
