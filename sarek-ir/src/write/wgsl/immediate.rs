//! Derives WGSL dialects whose scalar arguments are immediates.

use crate::write::{Derived, Dialect, Entry, SlotKind, Unsupported};

use super::{ARGS, CountingWgsl, Wgsl};

/// [`Wgsl`] or [`CountingWgsl`] with scalar arguments in a `var<immediate>`, which is part of a launch's commands, instead
/// of a uniform buffer. Texts whose scalars are too many, or of 16 bits, keep the uniform buffer.
#[derive(Clone, Copy, Debug)]
pub struct ImmediateWgsl {
    /// True for [`CountingWgsl`].
    pub counts: bool,
    /// The largest size of the scalars, in bytes. It is 0 on devices without immediates.
    pub most: u32,
}

/// The declaration of the scalars.
const IMMEDIATE: &str = "var<immediate> args: Args;";

impl ImmediateWgsl {
    /// True if a text of this dialect has its scalars in immediates.
    pub fn is_used(text: &str) -> bool {
        text.lines().any(|line| line == IMMEDIATE)
    }

    /// True if the arguments of a kernel fit.
    fn fits(&self, entry: &Entry<'_>) -> bool {
        let mut end = 0;
        for argument in entry.arguments {
            match argument.slot.kind {
                SlotKind::Len(_)
                | SlotKind::Scalar(_)
                | SlotKind::Extent(_)
                | SlotKind::Grid(_) => {
                    let size = argument.passed_as().size() as u32;
                    if size < 4 {
                        return false;
                    }
                    end = u32::next_multiple_of(end, size) + size;
                }
                SlotKind::Buffer { .. }
                | SlotKind::Output(_)
                | SlotKind::Faults
                | SlotKind::Shared(_) => {}
            }
        }
        end.next_multiple_of(16) <= self.most
    }
}

impl Derived for ImmediateWgsl {
    fn base(&self) -> &dyn Dialect {
        match self.counts {
            true => &CountingWgsl,
            false => &Wgsl,
        }
    }

    fn name(&self) -> &'static str {
        Dialect::name(&Wgsl)
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported> {
        let text = self.base().entry(entry)?;
        if !self.fits(entry) {
            return Ok(text);
        }
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            match line.trim_end().ends_with(ARGS) {
                true => out.extend([IMMEDIATE, "\n"]),
                false => out.push_str(line),
            }
        }
        Ok(out)
    }
}
