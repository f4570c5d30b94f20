//! Raw access to a vector's memory on a device, for work that is queued without this library.

use std::fmt;
use std::marker::PhantomData;

use super::{ErasedVector, Vector};
use crate::device::Stream;
use crate::plugin::backend::Slice;
use crate::{Element, Error, Result};

/// A vector's memory on a device, made by [`Vector::lend`] or [`Vector::lend_mut`].
pub struct Lent<'a> {
    slice: Slice,
    stream: Stream,
    mutable: bool,
    vector: PhantomData<&'a mut ()>,
}

impl<T: Element> Vector<T> {
    /// Gives raw read access to the elements in the memory of a stream's device; `sarek::interop`
    /// returns the native handle.
    ///
    /// Queue your work on this stream, or elsewhere once [`Lent::wait`] has returned. It must be
    /// done, or queued on this stream, when the result is dropped.
    ///
    /// # Errors
    /// The fault of a launch that failed to write the elements; [`Error::Unsupported`] on devices
    /// that use host memory.
    pub fn lend(&self, stream: &Stream) -> Result<Lent<'_>> {
        let slice = self.lent(stream, false)?;
        Ok(Lent::new(slice, stream, false))
    }

    /// The same as [`Vector::lend`], for reading and writing. All other copies of the elements
    /// become stale.
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

    /// The memory, in the form that the device's backend uses.
    ///
    /// # Safety
    /// Work reads the slice, and writes it only if [`Lent::is_mutable`]. No such work, and no clone
    /// of the slice, outlives the borrow of the vector.
    pub unsafe fn slice(&self) -> &Slice {
        &self.slice
    }

    /// The stream that orders accesses to the memory.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// True if the memory may be written.
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// Waits until work on any stream or queue may use the elements.
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
