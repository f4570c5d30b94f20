//! The coherence of a vector's copies, and the outcomes that its contents depend on.
//!
//! The host copy (see [`super::Vector`]) and each device copy are valid or stale. All valid ones
//! hold the same contents. At least one is valid, unless the vector is failed. Reading makes the
//! copy that is read valid, and changes no other. Writing makes the written copy the only valid
//! one.
//!
//! A launch that wrote the vector may turn out to have failed. Its pending outcome is kept here
//! until it is known. A fault stays until the whole vector is rewritten.

use std::sync::Arc;

use sarek_ir::TypeInfo;

use super::device_copy::DeviceCopy;
use super::storage::HostRegion;
use crate::device::{Pending, Purpose, Queue, StreamRef};
use crate::plugin::backend::{BackendEvent, Slice};
use crate::plugin::tag::{StorageKind, Tag};
use crate::{Device, Error, Result};

#[derive(Default)]
pub(super) struct Copies {
    devices: Vec<DeviceCopy>,
    /// The type of the elements.
    element: Option<TypeInfo>,
    /// The storage on devices; `None` for their own memory.
    pub(super) storage: Option<Tag<StorageKind>>,
    /// The memory of the host copy, if a device may work in it.
    host_region: Option<HostRegion>,
    outcomes: Vec<Pending>,
    failed: Option<Error>,
}

impl Copies {
    /// No copies of elements of a type.
    pub(super) fn of(element: TypeInfo) -> Copies {
        Copies {
            element: Some(element),
            ..Copies::default()
        }
    }

    /// The state of an unreadable vector.
    pub(super) fn failed(error: Error, element: TypeInfo) -> Copies {
        Copies {
            failed: Some(error),
            element: Some(element),
            ..Copies::default()
        }
    }

    /// The pending outcome to wait for next; without one, the fault if a launch failed.
    pub(super) fn next_outcome(&self) -> Result<Option<&Pending>> {
        match self.outcomes.first() {
            Some(pending) => Ok(Some(pending)),
            None => self.known_to_be_good().map(|()| None),
        }
    }

    /// Records a known outcome.
    pub(super) fn note_outcome(&mut self, pending: &Pending, outcome: Result<()>) {
        self.outcomes.retain(|own| !own.is_same(pending));
        self.failed = self.failed.take().or(outcome.err());
    }

    /// The outcomes that are still pending; the fault if one is known.
    pub(super) fn unsettled(&mut self) -> Result<&[Pending]> {
        if self.outcomes.is_empty() {
            return self.known_to_be_good().map(|()| &[][..]);
        }
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

    /// True if no outcome is pending and none was a fault.
    pub(super) fn is_settled(&self) -> bool {
        self.outcomes.is_empty() && self.failed.is_none()
    }

    fn known_to_be_good(&self) -> Result<()> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Marks the contents as those of a launch that failed.
    pub(super) fn fail(&mut self, error: Error) {
        self.failed = Some(error);
    }

    /// Changes the storage on devices, and drops all device copies.
    pub(super) fn store_in(
        &mut self,
        storage: Option<Tag<StorageKind>>,
        host_region: Option<HostRegion>,
    ) {
        self.devices.clear();
        self.storage = storage;
        self.host_region = host_region;
    }

    /// Waits for a device's work in the vector's own host memory, because the host is about to
    /// write there. Vectors that depend on that work report its errors.
    pub(super) fn finish_in_host_memory(&self) {
        for copy in self.devices.iter().filter(|copy| copy.is_in_host_memory()) {
            let _lost = copy.finish();
        }
    }

    /// True if the copy on a device is in the memory of the host copy.
    pub(super) fn is_in_host_memory(&self, device: &Device) -> bool {
        let mut devices = self.devices.iter();
        devices.any(|copy| copy.device == *device && copy.is_in_host_memory())
    }

    /// Resets the state for a complete rewrite on the host.
    pub(super) fn forget(&mut self) {
        self.forget_outcomes();
        self.invalidate();
    }

    /// Resets the outcomes for a complete rewrite.
    pub(super) fn forget_outcomes(&mut self) {
        self.outcomes.clear();
        self.failed = None;
    }

    /// Marks all device copies stale, because the host copy is about to be written.
    pub(super) fn invalidate(&mut self) {
        self.finish_in_host_memory();
        for copy in &mut self.devices {
            copy.valid = false;
        }
    }

    /// Any valid device copy.
    pub(super) fn valid(&mut self) -> Option<&mut DeviceCopy> {
        self.devices.iter_mut().find(|copy| copy.valid)
    }

    /// The valid copy on a device.
    pub(super) fn valid_on(&mut self, device: &Device) -> Option<&mut DeviceCopy> {
        let mut devices = self.devices.iter_mut();
        devices.find(|copy| copy.valid && copy.device == *device)
    }

    /// True if no device copy is valid and no fault is known.
    pub(super) fn is_blank(&self) -> bool {
        self.failed.is_none() && !self.devices.iter().any(|copy| copy.valid)
    }

    /// Handles a device copy with unknown contents, because work that writes it failed or was not
    /// queued. The work is waited for, since it may use the host's memory. If another copy is
    /// valid, this one becomes stale. Returns true if the contents are still known.
    pub(super) fn give_up(&mut self, device: &Device, on_host: bool) -> bool {
        let is_other = |copy: &DeviceCopy| copy.valid && copy.device != *device;
        let elsewhere = self.devices.iter().any(is_other);
        let mut apart = true;
        for copy in self
            .devices
            .iter_mut()
            .filter(|copy| copy.device == *device)
        {
            let _lost = copy.finish();
            copy.valid &= !(on_host || elsewhere);
            apart &= !copy.is_in_host_memory();
        }
        elsewhere || on_host && apart
    }

    /// Makes a copy the only valid one among those on devices.
    pub(super) fn only(&mut self, device: &Device) {
        for copy in &mut self.devices {
            copy.valid &= copy.device == *device;
        }
    }

    /// Reads bytes of a valid device copy.
    pub(super) fn download(&mut self, from: usize, to: &mut [u8]) -> Result<()> {
        let copy = self.valid().expect("some copy of a vector is valid");
        copy.read(from, to)
    }

    /// Makes existing memory of a device the only device copy.
    pub(super) fn import(&mut self, device: &Device, part: Slice) {
        self.devices = vec![DeviceCopy::imported(device, part)];
    }

    /// The index of the copy on a device, valid or not; allocates it if there is none.
    fn position(&mut self, device: &Device, bytes: usize, purpose: Purpose) -> Result<usize> {
        let known = self.devices.iter().position(|c| c.device == *device);
        match known {
            Some(position) => Ok(position),
            None => {
                let storage = self.storage.as_ref();
                // Only one device works in host memory; several would have to wait for each other.
                let taken = self.devices.iter().any(DeviceCopy::is_in_host_memory);
                let host_region = self.host_region.as_ref();
                let in_host_region = match host_region
                    .filter(|host_region| !taken && host_region.bytes == bytes)
                {
                    Some(host_region) => DeviceCopy::in_host_region(device, host_region, storage)?,
                    None => None,
                };
                let copy = match in_host_region {
                    Some(copy) => copy,
                    None => DeviceCopy::new(device, bytes, purpose, storage, self.element)?,
                };
                self.devices.push(copy);
                Ok(self.devices.len() - 1)
            }
        }
    }

    /// The copy on a device, valid or not.
    pub(super) fn on(&mut self, device: &Device, bytes: usize) -> Result<&mut DeviceCopy> {
        let position = self.position(device, bytes.max(1), Purpose::Working)?;
        Ok(&mut self.devices[position])
    }

    /// Fetches `bytes` bytes of the contents from another device of the same backend. Returns true
    /// if there is such a device.
    pub(super) fn fetch(
        &mut self,
        stream: StreamRef<'_>,
        bytes: usize,
        min_bytes: usize,
    ) -> Result<bool> {
        let device = stream.device();
        let near = |copy: &DeviceCopy| copy.valid && copy.device.backend() == device.backend();
        if !self.devices.iter().any(near) {
            return Ok(false);
        }
        let position = self.position(device, min_bytes, Purpose::Working)?;
        let mut copy = self.devices.swap_remove(position);
        let copied = match self.devices.iter_mut().find(|copy| near(copy)) {
            Some(source) => copy.copy_from(stream, 0, source, 0..bytes),
            None => unreachable!("the copy on the stream's device is stale"),
        };
        copy.valid = copied.is_ok();
        self.devices.push(copy);
        copied.map(|()| true)
    }

    /// Returns the valid copy on the stream's device, for the next work of that stream. A stale
    /// copy is updated from `host`.
    pub(super) fn on_device(
        &mut self,
        stream: StreamRef<'_>,
        host: Option<&[u8]>,
        min_bytes: usize,
        exclusive: bool,
    ) -> Result<Slice> {
        let purpose = match exclusive {
            true => Purpose::Working,
            false => Purpose::Constant,
        };
        let position = self.position(stream.device(), min_bytes, purpose)?;
        let copy = &mut self.devices[position];
        let queue = stream.queue();
        if let Some(host) = host {
            copy.write(stream, 0, host)?;
        }
        copy.for_work(queue, min_bytes, exclusive)
    }

    /// Returns the copy on the stream's device, valid or not, for the next work of that stream to
    /// overwrite.
    pub(super) fn for_overwriting(&mut self, stream: StreamRef<'_>, bytes: usize) -> Result<Slice> {
        let copy = self.on(stream.device(), bytes)?;
        copy.before_write(stream.queue())?;
        Ok(copy.part(0..bytes))
    }

    /// Records that work which writes the copy on the stream's device was queued. `outcomes` are
    /// all that the contents depend on.
    pub(super) fn written_on(&mut self, stream: StreamRef<'_>, outcomes: &[Pending]) {
        self.written_by(stream.device(), stream.queue());
        self.outcomes.clear();
        self.outcomes.extend_from_slice(outcomes);
    }

    fn written_by(&mut self, device: &Device, queue: &Arc<Queue>) {
        for copy in &mut self.devices {
            if copy.device == *device {
                copy.written_by(queue);
            } else {
                copy.valid = false;
            }
        }
    }

    /// Adds outcomes that the contents depend on.
    pub(super) fn depend(&mut self, outcomes: &[Pending]) {
        for outcome in outcomes {
            if !self.outcomes.iter().any(|own| own.is_same(outcome)) {
                self.outcomes.push(outcome.clone());
            }
        }
    }

    /// Records an event behind the stream's last work, which wrote the copy there.
    pub(super) fn passed(&mut self, stream: StreamRef<'_>, done: &Arc<dyn BackendEvent>) {
        if let Some(copy) = self.valid_on(stream.device()) {
            copy.passed(stream.queue(), done);
        }
    }

    /// An event behind the writer of the copy that a read would use.
    pub(super) fn mark_written(&mut self) -> Result<Option<Arc<dyn BackendEvent>>> {
        self.valid().map_or(Ok(None), DeviceCopy::mark_written)
    }

    /// The devices with a valid copy.
    pub(super) fn valid_devices(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|c| c.valid).map(|c| &c.device)
    }
}
