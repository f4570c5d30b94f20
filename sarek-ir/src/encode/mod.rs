//! Encodes a kernel as bytes, for the macro's output.
//!
//! rustc reads one byte-string literal at once. With a `const` of struct literals, it would parse, resolve, type-check
//! and evaluate each node; that took a third of the time that a kernel costs `cargo check`. The crate that decodes the
//! bytes has the version of the one that encoded them. So they carry no version, and their layout may change freely.

mod nodes;
mod wire;

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::Kernel;
use wire::{Reader, Wire};

/// An encoded kernel, decoded on first use.
#[derive(Debug)]
pub struct EncodedKernel {
    file: &'static str,
    bytes: &'static [u8],
    /// True if overflows are faults.
    checked: bool,
    kernel: OnceLock<Kernel>,
}

impl EncodedKernel {
    /// The kernel that does nothing.
    pub const EMPTY: &'static EncodedKernel = {
        static EMPTY: EncodedKernel = EncodedKernel {
            file: "",
            bytes: &[],
            checked: false,
            kernel: OnceLock::new(),
        };
        &EMPTY
    };

    /// Wraps the output of [`pack`] for a kernel in this source file. If `checked`, overflows are faults. Only the
    /// caller here tests whether the crate of the kernel or function has debug assertions.
    pub const fn new(file: &'static str, bytes: &'static [u8], checked: bool) -> EncodedKernel {
        EncodedKernel {
            file,
            bytes,
            checked,
            kernel: OnceLock::new(),
        }
    }

    fn read(&self) -> Kernel {
        if self.bytes.is_empty() {
            return Kernel::EMPTY;
        }
        let kernel = unpack(self.bytes).expect("an expansion holds what `pack` wrote");
        let overflows = match self.checked {
            true => kernel.overflows,
            false => Cow::Borrowed(&[][..]),
        };
        Kernel {
            file: Cow::Borrowed(self.file),
            overflows,
            ..kernel
        }
    }
}

impl Deref for EncodedKernel {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        self.kernel.get_or_init(|| self.read())
    }
}

impl From<Kernel> for EncodedKernel {
    fn from(kernel: Kernel) -> EncodedKernel {
        EncodedKernel {
            file: "",
            bytes: &[],
            checked: true,
            kernel: OnceLock::from(kernel),
        }
    }
}

/// Encodes a kernel.
pub fn pack(kernel: &Kernel) -> Vec<u8> {
    let mut bytes = vec![];
    kernel.write(&mut bytes);
    bytes
}

/// Decodes a kernel; `None` if the bytes are no output of [`pack`].
pub fn unpack(bytes: &'static [u8]) -> Option<Kernel> {
    let mut reader = Reader::new(bytes);
    let kernel = Kernel::read(&mut reader)?;
    reader.is_empty().then_some(kernel)
}

#[cfg(test)]
mod tests;
