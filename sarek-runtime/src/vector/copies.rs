//! Where a vector's contents are, and what is known about them.
//!
//! The host copy (see [`super::Vector`]) and each device copy are valid or not; all valid ones hold
//! the same contents, and one is always valid, unless the vector is failed. Reading makes the copy
//! that is read valid and changes no other; writing makes the copy that is written the only valid one.
//!
//! A device copy knows the stream that last wrote it and those that read it since; work on another
//! stream first waits for them, a reader for the writer and a writer for both.
//!
//! A launch that wrote the vector may turn out to have failed. Its outcome stays here until it is
//! known, and a fault stays until the whole vector is rewritten.

use std::sync::Arc;

use crate::backend::{Mem, Slice};
use crate::device::{Pending, Queue, Stream, slice};
use crate::{Device, Error, Result};

#[derive(Default)]
pub(super) struct Copies {
    devices: Vec<DeviceCopy>,
    outcomes: Vec<Pending>,
    failed: Option<Error>,
}

struct DeviceCopy {
    device: Device,
    mem: Arc<dyn Mem>,
    valid: bool,
    writer: Option<Arc<Queue>>,
    /// Streams that have waited for the writer and read since.
    readers: Vec<Arc<Queue>>,
}

impl DeviceCopy {
    /// Lets `queue` read what the copy holds.
    fn before_read(&mut self, queue: &Arc<Queue>) -> Result<()> {
        if self.readers.iter().any(|r| Arc::ptr_eq(r, queue)) {
            return Ok(());
        }
        if let Some(writer) = &self.writer
            && !Arc::ptr_eq(writer, queue)
        {
            writer.precede(queue)?;
        }
        self.readers.push(queue.clone());
        Ok(())
    }

    /// Lets `queue` overwrite what the copy holds.
    fn before_write(&mut self, queue: &Arc<Queue>) -> Result<()> {
        let users = self.writer.iter().chain(&self.readers);
        for other in users.filter(|other| !Arc::ptr_eq(other, queue)) {
            other.precede(queue)?;
        }
        Ok(())
    }

    fn written_by(&mut self, queue: &Arc<Queue>) {
        self.writer = Some(queue.clone());
        self.readers.clear();
        self.valid = true;
    }
}

impl Copies {
    /// Copies of a vector that cannot be read.
    pub(super) fn failed(error: Error) -> Copies {
        Copies {
            failed: Some(error),
            ..Copies::default()
        }
    }

    /// Waits until the outcome of each launch that wrote the vector is known; the fault, if one failed.
    pub(super) fn settle(&mut self) -> Result<()> {
        for outcome in std::mem::take(&mut self.outcomes) {
            if self.failed.is_none() {
                self.failed = outcome.outcome().err();
            }
        }
        self.known_to_be_good()
    }

    /// The outcomes that are not known yet; the fault, if one is known.
    pub(super) fn unsettled(&mut self) -> Result<&[Pending]> {
        let failed = &mut self.failed;
        self.outcomes.retain(|pending| match pending.known() {
            None => true,
            Some(outcome) => {
                if failed.is_none() {
                    *failed = outcome.err();
                }
                false
            }
        });
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(&self.outcomes),
        }
    }

    fn known_to_be_good(&self) -> Result<()> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// The contents are those of a launch that failed.
    pub(super) fn fail(&mut self, error: Error) {
        self.failed = Some(error);
    }

    /// The whole vector is being rewritten on the host.
    pub(super) fn forget(&mut self) {
        self.outcomes.clear();
        self.failed = None;
        self.invalidate();
    }

    /// The host copy is being written.
    pub(super) fn invalidate(&mut self) {
        for copy in &mut self.devices {
            copy.valid = false;
        }
    }

    /// Reads a valid device copy.
    pub(super) fn download(&self, to: &mut [u8]) -> Result<()> {
        let valid = self.devices.iter().find(|copy| copy.valid);
        let copy = valid.expect("some copy of a vector is valid");
        let from = slice(&copy.mem, to.len());
        match &copy.writer {
            _ if to.is_empty() => Ok(()),
            Some(queue) => queue.raw.copy_out(&from, to),
            None => copy.device.stream().queue().raw.copy_out(&from, to),
        }
    }

    /// Does a copy on the stream's device need the host's contents?
    pub(super) fn is_stale_on(&self, device: &Device) -> bool {
        !self.devices.iter().any(|c| c.device == *device && c.valid)
    }

    /// The valid copy on the stream's device, for the stream's next work; `host` is uploaded if the
    /// copy is stale.
    pub(super) fn on_device(
        &mut self,
        stream: &Stream,
        host: Option<&[u8]>,
        min_bytes: usize,
        exclusive: bool,
    ) -> Result<Slice> {
        let position = match self
            .devices
            .iter()
            .position(|c| c.device == *stream.device())
        {
            Some(position) => position,
            None => {
                self.devices.push(DeviceCopy {
                    device: stream.device().clone(),
                    mem: stream.device().alloc(min_bytes)?,
                    valid: false,
                    writer: None,
                    readers: Vec::new(),
                });
                self.devices.len() - 1
            }
        };
        let copy = &mut self.devices[position];
        let queue = stream.queue();
        if let Some(host) = host {
            copy.before_write(queue)?;
            if !host.is_empty() {
                queue.raw.copy_in(&slice(&copy.mem, host.len()), host)?;
            }
            copy.written_by(queue);
        }
        if exclusive {
            copy.before_write(queue)?;
        } else {
            copy.before_read(queue)?;
        }
        Ok(slice(&copy.mem, min_bytes))
    }

    /// Work that writes the copy of the stream's device was queued there. `outcomes` are those that
    /// the contents depend on.
    pub(super) fn written_on(&mut self, stream: &Stream, outcomes: &[Pending]) {
        for copy in &mut self.devices {
            if copy.device == *stream.device() {
                copy.written_by(stream.queue());
            } else {
                copy.valid = false;
            }
        }
        for outcome in outcomes {
            if !self.outcomes.iter().any(|own| own.is_same(outcome)) {
                self.outcomes.push(outcome.clone());
            }
        }
    }

    /// The devices with a valid copy.
    pub(super) fn valid_devices(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|c| c.valid).map(|c| &c.device)
    }
}
