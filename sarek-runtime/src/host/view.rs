//! Views as kernels see them.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::DirectArg;
use crate::Element;
use sarek_ir::Value;

/// A view of `N` dimensions in a kernel, to read: `view[[row, col]]`. A launch makes it of a
/// [`VectorView`](crate::VectorView).
#[derive(Clone, Copy)]
pub struct View<'a, T, const N: usize> {
    first: *const T,
    shape: [usize; N],
    strides: [usize; N],
    borrow: PhantomData<&'a [T]>,
}

/// A view of `N` dimensions in a kernel, to read and write: `view[[row, col]] = value`. A launch makes it of a
/// [`VectorViewMut`](crate::VectorViewMut).
pub struct ViewMut<'a, T, const N: usize> {
    first: *mut T,
    shape: [usize; N],
    strides: [usize; N],
    borrow: PhantomData<&'a mut [T]>,
}

/// A view of rows and columns, to read: an argument of a kernel.
pub type View2<'a, T> = View<'a, T, 2>;
/// A view of planes, rows and columns, to read: an argument of a kernel.
pub type View3<'a, T> = View<'a, T, 3>;
/// A view of rows and columns, to read and write: an argument of a kernel, declared `mut`.
pub type ViewMut2<'a, T> = ViewMut<'a, T, 2>;
/// A view of planes, rows and columns, to read and write: an argument of a kernel, declared `mut`.
pub type ViewMut3<'a, T> = ViewMut<'a, T, 3>;

/// Where an element stands.
fn position<const N: usize>(shape: &[usize; N], strides: &[usize; N], index: [usize; N]) -> usize {
    let within = index.iter().zip(shape).all(|(i, n)| i < n);
    assert!(
        within,
        "index out of bounds: the shape is {shape:?} but the index is {index:?}"
    );
    index.iter().zip(strides).map(|(i, s)| i * s).sum()
}

macro_rules! extents {
    ($($name:ident)*) => {$(
        impl<T, const N: usize> $name<'_, T, N> {
            /// How many elements there are along each dimension.
            pub fn shape(&self) -> [usize; N] {
                self.shape
            }

            /// Has it no elements?
            pub fn is_empty(&self) -> bool {
                self.shape.contains(&0)
            }
        }

        impl<T> $name<'_, T, 2> {
            /// How many rows there are.
            pub fn rows(&self) -> usize {
                self.shape[0]
            }

            /// How many columns there are.
            pub fn cols(&self) -> usize {
                self.shape[1]
            }
        }

        impl<T> $name<'_, T, 3> {
            /// How many planes there are.
            pub fn depth(&self) -> usize {
                self.shape[0]
            }

            /// How many rows a plane has.
            pub fn rows(&self) -> usize {
                self.shape[1]
            }

            /// How many columns there are.
            pub fn cols(&self) -> usize {
                self.shape[2]
            }
        }

        impl<T, const N: usize> Index<[usize; N]> for $name<'_, T, N> {
            type Output = T;

            fn index(&self, index: [usize; N]) -> &T {
                let at = position(&self.shape, &self.strides, index);
                // SAFETY: elements within the shape are in the memory that is borrowed.
                unsafe { &*self.first.add(at) }
            }
        }
    )*};
}

extents! { View ViewMut }

impl<T, const N: usize> IndexMut<[usize; N]> for ViewMut<'_, T, N> {
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        let at = position(&self.shape, &self.strides, index);
        // SAFETY: as above; the view is the only way to the element, but for those of other threads, which run when this one
        // waits.
        unsafe { &mut *self.first.add(at) }
    }
}

/// The argument of a `View2<T>` or `View3<T>`.
///
/// # Safety
/// The arguments from `index` on are a slice of `T`, borrowed for `'a`, and what the launch has checked of its view.
pub unsafe fn view<'a, T: Element, const N: usize>(
    args: &[DirectArg],
    index: usize,
) -> View<'a, T, N> {
    // SAFETY: the caller's promise.
    let ViewMut {
        first,
        shape,
        strides,
        ..
    } = unsafe { view_mut(args, index) };
    View {
        first,
        shape,
        strides,
        borrow: PhantomData,
    }
}

/// The argument of a `ViewMut2<T>` or `ViewMut3<T>`.
///
/// # Safety
/// As for [`view`]; the slice is borrowed exclusively by the launch.
pub unsafe fn view_mut<'a, T: Element, const N: usize>(
    args: &[DirectArg],
    index: usize,
) -> ViewMut<'a, T, N> {
    let DirectArg::Slice { ptr, .. } = args[index] else {
        unreachable!("argument {index} is a slice")
    };
    let scalar = |at: usize| match args[index + 1 + at] {
        DirectArg::Scalar(Value::Usize(value)) => value as usize,
        DirectArg::Scalar(_) | DirectArg::Slice { .. } | DirectArg::Value { .. } => {
            unreachable!("a view is told by numbers")
        }
    };
    let shape = std::array::from_fn(scalar);
    let offset = scalar(N);
    ViewMut {
        // SAFETY: the launch has checked that the view's elements are in the slice.
        first: unsafe { ptr.cast::<T>().add(offset) },
        shape,
        strides: std::array::from_fn(|d| scalar(N + 1 + d)),
        borrow: PhantomData,
    }
}
