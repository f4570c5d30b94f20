//! Failures of devices that are known and not ours.

use sarek::Device;
use sarek::ir::{Kernel, Stmt};

use crate::case::{Launch, Shape};

/// A known failure that is not ours: PoCL 3.1 gives wrong results for some kernels with a barrier in a branch, such as
/// `if varying { return; } if uniform { barrier(); while v < 3 { v += 1; } } out[i] = 1;` in blocks of 64, and for some
/// with a barrier behind a branch that jumps: `if varying { for … { if c { break; } } } else { out[i] = 1; } barrier();`.
///
/// Another one is llvmpipe's, which leaves out threads of the last eight of a block that are fewer, if a barrier stands in a loop:
/// `for _ in 0..(3.pow(83 << r0[0]) & 3) { barrier(); } out[i] = 0;` in blocks of 15 or 255.
pub(crate) fn is_mistaken(device: &Device, kernel: &Kernel, launch: &Launch) -> bool {
    let name = &device.info().name;
    if name.contains("llvmpipe") {
        let ragged = match launch.shape {
            Shape::Grid(_, block) => !block.iter().product::<usize>().is_multiple_of(8),
            Shape::Over(_) => false,
        };
        let mut stmts = kernel.stmts.iter().copied();
        return ragged
            && stmts.any(|stmt| {
                matches!(stmt, Stmt::Loop { .. } | Stmt::For { .. })
                    && holds(kernel, stmt, &|stmt| stmt == Stmt::Barrier)
            });
    }
    let is_pocl = name.starts_with("pthread") || name.starts_with("cpu");
    let is_barrier = |stmt| stmt == Stmt::Barrier;
    let is_jump = |stmt| {
        matches!(
            stmt,
            Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return
        )
    };
    let mut branches = kernel.stmts.iter().copied();
    device.backend() == "opencl"
        && is_pocl
        && kernel.stmts.contains(&Stmt::Barrier)
        && branches.any(|stmt| {
            matches!(stmt, Stmt::If { .. })
                && (holds(kernel, stmt, &is_barrier) || holds(kernel, stmt, &is_jump))
        })
}

/// Is a statement, or one inside of it, such a one?
fn holds(kernel: &Kernel, stmt: Stmt, is: &impl Fn(Stmt) -> bool) -> bool {
    let inner = kernel.parts(stmt).1.into_iter();
    let mut stmts = inner.flat_map(|b| kernel.block(b).collect::<Vec<_>>());
    is(stmt) || stmts.any(|id| holds(kernel, kernel.stmt(id), is))
}
