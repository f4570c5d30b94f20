//! OpenCL buffers.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use opencl3::command_queue::{enqueue_migrate_mem_object, finish};
use opencl3::error_codes::cl_int;
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY,
    CL_OUT_OF_RESOURCES,
};
use opencl3::memory::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR,
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
};
use opencl3::memory::{create_buffer, create_sub_buffer, set_mem_object_destructor_callback};
use opencl3::types::{cl_buffer_region, cl_mem};
use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Error, Result};

use super::Object;
use super::device::Shared;
use super::stream::Stream;
use crate::jit;

/// A buffer.
pub(super) struct Memory {
    shared: Arc<Shared>,
    buffer: Object,
    len: usize,
}

impl Memory {
    /// Allocates in the device's own memory, or in host memory that the device can access.
    pub fn new(shared: &Arc<Shared>, len: usize, on_host: bool) -> Result<Memory> {
        if shared.is_pocl {
            return Memory::on_pocl(shared, len);
        }
        let place = if on_host { CL_MEM_ALLOC_HOST_PTR } else { 0 };
        // SAFETY: without `CL_MEM_USE_HOST_PTR` or `CL_MEM_COPY_HOST_PTR` no host memory is read.
        let buffer = unsafe {
            create_buffer(
                shared.context(),
                CL_MEM_READ_WRITE | place,
                len,
                ptr::null_mut(),
            )
        };
        let buffer = buffer.map_err(|code| refusal(shared, "clCreateBuffer", code, len))?;
        Ok(Memory {
            shared: shared.clone(),
            buffer: Object::memory(buffer),
            len,
        })
    }

    /// Allocates host memory first. PoCL itself would allocate at the buffer's first use, and abort the process if
    /// there is no memory.
    fn on_pocl(shared: &Arc<Shared>, len: usize) -> Result<Memory> {
        let exhausted = || refusal(shared, "clCreateBuffer", CL_OUT_OF_HOST_MEMORY, len);
        let allocation = HostAllocation::new(len, shared.alignment).ok_or_else(exhausted)?;
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        // SAFETY: the allocation lives until the driver has released the buffer: `HostAllocation::free_with` ensures that.
        let buffer = unsafe { create_buffer(shared.context(), flags, len, allocation.at.cast()) };
        let buffer = buffer.map_err(|code| refusal(shared, "clCreateBuffer", code, len))?;
        let buffer = Object::memory(buffer);
        allocation
            .free_with(&buffer)
            .map_err(|code| shared.error("clSetMemObjectDestructorCallback", code))?;
        Ok(Memory::imported(shared, buffer, len))
    }

    /// Makes the driver allocate now: NVIDIA's creates buffers without memory for them, and then fails at their first
    /// use.
    pub fn place(&self, queue: &Stream) -> Result<()> {
        let call = "clEnqueueMigrateMemObjects";
        let (flags, events) = (CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, ptr::null());
        // SAFETY: the list holds one live buffer of the queue's context, and outlives the call.
        let placed = unsafe {
            enqueue_migrate_mem_object(queue.raw(), 1, &raw const self.buffer.raw, flags, 0, events)
        };
        let event = placed.map_err(|code| refusal(&self.shared, call, code, self.len))?;
        drop(Object::event(event));
        // Commands on other queues must come after.
        finish(queue.raw()).map_err(|code| self.shared.error("clFinish", code))
    }

    /// Wraps host memory that the device accesses in place; `None` if the driver refuses. OpenCL requires copies from
    /// and to that same address, so that each side sees the other's writes (`clEnqueueReadBuffer`, on
    /// `CL_MEM_USE_HOST_PTR`).
    ///
    /// # Safety
    /// The memory lives until the result is dropped, and only one side uses it at a time.
    pub unsafe fn in_place(shared: &Arc<Shared>, at: NonNull<u8>, len: usize) -> Option<Memory> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        // SAFETY: the caller's promise.
        let buffer = unsafe { create_buffer(shared.context(), flags, len, at.as_ptr().cast()) };
        let buffer = Object::memory(buffer.ok()?);
        Some(Memory::imported(shared, buffer, len))
    }

    /// Wraps an existing buffer.
    pub fn imported(shared: &Arc<Shared>, buffer: Object, len: usize) -> Memory {
        Memory {
            shared: shared.clone(),
            buffer,
            len,
        }
    }

    pub fn raw(&self) -> cl_mem {
        self.buffer.raw
    }

    /// True if it belongs to this device's context.
    pub fn belongs_to(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }
}

/// Host memory for a buffer.
struct HostAllocation {
    at: *mut u8,
    layout: Layout,
}

impl HostAllocation {
    /// Aligned at least like PoCL's own allocations: to the widest vector.
    fn new(len: usize, alignment: usize) -> Option<HostAllocation> {
        let alignment = alignment.next_power_of_two().max(128);
        let layout = Layout::from_size_align(len.max(1), alignment).ok()?;
        // SAFETY: the layout's size is not zero.
        let at = unsafe { alloc(layout) };
        (!at.is_null()).then_some(HostAllocation { at, layout })
    }

    /// Passes ownership to the driver, which frees the memory once nothing uses the buffer any more. That may be after
    /// the buffer's release.
    fn free_with(self, buffer: &Object) -> Result<(), cl_int> {
        extern "C" fn give_back(_: cl_mem, allocation: *mut c_void) {
            // SAFETY: the pointer is that of the box below, and the driver calls this once.
            drop(unsafe { Box::from_raw(allocation.cast::<HostAllocation>()) });
        }
        let allocation = Box::into_raw(Box::new(self));
        // SAFETY: the buffer is live, and the box lives until the callback.
        let left =
            unsafe { set_mem_object_destructor_callback(buffer.raw, give_back, allocation.cast()) };
        left.inspect_err(|_| {
            // SAFETY: the driver has not taken the box. The buffer is unused, and is released before anything could use
            // it.
            drop(unsafe { Box::from_raw(allocation) });
        })
    }
}

impl Drop for HostAllocation {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.at, self.layout) };
    }
}

/// The error for a failed allocation of a buffer.
fn refusal(shared: &Shared, call: &str, code: cl_int, bytes: usize) -> Error {
    match code {
        CL_MEM_OBJECT_ALLOCATION_FAILURE
        | CL_OUT_OF_RESOURCES
        | CL_OUT_OF_HOST_MEMORY
        | CL_INVALID_BUFFER_SIZE => Error::OutOfMemory {
            device: shared.name.clone(),
            bytes,
        },
        code => shared.error(call, code),
    }
}

// SAFETY: the length is that at creation, or the one that the driver reports.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.len
    }
}

/// The memory object for a kernel's argument: the buffer itself, or a sub-buffer. `parts` keeps sub-buffers alive until
/// the launch is queued.
pub(super) fn argument(shared: &Shared, slice: &Slice, parts: &mut Vec<Object>) -> Result<cl_mem> {
    let memory: &Memory = jit::memory(&shared.name, slice)?;
    if slice.offset == 0 {
        return Ok(memory.raw());
    }
    if !slice.offset.is_multiple_of(shared.alignment) {
        return Err(Error::Unsupported {
            backend: "opencl".into(),
            what: format!(
                "a buffer argument at byte {} on {}: offsets have to be multiples of {}",
                slice.offset, shared.name, shared.alignment
            ),
        });
    }
    let region = cl_buffer_region {
        origin: slice.offset,
        size: slice.len,
    };
    // SAFETY: `region` outlives the call and lies within the buffer.
    let part = unsafe {
        create_sub_buffer(
            memory.raw(),
            CL_MEM_READ_WRITE,
            CL_BUFFER_CREATE_TYPE_REGION,
            (&raw const region).cast(),
        )
    };
    let part = part.map_err(|code| shared.error("clCreateSubBuffer", code))?;
    parts.push(Object::memory(part));
    Ok(part)
}
