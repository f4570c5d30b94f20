//! Known driver bugs, for which a device is left out of the comparison.

use sarek::Device;
use sarek_ir::{Kernel, Stmt, StmtId};

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
    let is_barrier = |stmt: &Stmt| stmt.waits_for_block();
    if name.contains("llvmpipe") {
        let ragged = match launch.shape {
            Shape::Grid(_, block) => !block.iter().product::<usize>().is_multiple_of(8),
            Shape::Over(_) => false,
        };
        let is_loop = |id: &StmtId| kernel.stmt(*id).loop_label().is_some();
        let loops = (0..kernel.stmts.len() as u32).map(StmtId).filter(is_loop);
        return ragged
            && kernel
                .stmts_in(loops)
                .any(|id| is_barrier(&kernel.stmt(id)));
    }
    let is_pocl = name.starts_with("pthread") || name.starts_with("cpu");
    is_pocl && kernel.stmts.iter().filter(|stmt| is_barrier(stmt)).count() > MOST_BARRIERS
}
