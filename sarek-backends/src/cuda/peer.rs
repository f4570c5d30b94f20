//! Copies between two devices.
//!
//! If the machine connects them (by NVLink, or PCIe that permits it), one device reads the other's memory, once peer
//! access is enabled. Otherwise the driver copies through the host. `cuMemcpyPeerAsync` does either, in stream order.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{
    CUdeviceptr, CUresult, CUstream, cuCtxEnablePeerAccess, cuDeviceCanAccessPeer,
    cuMemcpyPeerAsync,
};

use super::device::Shared;
use crate::jit::lock;

/// Copies `len` bytes from another device, on a stream of this one, whose context is current.
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
    // SAFETY: the caller's promise; the stream is live, and the contexts live until the process ends.
    unsafe { cuMemcpyPeerAsync(to, shared.context, from, owner.context, len, stream) }.result()
}

/// Enables peer access from a device, whose context is current, to another, if the machine supports it. Tries once per
/// pair.
fn allow(shared: &Shared, owner: &Shared) {
    let mut asked = lock(&shared.peers);
    if asked.contains(&owner.device) {
        return;
    }
    asked.push(owner.device);
    let mut can = 0;
    // SAFETY: the driver returned both devices; the answer is written to `can`.
    let code = unsafe { cuDeviceCanAccessPeer(&raw mut can, shared.device, owner.device) };
    if (code, can) == (CUresult::CUDA_SUCCESS, 1) {
        // SAFETY: the context is live until the process ends. Without peer access, copies are merely slower.
        let _slower = unsafe { cuCtxEnablePeerAccess(owner.context, 0) };
    }
}
