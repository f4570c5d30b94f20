//! Strided views of vectors: the arguments of kernel parameters `View2`, `ViewMut2`, `View3` and
//! `ViewMut3`.

use super::Vector;
use crate::{Element, Error, Result};

/// The elements of a vector that a view shows, and their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout<const N: usize> {
    pub(crate) shape: [usize; N],
    pub(crate) offset: usize,
    pub(crate) strides: [usize; N],
}

impl<const N: usize> Layout<N> {
    /// The row-major layout that starts at the first element; `None` on overflow.
    fn dense(shape: [usize; N]) -> Option<Layout<N>> {
        let mut strides = [1; N];
        for d in (0..N.saturating_sub(1)).rev() {
            strides[d] = shape[d + 1].checked_mul(strides[d + 1])?;
        }
        let offset = 0;
        Some(Layout {
            shape,
            offset,
            strides,
        })
    }

    /// One past the position of the last element; 0 without elements. `None` on overflow.
    fn end(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let mut last = self.offset;
        for (n, stride) in self.shape.iter().zip(self.strides) {
            last = last.checked_add((n - 1).checked_mul(stride)?)?;
        }
        last.checked_add(1)
    }

    /// True if different indices always lead to different elements. The test: sorted by stride,
    /// each dimension steps over the whole reach of the dimensions before it. It is sufficient, not
    /// necessary.
    fn is_injective(&self) -> bool {
        let mut dimensions: Vec<(usize, usize)> =
            self.strides.into_iter().zip(self.shape).collect();
        dimensions.retain(|(_, n)| *n > 1);
        dimensions.sort_unstable();
        let mut reach = 0;
        for (stride, n) in dimensions {
            if stride <= reach {
                return false;
            }
            // `end` has checked that this does not overflow.
            reach += (n - 1) * stride;
        }
        true
    }

    fn checked(self, len: usize, mutable: bool) -> Result<Layout<N>> {
        let problem = |problem| Error::View {
            shape: self.shape.to_vec(),
            strides: self.strides.to_vec(),
            offset: self.offset,
            len,
            problem,
        };
        match self.end() {
            Some(end) if end <= len => {}
            Some(_) | None => return Err(problem("it reaches beyond the vector")),
        }
        let is_empty = self.shape.contains(&0);
        if mutable && !is_empty && !self.is_injective() {
            return Err(problem(
                "different indices lead to the same element, so that threads could race: take a `VectorView`, or other strides",
            ));
        }
        Ok(self)
    }

    fn window(self, first: [usize; N], shape: [usize; N]) -> Result<Layout<N>> {
        let mut offset = self.offset;
        for d in 0..N {
            let within = first[d]
                .checked_add(shape[d])
                .is_some_and(|end| end <= self.shape[d]);
            if !within {
                return Err(Error::View {
                    shape: shape.to_vec(),
                    strides: self.strides.to_vec(),
                    offset: self.offset,
                    len: self.shape[d],
                    problem: "the window reaches beyond the view",
                });
            }
            // A view without elements reaches nothing, so saturation is harmless.
            offset = offset.saturating_add(first[d].saturating_mul(self.strides[d]));
        }
        Ok(Layout {
            shape,
            offset,
            ..self
        })
    }

    fn transposed(mut self) -> Layout<N> {
        self.shape.reverse();
        self.strides.reverse();
        self
    }

    /// The scalar arguments of a kernel, in the order of [`sarek_ir::Kernel::view_param`].
    pub(crate) fn scalars(&self) -> Vec<u64> {
        let mut strides = self.strides;
        // Without elements, a failed check falls back to the slice's first element, as without a
        // view.
        let offset = if self.shape.contains(&0) {
            0
        } else {
            self.offset
        };
        // With at most one element in the last dimension, its stride is arbitrary; 1 selects the
        // faster code.
        if let (Some(stride), true) = (strides.last_mut(), self.shape[N - 1] <= 1) {
            *stride = 1;
        }
        let all = self.shape.into_iter().chain([offset]).chain(strides);
        all.map(|v| v as u64).collect()
    }
}

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident: $vector:ty, $mutable:literal;)*) => {$(
        $(#[$doc])*
        pub struct $name<'a, T, const N: usize> {
            pub(crate) vector: $vector,
            pub(crate) layout: Layout<N>,
        }

        impl<'a, T: Element, const N: usize> $name<'a, T, N> {
            fn new(vector: $vector, layout: Option<Layout<N>>, shape: [usize; N]) -> Result<Self> {
                let layout = layout.ok_or_else(|| Error::View {
                    shape: shape.to_vec(),
                    strides: vec![],
                    offset: 0,
                    len: vector.len(),
                    problem: "its number of elements does not fit `usize`",
                })?;
                let layout = layout.checked(vector.len(), $mutable)?;
                Ok(Self { vector, layout })
            }

            /// The number of elements along each dimension.
            pub fn shape(&self) -> [usize; N] {
                self.layout.shape
            }

            /// Restricts the view to `shape` elements along each dimension, starting at index
            /// `first`.
            ///
            /// # Errors
            /// [`Error::View`] if the part reaches beyond the view.
            pub fn window(self, first: [usize; N], shape: [usize; N]) -> Result<Self> {
                let layout = self.layout.window(first, shape)?;
                Ok(Self { layout, ..self })
            }

            /// The same elements with the order of the dimensions reversed: rows become columns.
            pub fn transposed(self) -> Self {
                let layout = self.layout.transposed();
                Self { layout, ..self }
            }
        }
    )*};
}

views! {
    /// A view of a vector for a kernel to read: the argument of a `View2<T>` or `View3<T>`.
    ///
    /// Made by [`Vector::view2`], [`Vector::view3`] and [`Vector::strided`].
    VectorView: &'a Vector<T>, false;
    /// A view of a vector for a kernel to read and write: the argument of a `ViewMut2<T>` or
    /// `ViewMut3<T>`.
    ///
    /// Made by [`Vector::view2_mut`], [`Vector::view3_mut`] and [`Vector::strided_mut`]. Different indices lead to different
    /// elements.
    VectorViewMut: &'a mut Vector<T>, true;
}

impl<T: Element> Vector<T> {
    /// Views the first `rows * cols` elements as a row-major matrix.
    ///
    /// # Errors
    /// [`Error::View`] if the vector has fewer elements.
    pub fn view2(&self, rows: usize, cols: usize) -> Result<VectorView<'_, T, 2>> {
        let shape = [rows, cols];
        VectorView::new(self, Layout::dense(shape), shape)
    }

    /// The same as [`Vector::view2`], for a kernel to write.
    ///
    /// # Errors
    /// [`Error::View`] if the vector has fewer elements.
    pub fn view2_mut(&mut self, rows: usize, cols: usize) -> Result<VectorViewMut<'_, T, 2>> {
        let shape = [rows, cols];
        VectorViewMut::new(self, Layout::dense(shape), shape)
    }

    /// Views the first `depth * rows * cols` elements as `depth` consecutive row-major planes.
    ///
    /// # Errors
    /// [`Error::View`] if the vector has fewer elements.
    pub fn view3(&self, depth: usize, rows: usize, cols: usize) -> Result<VectorView<'_, T, 3>> {
        let shape = [depth, rows, cols];
        VectorView::new(self, Layout::dense(shape), shape)
    }

    /// The same as [`Vector::view3`], for a kernel to write.
    ///
    /// # Errors
    /// [`Error::View`] if the vector has fewer elements.
    pub fn view3_mut(
        &mut self,
        depth: usize,
        rows: usize,
        cols: usize,
    ) -> Result<VectorViewMut<'_, T, 3>> {
        let shape = [depth, rows, cols];
        VectorViewMut::new(self, Layout::dense(shape), shape)
    }

    /// Views the vector in two or three dimensions: the element at `[i, j, …]` is at `offset + i *
    /// strides[0] + j * strides[1] + …`, counted in elements. A stride of 0 repeats the same
    /// elements. Kernels are fastest where the last stride is 1.
    ///
    /// # Errors
    /// [`Error::View`] if the view reaches beyond the vector.
    pub fn strided<const N: usize>(
        &self,
        shape: [usize; N],
        offset: usize,
        strides: [usize; N],
    ) -> Result<VectorView<'_, T, N>> {
        let layout = Layout {
            shape,
            offset,
            strides,
        };
        VectorView::new(self, Some(layout), shape)
    }

    /// The same as [`Vector::strided`], for a kernel to write.
    ///
    /// # Errors
    /// [`Error::View`] if the view reaches beyond the vector, or if different indices may lead to
    /// the same element.
    pub fn strided_mut<const N: usize>(
        &mut self,
        shape: [usize; N],
        offset: usize,
        strides: [usize; N],
    ) -> Result<VectorViewMut<'_, T, N>> {
        let layout = Layout {
            shape,
            offset,
            strides,
        };
        VectorViewMut::new(self, Some(layout), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_stay_within_their_vector() {
        let v = Vector::from_vec(vec![0u32; 12]);
        assert_eq!(v.view2(3, 4).map(|v| v.layout.strides).ok(), Some([4, 1]));
        assert_eq!(
            v.view3(2, 3, 2).map(|v| v.layout.strides).ok(),
            Some([6, 2, 1])
        );
        assert!(v.view2(3, 5).is_err() && v.view2(usize::MAX, 2).is_err());
        assert!(v.view2(0, 99).is_ok());
        assert!(v.strided([2, 2], 1, [10, 1]).is_err());
        assert!(v.strided([2, 2], 0, [usize::MAX, 1]).is_err());
        let part = v.view2(3, 4).and_then(|v| v.window([1, 1], [2, 3]));
        let part = part.map(|v| v.transposed().layout.scalars()).ok();
        assert_eq!(part, Some(vec![3, 2, 5, 1, 4]));
        assert!(
            v.view2(3, 4)
                .and_then(|v| v.window([1, 1], [3, 1]))
                .is_err()
        );
    }

    #[test]
    fn elements_to_be_written_are_seen_once() {
        let mut v = Vector::from_vec(vec![0u32; 24]);
        let mut is_ok = |shape, strides| v.strided_mut::<3>(shape, 0, strides).is_ok();
        assert!(is_ok([2, 3, 4], [12, 4, 1]));
        assert!(is_ok([4, 3, 2], [1, 4, 12]));
        assert!(is_ok([1, 3, 4], [0, 5, 1]));
        assert!(!is_ok([2, 3, 4], [12, 3, 1]));
        assert!(!is_ok([2, 1, 1], [0, 1, 1]));
        assert!(is_ok([2, 0, 9], [0, 0, 0]));
        assert!(v.strided([2, 3, 4], 0, [0, 1, 1]).is_ok());
    }
}
