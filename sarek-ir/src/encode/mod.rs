//! A kernel as bytes: what expansions hold of it.
//!
//! rustc takes one literal of bytes at once, where a `const` of struct literals has each node parsed, resolved, type-checked
//! and evaluated: that took a third of what a kernel costs `cargo check`. The crate that reads the bytes is of the version that wrote
//! them, so they carry no version and their layout is free to change.

mod nodes;
mod wire;

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::Kernel;
use wire::{Reader, Wire};

/// A kernel as bytes, read when it is first asked for.
#[derive(Debug)]
pub struct Packed {
    file: &'static str,
    bytes: &'static [u8],
    /// Are overflows faults?
    checked: bool,
    kernel: OnceLock<Kernel>,
}

impl Packed {
    /// The kernel that does nothing.
    pub const EMPTY: &'static Packed = {
        static EMPTY: Packed = Packed {
            file: "",
            bytes: &[],
            checked: false,
            kernel: OnceLock::new(),
        };
        &EMPTY
    };

    /// What [`pack`] made of a kernel that stands in this source file. Overflows are faults if it is `checked`; this is the one
    /// place that asks whether the crate of the kernel, or of the function, has debug assertions.
    pub const fn new(file: &'static str, bytes: &'static [u8], checked: bool) -> Packed {
        Packed {
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

impl Deref for Packed {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        self.kernel.get_or_init(|| self.read())
    }
}

impl From<Kernel> for Packed {
    fn from(kernel: Kernel) -> Packed {
        Packed {
            file: "",
            bytes: &[],
            checked: true,
            kernel: OnceLock::from(kernel),
        }
    }
}

/// The bytes of a kernel.
pub fn pack(kernel: &Kernel) -> Vec<u8> {
    let mut bytes = vec![];
    kernel.write(&mut bytes);
    bytes
}

/// The kernel that these are the bytes of, if they are what [`pack`] makes.
pub fn unpack(bytes: &'static [u8]) -> Option<Kernel> {
    let mut reader = Reader::new(bytes);
    let kernel = Kernel::read(&mut reader)?;
    reader.is_empty().then_some(kernel)
}

#[cfg(test)]
mod tests;
