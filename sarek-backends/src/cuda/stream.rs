//! Streams and events.
//!
//! Uploads go through page-locked memory of the stream: the source may be reused at once, and
//! the transfer is asynchronous whatever memory the source is.

use std::any::Any;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cudarc::driver::result::{self, event, stream};
use cudarc::driver::sys::{
    CUevent, CUevent_flags, CUevent_wait_flags, CUresult, cuMemcpyPeerAsync, cuStreamQuery,
};
use sarek_ir::SHARED_ALIGNMENT;
use sarek_runtime::Result;
use sarek_runtime::backend::{Arg, BackendEvent, BackendStream, Launch, Slice};
use sarek_runtime::direct::RawFault;

use super::device::{Lane, Shared};
use super::memory::{self, address};
use super::program::Program;
use crate::jit::{self, lock};

/// A stream.
pub(super) struct Stream {
    shared: Arc<Shared>,
    lane: Lane,
    small: Mutex<Option<Staging>>,
    large: Mutex<Option<Staging>>,
}

// SAFETY: see `Shared`; the staging memory is reached under its lock only.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// Number and size of the staging slots for small uploads, of which many may be under way.
const SMALL: (usize, usize) = (64, 16 << 10);
/// Number and size of the slots that the parts of a large upload take in turn.
const LARGE: (usize, usize) = (4, 4 << 20);

/// Arguments that a launch passes without allocating.
const INLINE_ARGS: usize = 32;

impl Stream {
    pub fn new(shared: Arc<Shared>) -> Result<Stream> {
        Ok(Stream {
            lane: shared.open_lane()?,
            shared,
            small: Mutex::default(),
            large: Mutex::default(),
        })
    }

    fn check(&self, call: &str, result: Result<(), result::DriverError>) -> Result<()> {
        result.map_err(|error| self.shared.error(call, error))
    }

    /// Launches with the arguments' values in `values` and pointers to them in `pointers`.
    fn start(
        &self,
        program: &Program,
        launch: &Launch<'_>,
        args: &[Arg],
        values: &mut [u64],
        pointers: &mut [*mut c_void],
    ) -> Result<()> {
        let mut dynamic = 0u64;
        for ((value, pointer), arg) in values.iter_mut().zip(&mut *pointers).zip(args) {
            *value = match arg {
                Arg::Buffer(slice) => address(&self.shared, slice)?,
                Arg::Scalar(scalar) => {
                    let mut bytes = [0; 8];
                    bytes[..scalar.as_bytes().len()].copy_from_slice(scalar.as_bytes());
                    u64::from_ne_bytes(bytes)
                }
                Arg::Shared { bytes } => {
                    let offset = dynamic.next_multiple_of(SHARED_ALIGNMENT);
                    dynamic = offset.saturating_add(*bytes);
                    // The parameter is its first half: the machines that run CUDA are little-endian.
                    offset
                }
            };
            *pointer = (&raw mut *value).cast();
        }
        let ([x, y, z], [bx, by, bz]) = (launch.grid, launch.space.block);
        // SAFETY: the function's module is loaded as long as `program` lives, and its drop waits
        // for the stream. Each parameter has a pointer to a value of its size, which is copied.
        // That the kernel's accesses are in bounds is the launch's contract.
        let launched = unsafe {
            let function = program.function();
            result::launch_kernel(
                function,
                (x, y, z),
                (bx, by, bz),
                u32::try_from(dynamic).unwrap_or(u32::MAX),
                self.lane.stream,
                pointers,
            )
        };
        self.check("cuLaunchKernel", launched)
    }

    /// An event behind the work queued so far.
    fn mark(&self, flags: CUevent_flags) -> Result<Arc<dyn BackendEvent>> {
        self.shared.bind()?;
        let raw =
            event::create(flags).map_err(|error| self.shared.error("cuEventCreate", error))?;
        let event = Event {
            shared: self.shared.clone(),
            raw,
            timed: flags == CUevent_flags::CU_EVENT_DEFAULT,
        };
        // SAFETY: both are live.
        let recorded = unsafe { event::record(raw, self.lane.stream) };
        self.check("cuEventRecord", recorded)?;
        Ok(Arc::new(event))
    }

    /// Copies from another device, directly where the machine can, else as the driver sees fit.
    fn copy_from_peer(&self, to: u64, owner: &Shared, from: u64, len: usize) -> Result<bool> {
        self.shared.bind()?;
        let (ours, theirs) = (self.shared.context, owner.context);
        // SAFETY: both ranges are in bounds by contract, of memory of the contexts given.
        let copied = unsafe { cuMemcpyPeerAsync(to, ours, from, theirs, len, self.lane.stream) };
        let copied = copied.result();
        self.check("cuMemcpyPeerAsync", copied).map(|()| true)
    }

    /// Copies a part of an upload that fits a slot.
    fn upload(&self, to: u64, part: &[u8]) -> Result<()> {
        let (slots, shape) = match part.len() <= SMALL.1 {
            true => (&self.small, SMALL),
            false => (&self.large, LARGE),
        };
        let mut slots = lock(slots);
        if slots.is_none() {
            let staging = Staging::new(shape);
            *slots = Some(staging.map_err(|error| self.shared.error("cuMemHostAlloc", error))?);
        }
        let Some(staging) = slots.as_mut() else {
            return Ok(()); // just made
        };
        let copied = staging.upload(self.lane, to, part);
        self.check("cuMemcpyHtoDAsync", copied)
    }
}

impl BackendStream for Stream {
    fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        self.shared.bind()?;
        let mut to = address(&self.shared, dst)?;
        for part in src.chunks(LARGE.1) {
            self.upload(to, part)?;
            to += part.len() as u64;
        }
        Ok(())
    }

    fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        if dst.is_empty() {
            return Ok(());
        }
        self.shared.bind()?;
        let from = address(&self.shared, src)?;
        // SAFETY: the source is in bounds by contract, and `dst` is borrowed until the stream has
        // been waited for, whether or not the copy could be queued.
        let copied = unsafe {
            result::memcpy_dtoh_async(dst, from, self.lane.stream)
                .and(stream::synchronize(self.lane.stream))
        };
        self.check("cuMemcpyDtoHAsync", copied)
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let program: &Program = jit::program(&self.shared.name, launch)?;
        let args = jit::arguments(&self.shared.name, launch, &program.slots)?;
        self.shared.bind()?;
        if args.len() <= INLINE_ARGS {
            let mut values = [0; INLINE_ARGS];
            let mut pointers = [std::ptr::null_mut(); INLINE_ARGS];
            self.start(program, launch, args, &mut values, &mut pointers)?;
        } else {
            let mut values = vec![0; args.len()];
            let mut pointers = vec![std::ptr::null_mut(); args.len()];
            self.start(program, launch, args, &mut values, &mut pointers)?;
        }
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        self.shared.bind()?;
        // SAFETY: the stream is live.
        let waited = unsafe { stream::synchronize(self.lane.stream) };
        self.check("cuStreamSynchronize", waited)
    }

    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        self.mark(CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    fn record_time(&self) -> Result<Arc<dyn BackendEvent>> {
        self.mark(CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        let Some(ours) = (&**event as &dyn Any).downcast_ref::<Event>() else {
            return event.sync();
        };
        self.shared.bind()?;
        let flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both are live; they may belong to two devices.
        let queued = unsafe { stream::wait_event(self.lane.stream, ours.raw, flags) };
        self.check("cuStreamWaitEvent", queued)
    }

    fn is_idle(&self) -> Result<bool> {
        self.shared.bind()?;
        // SAFETY: the stream is live.
        match unsafe { cuStreamQuery(self.lane.stream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            answer => self.check("cuStreamQuery", answer.result()).map(|()| true),
        }
    }

    fn zero(&self, dst: &Slice) -> Result<()> {
        if dst.len == 0 {
            return Ok(());
        }
        self.shared.bind()?;
        let to = address(&self.shared, dst)?;
        // SAFETY: the destination is in bounds by contract.
        let filled = unsafe { result::memset_d8_async(to, 0, dst.len, self.lane.stream) };
        self.check("cuMemsetD8Async", filled)
    }

    fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        let to = address(&self.shared, dst)?;
        let (from, owner) = memory::located(&self.shared, src)?;
        if !Arc::ptr_eq(owner, &self.shared) {
            return self.copy_from_peer(to, owner, from, src.len);
        }
        if src.len == 0 {
            return Ok(true);
        }
        if to.abs_diff(from) < src.len as u64 {
            return Ok(false); // the driver does not copy between ranges that overlap
        }
        self.shared.bind()?;
        // SAFETY: both ranges are in bounds by contract.
        let copied = unsafe { result::memcpy_dtod_async(to, from, src.len, self.lane.stream) };
        self.check("cuMemcpyDtoDAsync", copied).map(|()| true)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Waits, so that the staging memory may go. A failure means that the device is lost.
        let _ = self.shared.close_lane(self.lane);
    }
}

/// Page-locked memory in slots of one size, used in turn.
struct Staging {
    memory: *mut u8,
    slot: usize,
    /// For each slot, when its last transfer is done.
    done: Vec<CUevent>,
    next: usize,
}

impl Staging {
    fn new((count, slot): (usize, usize)) -> Result<Staging, result::DriverError> {
        // SAFETY: a context is current; the memory is used by this value only.
        let memory = unsafe { result::malloc_host(count * slot, 0) }?;
        let mut staging = Staging {
            memory: memory.cast(),
            slot,
            done: vec![],
            next: 0,
        };
        for _ in 0..count {
            let event = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
            staging.done.push(event);
        }
        Ok(staging)
    }

    /// Queues an upload of at most a slot.
    fn upload(&mut self, lane: Lane, to: u64, part: &[u8]) -> Result<(), result::DriverError> {
        debug_assert!(part.len() <= self.slot);
        let at = self.next;
        self.next = (at + 1) % self.done.len();
        // SAFETY: the slot is idle once its event has passed (one never recorded has), lies within
        // the memory, and is not used again before the event recorded here has passed.
        unsafe {
            event::synchronize(self.done[at])?;
            let slot = self.memory.add(at * self.slot);
            std::ptr::copy_nonoverlapping(part.as_ptr(), slot, part.len());
            let staged = std::slice::from_raw_parts(slot, part.len());
            result::memcpy_htod_async(to, staged, lane.stream)?;
            event::record(self.done[at], lane.stream)
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // SAFETY: the stream that used the memory and the events has been waited for.
        unsafe {
            for event in self.done.drain(..) {
                let _ = event::destroy(event);
            }
            let _ = result::free_host(self.memory.cast());
        }
    }
}

/// A point in a stream.
struct Event {
    shared: Arc<Shared>,
    raw: CUevent,
    /// Does it keep the time?
    timed: bool,
}

// SAFETY: see `Shared`.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl BackendEvent for Event {
    fn is_done(&self) -> Result<bool> {
        self.shared.bind()?;
        // SAFETY: the event is live.
        match unsafe { event::query(self.raw) } {
            Ok(()) => Ok(true),
            Err(result::DriverError(CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(error) => Err(self.shared.error("cuEventQuery", error)),
        }
    }

    fn sync(&self) -> Result<()> {
        self.shared.bind()?;
        // SAFETY: the event is live.
        unsafe { event::synchronize(self.raw) }
            .map_err(|error| self.shared.error("cuEventSynchronize", error))
    }

    fn elapsed(&self, since: &dyn BackendEvent) -> Result<Option<Duration>> {
        let since = (since as &dyn Any).downcast_ref::<Event>();
        let Some(since) = since.filter(|since| since.timed && self.timed) else {
            return Ok(None);
        };
        self.shared.bind()?;
        // SAFETY: both events are live.
        let millis = unsafe { event::elapsed(since.raw, self.raw) }
            .map_err(|error| self.shared.error("cuEventElapsedTime", error))?;
        Ok(Some(Duration::from_secs_f64(
            f64::from(millis.max(0.0)) / 1e3,
        )))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.shared.bind().is_ok() {
            // SAFETY: the event is live and not used after this; waits on it are not disturbed.
            let _ = unsafe { event::destroy(self.raw) };
        }
    }
}
