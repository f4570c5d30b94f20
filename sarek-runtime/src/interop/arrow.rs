//! Primitive arrays of Apache Arrow, for element types that vectors have, too.

use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::ScalarBuffer;

use crate::{Element, Error, Result, Vector};

/// Turns an array into a vector of its values, without a copy. If other arrays share the memory,
/// the vector's first write copies it.
///
/// # Errors
/// [`Error::Convert`] if the array has nulls, for which vectors have no value.
pub fn from_array<A>(array: PrimitiveArray<A>) -> Result<Vector<A::Native>>
where
    A: ArrowPrimitiveType<Native: Element>,
{
    let (count, len) = (array.null_count(), array.len());
    if count > 0 {
        return Err(Error::Convert {
            from: "an array of Arrow",
            to: "a vector",
            problem: format!(
                "{count} of its {len} values are null; replace them before, for example by `arrow::compute`'s `coalesce`"
            ),
        });
    }
    let (_, values, _) = array.into_parts();
    Ok(match values.into_inner().into_vec() {
        Ok(values) => Vector::from_vec(values),
        Err(shared) => Vector::from_read_only(ScalarBuffer::new(shared, 0, len)),
    })
}

/// Turns a vector into an array without nulls; without a copy if the vector owns its memory.
///
/// # Errors
/// The error of a launch that failed to write the vector.
pub fn into_array<A>(vector: Vector<A::Native>) -> Result<PrimitiveArray<A>>
where
    A: ArrowPrimitiveType<Native: Element>,
{
    Ok(PrimitiveArray::new(vector.into_vec()?.into(), None))
}
