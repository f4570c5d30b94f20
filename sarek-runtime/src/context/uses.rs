//! The declaration of what a routine uses.

use std::any::TypeId;
use std::fmt;

use super::{Cell, cell};
use crate::{Element, Vector};

/// The vectors that a routine uses, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    pub(super) reads: Vec<String>,
    pub(super) writes: Vec<String>,
    pub(super) creates: Vec<Created>,
    pub(super) merge: Option<String>,
}

/// A vector that is allocated when its routine is linked.
#[derive(Clone)]
pub(super) struct Created {
    pub(super) name: String,
    ty: TypeId,
    pub(super) len: usize,
    pub(super) make: fn(usize) -> Cell,
}

impl PartialEq for Created {
    fn eq(&self, other: &Created) -> bool {
        let of = |it: &Created| (it.name.clone(), it.ty, it.len);
        of(self) == of(other)
    }
}

impl Eq for Created {}

impl fmt::Debug for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} elements", self.name, self.len)
    }
}

impl Uses {
    /// A routine that uses no vectors yet.
    pub fn new() -> Uses {
        Uses::default()
    }

    /// Adds a vector that the routine reads.
    #[must_use]
    pub fn reads(mut self, name: &str) -> Uses {
        self.reads.push(name.to_owned());
        self
    }

    /// Adds a vector that the routine writes, and may read.
    #[must_use]
    pub fn writes(mut self, name: &str) -> Uses {
        self.writes.push(name.to_owned());
        self
    }

    /// Adds a vector that the routine writes, and that linking allocates, filled with zeros.
    #[must_use]
    pub fn creates<T: Element + Default>(mut self, name: &str, len: usize) -> Uses {
        self.creates.push(Created {
            name: name.to_owned(),
            ty: TypeId::of::<T>(),
            len,
            make: |len| cell(Vector::<T>::zeros(len)),
        });
        self.writes(name)
    }

    /// Sets the vector that the routine consumes from the merge buffer.
    #[must_use]
    pub fn merges(mut self, name: &str) -> Uses {
        self.merge = Some(name.to_owned());
        self
    }
}
