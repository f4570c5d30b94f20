//! Sub-vectors: parts of a vector that are vectors to kernels.
//!
//! A part is a vector of its own, made from the whole where that is, on the device if it is there; changes are put
//! back, likewise, when the part goes. The whole is borrowed meanwhile, so that nobody sees it half changed.

use std::ops::{Deref, DerefMut, Range, RangeBounds};

use super::Vector;
use super::ranges::resolve;
use crate::{Element, Result};

/// A part of a vector, to read.
pub struct Part<'a, T: Element> {
    part: Vector<T>,
    whole: std::marker::PhantomData<&'a Vector<T>>,
}

/// A part of a vector, to read and write. Its elements are put back when it is dropped; should that fail, or should a
/// kernel have failed that wrote it, the whole vector is unreadable, with that error.
pub struct PartMut<'a, T: Element> {
    parts: Parts<'a, T>,
}

/// Parts of a vector that together are all of it, each a vector of its own, on any device. They are put back when this is
/// dropped, as that of [`PartMut`].
pub struct Parts<'a, T: Element> {
    whole: &'a mut Vector<T>,
    starts: Vec<usize>,
    parts: Vec<Vector<T>>,
}

impl<T: Element> Vector<T> {
    /// Some elements as a vector of its own.
    pub fn sub_vector(&self, range: impl RangeBounds<usize>) -> Result<Vector<T>> {
        let range = resolve(range, self.len())?;
        self.copied(range)
    }

    /// A part, to read.
    pub fn part(&self, range: impl RangeBounds<usize>) -> Result<Part<'_, T>> {
        let range = resolve(range, self.len())?;
        Ok(Part {
            part: self.copied(range)?,
            whole: std::marker::PhantomData,
        })
    }

    /// A part, to read and write.
    pub fn part_mut(&mut self, range: impl RangeBounds<usize>) -> Result<PartMut<'_, T>> {
        let range = resolve(range, self.len())?;
        let parts = self.cut([range])?;
        Ok(PartMut { parts })
    }

    /// `count` parts whose lengths differ by one at most, the longer ones first: for as many devices.
    pub fn parts_mut(&mut self, count: usize) -> Result<Parts<'_, T>> {
        let len = self.len();
        self.cut(even(len, count))
    }

    /// Its elements in `count` vectors whose lengths differ by one at most, the longer ones first.
    pub fn partition(&self, count: usize) -> Result<Vec<Vector<T>>> {
        even(self.len(), count)
            .map(|part| self.copied(part))
            .collect()
    }

    /// The elements of several vectors, one after the other.
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

/// `len` elements in `count` ranges.
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
