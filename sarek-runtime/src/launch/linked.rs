//! Compiled code, run with other vectors than those of the launch that it was specialized for.

use std::any::TypeId;

use super::batch::Code;
use super::relaunch::CallTemplate;
use crate::vector::ErasedVector;
use crate::{Device, Result, Stream};

/// A vector that compiled code takes.
pub(crate) struct CodeVector<'a> {
    /// The parameter's name.
    pub(crate) name: &'a str,
    /// True if the code writes it.
    pub(crate) written: bool,
    pub(crate) len: usize,
    /// The type of the elements, and its name.
    pub(crate) element: (TypeId, &'static str),
}

/// A vector that compiled code is run with.
pub(crate) enum Lent<'a> {
    Read(&'a dyn ErasedVector),
    Write(&'a mut dyn ErasedVector),
}

impl Code {
    /// The device for which it was compiled.
    pub fn device(&self) -> &Device {
        self.program.device()
    }

    /// The vectors that it takes, in the order of the parameters.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = CodeVector<'_>> {
        self.template().vectors()
    }

    /// True if the caller of the kernel vouched for its arguments by an `unsafe` call.
    pub(crate) fn is_vouched(&self) -> bool {
        self.template().is_vouched()
    }

    /// Queues the launch, with these vectors in the order of [`Code::vectors`], of the same lengths
    /// and types.
    pub(crate) fn enqueue(&self, stream: &Stream, vectors: Vec<Lent<'_>>) -> Result<()> {
        let ready = self.template().with(vectors);
        ready.enqueue(stream).map(|_| ())
    }

    fn template(&self) -> &CallTemplate {
        self.program.template()
    }
}
