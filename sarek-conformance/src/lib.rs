//! The conformance suite: kernels that every device of sarek must run, with their expected results.
//!
//! Authors of backends run the suite on their device:
//!
//! ```no_run
//! let device = sarek::Device::of("native")?;
//! sarek_conformance::run(&device).assert_passed();
//! # Ok::<(), sarek::Error>(())
//! ```
//!
//! A dialect can be tested before there is a device: [`render_all`] renders a kernel for each node of the IR.
//!
//! ```
//! use sarek::ir::write::OpenCl;
//!
//! // OpenCL C 1.2 has no subgroups.
//! sarek_conformance::render_all(&OpenCl).assert_rendered(&["subgroup"]);
//! ```
//!
//! # How a case is built
//!
//! Each case is one kernel, or a close family of kernels, written as a user would write it. The
//! expected results come from plain Rust on the host that shares no code with the kernel: integers
//! are computed in `i128` and truncated, floats in `f64` where a wider type exists. Inputs are
//! combinations of edge values, then random values of a fixed seed. Outputs are filled with a
//! sentinel before the launch, and have a tail that the kernel does not write. So both a missing
//! store and a stray store show.
//!
//! # Passing, skipping, failing
//!
//! Integers, `bool`, comparisons and conversions must be exact. Floats must be within
//! [`sarek::testing::tolerance`], which sarek also promises to users.
//!
//! A case may need a [`Capability`] that the device's [`sarek::backend::DeviceInfo`] declares
//! missing. Such a case is skipped if the device refuses the launch with
//! [`sarek::Error::NotEligible`]. The same refusal from a device that declares the capability is a
//! failure.

mod case;
mod cases;
#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod input;
mod report;

use std::path::Path;
use std::time::Instant;

use sarek::Device;
use sarek::testing::reference;
use sarek_runtime::KernelDef;

pub use case::{Capability, Case, Outcome};
pub use report::{Entry, Report};
pub use sarek_ir::sketch::{RenderedNode, RenderedNodes, render_all};

/// Runs every case on a device.
pub fn run(device: &Device) -> Report {
    run_matching(device, "", |_| ())
}

/// Runs the cases whose name contains one of the `parts`, which commas separate. Calls `before` with each case before it runs.
///
/// # Panics
/// If a part selects no case.
pub fn run_matching(device: &Device, parts: &str, mut before: impl FnMut(&Case)) -> Report {
    let parts: Vec<&str> = parts.split(',').map(str::trim).collect();
    for part in &parts {
        let selects = cases().iter().any(|case| case.name.contains(part));
        assert!(selects, "no case has `{part}` in its name");
    }
    let mut entries = vec![];
    let wanted = |case: &&Case| parts.iter().any(|part| case.name.contains(part));
    for case in cases().iter().filter(wanted) {
        before(case);
        let start = Instant::now();
        let outcome = case.run(device);
        entries.push(Entry {
            case: case.name,
            outcome,
            time: start.elapsed(),
        });
    }
    Report::new(device_label(device), entries)
}

/// Every case, in the order in which [`run`] runs them.
pub fn cases() -> &'static [Case] {
    cases::all()
}

/// The kernels of the suite, sorted by file and name.
///
/// The function finds them by running all cases. It prefers the native device, which takes a quarter of the reference's
/// time, and on which no case ends early.
#[doc(hidden)]
pub fn kernels() -> Vec<&'static KernelDef> {
    let device = Device::of("native").or_else(|_| reference());
    for case in cases() {
        // The outcome does not matter: the case has called its kernels.
        let _ = device.as_ref().map(|device| case.run(device));
    }
    let cases = Path::new(file!()).with_file_name("cases");
    let mut kernels = sarek_runtime::called();
    kernels.retain(|def| Path::new(&*def.ir.file).starts_with(&cases));
    kernels.sort_by_key(|def| (&def.ir.file, &def.ir.name));
    kernels
}

fn device_label(device: &Device) -> String {
    format!("{} ({})", device.backend(), device.info().name)
}
