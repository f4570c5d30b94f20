//! Parallel iterators over vectors, on the host.

use rayon::iter::{FromParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::{Iter, IterMut};

use crate::{Element, Result, Vector};

impl<T: Element> Vector<T> {
    /// Iterates over the elements in parallel, on the host. Needs the feature `rayon`.
    pub fn par_iter(&self) -> Result<Iter<'_, T>> {
        Ok(self.as_slice()?.into_par_iter())
    }

    /// Iterates mutably over the elements in parallel, on the host. Devices get the elements anew at
    /// their next use. Needs the feature `rayon`.
    pub fn par_iter_mut(&mut self) -> Result<IterMut<'_, T>> {
        Ok(self.as_mut_slice()?.into_par_iter())
    }
}

impl<T: Element> FromParallelIterator<T> for Vector<T> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(elements: I) -> Vector<T> {
        Vector::from_vec(elements.into_par_iter().collect())
    }
}
