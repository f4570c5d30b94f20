//! The type-erased view of a vector that a launch works with.

use std::any::TypeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sarek_ir::{Scalar, TypeInfo, link};

use super::{Vector, bytes};
use crate::device::{Pending, StreamRef};
use crate::plugin::backend::{BackendEvent, Slice};
use crate::plugin::tag::{StorageKind, Tag};
use crate::sync::lock;
use crate::types::valid;
use crate::{Device, Element, Error, Result};

pub(crate) trait ErasedVector: Send + Sync {
    /// The scalar type that devices see, and the number of such scalars in an element.
    fn unit(&self) -> (Scalar, u64);

    /// A unique number, by which graphs identify the vector.
    fn id(&self) -> u64;

    /// The storage of the vector on devices; `None` for their own memory.
    fn storage(&self) -> Option<Tag<StorageKind>>;

    /// True if its copies on devices begin where allocations do. The memory of a storage, or from elsewhere, may begin
    /// at any element.
    fn is_aligned(&self) -> bool;

    /// The size of an element in bytes.
    fn size(&self) -> usize;

    fn len(&self) -> usize;

    /// The type of an element, and its name.
    fn element(&self) -> (TypeId, &'static str);

    /// True if the device works in the memory of the host copy. That memory may be borrowed, and
    /// may be freed before the device's own.
    fn is_in_host_memory(&self, device: &Device) -> bool;

    /// Returns the valid host copy, for reading.
    fn on_host(&self) -> Result<*const u8>;

    /// Makes the host copy the only valid one, and returns it for writing.
    fn on_host_mut(&mut self) -> Result<*mut u8>;

    /// Returns the valid copy on the stream's device, for the next work of that stream to read or,
    /// if `exclusive`, to write. The slice holds at least one element. If `outcomes` is given, the
    /// pending outcomes of launches that the contents depend on are added to it. A known fault is
    /// returned as the error.
    fn on_device(
        &self,
        stream: StreamRef<'_>,
        exclusive: bool,
        outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<Slice>;

    /// The same as [`ErasedVector::on_device`] for a vector that is borrowed mutably; needs no lock.
    fn on_device_mut(
        &mut self,
        stream: StreamRef<'_>,
        exclusive: bool,
        outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<Slice> {
        self.on_device(stream, exclusive, outcomes)
    }

    /// Makes the host copy the only valid one, and returns it to be overwritten completely.
    fn on_host_to_overwrite(&mut self) -> Result<*mut u8>;

    /// Returns the copy on the stream's device, for the next work of that stream to overwrite
    /// completely.
    fn on_device_to_overwrite(&mut self, stream: StreamRef<'_>) -> Result<Slice>;

    /// Forgets the outcomes of earlier launches, because the whole vector is being overwritten.
    fn forget_outcomes(&mut self);

    /// Records that work which writes the vector was queued on the stream. From now on the contents
    /// depend on exactly these outcomes, which include the earlier ones.
    fn written_on(&mut self, stream: StreamRef<'_>, outcomes: &[Pending]);

    /// Records that queuing work which writes the vector failed on the stream, and that it is
    /// unknown whether the work runs. The vector falls back to another valid copy; without one, it
    /// is unreadable with this error.
    fn give_up(&mut self, stream: StreamRef<'_>, error: &Error);

    /// Records an event behind the stream's last work, which wrote the vector.
    fn passed(&mut self, stream: StreamRef<'_>, done: &Arc<dyn BackendEvent>);

    /// Marks the contents as those of a launch that failed.
    fn fail(&mut self, error: Error);

    /// The elements as bytes; padding is 0. Waits for the work that writes them.
    fn saved(&self) -> Result<Vec<u8>>;

    /// A vector of such bytes, as many as this vector has. The index of an element that is no value
    /// of the type is an error, with its problem.
    fn restored(&self, bytes: &[u8]) -> Result<Box<dyn ErasedVector>, (u64, String)>;

    /// The vector in a storage.
    fn kept_in(self: Box<Self>, storage: &Tag<StorageKind>) -> Result<Box<dyn ErasedVector>>;

    /// Overwrites the elements by those of a vector of the same type and length.
    fn take_elements(&mut self, from: &dyn ErasedVector) -> Result<()>;
}

impl<T: Element> ErasedVector for Vector<T> {
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
        self.has_custom_storage.then(ask).flatten()
    }

    fn is_in_host_memory(&self, device: &Device) -> bool {
        self.has_custom_storage && lock(&self.state).copies.is_in_host_memory(device)
    }

    fn is_aligned(&self) -> bool {
        !self.has_custom_storage && !self.is_imported
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
            // A copy from a device of another backend goes through the host, which then holds it
            // too.
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

    fn saved(&self) -> Result<Vec<u8>> {
        Ok(crate::types::bytes::of(self.as_slice()?).into_owned())
    }

    fn restored(&self, bytes: &[u8]) -> Result<Box<dyn ErasedVector>, (u64, String)> {
        let size = size_of::<T>().max(1);
        assert_eq!(bytes.len(), self.bytes(), "another number of bytes");
        for (value, index) in bytes.chunks_exact(size).zip(0..) {
            valid::check(&T::TYPE, value).map_err(|problem| (index, problem))?;
        }
        let mut elements: Vec<T> = Vec::with_capacity(self.len);
        // SAFETY: the bytes are those of as many elements, each of which was checked to be a value
        // of the type that is described; `Element` promises that the description is right. They
        // do not overlap the new memory, which has room.
        unsafe {
            let to = elements.as_mut_ptr().cast::<u8>();
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            elements.set_len(self.len);
        }
        Ok(Box::new(Vector::from_vec(elements)))
    }

    fn kept_in(self: Box<Self>, storage: &Tag<StorageKind>) -> Result<Box<dyn ErasedVector>> {
        Ok(Box::new(self.stored_in(storage)?))
    }

    fn take_elements(&mut self, from: &dyn ErasedVector) -> Result<()> {
        let same = from.element().0 == TypeId::of::<T>() && from.len() == self.len;
        assert!(same, "a vector of another type or length");
        let from = from.on_host()?;
        self.forget_outcomes();
        let to = self.on_host_to_overwrite()?;
        // SAFETY: both have as many elements of this type, of which `to` is borrowed mutably, so
        // that they are different vectors.
        unsafe {
            to.cast::<T>()
                .copy_from_nonoverlapping(from.cast::<T>(), self.len);
        }
        Ok(())
    }
}
