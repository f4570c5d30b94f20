//! Reads, writes and copies of ranges of a vector, made where the contents are.
//!
//! A range is read from a valid copy and written into a valid copy: the host's if that is valid,
//! else a device's. The other elements stay where they are.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::OnceLock;

use super::{State, Vector, bytes};
use crate::device::Stream;
use crate::plugin::claims::{Request, Subject};
use crate::plugin::tag::{Kind, StorageKind, Tag};
use crate::sync::lock;
use crate::{Device, Element, Error, Result};

/// Resolves a range against a vector of `len` elements; [`Error::Range`] if it lies outside.
pub(crate) fn resolve(range: impl RangeBounds<usize>, len: usize) -> Result<Range<usize>> {
    let after = |n: usize| n.saturating_add(1);
    let start = match range.start_bound() {
        Bound::Unbounded => 0,
        Bound::Included(n) => *n,
        Bound::Excluded(n) => after(*n),
    };
    let end = match range.end_bound() {
        Bound::Unbounded => len,
        Bound::Included(n) => after(*n),
        Bound::Excluded(n) => *n,
    };
    match start <= end && end <= len {
        true => Ok(start..end),
        false => Err(Error::Range { start, end, len }),
    }
}

/// The range of `count` elements that starts at `at`.
fn from(at: usize, count: usize, len: usize) -> Result<Range<usize>> {
    resolve(at..at.saturating_add(count), len)
}

impl<T: Element> Vector<T> {
    /// Copies some elements to the host. Only these are transferred from a device.
    ///
    /// # Errors
    /// [`Error::Range`] for a range outside the vector; the error of a launch that failed to write
    /// it.
    pub fn read(&self, range: impl RangeBounds<usize>) -> Result<Vec<T>> {
        let range = resolve(range, self.len)?;
        let mut elements = bytes::fresh(range.len())?;
        self.read_into(range.start, &mut elements)?;
        Ok(elements)
    }

    /// Copies the elements that start at `at` into `to`, and fills it. Only these are transferred
    /// from a device.
    ///
    /// # Errors
    /// [`Error::Range`] for a range outside the vector; the error of a launch that failed to write
    /// it.
    pub fn read_into(&self, at: usize, to: &mut [T]) -> Result<()> {
        let range = from(at, to.len(), self.len)?;
        let mut state = self.settled()?;
        if let Some(host) = self.host.get() {
            to.copy_from_slice(&host[range]);
            return Ok(());
        }
        bytes::overwrite(to, |to| state.copies.download(at * size_of::<T>(), to))
    }

    /// Overwrites the elements that start at `at`, in the copy that is valid. Only these are
    /// transferred to a device.
    ///
    /// # Errors
    /// [`Error::Range`] for a range outside the vector; the error of a launch that failed to write
    /// it.
    pub fn write(&mut self, at: usize, elements: &[T]) -> Result<()> {
        let range = from(at, elements.len(), self.len)?;
        let host = self.host.get_mut();
        let copies = &mut self
            .state
            .get_mut()
            .unwrap_or_else(|e| e.into_inner())
            .copies;
        copies.unsettled()?;
        match host {
            Some(host) => {
                let host = host.make_mut()?;
                copies.invalidate();
                host[range].copy_from_slice(elements);
                Ok(())
            }
            None => {
                let copy = copies.valid().expect("some copy of a vector is valid");
                let device = copy.device.clone();
                let from = bytes::of_many(elements)?;
                let stream = device.default_stream();
                // If this fails, the contents of the range are unknown; the caller gets the error.
                let written = copy.write(stream, at * size_of::<T>(), &from);
                copies.only(&device);
                written
            }
        }
    }

    /// Overwrites the elements that start at `at` with a range of another vector. The copy runs on
    /// a device that holds the source, or between devices; it goes through the host only where
    /// there is no direct way.
    ///
    /// # Errors
    /// [`Error::Range`] for a range outside either vector; the error of a launch that failed to
    /// write the source, or to write this vector, unless all of it is overwritten.
    pub fn copy_from(
        &mut self,
        at: usize,
        source: &Vector<T>,
        range: impl RangeBounds<usize>,
    ) -> Result<()> {
        let range = resolve(range, source.len)?;
        let target = from(at, range.len(), self.len)?;
        if range.is_empty() {
            return Ok(());
        }
        // A vector without contents has nothing to keep.
        let blank = !self.is_on_host() && self.state_mut().copies.is_blank();
        let rewrites = target.len() == self.len || blank;
        let mut theirs = lock(&source.state);
        let outcomes = theirs.copies.unsettled()?.to_vec();
        if !rewrites {
            self.state_mut().copies.unsettled()?;
        }
        match source.host.get() {
            Some(host) if theirs.copies.valid().is_none() => {
                if blank {
                    self.host = OnceLock::from(super::import::fresh(self.len)?);
                }
                match target.len() == self.len {
                    true => self.copy_from_slice(&host[range])?,
                    false => self.write(at, &host[range])?,
                }
            }
            Some(_) | None => self.copy_on_device(at, &mut theirs, range, rewrites)?,
        }
        let own = &mut self.state_mut().copies;
        if rewrites {
            own.forget_outcomes();
        }
        own.depend(&outcomes);
        Ok(())
    }

    fn is_on_host(&self) -> bool {
        self.host.get().is_some()
    }

    /// Copies from a valid device copy of another vector.
    fn copy_on_device(
        &mut self,
        at: usize,
        theirs: &mut State<T>,
        range: Range<usize>,
        rewrites: bool,
    ) -> Result<()> {
        let size = size_of::<T>();
        let source_device = |state: &mut State<T>| state.copies.valid().map(|c| c.device.clone());
        // Choose a device that holds both vectors; else one that holds this vector; else, for a
        // complete overwrite, one that holds the source.
        let shared = theirs.copies.valid_devices().cloned().collect::<Vec<_>>();
        let own = &mut self.state_mut().copies;
        let both = shared.iter().find(|d| own.valid_on(d).is_some()).cloned();
        let elsewhere = own.valid().map(|copy| copy.device.clone());
        let place = both
            .or(elsewhere)
            .or_else(|| rewrites.then(|| source_device(theirs)).flatten());
        let Some(place) = place else {
            // Only the host holds this vector.
            let target = at..at + range.len();
            self.state_mut().copies.invalidate();
            let host = self.host.get_mut().expect("some copy of a vector is valid");
            bytes::overwrite(&mut host.make_mut()?[target], |to| {
                theirs.copies.download(range.start * size, to)
            })?;
            return Ok(());
        };
        self.copy_to(
            &place,
            at * size,
            theirs,
            range.start * size..range.end * size,
        )
    }

    /// Copies bytes into a device copy, which becomes the only valid one.
    fn copy_to(
        &mut self,
        place: &Device,
        at: usize,
        theirs: &mut State<T>,
        range: Range<usize>,
    ) -> Result<()> {
        let bytes = self.bytes();
        let copy = self.state_mut().copies.on(place, bytes)?;
        let from_device = match theirs.copies.valid_on(place) {
            Some(copy) => Some(copy),
            None => theirs.copies.valid(),
        };
        let source = from_device.expect("the caller checked that a copy on a device is valid");
        let copied = copy.copy_from(place.default_stream(), at, source, range);
        self.settle_on(place, copied)
    }

    /// Updates the state after a device copy was overwritten. After an error it is unknown how much
    /// was, so other copies stay valid.
    fn settle_on(&mut self, device: &Device, written: Result<()>) -> Result<()> {
        match written {
            Ok(()) => self.leave_host(device),
            Err(_) => {
                // The caller gets the error, and learns from it that the contents may have changed.
                let on_host = self.is_on_host();
                let _known = self.state_mut().copies.give_up(device, on_host);
            }
        }
        written
    }

    /// Makes a device copy the only valid one.
    fn leave_host(&mut self, device: &Device) {
        let host = self.host.take();
        let state = self.state_mut();
        if host.is_some() {
            state.spare = host;
        }
        state.copies.only(device);
    }

    /// Overwrites all elements with `value`, in the order of a stream: later work on it sees the
    /// new elements, earlier work does not. A vector that a failed launch made unreadable is
    /// readable again. A value whose bytes are all zero needs no upload.
    pub fn fill_on(&mut self, stream: &Stream, value: T) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let bytes = self.bytes();
        let (pattern, len) = (
            crate::types::bytes::of(std::slice::from_ref(&value)).into_owned(),
            self.len,
        );
        if stream.device().info().host_memory {
            return self.fill(value);
        }
        let copies = &mut self.state_mut().copies;
        let copy = copies.on(stream.device(), bytes)?;
        let filled = match pattern.iter().all(|byte| *byte == 0) {
            true => copy.zero(stream.queue(), bytes),
            false => bytes::repeated(&pattern, len)
                .and_then(|bytes| copy.upload(stream.queue(), 0, &bytes)),
        };
        if filled.is_ok() {
            copies.forget_outcomes();
        }
        self.settle_on(stream.device(), filled)
    }

    /// Moves the vector into another kind of device memory, for all devices.
    ///
    /// - [`StorageKind::device`], the default: the device's own memory.
    /// - [`StorageKind::pinned`]: host memory that the device accesses over the bus, for data that
    ///   kernels touch once.
    /// - [`StorageKind::zero_copy`]: the vector's own host memory, for devices that share it;
    ///   nothing is copied.
    /// - [`StorageKind::shared`]: not for vectors; an error.
    ///
    /// Devices that run kernels in host memory have no other memory, and accept the framework's
    /// storages and their own. Parts and clones of the vector are separate vectors, and start in
    /// device memory.
    ///
    /// # Errors
    /// A device that has no such memory, or whose backend has not claimed another backend's
    /// storage, returns an error when it is to hold the vector.
    pub fn stored_in(mut self, storage: &Tag<StorageKind>) -> Result<Vector<T>> {
        self.store_in(storage)?;
        Ok(self)
    }

    /// The same as [`Vector::stored_in`] for a borrowed vector, such as the one that
    /// [`Vector::with_slice_mut`] passes.
    ///
    /// With `zero_copy`, a single device works in the host memory of the elements: the first that
    /// can. Host accesses to them, and the drop of the vector, wait for that device's work on them.
    /// Elements with `bool`s, enums or padding are copied instead, as is memory that is not aligned
    /// to 16 bytes.
    pub fn store_in(&mut self, storage: &Tag<StorageKind>) -> Result<()> {
        let no_storage = if *storage == StorageKind::shared() {
            Some(
                "it is the memory of a block, and no vector can be stored there; a kernel allocates it with `shared_array`",
            )
        } else if *storage == StorageKind::host() {
            Some(
                "it is the program's own memory, where vectors are anyway; `zero_copy` lets devices work there",
            )
        } else {
            None
        };
        if let Some(problem) = no_storage {
            return Err(Error::Tag {
                kind: StorageKind::NAME,
                name: storage.to_string(),
                problem: problem.to_owned(),
            });
        }
        self.as_slice()?;
        let other = *storage != StorageKind::device();
        let other = other.then(|| storage.clone());
        let mut host_region = None;
        if *storage == StorageKind::zero_copy() && bytes::are_elements::<T>() {
            let host = self
                .host
                .take()
                .expect("`as_slice` made the host copy valid");
            let (host, place) = host.in_host_region();
            self.host = OnceLock::from(host);
            host_region =
                place.filter(|host_region| host_region.at.addr().get().is_multiple_of(16));
        }
        self.has_custom_storage = other.is_some();
        self.state_mut().copies.store_in(other, host_region);
        Ok(())
    }

    /// Uploads the elements to a stream's device ahead of the launches that use them, in the order
    /// of the stream.
    pub fn prefetch(&self, stream: &Stream) -> Result<()> {
        if stream.device().info().host_memory {
            if let Some(storage) = super::ErasedVector::storage(self) {
                let bytes = size_of_val(self.as_slice()?) as u64;
                let subject = Subject::Storage(storage);
                let claims = stream.device().claims();
                claims.owner(&Request::memory(&subject, bytes))?;
            }
            return self.as_slice().map(|_| ());
        }
        let mut outcomes = Vec::new();
        super::ErasedVector::on_device(self, stream.by_ref(), false, Some(&mut outcomes))
            .map(|_| ())
    }
}
