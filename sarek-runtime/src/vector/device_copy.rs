//! One device's copy of a vector, and what may be done with it when.
//!
//! A copy knows the stream that last wrote it and those that read it since; work on another
//! stream first waits for them, a reader for the writer and a writer for both.

use std::ops::Range;
use std::sync::Arc;

use crate::backend::{BackendEvent, Slice};
use crate::claims::CopyAction;
use crate::device::{Block, Purpose, Queue};
use crate::tag::{StorageKind, Tag};
use crate::{Device, Result};

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
        })
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
        self.readers.push(queue.clone());
        Ok(())
    }

    /// Lets `queue` overwrite what the copy holds.
    pub(super) fn before_write(&mut self, queue: &Arc<Queue>) -> Result<()> {
        let writer = self.writer.iter().map(|writer| &writer.queue);
        let users = writer.chain(&self.readers);
        for other in users.filter(|other| !Arc::ptr_eq(other, queue)) {
            other.precede(queue)?;
        }
        Ok(())
    }

    /// Work of `queue` that was let overwrite it was queued.
    pub(super) fn written_by(&mut self, queue: &Arc<Queue>) {
        let queue = queue.clone();
        self.writer = Some(Writer { queue, done: None });
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

    /// Reads a part when its own writer is done, whatever was queued since.
    pub(super) fn read(&self, from: usize, to: &mut [u8]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let part = self.part(from..from + to.len());
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
        queue.raw.copy_out(&part, to)
    }

    /// Overwrites a part, behind the work of `queue`.
    pub(super) fn write(&mut self, queue: &Arc<Queue>, at: usize, from: &[u8]) -> Result<()> {
        self.before_write(queue)?;
        if !from.is_empty() {
            let part = self.part(at..at + from.len());
            queue.raw.copy_in(&part, from)?;
        }
        self.written_by(queue);
        Ok(())
    }

    /// Fills it with zero bytes, behind the work of `queue`.
    pub(super) fn zero(&mut self, queue: &Arc<Queue>, bytes: usize) -> Result<()> {
        self.before_write(queue)?;
        if bytes > 0 {
            queue.raw.zero(&self.part(0..bytes))?;
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
            if queue.raw.copy(&to, &from)? {
                self.written_by(queue);
                return Ok(());
            }
        }
        let mut bytes = vec![0; range.len()];
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
