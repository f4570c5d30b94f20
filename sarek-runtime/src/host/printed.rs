//! Printing of compound values, which are rebuilt from their scalars on the host.

use std::fmt;

use sarek_ir::Value;

use crate::KernelType;

/// Returns the next printed value, built from its scalars; `of` determines the type and is never
/// called.
///
/// Values that are too long do not compile, if expansions can name their type:
///
/// ```compile_fail,E0080
/// sarek_runtime::host::printed(&mut std::iter::empty(), || [0u32; 1025]);
/// ```
///
/// ```
/// assert_eq!(sarek_runtime::host::printed(&mut std::iter::empty(), || [0u32; 1024]), None);
/// ```
pub fn printed<T: KernelType>(
    scalars: &mut impl Iterator<Item = Value>,
    _of: impl FnOnce() -> T,
) -> Option<T> {
    const {
        assert!(
            T::TYPE.scalars() <= sarek_ir::print::MAX_SCALARS,
            "SRK0902: a printed value has more scalars than are printed at once; instead: print its parts"
        );
    }
    T::__of_scalars(scalars)
}

/// A printed value in the code of the expansion: `(&PrintedValue(&value)).__debug()` is the value if its
/// type implements the trait. Otherwise it is a placeholder that does, and rustc reports the
/// missing trait for the user's function alone.
#[derive(Clone, Copy)]
pub struct PrintedValue<'a, T>(pub &'a T);

macro_rules! printed_values {
    ($($trait:ident $method:ident $can:ident $cannot:ident)*) => {$(
        #[doc(hidden)]
        pub trait $can<'a> {
            fn $method(&self) -> &'a (dyn fmt::$trait + 'a);
        }

        impl<'a, T: fmt::$trait> $can<'a> for PrintedValue<'a, T> {
            #[inline(always)]
            fn $method(&self) -> &'a (dyn fmt::$trait + 'a) {
                self.0
            }
        }

        // Method lookup finds this second, because it takes one more reference.
        #[doc(hidden)]
        pub trait $cannot {
            fn $method(&self) -> &'static str;
        }

        impl<T> $cannot for &PrintedValue<'_, T> {
            fn $method(&self) -> &'static str {
                unreachable!("the user's function does not compile")
            }
        }
    )*};
}

printed_values!(Debug __debug Debugs NoDebug Display __display Displays NoDisplay);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_of_another_type_is_not_printed() {
        assert_eq!(printed(&mut [Value::U8(7)].into_iter(), || true), None);
    }
}
