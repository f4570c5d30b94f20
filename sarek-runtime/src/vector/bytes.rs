//! Elements as the bytes that backends copy: the only `unsafe` code behind vectors.

use sarek_ir::Scalar;

use crate::{Element, Result};

/// The bytes of some elements.
pub(super) fn of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: an `Element` has no padding, so each of its bytes is initialised; the length is that
    // of the same memory, and the result borrows it.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Lets `write` overwrite elements through their bytes. Whatever it leaves there becomes a value:
/// any bytes are one, except for `bool`, where every byte but 0 becomes `true`.
pub(super) fn overwrite<T: Element>(
    elements: &mut [T],
    write: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let len = size_of_val(elements);
    // SAFETY: as in `of`, and the borrow is exclusive. Should `write` leave a byte that is no `bool`,
    // `Booleans` mends it before `elements` can be used again, even if `write` panics.
    let bytes = unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) };
    let guard = Booleans {
        bytes,
        are_bools: T::SCALAR == Scalar::Bool,
    };
    write(&mut *guard.bytes)
}

struct Booleans<'a> {
    bytes: &'a mut [u8],
    are_bools: bool,
}

impl Drop for Booleans<'_> {
    fn drop(&mut self) {
        if self.are_bools {
            for byte in &mut *self.bytes {
                *byte = u8::from(*byte != 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_elements() {
        assert_eq!(
            of(&[1u32, 2]),
            [1u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat()
        );
        assert_eq!(of::<f64>(&[]), []);
    }

    #[test]
    fn foreign_bytes_become_valid_booleans() {
        let mut flags = [false, true, true];
        let fill = |bytes: &mut [u8]| {
            bytes.copy_from_slice(&[2, 0, 1]);
            Ok(())
        };
        overwrite(&mut flags, fill).unwrap();
        assert_eq!(of(&flags), [1, 0, 1]);
    }
}
