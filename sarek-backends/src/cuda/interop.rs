//! CUDA's own handles of devices, streams and vectors, and vectors of CUDA's memory.

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

/// The primary context of a device, which lives as long as the program.
pub fn context(of: &sarek_runtime::Device) -> Result<CUcontext> {
    Ok(device(of)?.shared().context)
}

/// The stream behind a stream, as long as that lives.
pub fn stream(of: &Stream) -> Result<CUstream> {
    let any: &dyn Any = of.as_backend();
    let own: Option<&stream::Stream> = any.downcast_ref();
    own.map(stream::Stream::raw)
        .ok_or_else(|| jit::foreign(of.device().name(), "a request for a CUDA handle"))
}

/// The address of a vector that is lent, see [`Vector::lend`].
///
/// Whatever uses the address is `unsafe`, and keeps to this: it stays within the elements, writes them only if
/// [`Lent::is_mutable`], and is done, or queued on the stream, when `lent` is dropped.
pub fn pointer(lent: &Lent<'_>) -> Result<CUdeviceptr> {
    let own = device(lent.stream().device())?;
    // SAFETY: the address alone is given on; whoever uses it, with `unsafe`, keeps to what was lent.
    memory::address(own.shared(), unsafe { lent.slice() })
}

/// A vector of `len` elements at an address of a device's memory. `owner` is dropped with the vector, after the work that uses
/// it, and frees the memory if that is its duty.
///
/// # Safety
/// - So many elements stand at the address, in memory of the device's primary context, as long as `owner` lives. All of them
///   were written, and are valid for their type.
/// - While the vector lives, nobody else uses them unless in turns with what is queued for the vector. They are imported once,
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

/// A vector of the elements of a slice of cudarc's, which it keeps. The slice has to be of the device's primary context, as
/// cudarc's are. Waits for the slice's stream.
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
    // Work that another stream had for it was recorded in its events, for which the stream now waits.
    // SAFETY: the stream is live.
    unsafe { result::stream::synchronize(stream.cu_stream()) }
        .map_err(|error| shared.error("cuStreamSynchronize", error))?;
    // SAFETY: the slice is given away, so that nobody else has its memory; its work was waited for.
    unsafe { import(of, address, len, slice) }
}
