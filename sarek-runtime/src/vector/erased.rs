//! A vector as a launch sees it, whatever its elements.

use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sarek_ir::{Scalar, TypeInfo, link};

use super::{Vector, bytes};
use crate::device::{Pending, StreamRef};
use crate::plugin::backend::{BackendEvent, Slice};
use crate::plugin::tag::{StorageKind, Tag};
use crate::sync::lock;
use crate::{Device, Element, Error, Result};

pub(crate) trait Operand: Send + Sync {
    /// What devices see elements as: so many of a scalar.
    fn unit(&self) -> (Scalar, u64);

    /// By what graphs know the vector: a number that no other has.
    fn id(&self) -> u64;

    /// Where on devices it is; `None` for their own memory.
    fn storage(&self) -> Option<Tag<StorageKind>>;

    /// Bytes of an element.
    fn size(&self) -> usize;

    fn len(&self) -> usize;

    /// The type of an element, and its name.
    fn element(&self) -> (TypeId, &'static str);

    /// Does the device work in the memory of the host copy? That may be borrowed, and gone before the device's own is.
    fn is_at_home(&self, device: &Device) -> bool;

    /// The valid host copy, for reading.
    fn on_host(&self) -> Result<*const u8>;

    /// The host copy as the only valid one, for writing.
    fn on_host_mut(&mut self) -> Result<*mut u8>;

    /// The valid copy on the stream's device, for the stream's next work to read or, if
    /// `exclusive`, to write. At least one element long. Outcomes not yet known of launches that the contents depend on
    /// are added to `outcomes`, if they are asked for; the fault if one is known.
    fn on_device(
        &self,
        stream: StreamRef<'_>,
        exclusive: bool,
        outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<Slice>;

    /// As [`Operand::on_device`], where nobody else can reach the vector.
    fn on_device_mut(
        &mut self,
        stream: StreamRef<'_>,
        exclusive: bool,
        outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<Slice> {
        self.on_device(stream, exclusive, outcomes)
    }

    /// The host copy as the only valid one, for overwriting all of it.
    fn on_host_to_overwrite(&mut self) -> Result<*mut u8>;

    /// The copy on the stream's device, for the stream's next work to overwrite all of it.
    fn on_device_to_overwrite(&mut self, stream: StreamRef<'_>) -> Result<Slice>;

    /// All of it is being overwritten: what became of earlier launches is of no account.
    fn forget_outcomes(&mut self);

    /// Work that writes the vector was queued on the stream. What it holds depends on these outcomes alone, among which are
    /// those that it depended on before.
    fn written_on(&mut self, stream: StreamRef<'_>, outcomes: &[Pending]);

    /// Work that writes the vector could not be queued on the stream, as far as that is known. It holds what another valid copy
    /// does; without one, the error is all that is left.
    fn give_up(&mut self, stream: StreamRef<'_>, error: &Error);

    /// The stream's last work, which wrote the vector, lies before an event.
    fn passed(&mut self, stream: StreamRef<'_>, done: &Arc<dyn BackendEvent>);

    /// The contents are those of a launch that failed.
    fn fail(&mut self, error: Error);
}

impl<T: Element> Operand for Vector<T> {
    fn unit(&self) -> (Scalar, u64) {
        match &T::TYPE {
            TypeInfo::Scalar(scalar) => (*scalar, 1),
            info => *self.unit.get_or_init(|| link::unit(info)),
        }
    }

    fn id(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        *self.id.get_or_init(|| NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn storage(&self) -> Option<Tag<StorageKind>> {
        let ask = || lock(&self.state).copies.storage.clone();
        self.elsewhere.then(ask).flatten()
    }

    fn is_at_home(&self, device: &Device) -> bool {
        self.elsewhere && lock(&self.state).copies.is_at_home(device)
    }

    fn size(&self) -> usize {
        size_of::<T>()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn element(&self) -> (TypeId, &'static str) {
        (TypeId::of::<T>(), std::any::type_name::<T>())
    }

    fn on_host(&self) -> Result<*const u8> {
        Ok(self.as_slice()?.as_ptr().cast())
    }

    fn on_host_mut(&mut self) -> Result<*mut u8> {
        Ok(self.as_mut_slice()?.as_mut_ptr().cast())
    }

    fn on_device(
        &self,
        stream: StreamRef<'_>,
        exclusive: bool,
        outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<Slice> {
        let mut state = lock(&self.state);
        let bytes = self.bytes();
        let min_bytes = bytes.max(size_of::<T>());
        if let Some(outcomes) = outcomes {
            for outcome in state.copies.unsettled()? {
                if !outcomes.iter().any(|known| known.is_same(outcome)) {
                    outcomes.push(outcome.clone());
                }
            }
        }
        if let Some(valid) = state.copies.valid_on(stream.device()) {
            return valid.for_work(stream.queue(), min_bytes, exclusive);
        }
        let on_a_device = self.host.get().is_none();
        let host = if on_a_device && state.copies.fetch(stream, bytes, min_bytes)? {
            None
        } else {
            // From a device of another backend it goes through the host, which then holds it too.
            Some(bytes::of_many(self.valid_host(&mut state)?)?)
        };
        let host = host.as_deref();
        state.copies.on_device(stream, host, min_bytes, exclusive)
    }

    fn on_device_mut(
        &mut self,
        stream: StreamRef<'_>,
        exclusive: bool,
        outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<Slice> {
        let bytes = self.bytes().max(size_of::<T>());
        let copies = &mut self.state_mut().copies;
        // The usual case, which needs no lock.
        if copies.is_settled()
            && let Some(valid) = copies.valid_on(stream.device())
        {
            return valid.for_work(stream.queue(), bytes, exclusive);
        }
        self.on_device(stream, exclusive, outcomes)
    }

    fn on_host_to_overwrite(&mut self) -> Result<*mut u8> {
        let mut at = std::ptr::null_mut();
        self.rewrite(|elements| at = elements.as_mut_ptr())?;
        Ok(at.cast())
    }

    fn on_device_to_overwrite(&mut self, stream: StreamRef<'_>) -> Result<Slice> {
        let bytes = self.bytes().max(size_of::<T>());
        self.state_mut().copies.for_overwriting(stream, bytes)
    }

    fn forget_outcomes(&mut self) {
        self.state_mut().copies.forget_outcomes();
    }

    fn written_on(&mut self, stream: StreamRef<'_>, outcomes: &[Pending]) {
        let host = self.host.take();
        let state = self.state_mut();
        if host.is_some() {
            state.spare = host;
        }
        state.copies.written_on(stream, outcomes);
    }

    fn give_up(&mut self, stream: StreamRef<'_>, error: &Error) {
        let on_host = self.host.get().is_some();
        let copies = &mut self.state_mut().copies;
        if !copies.give_up(stream.device(), on_host) {
            copies.fail(error.clone());
        }
    }

    fn passed(&mut self, stream: StreamRef<'_>, done: &Arc<dyn BackendEvent>) {
        self.state_mut().copies.passed(stream, done);
    }

    fn fail(&mut self, error: Error) {
        self.state_mut().copies.fail(error);
    }
}
