//! A vector's memory on a device, for work that is queued without this library.

use std::fmt;
use std::marker::PhantomData;

use super::{Operand, Vector};
use crate::device::Stream;
use crate::plugin::backend::Slice;
use crate::{Element, Error, Result};

/// A vector's memory on a device; see [`Vector::lend`].
pub struct Lent<'a> {
    slice: Slice,
    stream: Stream,
    mutable: bool,
    vector: PhantomData<&'a mut ()>,
}

impl<T: Element> Vector<T> {
    /// The elements in the memory of a stream's device, to be read there by work of one's own: `sarek::interop` gives its
    /// handle. That work is queued on the stream, or somewhere else once [`Lent::wait`] has returned; it is done, or queued
    /// on the stream, when the result is dropped.
    ///
    /// # Errors
    /// The fault of a launch that was to make the elements; [`Error::Unsupported`] on devices that use host memory.
    pub fn lend(&self, stream: &Stream) -> Result<Lent<'_>> {
        let slice = self.lent(stream, false)?;
        Ok(Lent::new(slice, stream, false))
    }

    /// As [`Vector::lend`], to be read and written. Other copies are stale from here on.
    pub fn lend_mut(&mut self, stream: &Stream) -> Result<Lent<'_>> {
        let slice = self.lent(stream, true)?;
        self.written_on(stream.by_ref(), &[]);
        Ok(Lent::new(slice, stream, true))
    }

    fn lent(&self, stream: &Stream, exclusive: bool) -> Result<Slice> {
        if stream.device().info().host_memory {
            return Err(Error::Unsupported {
                backend: stream.device().backend().to_owned(),
                what: "memory of its own; the elements are where `as_slice` says".to_owned(),
            });
        }
        drop(self.settled()?);
        let mut slice = self.on_device(stream.by_ref(), exclusive, None)?;
        slice.len = self.bytes();
        Ok(slice)
    }
}

impl Lent<'_> {
    fn new(slice: Slice, stream: &Stream, mutable: bool) -> Self {
        Lent {
            slice,
            stream: stream.clone(),
            mutable,
            vector: PhantomData,
        }
    }

    /// Where it is, for the backend of the device.
    ///
    /// # Safety
    /// The slice is used as it is lent: for reading, and for writing as well if [`Lent::is_mutable`]. No work that uses it, and
    /// no clone of it, outlives what the vector was borrowed for.
    pub unsafe fn slice(&self) -> &Slice {
        &self.slice
    }

    /// The stream in whose order it is lent.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// May it be written?
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// Waits until the elements are there for work on any stream or queue.
    pub fn wait(&self) -> Result<()> {
        self.stream.queue().raw.sync()
    }
}

impl fmt::Debug for Lent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slice { offset, len, .. } = self.slice;
        write!(
            f,
            "Lent({len} bytes from {offset} on, {})",
            self.stream.device()
        )
    }
}
