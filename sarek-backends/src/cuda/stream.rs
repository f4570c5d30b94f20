//! Streams and events.
//!
//! Uploads go through memory of the stream ([`super::staging`], [`super::transfer`]). So the source may be reused at
//! once, and the transfer is asynchronous for any kind of source memory.

use std::any::Any;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cudarc::driver::result::{self, event, stream};
use cudarc::driver::sys::{
    CUevent, CUevent_flags, CUevent_wait_flags, CUfunction, CUresult, CUstream, cuStreamQuery,
};
use sarek_ir::SHARED_ALIGNMENT;
use sarek_runtime::Result;
use sarek_runtime::backend::{Arg, BackendEvent, BackendStream, Launch, Slice};
use sarek_runtime::host::RawFault;

use super::device::{FencedStream, Shared};
use super::memory::{self, address};
use super::peer;
use super::program::Program;
use super::staging::{STREAM, Staging};
use super::transfer;
use crate::jit::{self, lock};

/// A stream.
pub(super) struct Stream {
    shared: Arc<Shared>,
    fenced: FencedStream,
    /// The buffer for small uploads.
    small: Mutex<Box<[u8]>>,
    /// The staging memory for larger uploads.
    staging: Mutex<Option<Staging>>,
}

// SAFETY: see `Shared`; the staging memory is accessed under its lock only.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// The largest copy from ordinary memory for which the driver reads the source before the asynchronous call returns.
const SMALL: usize = 64 << 10;

/// The number of arguments up to which a launch does not allocate.
const INLINE_ARGS: usize = 16;

impl Stream {
    pub fn new(shared: Arc<Shared>) -> Result<Stream> {
        let fenced = shared.open_stream()?;
        Ok(Stream::on(shared, fenced))
    }

    /// Wraps a stream, and closes it when dropped.
    pub fn on(shared: Arc<Shared>, fenced: FencedStream) -> Stream {
        Stream {
            fenced,
            shared,
            small: Mutex::default(),
            staging: Mutex::default(),
        }
    }

    /// The driver's handle.
    pub fn raw(&self) -> CUstream {
        self.fenced.stream
    }

    fn check(&self, call: &str, result: Result<(), result::DriverError>) -> Result<()> {
        result.map_err(|error| self.shared.error(call, error))
    }

    /// Records an event after the work queued so far.
    fn mark(&self, flags: CUevent_flags) -> Result<Arc<dyn BackendEvent>> {
        self.shared.bind()?;
        let timed = flags == CUevent_flags::CU_EVENT_DEFAULT;
        let raw = match self.shared.event_pool.take(timed) {
            Some(raw) => raw,
            None => {
                let created = event::create(flags);
                created.map_err(|error| self.shared.error("cuEventCreate", error))?
            }
        };
        let event = Event {
            shared: self.shared.clone(),
            raw,
            timed,
        };
        // SAFETY: both are live.
        let recorded = unsafe { event::record(raw, self.fenced.stream) };
        self.check("cuEventRecord", recorded)?;
        Ok(Arc::new(event))
    }

    /// Copies from another device.
    fn copy_from_peer(&self, to: u64, owner: &Shared, from: u64, len: usize) -> Result<bool> {
        self.shared.bind()?;
        let (target, source) = ((&*self.shared, to), (owner, from));
        // SAFETY: both ranges are in bounds by contract, of memory of these devices.
        let copied = unsafe { peer::copy(target, source, len, self.fenced.stream) };
        self.check("cuMemcpyPeerAsync", copied).map(|()| true)
    }

    /// Uploads at most [`SMALL`] bytes. The driver reads ordinary memory of that size before its call returns, but not
    /// page-locked memory, which the source may be; so the bytes are copied first.
    fn upload_small(&self, to: u64, src: &[u8]) -> Result<()> {
        let mut ordinary = lock(&self.small);
        if ordinary.is_empty() {
            *ordinary = vec![0; SMALL].into();
        }
        let part = &mut ordinary[..src.len()];
        part.copy_from_slice(src);
        // SAFETY: the memory is in bounds by contract, and the part is read before the call returns.
        let copied = unsafe { result::memcpy_htod_async(to, part, self.fenced.stream) };
        self.check("cuMemcpyHtoDAsync", copied)
    }

    /// Uploads through page-locked memory.
    fn upload(&self, mut to: u64, src: &[u8]) -> Result<()> {
        let mut slots = lock(&self.staging);
        if slots.is_none() {
            let staging = Staging::new(STREAM);
            *slots = Some(staging.map_err(|error| self.shared.error("cuMemHostAlloc", error))?);
        }
        let Some(staging) = slots.as_mut() else {
            return Ok(()); // just made
        };
        for part in src.chunks(STREAM.1) {
            let copied = staging.upload(self.fenced.stream, to, part);
            self.check("cuMemcpyHtoDAsync", copied)?;
            to += part.len() as u64;
        }
        Ok(())
    }
}

// SAFETY: a CUDA stream is a queue, and copies are queued in it or waited for.
unsafe impl BackendStream for Stream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        self.shared.bind()?;
        let to = address(&self.shared, dst)?;
        match src.len() {
            0 => Ok(()),
            1..=SMALL => self.upload_small(to, src),
            bytes if transfer::is_worth(bytes) => {
                let transfers = &self.shared.transfers;
                transfers.upload(&self.shared, self.fenced.stream, to, src)
            }
            _ => self.upload(to, src),
        }
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        if dst.is_empty() {
            return Ok(());
        }
        self.shared.bind()?;
        let from = address(&self.shared, src)?;
        if transfer::is_worth(dst.len()) {
            let transfers = &self.shared.transfers;
            return transfers.download(&self.shared, self.fenced.stream, from, dst);
        }
        // SAFETY: the source is in bounds by contract. `dst` is borrowed until the wait for the stream ends, whether or
        // not the copy was queued.
        let copied = unsafe {
            result::memcpy_dtoh_async(dst, from, self.fenced.stream)
                .and(stream::synchronize(self.fenced.stream))
        };
        self.check("cuMemcpyDtoHAsync", copied)
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        self.shared.bind()?;
        with_arguments(&self.shared, launch, |function, dynamic, pointers| {
            let ([x, y, z], [bx, by, bz]) = (launch.grid, launch.space.block);
            // SAFETY: the function's module is loaded while the program lives, and its drop waits for the stream. Each
            // parameter has a pointer to a value of its size, which is copied. The contract of launches ensures that
            // the kernel's accesses are in bounds.
            let launched = unsafe {
                result::launch_kernel(
                    function,
                    (x, y, z),
                    (bx, by, bz),
                    dynamic,
                    self.fenced.stream,
                    pointers,
                )
            };
            self.check("cuLaunchKernel", launched)
        })?;
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        self.shared.bind()?;
        // SAFETY: the stream is live.
        let waited = unsafe { stream::synchronize(self.fenced.stream) };
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
        let queued = unsafe { stream::wait_event(self.fenced.stream, ours.raw, flags) };
        self.check("cuStreamWaitEvent", queued)
    }

    fn is_idle(&self) -> Result<bool> {
        self.shared.bind()?;
        // SAFETY: the stream is live.
        match unsafe { cuStreamQuery(self.fenced.stream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            answer => self.check("cuStreamQuery", answer.result()).map(|()| true),
        }
    }

    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        if dst.len == 0 {
            return Ok(());
        }
        self.shared.bind()?;
        let to = address(&self.shared, dst)?;
        // SAFETY: the destination is in bounds by contract.
        let filled = unsafe { result::memset_d8_async(to, 0, dst.len, self.fenced.stream) };
        self.check("cuMemsetD8Async", filled)
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        let to = address(&self.shared, dst)?;
        let (from, owner) = memory::located(&self.shared, src)?;
        if !Arc::ptr_eq(owner, &self.shared) {
            return self.copy_from_peer(to, owner, from, src.len);
        }
        if src.len == 0 {
            return Ok(true);
        }
        if to.abs_diff(from) < src.len as u64 {
            return Ok(false); // the driver does not copy between overlapping ranges
        }
        self.shared.bind()?;
        // SAFETY: both ranges are in bounds by contract.
        let copied = unsafe { result::memcpy_dtod_async(to, from, src.len, self.fenced.stream) };
        self.check("cuMemcpyDtoDAsync", copied).map(|()| true)
    }
}

/// Lays out the arguments of a launch. Calls `use_` with the function, the bytes of dynamic shared memory, and a
/// pointer to the value of each parameter.
pub(super) fn with_arguments<R>(
    shared: &Arc<Shared>,
    launch: &Launch<'_>,
    use_: impl FnOnce(CUfunction, u32, &mut [*mut c_void]) -> Result<R>,
) -> Result<R> {
    let program: &Program = jit::program(&shared.name, launch)?;
    let args = jit::arguments(&shared.name, launch, &program.slots)?;
    let (mut values, mut pointers) = ([0; INLINE_ARGS], [std::ptr::null_mut(); INLINE_ARGS]);
    let (mut more_values, mut more_pointers) = (vec![], vec![]);
    let (values, pointers) = match args.len() {
        count @ ..=INLINE_ARGS => (&mut values[..count], &mut pointers[..count]),
        count => {
            more_values.resize(count, 0);
            more_pointers.resize(count, std::ptr::null_mut());
            (&mut more_values[..], &mut more_pointers[..])
        }
    };
    let mut dynamic = 0u64;
    for ((value, pointer), arg) in values.iter_mut().zip(&mut *pointers).zip(args) {
        *value = match arg {
            Arg::Buffer(slice) => address(shared, slice)?,
            Arg::Scalar(scalar) => u64::from_ne_bytes(scalar.padded()),
            Arg::Shared { bytes } => {
                let offset = dynamic.next_multiple_of(SHARED_ALIGNMENT);
                dynamic = offset.saturating_add(*bytes);
                // The parameter is its first half: machines with CUDA are little-endian.
                offset
            }
        };
        *pointer = (&raw mut *value).cast();
    }
    let dynamic = u32::try_from(dynamic).unwrap_or(u32::MAX);
    use_(program.function(), dynamic, pointers)
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Waits before the staging memory is freed. A failure means that the device is lost.
        let _ = self.shared.close_stream(self.fenced);
    }
}

/// A point in a stream.
struct Event {
    shared: Arc<Shared>,
    raw: CUevent,
    /// True if the event records the time.
    timed: bool,
}

// SAFETY: see `Shared`.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

// SAFETY: a CUDA event passes when the work before it has ended.
unsafe impl BackendEvent for Event {
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
        // A pending wait refers to the event's last record at that time, so the event may be recorded again.
        let kept = self.shared.event_pool.put(self.raw, self.timed);
        if !kept && self.shared.bind().is_ok() {
            // SAFETY: the event is live and not used after this; pending waits on it are not affected.
            let _ = unsafe { event::destroy(self.raw) };
        }
    }
}
