//! One device's copy of a vector, and what may be done with it when.
//!
//! A copy knows the stream that last wrote it and those that read it since; work on another
//! stream first waits for them, a reader for the writer and a writer for both.

use std::ops::Range;
use std::sync::Arc;

use super::bytes;
use super::storage::Home;
use crate::device::{Begun, Block, Done, Purpose, Queue, WorkKind};
use crate::plugin::backend::{BackendEvent, Slice};
use crate::plugin::claims::CopyAction;
use crate::plugin::tag::{StorageKind, Tag};
use crate::sync::fork;
use crate::sync::span::span;
use crate::{Device, Result};

/// From so many readers on, those that are idle are forgotten: to ask takes longer than to remember a few.
const MANY_READERS: usize = 8;

pub(super) struct DeviceCopy {
    pub(super) device: Device,
    /// Does it hold what the vector holds?
    pub(super) valid: bool,
    block: Block,
    /// Where on the device it is; `None` for its own memory.
    storage: Option<Tag<StorageKind>>,
    writer: Option<Writer>,
    /// Streams that have waited for the writer and read since.
    readers: Vec<Arc<Queue>>,
    /// The vector's own memory, if that is where it is. Dropped last.
    home: Option<Home>,
}

/// What last wrote a copy.
struct Writer {
    queue: Arc<Queue>,
    /// The point behind that, if somebody has marked it.
    done: Option<Arc<dyn BackendEvent>>,
}

impl DeviceCopy {
    /// Memory for so many bytes, which hold nothing yet.
    pub(super) fn new(
        device: &Device,
        bytes: usize,
        purpose: Purpose,
        storage: Option<&Tag<StorageKind>>,
    ) -> Result<DeviceCopy> {
        let mut block = device.block(bytes, purpose, storage)?;
        Ok(DeviceCopy {
            device: device.clone(),
            valid: false,
            storage: storage.cloned(),
            writer: None,
            // Whoever used the memory before is waited for by the first write.
            readers: block.take_users(),
            block,
            home: None,
        })
    }

    /// Memory that was there before, and holds the contents.
    pub(super) fn imported(device: &Device, part: Slice) -> DeviceCopy {
        DeviceCopy {
            device: device.clone(),
            valid: true,
            storage: None,
            writer: None,
            readers: Vec::new(),
            block: Block::imported(device, part),
            home: None,
        }
    }

    /// The vector's own memory, if the device can work there; it holds nothing yet as far as the device knows.
    pub(super) fn at_home(
        device: &Device,
        home: &Home,
        storage: Option<&Tag<StorageKind>>,
    ) -> Result<Option<DeviceCopy>> {
        // SAFETY: the copy keeps the home, and waits for its users when it is dropped. The host writes there when it has waited
        // for all of them (`Copies::finish_at_home`), and reads there when it has waited for the writer.
        let mem = unsafe { device.raw().import_host(home.at, home.bytes) }?;
        Ok(mem.map(|mem| {
            let (offset, len) = (0, home.bytes);
            let mut copy = DeviceCopy::imported(device, Slice { mem, offset, len });
            copy.valid = false;
            copy.storage = storage.cloned();
            copy.home = Some(home.clone());
            copy
        }))
    }

    /// Is it in the vector's own memory?
    pub(super) fn is_at_home(&self) -> bool {
        self.home.is_some()
    }

    /// Is this the place in the vector's own memory from byte `at` on?
    fn is_home_of(&self, at: usize, place: *const u8) -> bool {
        let home = self.home.as_ref();
        home.is_some_and(|home| home.at.as_ptr().wrapping_add(at).cast_const() == place)
    }

    /// Waits for all work that uses it, also where some of that went wrong.
    pub(super) fn finish(&self) -> Result<()> {
        fork::check()?;
        let writer = self.writer.iter().map(|writer| &writer.queue);
        let users = writer.chain(&self.readers);
        users.map(|user| user.raw.sync()).fold(Ok(()), Result::and)
    }

    /// A part, in bytes.
    pub(super) fn part(&self, range: Range<usize>) -> Slice {
        let whole = self.block.slice();
        Slice {
            mem: whole.mem.clone(),
            offset: whole.offset + range.start,
            len: range.len(),
        }
    }

    /// Lets `queue` read what the copy holds.
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
            // A vector that stays need not keep the streams of all who ever read it.
            let is_busy = |reader: &Arc<Queue>| !reader.raw.is_idle().unwrap_or(false);
            self.readers.retain(is_busy);
        }
        self.readers.push(queue.clone());
        Ok(())
    }

    /// Lets `queue` overwrite what the copy holds. From here on it counts as a user, whatever becomes of its work.
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

    /// The copy, which is valid, for work of `queue` that reads it or, if `exclusive`, writes it.
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

    /// Work of `queue` that was let overwrite it was queued.
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

    /// `done` stands behind the last work of `queue`.
    pub(super) fn passed(&mut self, queue: &Arc<Queue>, done: &Arc<dyn BackendEvent>) {
        if let Some(writer) = &mut self.writer
            && Arc::ptr_eq(&writer.queue, queue)
        {
            writer.done = Some(done.clone());
        }
    }

    /// The point behind what last wrote it; behind all work of that stream, if nobody has marked it.
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

    /// Reads a part when its own writer is done, whatever was queued since.
    pub(super) fn read(&self, from: usize, to: &mut [u8]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        fork::check()?;
        let part = self.part(from..from + to.len());
        if self.is_home_of(from, to.as_ptr()) {
            // It is there; who is behind the copy sees it.
            self.finish()?;
            let writer = self.writer.as_ref().map(|writer| &writer.queue);
            let queue = writer.unwrap_or_else(|| self.device.default_queue());
            // SAFETY: a part of this copy, which is valid; its users have ended.
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
        let begun = self.device.begin_transfer()?;
        // SAFETY: a part of this copy, which is valid; its writer was waited for, or is before this in the queue.
        unsafe { queue.raw.copy_out(&part, to) }?;
        self.transferred(queue, begun, WorkKind::Download, to.len())
    }

    /// Tells a profile of a transfer.
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
        let (name, bytes) = match kind {
            WorkKind::Download => ("to the host", bytes as u64),
            WorkKind::Upload | WorkKind::Kernel | WorkKind::Graph => {
                ("to the device", bytes as u64)
            }
        };
        let done = Done {
            kind,
            name: name.to_owned(),
            read: bytes,
            written: 0,
            threads: 0,
        };
        self.device.end_work(queue, begun, done)
    }

    /// Overwrites a part, behind the work of `queue`.
    pub(super) fn write(&mut self, queue: &Arc<Queue>, at: usize, from: &[u8]) -> Result<()> {
        self.before_write(queue)?;
        if self.is_home_of(at, from.as_ptr()) {
            // SAFETY: a part of this copy, whose users this queue waits for.
            unsafe { queue.raw.copy_in(&self.part(at..at + from.len()), from) }?;
        } else if !from.is_empty() {
            span!("upload", bytes = from.len(), device = self.device);
            let part = self.part(at..at + from.len());
            let begun = self.device.begin_transfer()?;
            // SAFETY: as above.
            unsafe { queue.raw.copy_in(&part, from) }?;
            let told = self.transferred(queue, begun, WorkKind::Upload, from.len());
            self.written_by(queue);
            return told;
        }
        self.written_by(queue);
        Ok(())
    }

    /// Fills it with zero bytes, behind the work of `queue`.
    pub(super) fn zero(&mut self, queue: &Arc<Queue>, bytes: usize) -> Result<()> {
        self.before_write(queue)?;
        if bytes > 0 {
            // SAFETY: a part of this copy, whose users this queue waits for.
            unsafe { queue.raw.zero(&self.part(0..bytes)) }?;
        }
        self.written_by(queue);
        Ok(())
    }

    /// Copies a part of another copy to `at`, on `queue`, which is one of this device's; through the host where the
    /// backend knows no other way.
    pub(super) fn copy_from(
        &mut self,
        queue: &Arc<Queue>,
        at: usize,
        other: &mut DeviceCopy,
        range: Range<usize>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let native = match (&other.storage, &self.storage) {
            (None, None) => true,
            (from, to) => {
                let tag =
                    |storage: &Option<Tag<_>>| storage.clone().unwrap_or_else(StorageKind::device);
                let route = self
                    .device
                    .claims()
                    .route(&tag(from), &tag(to), range.len() as u64);
                route? == CopyAction::Native
            }
        };
        if native && other.device.backend() == self.device.backend() {
            other.before_read(queue)?;
            self.before_write(queue)?;
            let (to, from) = (self.part(at..at + range.len()), other.part(range.clone()));
            // SAFETY: parts of two copies; the queue waits for the users of one and for the writer of the other, which is valid.
            if unsafe { queue.raw.copy(&to, &from) }? {
                self.written_by(queue);
                return Ok(());
            }
        }
        let mut bytes = bytes::fresh(range.len())?;
        other.read(range.start, &mut bytes)?;
        self.write(queue, at, &bytes)
    }
}

impl Drop for DeviceCopy {
    fn drop(&mut self) {
        let mut users = std::mem::take(&mut self.readers);
        users.extend(self.writer.take().map(|writer| writer.queue));
        self.block.set_users(users);
    }
}
