//! Vectors of existing elements, in memory of the host or of a device.

use std::sync::{Arc, OnceLock};

use super::storage::Storage;
use super::{Vector, bytes};
use crate::plugin::backend::Slice;
use crate::sync::lock;
use crate::{Device, Element, Error, Result};

impl<T: Element> Vector<T> {
    /// Makes a vector of an owner's elements in the owner's memory, such as a memory map or a
    /// buffer of another library. The host works in that memory, and so do devices that use host
    /// memory. The owner is dropped with the vector.
    pub fn from_owner<O>(owner: O) -> Vector<T>
    where
        O: AsMut<[T]> + Send + Sync + 'static,
    {
        Vector::stored(Storage::of_owner(owner))
    }

    /// Makes a vector of shared elements. Nothing is copied until the vector is written.
    pub fn from_shared(elements: Arc<[T]>) -> Vector<T> {
        Vector::stored(Storage::Shared(elements))
    }

    /// Makes a vector of an owner's elements that may have other readers, such as an `Arc<Vec<T>>` or
    /// a read-only memory map. Nothing is copied until the vector is written. The owner is dropped
    /// with the vector, or at the first write.
    pub fn from_read_only<O>(owner: O) -> Vector<T>
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        Vector::stored(Storage::of_reader(owner))
    }

    /// Lends borrowed elements to `f` as a vector in their own memory, for launches to read.
    pub fn with_slice<R>(elements: &[T], f: impl FnOnce(&Vector<T>) -> R) -> R {
        let at = elements.as_ptr().cast_mut();
        // SAFETY: the elements are never written through a shared borrow of the vector. It is
        // dropped below, and `f` cannot move it away.
        let storage = unsafe {
            let elements = std::ptr::slice_from_raw_parts_mut(at, elements.len());
            Storage::borrowed_from(elements)
        };
        f(&Vector::stored(storage))
    }

    /// Lends borrowed elements to `f` as a vector in their own memory, for launches to read and
    /// write. When this returns, the elements hold the results of those launches.
    ///
    /// `f` must leave the vector in place: swapping it for another one aborts the program.
    ///
    /// # Errors
    /// The fault of a launch that failed to write the vector.
    pub fn with_slice_mut<R>(elements: &mut [T], f: impl FnOnce(&mut Vector<T>) -> R) -> Result<R> {
        let (at, len) = (elements.as_mut_ptr(), elements.len());
        // SAFETY: `Scope` ensures that the storage is dropped below.
        let storage = unsafe { Storage::borrowed_from(elements) };
        let mut scope = Scope {
            vector: Vector::stored(storage),
            at,
            len,
        };
        let result = f(&mut scope.vector);
        scope.vector.as_slice()?;
        Ok(result)
    }

    /// Makes a vector in this storage.
    fn stored(storage: Storage<T>) -> Vector<T> {
        let mut vector = Vector::from_vec(Vec::new());
        vector.len = storage.len();
        vector.host = OnceLock::from(storage);
        vector
    }

    /// Makes a vector of elements in a device's memory. For backends with native handles,
    /// `sarek::interop` makes it from such a handle.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device uses host memory, or if the part is empty, is not a
    /// whole number of elements, or is not aligned as the device requires.
    ///
    /// # Safety
    /// - The memory belongs to the device.
    /// - All of it is initialised, with valid elements.
    /// - Until the vector is dropped, any other use of the memory is ordered with the work that is
    ///   queued for the vector. In particular, the memory is imported once, and is not lent by
    ///   another vector.
    pub unsafe fn from_device(device: &Device, part: Slice) -> Result<Vector<T>> {
        let unsupported = |what: String| Error::Unsupported {
            backend: device.backend().to_owned(),
            what,
        };
        let size = size_of::<T>();
        if device.info().host_memory {
            return Err(unsupported("memory of its own".into()));
        }
        let end = part.offset.checked_add(part.len);
        let fits = end.is_some_and(|end| end <= part.mem.len());
        if size == 0 || part.len == 0 || !part.len.is_multiple_of(size) || !fits {
            return Err(unsupported(format!(
                "a vector of elements of {size} bytes in bytes {}..{} of memory of {}",
                part.offset,
                part.offset.saturating_add(part.len),
                part.mem.len()
            )));
        }
        if !part.offset.is_multiple_of(device.info().alignment.max(1)) {
            return Err(unsupported(format!(
                "a vector from byte {} on, which is no multiple of {}",
                part.offset,
                device.info().alignment
            )));
        }
        let mut vector = Vector::blank(part.len / size);
        vector.is_imported = true;
        lock(&vector.state).copies.import(device, part);
        Ok(vector)
    }
}

/// A vector of borrowed elements; its drop checks that the vector was not moved away.
struct Scope<T: Element> {
    vector: Vector<T>,
    at: *mut T,
    len: usize,
}

impl<T: Element> Drop for Scope<T> {
    fn drop(&mut self) {
        let state = lock(&self.vector.state);
        let storages = self.vector.host.get().into_iter().chain(&state.spare);
        let mut held = storages.filter_map(|storage| match storage {
            Storage::Held(held) if held.is_borrowed() => Some(held.as_ptr()),
            Storage::Held(_) | Storage::Own(_) | Storage::Shared(_) | Storage::ReadOnly(_) => None,
        });
        // Another lent vector may begin at the same address, if it has no elements.
        let is_own = self.vector.len == self.len;
        if !is_own || held.next() != Some(self.at.cast_const()) {
            // A vector of this memory exists elsewhere and outlives the borrow: continuing would be
            // unsound.
            eprintln!("sarek: the vector that `with_slice_mut` lent was taken away");
            std::process::abort();
        }
    }
}

/// Allocates owned storage.
pub(super) fn fresh<T: Element>(len: usize) -> Result<Storage<T>> {
    bytes::fresh(len).map(Storage::Own)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::testing::kernels::axpy_call as axpy;
    use crate::testing::two_gpus;

    fn part(device: &Device, len: usize) -> Slice {
        let mem = device.as_backend().alloc(len).unwrap();
        let offset = 0;
        Slice { mem, offset, len }
    }

    #[test]
    fn memory_of_others_is_used_and_given_back() {
        let [(device, stats), _] = two_gpus();
        let own = part(&device, 16);
        let queue = device.stream();
        let numbers: Vec<u8> = [1.0f32; 4].iter().flat_map(|x| x.to_ne_bytes()).collect();
        // SAFETY: no other code has this memory.
        unsafe { queue.as_backend().copy_in(&own, &numbers) }.unwrap();
        queue.sync().unwrap();
        // SAFETY: it was just made.
        let mut y: Vector<f32> = unsafe { Vector::from_device(&device, own.clone()) }.unwrap();
        let before = device.memory_use();
        let x = Vector::filled(4, 2.0);
        let stream = device.new_stream().unwrap();
        axpy(3.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
        drop((y, x));
        // The fake device runs queued work when a caller waits for it.
        assert_eq!(stats.launches.load(Relaxed), 1, "its work was waited for");
        let mut after = [0; 16];
        // SAFETY: no other code has the memory any more.
        unsafe { queue.as_backend().copy_out(&own, &mut after) }.unwrap();
        assert_eq!(after[..4], 7.0f32.to_ne_bytes());
        assert_eq!(
            device.memory_use().used,
            before.used,
            "it is none of the pool's"
        );
    }

    #[test]
    fn parts_that_are_no_vectors_are_refused() {
        let [(device, _), _] = two_gpus();
        let whole = part(&device, 16);
        let refused = |offset, len| {
            let mem = whole.mem.clone();
            // SAFETY: the vector is not used.
            let made = unsafe { Vector::<f32>::from_device(&device, Slice { mem, offset, len }) };
            matches!(made, Err(Error::Unsupported { .. }))
        };
        assert!(!refused(0, 16) && !refused(0, 4));
        assert!(refused(0, 0) && refused(0, 6) && refused(0, 20) && refused(4, 8));
        assert!(refused(usize::MAX, 4));
    }

    #[test]
    fn lent_memory_is_in_the_order_of_its_stream() {
        let [(device, stats), _] = two_gpus();
        let (x, mut y) = (Vector::filled(4, 1.0), Vector::filled(4, 0.0));
        axpy(5.0, &x, &mut y).over(4).run_on(&device).unwrap();
        let stream = device.new_stream().unwrap();
        let lent = y.lend(&stream).unwrap();
        let mut seen = [0; 16];
        // SAFETY: it is lent on this stream.
        unsafe { stream.as_backend().copy_out(lent.slice(), &mut seen) }.unwrap();
        assert_eq!(seen[12..], 5.0f32.to_ne_bytes());
        drop(lent);
        let lent = y.lend_mut(&stream).unwrap();
        // SAFETY: it is lent on this stream, for writing.
        unsafe { stream.as_backend().zero(lent.slice()) }.unwrap();
        drop(lent);
        // On the default stream, after the work that was queued there.
        axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
        assert_eq!(stats.uploads.load(Relaxed), 2, "nothing was brought twice");
    }
}
