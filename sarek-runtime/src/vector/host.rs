//! Element-wise operations on the host.

use super::Vector;
use crate::{Element, Result};

impl<T: Element> Vector<T> {
    /// Iterates over the elements in order, on the host.
    pub fn iter(&self) -> Result<std::slice::Iter<'_, T>> {
        Ok(self.as_slice()?.iter())
    }

    /// Iterates mutably over the elements in order, on the host. Devices get the elements anew at
    /// their next use.
    pub fn iter_mut(&mut self) -> Result<std::slice::IterMut<'_, T>> {
        Ok(self.as_mut_slice()?.iter_mut())
    }

    /// Applies a function to each element on the host, and returns the results as a new vector.
    pub fn map<U: Element>(&self, f: impl FnMut(T) -> U) -> Result<Vector<U>> {
        Ok(self.iter()?.copied().map(f).collect())
    }

    /// Applies a function to each element on the host, in place.
    pub fn map_in_place(&mut self, mut f: impl FnMut(T) -> T) -> Result<()> {
        self.iter_mut()?.for_each(|element| *element = f(*element));
        Ok(())
    }
}
