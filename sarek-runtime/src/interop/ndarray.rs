//! Arrays of `ndarray`. Those in standard layout (row-major and contiguous) share their memory with
//! vectors.

use ndarray::{Array, ArrayRef, ArrayView, ArrayViewMut, Dimension, ShapeError, StrideShape};

use crate::{Element, Error, Result, Vector};

/// Turns an array in standard layout into a vector of its elements, without a copy.
///
/// # Errors
/// [`Error::Convert`] for another layout, such as that of a transposed array; [`copied`] takes it.
pub fn from_array<T: Element, D: Dimension>(array: Array<T, D>) -> Result<Vector<T>> {
    if !array.is_standard_layout() {
        return Err(Error::Convert {
            from: "an array of ndarray",
            to: "a vector",
            problem: format!(
                "shape {:?} with strides {:?} is not in standard layout; copy it with `interop::ndarray::copied`",
                array.shape(),
                array.strides()
            ),
        });
    }
    let len = array.len();
    let (mut elements, first) = array.into_raw_vec_and_offset();
    // A slice of a larger array still owns the elements around it.
    elements.drain(..first.unwrap_or(0));
    elements.truncate(len);
    Ok(Vector::from_vec(elements))
}

/// Copies the elements of an array with any strides, in logical order (the last index runs
/// fastest).
pub fn copied<T: Element, D: Dimension>(array: &ArrayRef<T, D>) -> Vector<T> {
    match array.as_slice() {
        Some(elements) => Vector::from_slice(elements),
        None => array.iter().copied().collect(),
    }
}

/// Turns a vector into an array of this shape; without a copy if the vector owns its memory.
///
/// # Errors
/// The error of a launch that failed to write the vector; [`Error::Convert`] if the shape has
/// another number of elements. The same holds for [`view`] and [`view_mut`].
pub fn into_array<T: Element, D: Dimension>(
    vector: Vector<T>,
    shape: impl Into<StrideShape<D>>,
) -> Result<Array<T, D>> {
    let len = vector.len();
    let made = Array::from_shape_vec(shape, vector.into_vec()?);
    checked(len, made, |array| array.len())
}

/// The elements of a vector as an array of this shape, for reading on the host.
pub fn view<T: Element, D: Dimension>(
    vector: &Vector<T>,
    shape: impl Into<StrideShape<D>>,
) -> Result<ArrayView<'_, T, D>> {
    let made = ArrayView::from_shape(shape, vector.as_slice()?);
    checked(vector.len(), made, |array| array.len())
}

/// The elements of a vector as an array of this shape, for reading and writing on the host. Devices
/// get the elements anew at their next use.
pub fn view_mut<T: Element, D: Dimension>(
    vector: &mut Vector<T>,
    shape: impl Into<StrideShape<D>>,
) -> Result<ArrayViewMut<'_, T, D>> {
    let len = vector.len();
    let made = ArrayViewMut::from_shape(shape, vector.as_mut_slice()?);
    checked(len, made, |array| array.len())
}

/// The array, if it has all elements of the vector; `ndarray` also accepts smaller shapes.
fn checked<A>(len: usize, made: Result<A, ShapeError>, of: impl Fn(&A) -> usize) -> Result<A> {
    let problem = match made {
        Ok(array) if of(&array) == len => return Ok(array),
        Ok(array) => format!("it has {len} elements, and the shape {}", of(&array)),
        Err(error) => format!("its {len} elements do not have this shape: {error}"),
    };
    Err(Error::Convert {
        from: "a vector",
        to: "an array of ndarray",
        problem,
    })
}
