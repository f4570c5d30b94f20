//! Images of the crate `image`. A vector has the rows of an image one after another, as its channels
//! or as its pixels.

use image::{ImageBuffer, Pixel};

use crate::{Element, Error, Result, Vector};

/// Turns an image into a vector of its channels, without a copy.
pub fn from_image<P: Pixel<Subpixel: Element>>(
    image: ImageBuffer<P, Vec<P::Subpixel>>,
) -> Vector<P::Subpixel> {
    Vector::from_vec(channels(image))
}

/// Turns an image into a vector of its pixels, each an array of its `N` channels; without a copy if
/// the image's memory has room for whole pixels only. `N` is checked by the compiler.
pub fn pixels_from_image<P: Pixel<Subpixel: Element>, const N: usize>(
    image: ImageBuffer<P, Vec<P::Subpixel>>,
) -> Vector<[P::Subpixel; N]> {
    const {
        assert!(
            N == P::CHANNEL_COUNT as usize,
            "a pixel has another number of channels"
        )
    };
    Vector::from_vec(into_arrays(channels(image)))
}

/// Turns a vector of channels into an image; without a copy if the vector owns its memory.
///
/// # Errors
/// The error of a launch that failed to write the vector; [`Error::Convert`] if an image of this
/// size has another number of channels.
pub fn into_image<P: Pixel<Subpixel: Element>>(
    vector: Vector<P::Subpixel>,
    width: u32,
    height: u32,
) -> Result<ImageBuffer<P, Vec<P::Subpixel>>> {
    of_channels(vector.into_vec()?, width, height)
}

/// Turns a vector of pixels into an image; without a copy if the vector owns its memory.
///
/// # Errors
/// As for [`into_image`].
pub fn pixels_into_image<P: Pixel<Subpixel: Element>, const N: usize>(
    vector: Vector<[P::Subpixel; N]>,
    width: u32,
    height: u32,
) -> Result<ImageBuffer<P, Vec<P::Subpixel>>> {
    const {
        assert!(
            N == P::CHANNEL_COUNT as usize,
            "a pixel has another number of channels"
        )
    };
    of_channels(vector.into_vec()?.into_flattened(), width, height)
}

/// The channels of an image, without those that its memory may have behind the last row.
fn channels<P: Pixel>(image: ImageBuffer<P, Vec<P::Subpixel>>) -> Vec<P::Subpixel> {
    let len = image.width() as usize * image.height() as usize * P::CHANNEL_COUNT as usize;
    let mut channels = image.into_raw();
    channels.truncate(len);
    channels
}

fn of_channels<P: Pixel>(
    mut channels: Vec<P::Subpixel>,
    width: u32,
    height: u32,
) -> Result<ImageBuffer<P, Vec<P::Subpixel>>> {
    let found = channels.len();
    let wanted = width as u128 * height as u128 * u128::from(P::CHANNEL_COUNT);
    if found as u128 != wanted {
        channels.clear();
    }
    let image = ImageBuffer::from_raw(width, height, channels);
    image
        .filter(|_| found as u128 == wanted)
        .ok_or_else(|| Error::Convert {
            from: "a vector",
            to: "an image",
            problem: format!(
                "{width} by {height} pixels have {wanted} channels, and the vector {found}"
            ),
        })
}

/// Groups numbers into arrays.
fn into_arrays<S: Copy, const N: usize>(numbers: Vec<S>) -> Vec<[S; N]> {
    if !numbers.capacity().is_multiple_of(N) || size_of::<S>() == 0 {
        return numbers.as_chunks().0.to_vec();
    }
    let mut numbers = std::mem::ManuallyDrop::new(numbers);
    let (at, len, capacity) = (numbers.as_mut_ptr(), numbers.len(), numbers.capacity());
    // SAFETY: an array has the alignment of its elements, and the capacity in bytes is the same. The
    // first `len / N` arrays are initialised. The memory has no other owner.
    unsafe { Vec::from_raw_parts(at.cast(), len / N, capacity / N) }
}

#[cfg(test)]
mod tests {
    use super::into_arrays;

    #[test]
    fn memory_with_odd_room_is_copied() {
        for capacity in 6..=9 {
            let mut numbers = Vec::with_capacity(capacity);
            numbers.extend([1u16, 2, 3, 4, 5, 6]);
            let at = numbers.as_ptr();
            let is_whole = numbers.capacity() % 3 == 0;
            let arrays: Vec<[u16; 3]> = into_arrays(numbers);
            assert_eq!(arrays, [[1, 2, 3], [4, 5, 6]]);
            assert_eq!(arrays.as_ptr().cast() == at, is_whole, "{capacity}");
        }
    }
}
