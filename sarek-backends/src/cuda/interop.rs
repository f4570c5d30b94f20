//! Access to the CUDA handles of devices, streams and vectors, and import of CUDA memory as vectors.

use std::any::Any;

pub use cudarc;
use cudarc::driver::sys::{CUcontext, CUdeviceptr, CUstream};
use cudarc::driver::{CudaSlice, DevicePtr, result};
use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Element, Lent, Result, Stream, Vector};

use super::device::Device;
use super::memory::{self, Memory};
use super::stream;
use crate::jit;

fn device(device: &sarek_runtime::Device) -> Result<&Device> {
    let any: &dyn Any = device.as_backend();
    any.downcast_ref()
        .ok_or_else(|| jit::foreign(device.name(), "a request for a CUDA handle"))
}

/// The primary context of a device, which lives until the process ends.
pub fn context(of: &sarek_runtime::Device) -> Result<CUcontext> {
    Ok(device(of)?.shared().context)
}

/// Waits for all work on a device, that of other libraries included.
pub fn synchronize(of: &sarek_runtime::Device) -> Result<()> {
    let shared = device(of)?.shared();
    shared.bind()?;
    result::ctx::synchronize().map_err(|error| shared.error("cuCtxSynchronize", error))
}

/// The CUDA stream of a stream, valid while the stream lives.
pub fn stream(of: &Stream) -> Result<CUstream> {
    let any: &dyn Any = of.as_backend();
    let own: Option<&stream::Stream> = any.downcast_ref();
    own.map(stream::Stream::raw)
        .ok_or_else(|| jit::foreign(of.device().name(), "a request for a CUDA handle"))
}

/// The address of a lent vector, see [`Vector::lend`].
///
/// Using the address is `unsafe`. Such code must stay within the elements, and write them only if [`Lent::is_mutable`].
/// It must have finished, or be queued on the stream, when `lent` is dropped.
pub fn pointer(lent: &Lent<'_>) -> Result<CUdeviceptr> {
    let own = device(lent.stream().device())?;
    // SAFETY: only the address escapes; code that uses it, with `unsafe`, keeps to the rules of the loan.
    memory::address(own.shared(), unsafe { lent.slice() })
}

/// Imports `len` elements at an address of a device's memory as a vector. `owner` is dropped with the vector, after the
/// work that uses it; its drop may free the memory.
///
/// # Safety
/// - `len` elements are at the address, in memory of the device's primary context, while `owner` lives. All of them
///   have been written, and are valid for their type.
/// - While the vector lives, other uses of them are ordered with the vector's queued commands. They are imported once,
///   and are not those of another vector ([`pointer()`]).
pub unsafe fn import<T: Element>(
    of: &sarek_runtime::Device,
    address: CUdeviceptr,
    len: usize,
    owner: impl Any + Send + Sync,
) -> Result<Vector<T>> {
    let shared = device(of)?.shared();
    let bytes = len * size_of::<T>();
    let mem = Memory::imported(shared, address, bytes, Box::new(owner));
    let mem: std::sync::Arc<dyn Mem> = std::sync::Arc::new(mem);
    let (offset, len) = (0, bytes);
    // SAFETY: the caller's promises.
    unsafe { Vector::from_device(of, Slice { mem, offset, len }) }
}

/// Turns a cudarc slice into a vector, which owns it. The slice must belong to the device's primary context, as
/// cudarc's do. Waits for the slice's stream.
pub fn from_slice<T: Element>(
    of: &sarek_runtime::Device,
    slice: CudaSlice<T>,
) -> Result<Vector<T>> {
    let shared = device(of)?.shared();
    if slice.context().cu_ctx() != shared.context {
        return Err(jit::foreign(&shared.name, "memory of another context"));
    }
    let stream = slice.stream().clone();
    stream
        .synchronize()
        .map_err(|error| shared.error("cuStreamSynchronize", error))?;
    let (address, len) = {
        let (address, _sync) = slice.device_ptr(&stream);
        (address, slice.len())
    };
    shared.bind()?;
    // The slice's events record the work of other streams on it, and the slice's stream now waits for them.
    // SAFETY: the stream is live.
    unsafe { result::stream::synchronize(stream.cu_stream()) }
        .map_err(|error| shared.error("cuStreamSynchronize", error))?;
    // SAFETY: the slice is moved, so no one else has its memory, and its work has ended.
    unsafe { import(of, address, len, slice) }
}
