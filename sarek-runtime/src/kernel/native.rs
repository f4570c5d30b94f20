//! Runtime support for `native!`: preludes, operands, and the Rust code that replaces the block in
//! the user's function.

use std::any::Any;
use std::borrow::Cow;
use std::panic::Location;

use sarek_ir::{Origin, Prelude};

use crate::Atomic;
use crate::host::Shared;

/// Text that a target needs before a kernel: functions or includes that the texts of `native!` use.
///
/// A `native!` names a prelude with `use`. Its text appears once in the kernel's text, even if the
/// kernel and its functions name it several times. Targets without a text get none.
///
/// ```
/// # use sarek_runtime::NativePrelude;
/// const HALVES: NativePrelude = NativePrelude::new(&[
///     ("cuda", "__device__ float half_of(float x) { return 0.5f * x; }"),
///     ("opencl", "float half_of(float x) { return 0.5f * x; }"),
/// ]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NativePrelude {
    texts: &'static [(&'static str, &'static str)],
    file: &'static str,
    line: u32,
}

impl NativePrelude {
    /// Makes a prelude of pairs: a target, and its text.
    #[track_caller]
    pub const fn new(texts: &'static [(&'static str, &'static str)]) -> NativePrelude {
        let at = Location::caller();
        NativePrelude {
            texts,
            file: at.file(),
            line: at.line(),
        }
    }

    /// For the expansion of `#[kernel]`: converts the value that a `use` path in `native!` names.
    /// rustc has checked that it is a prelude.
    ///
    /// # Panics
    /// If the value is no prelude.
    #[doc(hidden)]
    pub fn named(path: &dyn Any) -> Prelude {
        match path.downcast_ref::<NativePrelude>() {
            Some(prelude) => prelude.to_ir(),
            None => unreachable!("rustc took it for a prelude"),
        }
    }

    fn to_ir(self) -> Prelude {
        let texts = self.texts.iter();
        Prelude {
            texts: texts
                .map(|(target, text)| (Cow::Borrowed(*target), Cow::Borrowed(*text)))
                .collect(),
            origin: Origin {
                file: self.file.into(),
                line: self.line,
                by_line: false,
            },
        }
    }
}

/// The types of operands in `native!` texts: scalars, and memory of scalars.
#[diagnostic::on_unimplemented(
    message = "SRK0803: a text of `native!` can use only scalars, but `{Self}` has several parts",
    label = "not a scalar",
    note = "why: an operand is replaced by its name in the target, and only scalars and memory have such a name",
    note = "instead: name one of its parts, as in `{{p.x}}`"
)]
pub trait NativeOperand {
    #[doc(hidden)]
    fn __named(&self) {}
}

impl<T: NativeOperand> NativeOperand for [T] {}
impl<T: NativeOperand, const N: usize> NativeOperand for [T; N] {}
impl<T: NativeOperand + ?Sized> NativeOperand for &T {}
impl<T: NativeOperand + ?Sized> NativeOperand for &mut T {}
impl<T: NativeOperand> NativeOperand for Atomic<T> {}
impl<T: NativeOperand> NativeOperand for Shared<T> {}

/// Makes `native!` require `unsafe` where rustc checks the user's own function.
///
/// # Safety
/// The text of `native!` does what the kernel says it does.
#[doc(hidden)]
pub unsafe fn native() {}

/// The value of a `native!` without a Rust fallback: panics.
#[doc(hidden)]
pub fn no_fallback<T>() -> T {
    panic!("this `native!` has no Rust fallback");
}
