//! Views in kernels: the parameter types, and their construction from a launch's arguments.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::DirectArg;
use crate::Element;
use sarek_ir::Value;

/// A view of `N` dimensions in a kernel, for reading: `view[[row, col]]`. The argument of a launch
/// is a [`VectorView`](crate::VectorView).
#[derive(Clone, Copy)]
pub struct View<'a, T, const N: usize> {
    first: *const T,
    shape: [usize; N],
    strides: [usize; N],
    borrow: PhantomData<&'a [T]>,
}

/// A view of `N` dimensions in a kernel, for reading and writing: `view[[row, col]] = value`. The
/// argument of a launch is a [`VectorViewMut`](crate::VectorViewMut).
pub struct ViewMut<'a, T, const N: usize> {
    first: *mut T,
    shape: [usize; N],
    strides: [usize; N],
    borrow: PhantomData<&'a mut [T]>,
}

/// A kernel parameter: a view of rows and columns, for reading.
pub type View2<'a, T> = View<'a, T, 2>;
/// A kernel parameter: a view of planes, rows and columns, for reading.
pub type View3<'a, T> = View<'a, T, 3>;
/// A kernel parameter, declared `mut`: a view of rows and columns, for reading and writing.
pub type ViewMut2<'a, T> = ViewMut<'a, T, 2>;
/// A kernel parameter, declared `mut`: a view of planes, rows and columns, for reading and writing.
pub type ViewMut3<'a, T> = ViewMut<'a, T, 3>;

/// The position of an element, relative to the first one.
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
            /// The number of elements along each dimension.
            pub fn shape(&self) -> [usize; N] {
                self.shape
            }

            /// True if there are no elements.
            pub fn is_empty(&self) -> bool {
                self.shape.contains(&0)
            }
        }

        impl<T> $name<'_, T, 2> {
            /// The number of rows.
            pub fn rows(&self) -> usize {
                self.shape[0]
            }

            /// The number of columns.
            pub fn cols(&self) -> usize {
                self.shape[1]
            }
        }

        impl<T> $name<'_, T, 3> {
            /// The number of planes.
            pub fn depth(&self) -> usize {
                self.shape[0]
            }

            /// The number of rows of a plane.
            pub fn rows(&self) -> usize {
                self.shape[1]
            }

            /// The number of columns.
            pub fn cols(&self) -> usize {
                self.shape[2]
            }
        }

        impl<T, const N: usize> Index<[usize; N]> for $name<'_, T, N> {
            type Output = T;

            fn index(&self, index: [usize; N]) -> &T {
                let at = position(&self.shape, &self.strides, index);
                // SAFETY: elements within the shape are in the borrowed memory.
                unsafe { &*self.first.add(at) }
            }
        }
    )*};
}

extents! { View ViewMut }

impl<T, const N: usize> IndexMut<[usize; N]> for ViewMut<'_, T, N> {
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        let at = position(&self.shape, &self.strides, index);
        // SAFETY: as above. Only this view reaches the element, except for views of other threads,
        // which run while this one waits.
        unsafe { &mut *self.first.add(at) }
    }
}

/// The argument of a `View2<T>` or `View3<T>`.
///
/// # Safety
/// The arguments from `index` on are a slice of `T`, borrowed for `'a`, and the layout of its view,
/// which the launch has checked.
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
            unreachable!("the shape of a view is passed as numbers")
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
