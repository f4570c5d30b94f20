//! What the host does with all elements.

use super::Vector;
use crate::{Element, Result};

impl<T: Element> Vector<T> {
    /// The elements in order, read on the host.
    pub fn iter(&self) -> Result<std::slice::Iter<'_, T>> {
        Ok(self.as_slice()?.iter())
    }

    /// The elements in order, to read and write on the host. Devices get them anew when they next use them.
    pub fn iter_mut(&mut self) -> Result<std::slice::IterMut<'_, T>> {
        Ok(self.as_mut_slice()?.iter_mut())
    }

    /// What a function makes of each element, computed on the host.
    pub fn map<U: Element>(&self, f: impl FnMut(T) -> U) -> Result<Vector<U>> {
        Ok(self.iter()?.copied().map(f).collect())
    }

    /// Replaces each element by what a function makes of it on the host.
    pub fn map_in_place(&mut self, mut f: impl FnMut(T) -> T) -> Result<()> {
        self.iter_mut()?.for_each(|element| *element = f(*element));
        Ok(())
    }
}
