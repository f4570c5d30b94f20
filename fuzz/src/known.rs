//! Failures of devices that are known and not ours.

use sarek::Device;
use sarek::ir::{Kernel, Stmt};

use crate::case::{Launch, Shape};

/// A known failure that is not ours: llvmpipe leaves out threads of the last eight of a block that are fewer, if a barrier stands in a loop:
/// `for _ in 0..(3.pow(83 << r0[0]) & 3) { barrier(); } out[i] = 0;` in blocks of 15 or 255.
pub(crate) fn is_mistaken(device: &Device, kernel: &Kernel, launch: &Launch) -> bool {
    let ragged = match launch.shape {
        Shape::Grid(_, block) => !block.iter().product::<usize>().is_multiple_of(8),
        Shape::Over(_) => false,
    };
    let mut stmts = kernel.stmts.iter().copied();
    device.info().name.contains("llvmpipe")
        && ragged
        && stmts.any(|stmt| {
            matches!(stmt, Stmt::Loop { .. } | Stmt::For { .. })
                && holds(kernel, stmt, &|stmt| stmt == Stmt::Barrier)
        })
}

/// Is a statement, or one inside of it, such a one?
fn holds(kernel: &Kernel, stmt: Stmt, is: &impl Fn(Stmt) -> bool) -> bool {
    let inner = kernel.parts(stmt).1.into_iter();
    let mut stmts = inner.flat_map(|b| kernel.block(b).collect::<Vec<_>>());
    is(stmt) || stmts.any(|id| holds(kernel, kernel.stmt(id), is))
}
