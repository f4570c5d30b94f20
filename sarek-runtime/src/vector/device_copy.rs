//! A device's copy of a vector, and the ordering of work on it.
//!
//! A copy knows the stream that last wrote it, and those that have read it since. Work on another
//! stream first waits for them: a reader waits for the writer, a writer for the writer and all
//! readers.

use std::ops::Range;
use std::sync::Arc;

use sarek_ir::TypeInfo;

use super::bytes;
use super::storage::HostRegion;
use crate::device::{Begun, Block, Done, Purpose, Queue, StreamRef, WorkKind};
use crate::plugin::backend::{BackendEvent, Slice};
use crate::plugin::claims::{CopyAction, Subject};
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};
use crate::sync::fork;
use crate::sync::span::span;
use crate::{Device, Result};

/// From this many readers on, idle ones are forgotten. Below, asking for idleness costs more than
/// remembering them.
const MANY_READERS: usize = 8;

pub(super) struct DeviceCopy {
    pub(super) device: Device,
    /// True if the copy holds the current contents.
    pub(super) valid: bool,
    block: Block,
    /// The storage on the device; `None` for its own memory.
    storage: Option<Tag<StorageKind>>,
    writer: Option<Writer>,
    /// Streams that have waited for the writer and read since.
    readers: Vec<Arc<Queue>>,
    /// The vector's own host memory, if the device works there. Dropped last.
    host_region: Option<HostRegion>,
}

/// The last writer of a copy.
struct Writer {
    queue: Arc<Queue>,
    /// An event behind the write, if one was recorded.
    done: Option<Arc<dyn BackendEvent>>,
}

impl DeviceCopy {
    /// Allocates memory for `bytes` bytes, without contents.
    pub(super) fn new(
        device: &Device,
        bytes: usize,
        purpose: Purpose,
        storage: Option<&Tag<StorageKind>>,
        element: Option<TypeInfo>,
    ) -> Result<DeviceCopy> {
        let mut block = device.block(bytes, purpose, storage, element)?;
        Ok(DeviceCopy {
            device: device.clone(),
            valid: false,
            storage: storage.cloned(),
            writer: None,
            // The first write waits for earlier users of the memory.
            readers: block.take_users(),
            block,
            host_region: None,
        })
    }

    /// Wraps existing memory that holds the contents.
    pub(super) fn imported(device: &Device, part: Slice) -> DeviceCopy {
        DeviceCopy {
            device: device.clone(),
            valid: true,
            storage: None,
            writer: None,
            readers: Vec::new(),
            block: Block::imported(device, part),
            host_region: None,
        }
    }

    /// Uses the vector's own host memory, if the device can work there. The copy counts as stale at
    /// first.
    pub(super) fn in_host_region(
        device: &Device,
        host_region: &HostRegion,
        storage: Option<&Tag<StorageKind>>,
    ) -> Result<Option<DeviceCopy>> {
        // SAFETY: the copy keeps the host region alive, and waits for its users when it is dropped. The
        // host writes there only after it has waited for all of them (`Copies::finish_in_host_memory`),
        // and reads there only after it has waited for the writer.
        let mem = unsafe { device.raw().import_host(host_region.at, host_region.bytes) }?;
        Ok(mem.map(|mem| {
            let (offset, len) = (0, host_region.bytes);
            let mut copy = DeviceCopy::imported(device, Slice { mem, offset, len });
            copy.valid = false;
            copy.storage = storage.cloned();
            copy.host_region = Some(host_region.clone());
            copy
        }))
    }

    /// True if the copy is in the vector's own host memory.
    pub(super) fn is_in_host_memory(&self) -> bool {
        self.host_region.is_some()
    }

    /// True if `place` is byte `at` of the vector's own host memory, where this copy is.
    fn is_host_region_at(&self, at: usize, place: *const u8) -> bool {
        let host_region = self.host_region.as_ref();
        host_region.is_some_and(|host_region| {
            host_region.at.as_ptr().wrapping_add(at).cast_const() == place
        })
    }

    /// Waits for all work that uses the copy, even where some of it fails.
    pub(super) fn finish(&self) -> Result<()> {
        fork::check()?;
        let writer = self.writer.iter().map(|writer| &writer.queue);
        let users = writer.chain(&self.readers);
        users.map(|user| user.raw.sync()).fold(Ok(()), Result::and)
    }

    /// A byte range of the copy.
    pub(super) fn part(&self, range: Range<usize>) -> Slice {
        let whole = self.block.slice();
        Slice {
            mem: whole.mem.clone(),
            offset: whole.offset + range.start,
            len: range.len(),
        }
    }

    /// Makes `queue` wait until it may read the copy.
    pub(super) fn before_read(&mut self, queue: &Arc<Queue>) -> Result<()> {
        fork::check()?;
        if self.readers.iter().any(|r| Arc::ptr_eq(r, queue)) {
            return Ok(());
        }
        if let Some(writer) = &self.writer
            && !Arc::ptr_eq(&writer.queue, queue)
        {
            match &writer.done {
                Some(done) => queue.raw.wait(done)?,
                None => writer.queue.precede(queue)?,
            }
        }
        if self.readers.len() >= MANY_READERS {
            // A long-lived vector need not keep the streams of all its readers.
            let is_busy = |reader: &Arc<Queue>| !reader.raw.is_idle().unwrap_or(false);
            self.readers.retain(is_busy);
        }
        self.readers.push(queue.clone());
        Ok(())
    }

    /// Makes `queue` wait until it may overwrite the copy. From here on it counts as a user, even
    /// if its work fails.
    pub(super) fn before_write(&mut self, queue: &Arc<Queue>) -> Result<()> {
        fork::check()?;
        let writer = self.writer.iter().map(|writer| &writer.queue);
        let users = writer.chain(&self.readers);
        for other in users.filter(|other| !Arc::ptr_eq(other, queue)) {
            other.precede(queue)?;
        }
        let is_writer = self
            .writer
            .as_ref()
            .is_some_and(|w| Arc::ptr_eq(&w.queue, queue));
        if !is_writer && !self.readers.iter().any(|r| Arc::ptr_eq(r, queue)) {
            self.readers.push(queue.clone());
        }
        Ok(())
    }

    /// Returns the valid copy, for work of `queue` that reads it or, if `exclusive`, writes it.
    pub(super) fn for_work(
        &mut self,
        queue: &Arc<Queue>,
        bytes: usize,
        exclusive: bool,
    ) -> Result<Slice> {
        match exclusive {
            true => self.before_write(queue)?,
            false => self.before_read(queue)?,
        }
        Ok(self.part(0..bytes))
    }

    /// Records that work of `queue` which overwrites the copy was queued.
    pub(super) fn written_by(&mut self, queue: &Arc<Queue>) {
        match &mut self.writer {
            Some(writer) if Arc::ptr_eq(&writer.queue, queue) => writer.done = None,
            writer => {
                let queue = queue.clone();
                *writer = Some(Writer { queue, done: None });
            }
        }
        self.readers.clear();
        self.valid = true;
    }

    /// Records the event `done` behind the last work of `queue`.
    pub(super) fn passed(&mut self, queue: &Arc<Queue>, done: &Arc<dyn BackendEvent>) {
        if let Some(writer) = &mut self.writer
            && Arc::ptr_eq(&writer.queue, queue)
        {
            writer.done = Some(done.clone());
        }
    }

    /// Returns an event behind the last write; records one behind all work of that stream if there
    /// is none yet.
    pub(super) fn mark_written(&mut self) -> Result<Option<Arc<dyn BackendEvent>>> {
        fork::check()?;
        let Some(writer) = &mut self.writer else {
            return Ok(None);
        };
        if writer.done.is_none() {
            writer.done = Some(writer.queue.raw.record()?);
        }
        Ok(writer.done.clone())
    }

    /// The way to copy bytes from one storage to another, where `None` is the device's own memory.
    fn route(
        &self,
        from: Option<&Tag<StorageKind>>,
        to: Option<&Tag<StorageKind>>,
        schedule: Option<&Tag<ScheduleKind>>,
        bytes: usize,
    ) -> Result<CopyAction> {
        let claims = self.device.claims();
        if !claims.has_copies() {
            return Ok(CopyAction::Native);
        }
        let tag = |storage: Option<&Tag<_>>| storage.cloned().unwrap_or_else(StorageKind::device);
        let subject = Subject::Copies {
            from: tag(from),
            to: tag(to),
            schedule: schedule.cloned(),
        };
        claims.route(&subject, bytes as u64)
    }

    /// Reads bytes as soon as the copy's own writer is done, without waiting for later work.
    pub(super) fn read(&self, from: usize, to: &mut [u8]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        if !self.is_in_host_memory() {
            let host = StorageKind::host();
            self.route(self.storage.as_ref(), Some(&host), None, to.len())?;
        }
        self.download(from, to)
    }

    /// Reads bytes without asking for claims.
    fn download(&self, from: usize, to: &mut [u8]) -> Result<()> {
        fork::check()?;
        let part = self.part(from..from + to.len());
        if self.is_host_region_at(from, to.as_ptr()) {
            // The bytes are there already; users of the copy see them.
            self.finish()?;
            let writer = self.writer.as_ref().map(|writer| &writer.queue);
            let queue = writer.unwrap_or_else(|| self.device.default_queue());
            // SAFETY: a part of this copy, which is valid; its users have finished.
            return unsafe { queue.raw.copy_out(&part, to) };
        }
        span!("download", bytes = to.len(), device = self.device);
        let queue = match &self.writer {
            Some(Writer {
                done: Some(done), ..
            }) => {
                done.sync()?;
                self.device.read_queue()
            }
            Some(Writer { queue, .. }) => queue,
            None => self.device.default_queue(),
        };
        let bytes = to.len();
        let begun = self
            .device
            .begin_transfer(|| transfer(WorkKind::Download, bytes))?;
        // SAFETY: a part of this copy, which is valid; its writer was waited for, or precedes this
        // in the queue.
        unsafe { queue.raw.copy_out(&part, to) }?;
        self.transferred(queue, begun, WorkKind::Download, to.len())
    }

    /// Reports a transfer to the profile.
    fn transferred(
        &self,
        queue: &Queue,
        begun: Option<Begun>,
        kind: WorkKind,
        bytes: usize,
    ) -> Result<()> {
        let Some(begun) = begun else {
            return Ok(());
        };
        self.device.end_work(queue, begun, transfer(kind, bytes))
    }

    /// Overwrites bytes, after the work of a stream.
    pub(super) fn write(&mut self, stream: StreamRef<'_>, at: usize, from: &[u8]) -> Result<()> {
        if !from.is_empty() && !self.is_in_host_memory() {
            let host = StorageKind::host();
            let own = self.storage.as_ref();
            self.route(Some(&host), own, stream.schedule(), from.len())?;
        }
        self.upload(stream.queue(), at, from)
    }

    /// Overwrites bytes without asking for claims, after the work of `queue`.
    pub(super) fn upload(&mut self, queue: &Arc<Queue>, at: usize, from: &[u8]) -> Result<()> {
        self.before_write(queue)?;
        if self.is_host_region_at(at, from.as_ptr()) {
            // SAFETY: a part of this copy, whose users this queue waits for.
            unsafe { queue.raw.copy_in(&self.part(at..at + from.len()), from) }?;
        } else if !from.is_empty() {
            span!("upload", bytes = from.len(), device = self.device);
            let part = self.part(at..at + from.len());
            let bytes = from.len();
            let begun = self
                .device
                .begin_transfer(|| transfer(WorkKind::Upload, bytes))?;
            // SAFETY: as above.
            unsafe { queue.raw.copy_in(&part, from) }?;
            let profile_result = self.transferred(queue, begun, WorkKind::Upload, from.len());
            self.written_by(queue);
            return profile_result;
        }
        self.written_by(queue);
        Ok(())
    }

    /// Fills the copy with zero bytes, after the work of `queue`.
    pub(super) fn zero(&mut self, queue: &Arc<Queue>, bytes: usize) -> Result<()> {
        self.before_write(queue)?;
        if bytes > 0 {
            // SAFETY: a part of this copy, whose users this queue waits for.
            unsafe { queue.raw.zero(&self.part(0..bytes)) }?;
        }
        self.written_by(queue);
        Ok(())
    }

    /// Copies a byte range of another copy to `at`, on a stream of this copy's device. It goes through the host if the backend has no direct way.
    pub(super) fn copy_from(
        &mut self,
        stream: StreamRef<'_>,
        at: usize,
        other: &mut DeviceCopy,
        range: Range<usize>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let (from, to) = (other.storage.as_ref(), self.storage.as_ref());
        let route = self.route(from, to, stream.schedule(), range.len())?;
        let (native, queue) = (route == CopyAction::Native, stream.queue());
        if native && other.device.backend() == self.device.backend() {
            other.before_read(queue)?;
            self.before_write(queue)?;
            let (to, from) = (self.part(at..at + range.len()), other.part(range.clone()));
            // SAFETY: parts of two copies; the queue waits for the users of one and for the writer
            // of the other, which is valid.
            if unsafe { queue.raw.copy(&to, &from) }? {
                self.written_by(queue);
                return Ok(());
            }
        }
        let mut bytes = bytes::fresh(range.len())?;
        other.download(range.start, &mut bytes)?;
        self.upload(queue, at, &bytes)
    }
}

impl Drop for DeviceCopy {
    fn drop(&mut self) {
        let mut users = std::mem::take(&mut self.readers);
        users.extend(self.writer.take().map(|writer| writer.queue));
        self.block.set_users(users);
    }
}

/// A transfer, as profiles report it.
fn transfer(kind: WorkKind, bytes: usize) -> Done {
    let name = match kind {
        WorkKind::Download => "to the host",
        WorkKind::Upload | WorkKind::Kernel | WorkKind::Graph => "to the device",
    };
    Done {
        kind,
        name: name.to_owned(),
        read: bytes as u64,
        written: 0,
        threads: 0,
    }
}
