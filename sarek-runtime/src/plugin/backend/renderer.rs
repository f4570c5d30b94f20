//! Renderers of kernels, and the tags of a launch that they may ask for.

use std::fmt;
use std::sync::Arc;

use sarek_ir::write::{Source, Variant};

use crate::Result;
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};

/// Translates a kernel to source text.
///
/// # Safety
/// The text does what the kernel does, including its checks, and takes the arguments that
/// [`Source::slots`] describes. The framework loads and launches it without further checks.
pub unsafe trait Renderer: Send + Sync {
    /// The target's name, as used by `native!` and `Kernel::source`.
    fn target(&self) -> &'static str;

    /// Returns the text of a closed kernel in the target's dialect; an error if the dialect lacks a
    /// feature.
    fn render(&self, kernel: &sarek_ir::Kernel, variant: &Variant) -> Result<Source>;

    /// True if texts depend on the schedule and the storages of a launch. Then launches call
    /// [`Renderer::render_for`], and each set of these tags makes a program of its own.
    fn sees_tags(&self) -> bool {
        false
    }

    /// Returns the text of a closed kernel for launches with these tags. The parameters are those
    /// of the kernel. Only called if [`Renderer::sees_tags`]; without a launch, as for
    /// `Kernel::source`, [`Renderer::render`] gives the text.
    fn render_for(
        &self,
        kernel: &sarek_ir::Kernel,
        variant: &Variant,
        _tags: &LaunchTags,
    ) -> Result<Source> {
        self.render(kernel, variant)
    }

    /// True if the language has the C preprocessor, so that `#line` can give the origin of lines.
    /// Otherwise the framework maps the lines in error messages itself.
    fn has_line_markers(&self) -> bool {
        false
    }

    /// True if the device ends loops that take too long, so that a launch may return a fault that names a thread even
    /// if all checks are proved.
    fn ends_loops(&self) -> bool {
        false
    }
}

/// The schedule and the storages of a launch; see [`Renderer::render_for`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct LaunchTags {
    /// The schedule; [`ScheduleKind::blocks`] if the launch sets none.
    pub schedule: Tag<ScheduleKind>,
    /// For each parameter of the kernel: the storage of its vector, or `None` for a scalar.
    pub storages: Arc<[Option<Tag<StorageKind>>]>,
}

impl LaunchTags {
    pub(crate) fn new(
        schedule: Tag<ScheduleKind>,
        storages: impl Iterator<Item = Option<Tag<StorageKind>>>,
    ) -> LaunchTags {
        let storages = storages.collect();
        LaunchTags { schedule, storages }
    }
}

impl fmt::Display for LaunchTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schedule `{}`", self.schedule)?;
        for storage in self.storages.iter().flatten() {
            write!(f, ", `{storage}`")?;
        }
        Ok(())
    }
}
