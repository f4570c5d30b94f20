//! Linking: what only the user's crate knows is filled in, and nothing but scalars is left.
//!
//! A kernel as the macro writes it has holes: constants, types and functions of other items. [`link`] closes
//! it in one walk that builds a new kernel:
//!
//! - types are resolved ([`shape`]);
//! - a local of several parts becomes a local for each of its *leaves*: the scalars inside of it, depth
//!   first, an enum's tag before the leaves of its variants. Leaves inside of arrays become arrays;
//! - a shared array of structs becomes a shared array for each leaf;
//! - a slice of structs becomes a slice of *units*, the largest scalars of which all leaves consist, with
//!   the arithmetic on indices written out;
//! - a parameter of several parts becomes a scalar parameter for each leaf;
//! - calls are replaced by the bodies of what they call ([`call`]). An early return leaves the rest of the
//!   body out, by an `else` or, where that would copy statements, by leaving a loop of one iteration.
//!
//! The sites of the linked kernel are its own ones, then for each call, in the order of [`Kernel::calls`],
//! those of the function called: its own ones, then those of its calls. Compiled bodies count in the same way.

mod build;
mod call;
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

/// The scalar that elements of a type consist of on devices, and how many of it an element is.
pub fn unit(info: &TypeInfo) -> (Scalar, u64) {
    let unit = leaf::Unit::of(&shape::Shape::of(info));
    (unit.scalar, unit.per)
}

use std::borrow::Cow;

use crate::print::HostPrinter;
use crate::{Kernel, Prelude, Scalar, TypeInfo, Value};
use build::Linker;

/// What the user's crate knows, in the order in which a kernel or function names it.
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
    /// What makes the texts of prints with values of several parts.
    pub printers: Vec<HostPrinter>,
}

/// A `#[device]` function with what it names.
#[derive(Clone, Debug)]
pub struct Function {
    /// The function.
    pub ir: &'static Kernel,
    /// What it names.
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

/// The kernel, closed. rustc has checked that `links` are what the kernel says of them.
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
