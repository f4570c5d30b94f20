//! In-order command queues and events.
//!
//! A queue remembers the event of its last command that may still run. Commands are queued under that event's lock, so
//! the event is the newest one even if several threads share the stream. Blocking copies have finished before any thread
//! can ask.
//!
//! An event costs NVIDIA's driver more than a launch, so launches have none there: who asks for the last event gets that of
//! a marker behind them. Other drivers may report a failed kernel only by the event of its launch, and have one for each.
//!
//! The driver is told to start launches in bursts, see [`Burst`]. All other commands start them at once, and a blocking
//! copy does so by itself.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opencl3::command_queue::{
    enqueue_barrier_with_wait_list, enqueue_copy_buffer, enqueue_fill_buffer,
    enqueue_marker_with_wait_list, enqueue_nd_range_kernel, enqueue_read_buffer,
    enqueue_write_buffer, finish, flush,
};
use opencl3::error_codes::cl_int;
use opencl3::event::{CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS};
use opencl3::event::{
    CL_PROFILING_COMMAND_END, get_event_info, get_event_profiling_info, wait_for_events,
};
use opencl3::kernel::set_kernel_arg;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_command_queue, cl_event, cl_kernel, cl_mem};
use sarek_runtime::backend::{Arg, BackendEvent, BackendStream, Launch, Slice};
use sarek_runtime::host::RawFault;
use sarek_runtime::{Error, Result};

use super::Object;
use super::device::Shared;
use super::fill;
use super::memory::{self, Memory};
use super::pocl;
use super::program::Program;
use super::silent;
use crate::jit::burst::Burst;
use crate::jit::{self, lock};

/// An in-order queue.
pub(super) struct Stream {
    shared: Arc<Shared>,
    queue: Object,
    last: Mutex<Last>,
}

/// The last command.
#[derive(Default)]
struct Last {
    /// The event of the last command that has one.
    event: Option<Arc<Object>>,
    /// True if launches without an event came later.
    is_older: bool,
    /// These launches, as far as they wait.
    burst: Burst,
}

impl Stream {
    pub fn new(shared: Arc<Shared>, queue: Object) -> Stream {
        Stream {
            shared,
            queue,
            last: Mutex::default(),
        }
    }

    /// Queues a command as the last one, and starts it. One without an event, a launch, may wait for others.
    fn enqueue(
        &self,
        call: &str,
        command: impl FnOnce(cl_command_queue) -> Result<cl_event, cl_int>,
    ) -> Result<()> {
        self.enqueue_behind(&mut lock(&self.last), call, command)
    }

    fn enqueue_behind(
        &self,
        last: &mut Last,
        call: &str,
        command: impl FnOnce(cl_command_queue) -> Result<cl_event, cl_int>,
    ) -> Result<()> {
        let event = command(self.queue.raw).map_err(|code| self.shared.error(call, code))?;
        last.is_older = event.is_null();
        match last.is_older {
            true if !last.burst.push() => return Ok(()),
            true => {}
            false => last.event = Some(Arc::new(Object::event(event))),
        }
        let flushed = flush(self.queue.raw);
        last.burst.go();
        flushed.map_err(|code| self.shared.error("clFlush", code))
    }

    /// The driver's handle.
    pub fn raw(&self) -> cl_command_queue {
        self.queue.raw
    }

    /// The event of the last command, or of a marker behind it.
    fn last(&self) -> Result<Option<Arc<Object>>> {
        let mut last = lock(&self.last);
        if last.is_older {
            self.enqueue_behind(&mut last, MARKER, marker)?;
        }
        Ok(last.event.clone())
    }

    fn memory<'a>(&self, slice: &'a Slice) -> Result<&'a Memory> {
        jit::memory(&self.shared.name, slice)
    }

    /// Passes the arguments to the kernel. The caller holds the kernel's lock.
    fn set_args(&self, kernel: cl_kernel, args: &[Arg], parts: &mut Vec<Object>) -> Result<()> {
        for (index, arg) in (0..).zip(args) {
            let set = match arg {
                Arg::Buffer(slice) => {
                    let buffer = memory::argument(&self.shared, slice, parts)?;
                    let size = size_of::<cl_mem>();
                    // SAFETY: the value is a memory object, whose handle is copied by the call.
                    unsafe { set_kernel_arg(kernel, index, size, (&raw const buffer).cast()) }
                }
                Arg::Scalar(scalar) => {
                    let bytes = scalar.as_bytes();
                    // SAFETY: `bytes` has the given length. The driver checks that it is the parameter's length, and
                    // copies the bytes.
                    unsafe { set_kernel_arg(kernel, index, bytes.len(), bytes.as_ptr().cast()) }
                }
                Arg::Shared { bytes } => {
                    // SAFETY: an argument without a value is local memory of that size.
                    unsafe { set_kernel_arg(kernel, index, *bytes as usize, std::ptr::null()) }
                }
            };
            set.map_err(|code| {
                self.shared
                    .error(&format!("clSetKernelArg of argument {index}"), code)
            })?;
        }
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        pocl::forget(self.queue.raw);
    }
}

// SAFETY: the queue runs commands in order, and copies are queued in it or waited for.
unsafe impl BackendStream for Stream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        if src.is_empty() {
            return Ok(());
        }
        let (buffer, queue) = (self.memory(dst)?.raw(), self.queue.raw);
        let (to, len, from) = (dst.offset, src.len(), src.as_ptr().cast());
        // SAFETY: `src` is readable for `len` bytes and the call returns when they have been read.
        let event = unsafe {
            enqueue_write_buffer(queue, buffer, CL_BLOCKING, to, len, from, 0, NO_EVENTS)
        };
        let event = event.map_err(|code| self.shared.error("clEnqueueWriteBuffer", code))?;
        drop(Object::event(event));
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        if dst.is_empty() {
            return Ok(());
        }
        let (buffer, queue) = (self.memory(src)?.raw(), self.queue.raw);
        let (from, len, to) = (src.offset, dst.len(), dst.as_mut_ptr().cast());
        // SAFETY: `dst` is writable for `len` bytes and the call returns when they are written.
        let event =
            unsafe { enqueue_read_buffer(queue, buffer, CL_BLOCKING, from, len, to, 0, NO_EVENTS) };
        let event = event.map_err(|code| self.shared.error("clEnqueueReadBuffer", code))?;
        drop(Object::event(event));
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let program: &Program = jit::program(&self.shared.name, launch)?;
        let args = jit::arguments(&self.shared.name, launch, &program.slots)?;
        let local = launch.space.block.map(|n| n as usize);
        let mut global = local;
        for (size, groups) in global.iter_mut().zip(launch.grid) {
            let product = size.checked_mul(groups as usize);
            *size = product.ok_or_else(|| Error::Launch {
                kernel: launch.kernel.into(),
                problem: "the index space overflows the device's size_t".into(),
            })?;
        }
        let mut parts = vec![];
        let kernel = lock(&program.kernel);
        self.set_args(kernel.raw, args, &mut parts)?;
        self.enqueue("clEnqueueNDRangeKernel", |queue| {
            let (kernel, global, local) = (kernel.raw, global.as_ptr(), local.as_ptr());
            let offset = std::ptr::null();
            // SAFETY: all arguments are set, and no other thread sets them meanwhile; the sizes have three elements
            // each. The contract of launches ensures that the kernel's accesses are in bounds.
            unsafe {
                match silent::launch().filter(|_| self.shared.is_nvidia) {
                    Some(launch) => launch.call(queue, kernel, [global, local]),
                    None => enqueue_nd_range_kernel(
                        queue, kernel, 3, offset, global, local, 0, NO_EVENTS,
                    ),
                }
            }
        })?;
        if self.shared.is_pocl && !program.has_run.swap(true, Ordering::Relaxed) {
            self.sync()?;
            pocl::watch(self.queue.raw);
        }
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        finish(self.queue.raw).map_err(|code| self.shared.error("clFinish", code))?;
        // `clFinish` also succeeds if a command failed.
        self.is_idle().map(|_| ())
    }

    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        Ok(Arc::new(Event {
            shared: self.shared.clone(),
            event: self.last()?,
        }))
    }

    fn record_time(&self) -> Result<Arc<dyn BackendEvent>> {
        // Queues a marker: the last command may be a copy without a kept event.
        self.enqueue(MARKER, marker)?;
        self.record()
    }

    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        let ours = (&**event as &dyn Any).downcast_ref::<Event>();
        let Some(Event {
            shared,
            event: Some(object),
        }) = ours
        else {
            return event.sync();
        };
        if !Arc::ptr_eq(shared, &self.shared) {
            return event.sync();
        }
        self.enqueue("clEnqueueBarrierWithWaitList", |queue| {
            // SAFETY: the list holds one live event of this context.
            unsafe { enqueue_barrier_with_wait_list(queue, 1, &object.raw) }
        })
    }

    fn is_idle(&self) -> Result<bool> {
        self.last()?.map_or(Ok(true), |e| is_done(&self.shared, &e))
    }

    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        if dst.len == 0 {
            return Ok(());
        }
        let buffer = self.memory(dst)?.raw();
        for piece in fill::pieces(dst.offset, dst.len) {
            let (at, len, zeros) = (piece.offset, piece.len, fill::ZEROS.as_ptr().cast());
            match piece.filled {
                true => self.enqueue("clEnqueueFillBuffer", |queue| {
                    let pattern = fill::PATTERN;
                    // SAFETY: the pattern is readable and copied by the call.
                    unsafe {
                        enqueue_fill_buffer(queue, buffer, zeros, pattern, at, len, 0, NO_EVENTS)
                    }
                }),
                false => self.enqueue("clEnqueueWriteBuffer", |queue| {
                    let later = CL_NON_BLOCKING;
                    // SAFETY: the zeros cover the largest piece, and live until the process ends.
                    unsafe {
                        enqueue_write_buffer(queue, buffer, later, at, len, zeros, 0, NO_EVENTS)
                    }
                }),
            }?;
        }
        Ok(())
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        if src.len == 0 {
            return Ok(true);
        }
        if !self.memory(src)?.belongs_to(&self.shared) {
            return Ok(false); // each device has its own context
        }
        let (to, from) = (self.memory(dst)?.raw(), self.memory(src)?.raw());
        if to == from && dst.offset.abs_diff(src.offset) < src.len {
            return Ok(false); // OpenCL does not copy between overlapping ranges
        }
        self.enqueue("clEnqueueCopyBuffer", |queue| {
            let (at, into, len) = (src.offset, dst.offset, src.len);
            // SAFETY: both are live buffers; the driver checks the ranges.
            unsafe { enqueue_copy_buffer(queue, from, to, at, into, len, 0, NO_EVENTS) }
        })?;
        Ok(true)
    }
}

const NO_EVENTS: *const cl_event = std::ptr::null();

/// The call of [`marker`].
const MARKER: &str = "clEnqueueMarkerWithWaitList";

/// Queues a command that does nothing.
fn marker(queue: cl_command_queue) -> Result<cl_event, cl_int> {
    // SAFETY: the list is empty.
    unsafe { enqueue_marker_with_wait_list(queue, 0, NO_EVENTS) }
}

/// A point in a queue: the last command before it, if there was one.
struct Event {
    shared: Arc<Shared>,
    event: Option<Arc<Object>>,
}

// SAFETY: an OpenCL event is complete when the commands before it are.
unsafe impl BackendEvent for Event {
    fn is_done(&self) -> Result<bool> {
        self.event
            .as_ref()
            .map_or(Ok(true), |e| is_done(&self.shared, e))
    }

    fn sync(&self) -> Result<()> {
        let Some(event) = &self.event else {
            return Ok(());
        };
        // If a command failed, the wait fails too; the command's own status has the reason.
        let waited = wait_for_events(&[event.raw]);
        is_done(&self.shared, event)?;
        waited.map_err(|code| self.shared.error("clWaitForEvents", code))
    }

    fn elapsed(&self, since: &dyn BackendEvent) -> Result<Option<Duration>> {
        let since = (since as &dyn Any).downcast_ref::<Event>();
        let (Some(start), Some(end)) = (since.and_then(|s| s.event.as_ref()), &self.event) else {
            return Ok(None);
        };
        let end = finished_at(&self.shared, end)?;
        Ok(Some(Duration::from_nanos(
            end.saturating_sub(finished_at(&self.shared, start)?),
        )))
    }
}

/// The time at which the command of an event finished, by the device's clock, in nanoseconds.
fn finished_at(shared: &Shared, event: &Object) -> Result<u64> {
    let end = get_event_profiling_info(event.raw, CL_PROFILING_COMMAND_END);
    end.map(Into::into)
        .map_err(|code| shared.error("clGetEventProfilingInfo", code))
}

/// True if the command of an event has finished. An error if it failed.
fn is_done(shared: &Shared, event: &Object) -> Result<bool> {
    let status = get_event_info(event.raw, CL_EVENT_COMMAND_EXECUTION_STATUS)
        .map_err(|code| shared.error("clGetEventInfo", code))?;
    match cl_int::from(status) {
        status if status < 0 => Err(shared.error("a queued command", status)),
        status => Ok(status == CL_COMPLETE),
    }
}
