//! A case, its outcome, and the features that it may need.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sarek::testing::panic_text;
use sarek::{Device, Error};

use crate::check::{CaseError, Check};

/// One case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    /// A path such as `operators/divide/i32`.
    pub name: &'static str,
    /// The capabilities that the kernels need.
    pub needs: &'static [Capability],
    body: fn(&Device) -> Check,
}

impl Case {
    pub(crate) const fn new(
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
            (Ok(Err(CaseError::Error(Error::NotEligible { .. }))), Some(capability)) => {
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

/// The outcome of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every result was as expected.
    Passed,
    /// A result was wrong, or there was an unexpected error; the text describes it.
    Failed(String),
    /// The device declares that it lacks this capability, and refused the launch.
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
    /// Operations of subgroups in blocks of several dimensions.
    ShapedSubgroups,
    /// Fences without a barrier.
    Fences,
    /// Strict kernels, whose floats have the same bits on every device.
    Strict,
}

impl Capability {
    /// True if the device declares this feature.
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
