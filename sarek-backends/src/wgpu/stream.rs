//! The queue of a device.
//!
//! Launches wait for each other, see [`Launches`](super::launches::Launches); all else submits them first.
//!
//! Each fill and copy is a separate submission. Uploads wait in wgpu until the next submission; `Queue::dirty` is true if
//! there are any. The lock is held from writing a program's scalars to submitting the launch that reads them.

use std::any::Any;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sarek_runtime::Result;
use sarek_runtime::backend::{BackendEvent, BackendStream, Launch, Slice};
use sarek_runtime::host::RawFault;
use wgpu::{BufferDescriptor, BufferUsages, CommandEncoder, CommandEncoderDescriptor};
use wgpu::{COPY_BUFFER_ALIGNMENT, Features, MapMode};
use wgpu::{QuerySetDescriptor, QueryType, SubmissionIndex};

use super::device::Shared;
use super::memory::Memory;
use super::program::Program;
use crate::jit::{self, lock};

/// The queue.
pub(super) struct Stream {
    shared: Arc<Shared>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// True if there are uploads that wait for a submission.
    dirty: bool,
    /// A readback buffer, kept between reads.
    staging: Option<wgpu::Buffer>,
}

/// Uploads of at least this size are submitted at once, so that wgpu frees its staging memory.
const LARGE_UPLOAD: usize = 1 << 20;

/// Larger staging buffers are not kept.
const KEPT_STAGING: u64 = 64 << 20;

impl Stream {
    pub fn new(shared: Arc<Shared>) -> Stream {
        Stream {
            shared,
            queue: Mutex::default(),
        }
    }

    fn memory<'a>(&self, slice: &'a Slice) -> Result<&'a Memory> {
        jit::memory(&self.shared.name, slice)
    }

    /// The event of a submission, with its timestamp buffer.
    fn event(&self, index: SubmissionIndex, time: Option<wgpu::Buffer>) -> Event {
        let done = Arc::new(AtomicBool::new(false));
        let tell = done.clone();
        self.shared
            .queue
            .on_submitted_work_done(move || tell.store(true, Ordering::Release));
        Event {
            shared: self.shared.clone(),
            index,
            done,
            time: time.map(|buffer| Timestamp {
                buffer,
                ticks: Mutex::default(),
            }),
        }
    }

    /// Records commands and submits them, after recorded launches and pending uploads.
    fn submit(
        &self,
        queue: &mut Queue,
        call: &str,
        record: impl FnOnce(&mut CommandEncoder),
    ) -> Result<SubmissionIndex> {
        self.shared.launches.submit(&self.shared)?;
        queue.dirty = false;
        self.shared.checked(call, || {
            let descriptor = CommandEncoderDescriptor::default();
            let mut encoder = self.shared.device.create_command_encoder(&descriptor);
            record(&mut encoder);
            self.shared.queue.submit([encoder.finish()])
        })
    }

    /// A submission after all work queued so far.
    pub fn flush(&self) -> Result<SubmissionIndex> {
        let mut queue = lock(&self.queue);
        self.shared.launches.submit(&self.shared)?;
        queue.dirty = false;
        self.shared
            .checked("submitting", || self.shared.queue.submit([]))
    }

    /// A buffer of at least this size that the host can read.
    fn staging(&self, queue: &mut Queue, size: u64) -> Result<wgpu::Buffer> {
        if let Some(kept) = queue.staging.take_if(|kept| kept.size() >= size) {
            return Ok(kept);
        }
        self.shared.checked("creating a staging buffer", || {
            self.shared.device.create_buffer(&BufferDescriptor {
                label: Some("sarek staging"),
                size: size
                    .next_power_of_two()
                    .min(self.shared.limits.max_buffer_size.max(size)),
                usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })
    }

    /// Extends an upload to whole words, as uploads require: returns the destination, and the bytes with the unchanged
    /// bytes around them.
    fn in_words<'a>(&self, dst: &Slice, src: &'a [u8]) -> Result<(u64, Cow<'a, [u8]>)> {
        let word = COPY_BUFFER_ALIGNMENT as usize;
        let (from, to) = (dst.offset, dst.offset + src.len());
        let (start, end) = (from / word * word, to.next_multiple_of(word));
        if (start, end) == (from, to) {
            return Ok((from as u64, src.into()));
        }
        let mut words = vec![0; end - start];
        let first = (start < from).then_some(start);
        // The bytes after the memory's end only fill its last word.
        let last = (to < end && to < dst.mem.len()).then(|| end - word);
        for at in first.into_iter().chain(last) {
            let around = Slice {
                mem: dst.mem.clone(),
                offset: at,
                len: word,
            };
            let place = &mut words[at - start..at - start + word];
            // SAFETY: the word is within the memory, like the part to be written; wgpu zeroes unwritten memory.
            unsafe { self.copy_out(&around, place) }?;
        }
        words[from - start..to - start].copy_from_slice(src);
        Ok((start as u64, words.into()))
    }
}

impl Shared {
    /// Waits for a submission and reads its result from a staging buffer, from byte `first` on.
    fn read(
        &self,
        (staging, first): (&wgpu::Buffer, usize),
        index: SubmissionIndex,
        dst: &mut [u8],
    ) -> Result<()> {
        let size = ((first + dst.len()) as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT);
        let range = staging.slice(..size);
        let (mapped, answer) = channel();
        self.checked("mapping a buffer", || {
            range.map_async(MapMode::Read, move |result| {
                let _ = mapped.send(result);
            });
        })?;
        self.poll(Some(index))?;
        // Another thread's poll may have taken the callback without having called it yet.
        let result = loop {
            match answer.recv_timeout(Duration::from_millis(1)) {
                Ok(result) => break result,
                Err(RecvTimeoutError::Timeout) => self.poll(None)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.error("mapping a buffer was cancelled"));
                }
            };
        };
        result.map_err(|error| self.error(error.to_string()))?;
        let view = range
            .get_mapped_range()
            .map_err(|error| self.error(error.to_string()))?;
        dst.copy_from_slice(&view[first..first + dst.len()]);
        drop(view);
        staging.unmap();
        Ok(())
    }
}

// SAFETY: there is one queue, in the order of submissions; copies to the host are waited for.
unsafe impl BackendStream for Stream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        if src.is_empty() {
            return Ok(());
        }
        let (offset, src) = self.in_words(dst, src)?;
        let buffer = &self.memory(dst)?.buffer;
        let mut queue = lock(&self.queue);
        self.shared.launches.submit(&self.shared)?;
        self.shared.checked("uploading", || {
            self.shared.queue.write_buffer(buffer, offset, &src);
            if src.len() >= LARGE_UPLOAD {
                self.shared.queue.submit([]);
            }
        })?;
        queue.dirty = src.len() < LARGE_UPLOAD;
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        if dst.is_empty() {
            return Ok(());
        }
        let buffer = &self.memory(src)?.buffer;
        let first = src.offset % COPY_BUFFER_ALIGNMENT as usize;
        let size = ((first + dst.len()) as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT);
        let (staging, index) = {
            let mut queue = lock(&self.queue);
            let staging = self.staging(&mut queue, size)?;
            let index = self.submit(&mut queue, "copying to the host", |encoder| {
                let from = (src.offset - first) as u64;
                encoder.copy_buffer_to_buffer(buffer, from, &staging, 0, size);
            })?;
            (staging, index)
        };
        self.shared.read((&staging, first), index, dst)?;
        if staging.size() <= KEPT_STAGING {
            lock(&self.queue).staging = Some(staging);
        }
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let program: &Program = jit::program(&self.shared.name, launch)?;
        let args = jit::arguments(&self.shared.name, launch, &program.slots)?;
        let group = program.bind(&self.shared, args)?;
        let _order = lock(&self.queue);
        let alone = program.writes_uniform();
        self.shared.launches.push(&self.shared, alone, |pass| {
            program.dispatch(&self.shared, pass, (args, &group, launch.grid));
        })?;
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        let index = self.flush()?;
        self.shared.poll(Some(index)).map(|_| ())
    }

    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        let index = self.flush()?;
        Ok(Arc::new(self.event(index, None)))
    }

    fn record_time(&self) -> Result<Arc<dyn BackendEvent>> {
        let features = self.shared.device.features();
        if !features.contains(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS) {
            return self.record();
        }
        let mut queue = lock(&self.queue);
        let (set, resolved, readable) = self.shared.checked("creating a timestamp", || {
            let set = self.shared.device.create_query_set(&QuerySetDescriptor {
                label: None,
                ty: QueryType::Timestamp,
                count: 1,
            });
            let buffer = |usage| BufferDescriptor {
                label: None,
                size: TIMESTAMP,
                usage,
                mapped_at_creation: false,
            };
            let resolved = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
            let readable = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
            let device = &self.shared.device;
            let make = |usage| device.create_buffer(&buffer(usage));
            (set, make(resolved), make(readable))
        })?;
        let index = self.submit(&mut queue, "marking the time", |encoder| {
            encoder.write_timestamp(&set, 0);
            encoder.resolve_query_set(&set, 0..1, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &readable, 0, TIMESTAMP);
        })?;
        Ok(Arc::new(self.event(index, Some(readable))))
    }

    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        let ours = (&**event as &dyn Any).downcast_ref::<Event>();
        match ours {
            // There is one queue, so later work comes after the event anyway.
            Some(ours) if Arc::ptr_eq(&ours.shared, &self.shared) => Ok(()),
            Some(_) | None => event.sync(),
        }
    }

    fn is_idle(&self) -> Result<bool> {
        let waits = lock(&self.queue).dirty || self.shared.launches.wait();
        if waits {
            self.flush()?;
        }
        Ok(self.shared.poll(None)?.is_queue_empty())
    }

    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        if dst.len == 0 {
            return Ok(());
        }
        if !fills_words(dst) {
            // SAFETY: the caller's promise.
            return unsafe { self.copy_in(dst, &vec![0; dst.len]) };
        }
        let buffer = &self.memory(dst)?.buffer;
        let size = (dst.len as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT);
        let mut queue = lock(&self.queue);
        self.submit(&mut queue, "filling with zeros", |encoder| {
            encoder.clear_buffer(buffer, dst.offset as u64, Some(size));
        })?;
        Ok(())
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        if src.len == 0 {
            return Ok(true);
        }
        if !self.memory(src)?.belongs_to(&self.shared) {
            return Ok(false);
        }
        let (to, from) = (&self.memory(dst)?.buffer, &self.memory(src)?.buffer);
        if to == from || !is_word(src.offset) || !fills_words(dst) {
            return Ok(false); // WebGPU does not copy within a buffer, nor parts of words
        }
        let size = (src.len as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT);
        let mut queue = lock(&self.queue);
        self.submit(&mut queue, "copying", |encoder| {
            let (from_at, to_at) = (src.offset as u64, dst.offset as u64);
            encoder.copy_buffer_to_buffer(from, from_at, to, to_at, size);
        })?;
        Ok(true)
    }
}

/// True for the offset of a word.
fn is_word(offset: usize) -> bool {
    (offset as u64).is_multiple_of(COPY_BUFFER_ALIGNMENT)
}

/// True if a part of a memory begins with a word, and ends with one or with the memory, whose last word is filled up.
fn fills_words(part: &Slice) -> bool {
    is_word(part.offset) && (is_word(part.len) || part.offset + part.len == part.mem.len())
}

/// A submission.
struct Event {
    shared: Arc<Shared>,
    index: SubmissionIndex,
    done: Arc<AtomicBool>,
    time: Option<Timestamp>,
}

/// The size of a timestamp in bytes.
const TIMESTAMP: u64 = 8;

/// The time at which the device reached an event, in its own ticks.
struct Timestamp {
    buffer: wgpu::Buffer,
    /// The value, once it has been read.
    ticks: Mutex<Option<u64>>,
}

impl Event {
    fn ticks(&self) -> Result<Option<u64>> {
        let Some(time) = &self.time else {
            return Ok(None);
        };
        let mut ticks = lock(&time.ticks);
        if ticks.is_none() {
            let mut bytes = [0; TIMESTAMP as usize];
            self.shared
                .read((&time.buffer, 0), self.index.clone(), &mut bytes)?;
            *ticks = Some(u64::from_le_bytes(bytes));
        }
        Ok(*ticks)
    }
}

// SAFETY: a submission completes after the work before it.
unsafe impl BackendEvent for Event {
    fn is_done(&self) -> Result<bool> {
        if !self.done.load(Ordering::Acquire) {
            self.shared.poll(None)?;
        }
        Ok(self.done.load(Ordering::Acquire))
    }

    fn sync(&self) -> Result<()> {
        self.shared.poll(Some(self.index.clone()))?;
        self.done.store(true, Ordering::Release);
        Ok(())
    }

    fn elapsed(&self, since: &dyn BackendEvent) -> Result<Option<Duration>> {
        let Some(since) = (since as &dyn Any).downcast_ref::<Event>() else {
            return Ok(None);
        };
        let (Some(start), Some(end)) = (since.ticks()?, self.ticks()?) else {
            return Ok(None);
        };
        let nanos =
            end.saturating_sub(start) as f64 * f64::from(self.shared.queue.get_timestamp_period());
        Ok(Some(Duration::from_nanos(nanos as u64)))
    }
}
