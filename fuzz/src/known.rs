//! Known driver bugs, for which a device is left out of the comparison.

use sarek::Device;
use sarek_ir::analysis::termination;
use sarek_ir::{Kernel, Stmt, StmtId};

use crate::case::{Launch, Shape};

/// The maximum number of barriers in a kernel for PoCL 3.1. It did not compile a kernel with 41 barriers within the five minutes of
/// [`DEVICE_TIMEOUT`](crate::worker::DEVICE_TIMEOUT).
const MOST_BARRIERS: usize = 24;

/// The maximum number of loops in which the block of a kernel with barriers may vote, for PoCL 3.1. Each multiplied the time of its
/// compiler by three or four: 25 s for 4 loops, more than five minutes for 8.
const MOST_VOTES: usize = 4;

/// True if a known driver bug affects this launch.
///
/// - llvmpipe runs a block in groups of eight threads. If a barrier is in a loop, it skips threads of an incomplete last group:
///   `for _ in 0..(3.pow(83 << r0[0]) & 3) { barrier(); } out[i] = 0;` in blocks of 15 or 255.
/// - PoCL's compiler takes very long for kernels with many barriers ([`MOST_BARRIERS`]), or with several in loops ([`MOST_VOTES`]).
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
    let barriers = kernel.stmts.iter().filter(|stmt| is_barrier(stmt)).count();
    let votes = || {
        let stmts = (0..kernel.stmts.len() as u32).map(StmtId);
        stmts.filter(|id| !termination::ends(kernel, *id)).count()
    };
    is_pocl && (barriers > MOST_BARRIERS || barriers > 0 && votes() > MOST_VOTES)
}
