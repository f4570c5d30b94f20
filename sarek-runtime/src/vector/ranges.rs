//! Parts of a vector, read, written and copied where the contents are.
//!
//! A part is read from the copy that is valid, and written into one that is: the host's if that is valid, else a device's. So
//! the rest of the vector stays where it is.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::OnceLock;

use super::{State, Vector, bytes};
use crate::device::Stream;
use crate::plugin::claims::{Request, Subject};
use crate::plugin::tag::{Kind, StorageKind, Tag};
use crate::sync::lock;
use crate::{Device, Element, Error, Result};

/// The elements of a vector of `len` that a range names.
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

/// The range of `count` elements from `at`.
fn from(at: usize, count: usize, len: usize) -> Result<Range<usize>> {
    resolve(at..at.saturating_add(count), len)
}

impl<T: Element> Vector<T> {
    /// A copy of some elements; only these come back from a device.
    pub fn read(&self, range: impl RangeBounds<usize>) -> Result<Vec<T>> {
        let range = resolve(range, self.len)?;
        let mut elements = bytes::fresh(range.len())?;
        self.read_into(range.start, &mut elements)?;
        Ok(elements)
    }

    /// Copies the elements from `at` on into as many others; only these come back from a device.
    pub fn read_into(&self, at: usize, to: &mut [T]) -> Result<()> {
        let range = from(at, to.len(), self.len)?;
        let mut state = self.settled()?;
        if let Some(host) = self.host.get() {
            to.copy_from_slice(&host[range]);
            return Ok(());
        }
        bytes::overwrite(to, |to| state.copies.download(at * size_of::<T>(), to))
    }

    /// Overwrites the elements from `at` on, where the vector is: only these go to a device.
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
                let queue = device.default_queue();
                // Should that fail, nobody knows what the part holds; the error is the caller's.
                let written = copy.write(queue, at * size_of::<T>(), &from);
                copies.only(&device);
                written
            }
        }
    }

    /// Overwrites the elements from `at` on with a part of another vector: on a device that holds that one, or between
    /// devices, without going through the host if they can do without.
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
        // Of a vector that holds nothing yet, nothing has to be kept.
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
        // Where this vector is valid on a device that holds the other too, that is the place; else where this vector is
        // valid; else, if all of it is rewritten, where the other is.
        let shared = theirs.copies.valid_devices().cloned().collect::<Vec<_>>();
        let own = &mut self.state_mut().copies;
        let both = shared.iter().find(|d| own.valid_on(d).is_some()).cloned();
        let elsewhere = own.valid().map(|copy| copy.device.clone());
        let place = both
            .or(elsewhere)
            .or_else(|| rewrites.then(|| source_device(theirs)).flatten());
        let Some(place) = place else {
            // This vector is on the host alone.
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

    /// Copies bytes into the copy of a device, which becomes the only valid one.
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
        let source = from_device.expect("the caller has seen a valid copy on a device");
        let copied = copy.copy_from(place.default_queue(), at, source, range);
        self.settle_on(place, copied)
    }

    /// The copy of a device was overwritten, or nobody knows how far: then the others stay.
    fn settle_on(&mut self, device: &Device, written: Result<()>) -> Result<()> {
        match written {
            Ok(()) => self.leave_host(device),
            Err(_) => {
                // What of it is there is the caller's to find out.
                let on_host = self.is_on_host();
                let _known = self.state_mut().copies.give_up(device, on_host);
            }
        }
        written
    }

    /// The copy of a device is the only valid one now.
    fn leave_host(&mut self, device: &Device) {
        let host = self.host.take();
        let state = self.state_mut();
        if host.is_some() {
            state.spare = host;
        }
        state.copies.only(device);
    }

    /// Overwrites all elements, in the order of a stream: what is queued there later finds them, what was queued before does
    /// not. This also makes the vector of a failed launch readable again. A value whose bytes are all zero is not uploaded.
    pub fn fill_on(&mut self, stream: &Stream, value: T) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let bytes = self.bytes();
        let (pattern, len) = (
            bytes::of(std::slice::from_ref(&value)).into_owned(),
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
                .and_then(|bytes| copy.write(stream.queue(), 0, &bytes)),
        };
        if filled.is_ok() {
            copies.forget_outcomes();
        }
        self.settle_on(stream.device(), filled)
    }

    /// The same vector, which devices hold in memory of a certain storage. [`StorageKind::device`] is what every vector begins
    /// with; [`StorageKind::pinned`] is host memory that the device reads and writes over the bus, for what kernels touch once;
    /// [`StorageKind::zero_copy`] is the vector's own memory on the host, where that is the device's memory, too: nothing is
    /// copied. A device that has no such memory, or
    /// whose backend has not claimed a storage of another's, says so when it should hold the vector. Devices that run kernels
    /// in host memory have no other, and take vectors in their own storages and the framework's. [`StorageKind::shared`] is no place for
    /// a vector. Parts of the vector and clones are vectors of their own, which begin in devices' own memory.
    pub fn stored_in(mut self, storage: &Tag<StorageKind>) -> Result<Vector<T>> {
        self.store_in(storage)?;
        Ok(self)
    }

    /// As [`Vector::stored_in`], of a vector that stays where it is, such as one that [`Vector::with_slice_mut`] lends.
    ///
    /// In `zero_copy`, one device works in the place of the elements: the first that can. What the host does to them waits for all of
    /// its work that uses them, also when the vector is dropped. Elements with `bool`s, enums or bytes of no field are copied, as is
    /// memory that does not begin at a multiple of 16 bytes.
    pub fn store_in(&mut self, storage: &Tag<StorageKind>) -> Result<()> {
        if *storage == StorageKind::shared() {
            return Err(Error::Tag {
                kind: StorageKind::NAME,
                name: storage.to_string(),
                problem: "it is memory of a block, which a vector outlives; a kernel has it by `shared_array`"
                    .to_owned(),
            });
        }
        self.as_slice()?;
        let other = *storage != StorageKind::device();
        let other = other.then(|| storage.clone());
        let mut home = None;
        if *storage == StorageKind::zero_copy() && bytes::are_elements::<T>() {
            let host = self
                .host
                .take()
                .expect("`as_slice` made the host copy valid");
            let (host, place) = host.at_home();
            self.host = OnceLock::from(host);
            home = place.filter(|home| home.at.addr().get().is_multiple_of(16));
        }
        self.elsewhere = other.is_some();
        self.state_mut().copies.store_in(other, home);
        Ok(())
    }

    /// Brings the elements to a device ahead of the launches that use them, in the order of a stream.
    pub fn prefetch(&self, stream: &Stream) -> Result<()> {
        if stream.device().info().host_memory {
            if let Some(storage) = super::Operand::storage(self) {
                let bytes = size_of_val(self.as_slice()?) as u64;
                let (subject, kernels) = (Subject::Storage(storage), &[]);
                let claims = stream.device().claims();
                claims.owner(&subject, &Request { kernels, bytes })?;
            }
            return self.as_slice().map(|_| ());
        }
        let mut outcomes = Vec::new();
        super::Operand::on_device(self, stream.by_ref(), false, Some(&mut outcomes)).map(|_| ())
    }
}
