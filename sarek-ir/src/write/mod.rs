//! Kernel to source text: one writer, and a dialect for each target.
//!
//! [`render`] clones a closed, validated kernel, runs the passes of [`crate::passes`] for the
//! variant asked for, and walks it once. What differs between targets is told by a [`Dialect`]; the
//! writer never asks which one it is.
//!
//! Text is made inside out: the body first, then the helpers and type names that the body and the
//! helpers themselves mention (see [`Dialect::snippet`]), then the head. So a helper stands in the
//! text exactly when it is used.

pub mod c;
mod chain;
mod collective;
mod cuda;
mod derived;
mod dialect;
mod entry;
mod expr;
mod ids;
mod legalize;
mod namer;
mod opencl;
mod prelude;
mod reserved;
mod stmt;
mod text;
mod usage;
mod variant;
mod vectorize_memory;
mod wgsl;

pub use cuda::Cuda;
pub use derived::Derived;
pub use dialect::{Atomic, Dialect, RawId, Subgroup};
pub use entry::{Argument, Entry, Shared};
pub use opencl::OpenCl;
pub use prelude::{Template, expand};
pub use text::{Precedence, Sourced, Text};
pub use variant::{
    FAULT_WORDS, IndexWidth, Iterations, Slot, SlotKind, Source, Variant,
};
pub use wgsl::{CountingWgsl, Wgsl};

use std::fmt;

use crate::{Axis, Builtin, Kernel, SiteId};

/// The built-in dialects.
pub const DIALECTS: [&dyn Dialect; 3] = [&Cuda, &OpenCl, &Wgsl];

/// The built-in dialect of a name: `cuda`, `opencl` or `wgsl`.
pub fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.into_iter().find(|d| d.name() == name)
}

/// The text of a closed, validated kernel.
///
/// # Errors
/// [`Unsupported`] when the dialect has no way to say something that the kernel uses.
pub fn render(
    kernel: &Kernel,
    dialect: &dyn Dialect,
    variant: &Variant,
) -> Result<Source, Unsupported> {
    entry::render(&legalize::Legalized::new(kernel, dialect, variant), dialect)
}

/// The arguments of the entry point that [`render`] writes for the same kernel and variant.
pub fn slots(kernel: &Kernel, dialect: &dyn Dialect, variant: &Variant) -> Vec<Slot> {
    legalize::Legalized::new(kernel, dialect, variant).slots(dialect)
}

/// What is rendered before any launch is known: as many dimensions as the kernel speaks of, the
/// dialect's width of `usize`, and every check that a launch could prove taken as proved.
pub fn default_variant(kernel: &Kernel, dialect: &dyn Dialect) -> Variant {
    let mut dims = 1;
    usage::visit(kernel, &mut |node| {
        if let usage::Node::Expr(_, crate::Expr::Builtin(builtin)) = node {
            dims = dims.max(dims_of(builtin));
        }
    });
    let checked = kernel.sites.iter().enumerate();
    Variant {
        dims,
        folded: false,
        strided: false,
        index: dialect.default_index(),
        checked: checked
            .filter(|(_, site)| !site.provable)
            .map(|(i, _)| SiteId(i as u32))
            .collect(),
        dense: true,
    }
}

/// The least number of dimensions that a builtin makes sense in.
fn dims_of(builtin: Builtin) -> u8 {
    builtin.axis().unwrap_or(Axis::X).index() as u8 + 1
}

/// A dialect has no way to say something that a kernel uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The dialect's name.
    pub dialect: String,
    /// What it cannot say.
    pub construct: String,
}

impl Unsupported {
    /// The error of a dialect that cannot say `construct`.
    pub fn new(dialect: &str, construct: impl Into<String>) -> Unsupported {
        Unsupported {
            dialect: dialect.into(),
            construct: construct.into(),
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no {}", self.dialect, self.construct)
    }
}

impl std::error::Error for Unsupported {}
