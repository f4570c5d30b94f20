//! Copies between two devices.
//!
//! Where the machine joins them (NVLink, or PCIe that lets them), one device reads the other's memory, once it is allowed to; else the
//! driver goes through the host. Both are `cuMemcpyPeerAsync`, in the order of a stream.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{
    CUdeviceptr, CUresult, CUstream, cuCtxEnablePeerAccess, cuDeviceCanAccessPeer,
    cuMemcpyPeerAsync,
};

use super::device::Shared;
use crate::jit::lock;

/// Copies `len` bytes of another device on a stream of this one, whose context is current.
///
/// # Safety
/// Both ranges are memory of their devices.
pub(super) unsafe fn copy(
    (shared, to): (&Shared, CUdeviceptr),
    (owner, from): (&Shared, CUdeviceptr),
    len: usize,
    stream: CUstream,
) -> Result<(), DriverError> {
    allow(shared, owner);
    // SAFETY: the caller's promise; the stream is live, and the contexts are kept to the end of the process.
    unsafe { cuMemcpyPeerAsync(to, shared.context, from, owner.context, len, stream) }.result()
}

/// Lets a device, whose context is current, reach the memory of another, if the machine can and nobody has asked before.
fn allow(shared: &Shared, owner: &Shared) {
    let mut asked = lock(&shared.peers);
    if asked.contains(&owner.device) {
        return;
    }
    asked.push(owner.device);
    let mut can = 0;
    // SAFETY: both are devices that the driver gave; the answer is written to `can`.
    let told = unsafe { cuDeviceCanAccessPeer(&raw mut can, shared.device, owner.device) };
    if (told, can) == (CUresult::CUDA_SUCCESS, 1) {
        // Without it, copies are slower.
        // SAFETY: the context is live, and kept to the end of the process.
        let _slower = unsafe { cuCtxEnablePeerAccess(owner.context, 0) };
    }
}
