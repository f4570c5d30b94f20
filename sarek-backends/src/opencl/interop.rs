//! Access to the OpenCL handles of devices, streams and vectors, and import of OpenCL buffers as vectors.
//!
//! Handles are reference-counted, and `opencl3` has safe functions that release the handle passed to them. So obtaining
//! a handle is `unsafe`.

use std::any::Any;
use std::sync::Arc;

pub use opencl3;
use opencl3::memory::{CL_MEM_CONTEXT, CL_MEM_SIZE, get_mem_object_info, retain_mem_object};
use opencl3::types::{cl_command_queue, cl_context, cl_device_id, cl_mem};
use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Element, Lent, Result, Stream, Vector};

use super::Object;
use super::device::Device;
use super::memory::Memory;
use super::stream;
use crate::jit;

fn device(device: &sarek_runtime::Device) -> Result<&Device> {
    let any: &dyn Any = device.as_backend();
    any.downcast_ref()
        .ok_or_else(|| jit::foreign(device.name(), "a request for an OpenCL handle"))
}

/// The context of a device, which lives until the process ends. Each device has its own context; create your own
/// buffers and queues in it.
///
/// # Safety
/// The caller does not release it more often than they retain it.
pub unsafe fn context(of: &sarek_runtime::Device) -> Result<cl_context> {
    Ok(device(of)?.shared.context())
}

/// The driver's id of a device.
pub fn device_id(of: &sarek_runtime::Device) -> Result<cl_device_id> {
    Ok(device(of)?.shared.id.id())
}

/// The queue of a stream, valid while the stream lives.
///
/// # Safety
/// The caller does not release it more often than they retain it. They queue no command that uses the memory of
/// vectors, unless the vector is lent on this stream.
pub unsafe fn queue(of: &Stream) -> Result<cl_command_queue> {
    let any: &dyn Any = of.as_backend();
    let own: Option<&stream::Stream> = any.downcast_ref();
    own.map(stream::Stream::raw)
        .ok_or_else(|| jit::foreign(of.device().name(), "a request for an OpenCL handle"))
}

/// The buffer of a lent vector, see [`Vector::lend`], and the offset of its elements in bytes.
///
/// # Safety
/// - The caller's commands stay within the elements, since other vectors may use the rest of the buffer. They write
///   elements only if [`Lent::is_mutable`], with values that are valid for their type.
/// - They have finished, or are queued on the stream, when `lent` is dropped. The caller does not release the buffer
///   more often than they retain it.
pub unsafe fn buffer(lent: &Lent<'_>) -> Result<(cl_mem, usize)> {
    let own = device(lent.stream().device())?;
    // SAFETY: the caller's promise.
    let slice = unsafe { lent.slice() };
    let memory: &Memory = jit::memory(&own.shared.name, slice)?;
    Ok((memory.raw(), slice.offset))
}

/// Imports all of a buffer as a vector. The vector retains the buffer while it lives.
///
/// # Safety
/// - The handle is that of a live buffer. All of it has been written, with elements that are valid for their type.
/// - While the vector lives, other uses of the buffer are ordered with the vector's queued commands. The buffer is
///   imported once, and is neither the buffer of another vector ([`buffer`]) nor a sub-buffer of one.
pub unsafe fn import<T: Element>(of: &sarek_runtime::Device, buffer: cl_mem) -> Result<Vector<T>> {
    let shared = &device(of)?.shared;
    let told = |code| shared.error("clGetMemObjectInfo", code);
    let context = get_mem_object_info(buffer, CL_MEM_CONTEXT).map_err(told)?;
    if isize::from(context) != shared.context() as isize {
        return Err(jit::foreign(&shared.name, "a buffer of another context"));
    }
    let len = get_mem_object_info(buffer, CL_MEM_SIZE).map_err(told)?;
    let len = usize::from(len);
    // SAFETY: the buffer is live.
    unsafe { retain_mem_object(buffer) }.map_err(|code| shared.error("clRetainMemObject", code))?;
    let mem: Arc<dyn Mem> = Arc::new(Memory::imported(shared, Object::memory(buffer), len));
    let offset = 0;
    // SAFETY: the caller's promises.
    unsafe { Vector::from_device(of, Slice { mem, offset, len }) }
}
