//! The kernels that every device of sarek must run, with their expected results.
//!
//! Authors of backends run the suite on their device:
//!
//! ```no_run
//! let device = sarek::Device::of("native")?;
//! sarek_conformance::run(&device).assert_passed();
//! # Ok::<(), sarek::Error>(())
//! ```
//!
//! # How a case is built
//!
//! Each case is one kernel, or a close family of kernels, written as a user would write it. The
//! expected results come from plain Rust on the host that shares no code with the kernel: integers
//! are computed in `i128` and truncated, floats in `f64` where a wider type exists. Inputs are
//! edge values combined with each other, then random values of a fixed seed. Outputs are filled
//! with a sentinel before the launch and are longer than what the kernel writes, so that a missing
//! and a stray store both show.
//!
//! # What passes
//!
//! Integers, `bool`, comparisons and conversions must be exact. Floats must be within
//! [`sarek::testing::tolerance`], which is also what sarek promises to users.
//!
//! A case that needs a [`Capability`] which [`sarek::backend::DeviceInfo`] declares missing
//! is skipped, provided that the launch is refused with [`sarek::Error::NotEligible`]; the same
//! refusal from a device that declares the capability is a failure.

mod cases;
mod check;
#[doc(hidden)]
pub mod input;
mod report;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use sarek::testing::{panic_text, reference};
use sarek::{Device, Error};
use sarek_runtime::KernelDef;

use check::{Check, Stop};
pub use report::{Entry, Report};

/// Runs every case on a device.
pub fn run(device: &Device) -> Report {
    run_matching(device, "", |_| ())
}

/// Runs the cases whose name contains `part`; `before` sees each of them before it runs.
pub fn run_matching(device: &Device, part: &str, mut before: impl FnMut(&Case)) -> Report {
    let mut entries = vec![];
    for case in cases().iter().filter(|case| case.name.contains(part)) {
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

/// The kernels of the suite, by file and name: what its cases call, found by running them. The native device takes a
/// quarter of the time that the reference takes, and no case ends early on it.
#[doc(hidden)]
pub fn kernels() -> Vec<&'static KernelDef> {
    let device = Device::of("native").or_else(|_| reference());
    for case in cases() {
        // How a case ends is not asked here: it has called its kernels.
        let _ = device.as_ref().map(|device| case.run(device));
    }
    let cases = Path::new(file!()).with_file_name("cases");
    let mut kernels = sarek_runtime::called();
    kernels.retain(|def| Path::new(&*def.ir.file).starts_with(&cases));
    kernels.sort_by_key(|def| (&def.ir.file, &def.ir.name));
    kernels
}

/// One case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    /// A path such as `operators/divide/i32`.
    pub name: &'static str,
    /// What the kernels need of the device.
    pub needs: &'static [Capability],
    body: fn(&Device) -> Check,
}

impl Case {
    const fn new(
        name: &'static str,
        needs: &'static [Capability],
        body: fn(&Device) -> Check,
    ) -> Case {
        Case { name, needs, body }
    }

    /// Runs the case. A panic inside it is a failure of the case.
    pub fn run(&self, device: &Device) -> Outcome {
        let result = catch_unwind(AssertUnwindSafe(|| (self.body)(device)));
        let missing = self
            .needs
            .iter()
            .copied()
            .find(|c| !c.is_offered_by(device));
        match (result, missing) {
            (Ok(Ok(())), _) => Outcome::Passed,
            (Ok(Err(Stop::Error(Error::NotEligible { .. }))), Some(capability)) => {
                Outcome::Skipped(capability)
            }
            (Ok(Err(stop)), _) => Outcome::Failed(stop.to_string()),
            (Err(panic), _) => Outcome::Failed(format!("panicked: {}", panic_text(&*panic))),
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .field("needs", &self.needs)
            .finish()
    }
}

/// How a case went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every result was as due.
    Passed,
    /// Something was not; the text says what.
    Failed(String),
    /// The device declares that it lacks this, and refused the launch.
    Skipped(Capability),
}

/// A feature that a device may lack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Capability {
    /// `f64` arithmetic and buffers.
    F64,
    /// Elementary functions on `f64`.
    F64Math,
    /// 64-bit integers.
    I64,
    /// Buffers of `bool`, `i8`, `u8`.
    Storage8,
    /// Buffers of `i16`, `u16`, `bf16`.
    Storage16,
    /// Buffers and shared arrays of `f16`.
    F16,
    /// Atomic operations on 64-bit elements.
    Atomics64,
    /// Operations of subgroups.
    Subgroups,
    /// The same in blocks of several dimensions.
    ShapedSubgroups,
    /// Fences without a barrier.
    Fences,
    /// Floats that are the same to the bit everywhere.
    Strict,
}

impl Capability {
    /// Does the device declare that it has it?
    pub fn is_offered_by(self, device: &Device) -> bool {
        let features = device.info().features;
        match self {
            Capability::F64 => features.f64,
            Capability::F64Math => features.f64_math,
            Capability::I64 => features.i64,
            Capability::Storage8 => features.storage8,
            Capability::Storage16 => features.storage16,
            Capability::F16 => features.f16,
            Capability::Atomics64 => features.atomics64,
            Capability::Subgroups => features.subgroups,
            Capability::ShapedSubgroups => features.shaped_subgroups,
            Capability::Fences => features.fences,
            Capability::Strict => features.strict,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Capability::F64 => "f64",
            Capability::F64Math => "f64 functions",
            Capability::I64 => "64-bit integers",
            Capability::Storage8 => "8-bit storage",
            Capability::Storage16 => "16-bit storage",
            Capability::F16 => "f16",
            Capability::Atomics64 => "64-bit atomics",
            Capability::Subgroups => "subgroups",
            Capability::ShapedSubgroups => "subgroups in blocks of several dimensions",
            Capability::Fences => "fences",
            Capability::Strict => "strict floats",
        })
    }
}

fn device_label(device: &Device) -> String {
    format!("{} ({})", device.backend(), device.info().name)
}

/// Shortens a duration for tables.
fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
