//! Sub-vectors: parts of a vector that kernels use as vectors of their own.
//!
//! Each part is a copy, made where the whole vector is: on the device if it is valid there. When a
//! mutable part is dropped, its elements are copied back the same way. The whole vector stays
//! borrowed meanwhile, so that it is never seen half changed.

use std::ops::{Deref, DerefMut, Range, RangeBounds};

use super::Vector;
use super::ranges::resolve;
use crate::{Element, Result};

/// A read-only part of a vector, made by [`Vector::part`]. It dereferences to a [`Vector`].
pub struct Part<'a, T: Element> {
    part: Vector<T>,
    whole: std::marker::PhantomData<&'a Vector<T>>,
}

/// A mutable part of a vector, made by [`Vector::part_mut`]. It dereferences to a [`Vector`].
///
/// Dropping it writes its elements back to the whole vector. If that fails, or if a kernel that
/// wrote the part failed, the whole vector is unreadable and its reads return that error.
pub struct PartMut<'a, T: Element> {
    parts: Parts<'a, T>,
}

/// The parts into which [`Vector::parts_mut`] splits a whole vector. It dereferences to a slice of
/// vectors, each usable on any device.
///
/// Dropping it writes the elements back, as for [`PartMut`].
pub struct Parts<'a, T: Element> {
    whole: &'a mut Vector<T>,
    starts: Vec<usize>,
    parts: Vec<Vector<T>>,
}

impl<T: Element> Vector<T> {
    /// Copies a range of elements into a new vector.
    pub fn sub_vector(&self, range: impl RangeBounds<usize>) -> Result<Vector<T>> {
        let range = resolve(range, self.len())?;
        self.copied(range)
    }

    /// Returns a range of elements as a read-only part.
    pub fn part(&self, range: impl RangeBounds<usize>) -> Result<Part<'_, T>> {
        let range = resolve(range, self.len())?;
        Ok(Part {
            part: self.copied(range)?,
            whole: std::marker::PhantomData,
        })
    }

    /// Returns a range of elements as a mutable part. Its elements are written back when it is
    /// dropped.
    pub fn part_mut(&mut self, range: impl RangeBounds<usize>) -> Result<PartMut<'_, T>> {
        let range = resolve(range, self.len())?;
        let parts = self.cut([range])?;
        Ok(PartMut { parts })
    }

    /// Splits the vector into `count` mutable parts, for example one for each device. Lengths
    /// differ by at most one; longer parts come first.
    pub fn parts_mut(&mut self, count: usize) -> Result<Parts<'_, T>> {
        let len = self.len();
        self.cut(even(len, count))
    }

    /// Copies the elements into `count` new vectors. Lengths differ by at most one; longer vectors
    /// come first.
    pub fn partition(&self, count: usize) -> Result<Vec<Vector<T>>> {
        even(self.len(), count)
            .map(|part| self.copied(part))
            .collect()
    }

    /// Concatenates vectors into a new one.
    pub fn gather<'a>(parts: impl IntoIterator<Item = &'a Vector<T>>) -> Result<Vector<T>> {
        let parts: Vec<_> = parts.into_iter().collect();
        let len = parts.iter().map(|part| part.len()).sum();
        let mut whole = Vector::blank(len);
        let mut at = 0;
        for part in parts {
            whole.copy_from(at, part, ..)?;
            at += part.len();
        }
        Ok(whole)
    }

    fn copied(&self, range: Range<usize>) -> Result<Vector<T>> {
        let mut part = Vector::blank(range.len());
        part.copy_from(0, self, range)?;
        Ok(part)
    }

    fn cut(&mut self, ranges: impl IntoIterator<Item = Range<usize>>) -> Result<Parts<'_, T>> {
        let (mut starts, mut parts) = (Vec::new(), Vec::new());
        for range in ranges {
            starts.push(range.start);
            parts.push(self.copied(range)?);
        }
        Ok(Parts {
            whole: self,
            starts,
            parts,
        })
    }
}

/// Splits `0..len` into `count` ranges whose lengths differ by at most one.
fn even(len: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let (each, more) = (
        len.checked_div(count).unwrap_or(0),
        len.checked_rem(count).unwrap_or(0),
    );
    let start = move |i: usize| i * each + i.min(more);
    (0..count).map(move |i| start(i)..start(i + 1))
}

impl<T: Element> Drop for Parts<'_, T> {
    fn drop(&mut self) {
        for (start, part) in self.starts.iter().zip(&self.parts) {
            if let Err(error) = self.whole.copy_from(*start, part, ..) {
                self.whole.state_mut().copies.fail(error);
            }
        }
    }
}

impl<T: Element> Deref for Parts<'_, T> {
    type Target = [Vector<T>];

    fn deref(&self) -> &[Vector<T>] {
        &self.parts
    }
}

impl<T: Element> DerefMut for Parts<'_, T> {
    fn deref_mut(&mut self) -> &mut [Vector<T>] {
        &mut self.parts
    }
}

impl<T: Element> Deref for Part<'_, T> {
    type Target = Vector<T>;

    fn deref(&self) -> &Vector<T> {
        &self.part
    }
}

impl<T: Element> Deref for PartMut<'_, T> {
    type Target = Vector<T>;

    fn deref(&self) -> &Vector<T> {
        &self.parts.parts[0]
    }
}

impl<T: Element> DerefMut for PartMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Vector<T> {
        &mut self.parts.parts[0]
    }
}
