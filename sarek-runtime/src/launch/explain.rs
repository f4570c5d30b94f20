//! Launches and kernels in words.

use std::fmt::Write;

use super::{Ready, eligible};
use crate::device::Candidate;
use crate::device::registry::Registry;

/// What a launch would do.
pub(super) fn launch(registry: &Registry, ready: &Ready<'_>) -> String {
    let mut out = format!("`{}`:\n", ready.call.kernel.name());
    for candidate in registry.everything() {
        match candidate {
            Candidate::Device(device) => {
                let reasons = eligible::obstacles(&device, &ready.call).join("; ");
                let _ = writeln!(out, "  {device}: {reasons}");
            }
            Candidate::Absent { who, reason } => {
                let _ = writeln!(out, "  {who}: {reason}");
            }
        }
    }
    out
}
