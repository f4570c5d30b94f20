//! Known driver bugs, for which a device is left out of the comparison.

use sarek::Device;
use sarek::ir::{Kernel, Stmt};

use crate::case::{Launch, Shape};

/// The maximum number of barriers in a kernel for PoCL 3.1. It did not compile a kernel with 41 barriers within the five minutes of
/// [`DEVICE_TIMEOUT`](crate::worker::DEVICE_TIMEOUT).
const MOST_BARRIERS: usize = 24;

/// True if a known driver bug affects this launch.
///
/// - llvmpipe runs a block in groups of eight threads. If a barrier is in a loop, it skips threads of an incomplete last group:
///   `for _ in 0..(3.pow(83 << r0[0]) & 3) { barrier(); } out[i] = 0;` in blocks of 15 or 255.
/// - PoCL's compiler takes very long for kernels with many barriers ([`MOST_BARRIERS`]).
pub(crate) fn has_known_bug(device: &Device, kernel: &Kernel, launch: &Launch) -> bool {
    let name = &device.info().name;
    let is_barrier = |stmt: &Stmt| *stmt == Stmt::Barrier;
    if name.contains("llvmpipe") {
        let ragged = match launch.shape {
            Shape::Grid(_, block) => !block.iter().product::<usize>().is_multiple_of(8),
            Shape::Over(_) => false,
        };
        let mut stmts = kernel.stmts.iter().copied();
        return ragged
            && stmts.any(|stmt| {
                matches!(stmt, Stmt::Loop { .. } | Stmt::For { .. })
                    && holds(kernel, stmt, &|stmt| is_barrier(&stmt))
            });
    }
    let is_pocl = name.starts_with("pthread") || name.starts_with("cpu");
    is_pocl && kernel.stmts.iter().filter(|stmt| is_barrier(stmt)).count() > MOST_BARRIERS
}

/// True if the predicate holds for a statement or for one nested in it.
fn holds(kernel: &Kernel, stmt: Stmt, is: &impl Fn(Stmt) -> bool) -> bool {
    let inner = kernel.children(stmt).1.into_iter();
    let mut stmts = inner.flat_map(|b| kernel.block(b).collect::<Vec<_>>());
    is(stmt) || stmts.any(|id| holds(kernel, kernel.stmt(id), is))
}
