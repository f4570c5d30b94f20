//! Elements that were there before the vector: on the host, or on a device.

use std::sync::{Arc, OnceLock};

use super::storage::Storage;
use super::{Vector, bytes};
use crate::plugin::backend::Slice;
use crate::sync::lock;
use crate::{Device, Element, Error, Result};

impl<T: Element> Vector<T> {
    /// A vector of the elements of an owner, in its memory: a memory map, a buffer of another library. The host and the
    /// devices that use host memory as it is work there; it is dropped with the vector.
    pub fn from_owner<O>(owner: O) -> Vector<T>
    where
        O: AsMut<[T]> + Send + Sync + 'static,
    {
        Vector::stored(Storage::of_owner(owner))
    }

    /// A vector of elements that others read as well. Nothing is copied unless somebody writes.
    pub fn from_shared(elements: Arc<[T]>) -> Vector<T> {
        Vector::stored(Storage::Shared(elements))
    }

    /// Makes borrowed elements a vector while `f` runs, in their own memory. Launches read them.
    pub fn with_slice<R>(elements: &[T], f: impl FnOnce(&Vector<T>) -> R) -> R {
        let at = elements.as_ptr().cast_mut();
        // SAFETY: the elements are never written through a vector that is shared; it is dropped below, and nobody can move it
        // away.
        let storage = unsafe {
            let elements = std::ptr::slice_from_raw_parts_mut(at, elements.len());
            Storage::borrowed_from(elements)
        };
        f(&Vector::stored(storage))
    }

    /// Makes borrowed elements a vector while `f` runs, in their own memory. What launches write is there when this returns,
    /// or the fault of one that failed.
    ///
    /// The vector is lent, and has to be there when `f` returns: a program that swaps it for another is aborted.
    pub fn with_slice_mut<R>(elements: &mut [T], f: impl FnOnce(&mut Vector<T>) -> R) -> Result<R> {
        let (at, len) = (elements.as_mut_ptr(), elements.len());
        // SAFETY: `Scope` sees to it that the storage is dropped below.
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

    /// A vector of these elements.
    fn stored(storage: Storage<T>) -> Vector<T> {
        let mut vector = Vector::from_vec(Vec::new());
        vector.len = storage.len();
        vector.host = OnceLock::from(storage);
        vector
    }

    /// A vector of what stands in a device's memory. Where a backend takes handles of its own, `sarek::interop` makes this of
    /// them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the part does not consist of elements, or begins where the device binds none.
    ///
    /// # Safety
    /// - The memory is the device's.
    /// - All of it was written, with elements that are valid for their type.
    /// - From here on nobody else uses it before the vector is dropped, unless in turns with what is queued for the vector.
    ///   In particular it is imported once, and is no memory that another vector lends.
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
        let vector = Vector::blank(part.len / size);
        lock(&vector.state).copies.import(device, part);
        Ok(vector)
    }
}

/// A vector of borrowed elements, which is there to the end.
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
            Storage::Held(_) | Storage::Own(_) | Storage::Shared(_) => None,
        });
        // Another lent vector may begin at the same place: that of no elements before it.
        let is_own = self.vector.len == self.len;
        if !is_own || held.next() != Some(self.at.cast_const()) {
            // Somewhere is a vector of memory whose borrow ends here: going on would not be sound.
            eprintln!("sarek: the vector that `with_slice_mut` lent was taken away");
            std::process::abort();
        }
    }
}

/// Elements for storage of a vector's own.
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
        // SAFETY: memory that nobody else has.
        unsafe { queue.as_backend().copy_in(&own, &numbers) }.unwrap();
        queue.sync().unwrap();
        // SAFETY: it was just made.
        let mut y: Vector<f32> = unsafe { Vector::from_device(&device, own.clone()) }.unwrap();
        let before = device.memory_use();
        let x = Vector::filled(4, 2.0);
        let stream = device.new_stream().unwrap();
        axpy(3.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
        drop((y, x));
        // The fake device runs what is queued when somebody waits.
        assert_eq!(stats.launches.load(Relaxed), 1, "its work was waited for");
        let mut after = [0; 16];
        // SAFETY: nobody else has the memory any more.
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
            // SAFETY: nothing becomes of it.
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
        // SAFETY: it is lent on this stream, to be written.
        unsafe { stream.as_backend().zero(lent.slice()) }.unwrap();
        drop(lent);
        // On the default stream, behind what was queued there.
        axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
        assert_eq!(stats.uploads.load(Relaxed), 2, "nothing was brought twice");
    }
}
