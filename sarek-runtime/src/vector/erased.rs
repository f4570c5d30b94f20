//! A vector as a launch sees it, whatever its elements.

use std::sync::Arc;

use sarek_ir::{Scalar, TypeInfo, link};

use super::{Vector, bytes};
use crate::backend::{BackendEvent, Slice};
use crate::device::{Pending, Stream};
use crate::sync::lock;
use crate::{Element, Error, Result};

pub(crate) trait Operand: Send + Sync {
    /// What devices see elements as: so many of a scalar.
    fn unit(&self) -> (Scalar, u64);

    /// Bytes of an element.
    fn size(&self) -> usize;

    fn len(&self) -> usize;

    /// Outcomes not yet known of launches that the contents depend on; the fault if one is known.
    fn unsettled(&self) -> Result<Vec<Pending>>;

    /// The valid host copy, for reading.
    fn on_host(&self) -> Result<*const u8>;

    /// The host copy as the only valid one, for writing.
    fn on_host_mut(&mut self) -> Result<*mut u8>;

    /// The valid copy on the stream's device, for the stream's next work to read or, if
    /// `exclusive`, to write. At least one element long.
    fn on_device(&self, stream: &Stream, exclusive: bool) -> Result<Slice>;

    /// Work that writes the vector was queued on the stream.
    fn written_on(&mut self, stream: &Stream, outcomes: &[Pending]);

    /// The stream's last work, which wrote the vector, lies before an event.
    fn passed(&mut self, stream: &Stream, done: &Arc<dyn BackendEvent>);

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

    fn size(&self) -> usize {
        size_of::<T>()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn unsettled(&self) -> Result<Vec<Pending>> {
        lock(&self.state).copies.unsettled().map(<[_]>::to_vec)
    }

    fn on_host(&self) -> Result<*const u8> {
        Ok(self.as_slice()?.as_ptr().cast())
    }

    fn on_host_mut(&mut self) -> Result<*mut u8> {
        Ok(self.as_mut_slice()?.as_mut_ptr().cast())
    }

    fn on_device(&self, stream: &Stream, exclusive: bool) -> Result<Slice> {
        let mut state = lock(&self.state);
        let bytes = self.len * size_of::<T>();
        let min_bytes = bytes.max(size_of::<T>());
        let stale = state.copies.is_stale_on(stream.device());
        let host = if !stale
            || self.host.get().is_none() && state.copies.fetch(stream, bytes, min_bytes)?
        {
            None
        } else {
            // From a device of another backend it goes through the host, which then holds it too.
            Some(bytes::of(self.valid_host(&mut state)?))
        };
        let host = host.as_deref();
        state.copies.on_device(stream, host, min_bytes, exclusive)
    }

    fn written_on(&mut self, stream: &Stream, outcomes: &[Pending]) {
        let host = self.host.take();
        let state = self.state_mut();
        if host.is_some() {
            state.spare = host;
        }
        state.copies.written_on(stream, outcomes);
    }

    fn passed(&mut self, stream: &Stream, done: &Arc<dyn BackendEvent>) {
        self.state_mut().copies.passed(stream, done);
    }

    fn fail(&mut self, error: Error) {
        self.state_mut().copies.fail(error);
    }
}
