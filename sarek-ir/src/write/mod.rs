//! Writes kernels as source text: one writer, with a dialect for each target.
//!
//! [`render`] clones a closed, validated kernel, runs the passes of [`crate::passes`] for the requested variant, and
//! walks it once. A [`Dialect`] describes the differences between targets; the writer never asks for the target.
//!
//! Text is made inside out. The body comes first. Then come the helpers and type names that the body and other helpers
//! mention (see [`Dialect::snippet`]), and then the head. So the text contains only helpers that are used.

pub mod c;
mod chain;
mod collective;
mod cuda;
mod derived;
mod dialect;
mod entry;
mod exchange;
mod expr;
mod file;
mod ids;
mod join;
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
pub use dialect::{Atomic, Dialect, Packed, RawId, Subgroup};
pub use entry::{Argument, Entry, Shared};
pub use file::{FileRole, SourceFile};
pub use join::{Joint, join};
pub use opencl::OpenCl;
pub use prelude::{Template, expand};
pub use text::{Precedence, Sourced, Text};
pub use variant::{FAULT_WORDS, IndexWidth, Iterations, Slot, SlotKind, Source, Variant};
pub use wgsl::{CountingWgsl, ImmediateWgsl, Wgsl};

use std::fmt;

use crate::{Axis, Builtin, Kernel, SiteId};

/// The built-in dialects.
pub const DIALECTS: [&dyn Dialect; 3] = [&Cuda, &OpenCl, &Wgsl];

/// The built-in dialect of this name: `cuda`, `opencl` or `wgsl`.
pub fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.into_iter().find(|d| d.name() == name)
}

/// The text of a closed, validated kernel.
///
/// # Errors
/// [`Unsupported`] if the dialect cannot express something that the kernel uses.
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

/// The variant to render before any launch is known: all dimensions that the kernel mentions, the dialect's default
/// width of `usize`, and all provable checks taken as proved.
pub fn default_variant(kernel: &Kernel, dialect: &dyn Dialect) -> Variant {
    let mut dims = 1;
    for id in kernel.used_exprs() {
        if let crate::Expr::Builtin(builtin) = kernel.expr(id) {
            dims = dims.max(dims_of(builtin));
        }
    }
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

/// The least number of dimensions for which a builtin is meaningful.
fn dims_of(builtin: Builtin) -> u8 {
    builtin.axis().unwrap_or(Axis::X).index() as u8 + 1
}

/// A construct of the kernel that a dialect cannot express.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The dialect's name.
    pub dialect: String,
    /// The construct.
    pub construct: String,
}

impl Unsupported {
    /// The error for a dialect that cannot express `construct`.
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
