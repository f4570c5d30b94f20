//! Failures of devices that are known and not ours.

use sarek::Device;
use sarek::ir::{Kernel, Stmt, StmtId};

use crate::case::{Launch, Shape};

/// Kernels of more barriers are not given to PoCL 3.1, which was still compiling one of 41 after the five minutes that a kernel has.
const MOST_BARRIERS: usize = 24;

/// A known failure that is not ours: llvmpipe leaves out threads of the last eight of a block that are fewer, if a barrier stands in a loop:
/// `for _ in 0..(3.pow(83 << r0[0]) & 3) { barrier(); } out[i] = 0;` in blocks of 15 or 255. PoCL's compiler ends late where there are
/// many barriers.
pub(crate) fn is_mistaken(device: &Device, kernel: &Kernel, launch: &Launch) -> bool {
    let name = &device.info().name;
    let is_barrier = |stmt: &Stmt| *stmt == Stmt::Barrier;
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
