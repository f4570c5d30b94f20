//! Links a kernel: fills its holes from the user's crate, and flattens all values into scalars.
//!
//! The macro leaves holes in a kernel: constants, types and functions of other items. [`link`] closes it in one walk
//! that builds a new kernel:
//!
//! - It resolves types ([`shape`]).
//! - A compound local becomes one local for each of its *leaves*: the scalars inside, depth first, with an enum's tag
//!   before the leaves of its variants. Leaves inside arrays become arrays.
//! - A shared array of structs becomes one shared array for each leaf.
//! - A slice of structs becomes a slice of *units*: the largest scalar of which all leaves consist. The index
//!   arithmetic becomes explicit.
//! - A compound parameter becomes one scalar parameter for each leaf.
//! - Calls are inlined ([`call`]). The rest of the body after an early return goes to an `else`. Where that would
//!   duplicate statements, the return leaves a loop of one iteration.
//!
//! The sites of the linked kernel are its own, followed by those of each call in the order of [`Kernel::calls`]: the
//! sites of the callee, then those of its calls. Natively compiled bodies number their sites in the same way.

mod build;
mod call;
mod equality;
mod expr;
mod leaf;
mod memory;
mod place;
mod print;
mod shape;
mod sizeless;
mod stmt;
#[cfg(test)]
mod tests;

pub use shape::{LeafAt, each_leaf, leaves};

/// The scalar type that a device's memory holds for elements of a type, and the number of such units in an element.
pub fn unit(info: &TypeInfo) -> (Scalar, u64) {
    let unit = leaf::Unit::of(&shape::Shape::of(info));
    (unit.scalar, unit.per)
}

use std::borrow::Cow;

use crate::print::HostPrinter;
use crate::{Kernel, Prelude, Scalar, TypeInfo, Value};
use build::Linker;

/// The items of the user's crate that fill the holes, in the order in which a kernel or function names them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Links {
    /// The values of [`Kernel::links`]: one for each leaf of its type.
    pub constants: Vec<Vec<Value>>,
    /// The types of [`Kernel::type_links`].
    pub types: Vec<TypeInfo>,
    /// The functions of [`Kernel::functions`].
    pub functions: Vec<Function>,
    /// The texts of [`Kernel::prelude_links`].
    pub preludes: Vec<Prelude>,
    /// The functions that format prints with compound arguments.
    pub printers: Vec<HostPrinter>,
}

/// A `#[device]` function with its links.
#[derive(Clone, Debug)]
pub struct Function {
    /// The function.
    pub ir: &'static Kernel,
    /// Its links.
    pub links: Links,
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        std::ptr::eq(self.ir, other.ir) && self.links == other.links
    }
}

impl Eq for Function {}

impl std::hash::Hash for Function {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.ir).hash(state);
        self.links.hash(state);
    }
}

/// Links a kernel. rustc has checked that `links` match the kernel's declarations of them.
pub fn link(kernel: &Kernel, links: &Links) -> Kernel {
    if kernel.is_closed() {
        return kernel.clone();
    }
    let mut out = Kernel::new(kernel.name.clone());
    out.file = kernel.file.clone();
    out.block = kernel.block;
    out.strict = kernel.strict;
    out.type_links = Cow::Borrowed(&[]);
    Linker::new(out).kernel(kernel, links)
}
