//! Helpers that fetch the fault of a launch and check it.

use crate::check::{CaseError, Check, ensure, wrong};
use crate::input::Sample;
use sarek::prelude::*;
use sarek::{Error, Fault, Result};

/// The place that a fault must name.
pub struct Place {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The end of the source file's path.
    pub file: &'static str,
    /// The line number.
    pub line: u32,
}

/// Returns the fault of a launch that wrote `output`. A host backend reports it from the launch, others
/// from the next read. Every read reports it again until the vector is rewritten.
pub fn fault_of<T: Sample>(result: Result<()>, output: &mut Vector<T>) -> Result<Fault, CaseError> {
    let first = match result {
        Err(Error::Fault(fault)) => *fault,
        Err(error) => return Err(CaseError::Error(error)),
        Ok(()) => match output.to_vec() {
            Err(Error::Fault(fault)) => {
                match output.get(0) {
                    Err(Error::Fault(again)) if again == fault => {}
                    _ => return wrong("a second read of a sentinel_filled vector does not report"),
                }
                *fault
            }
            Err(error) => return Err(CaseError::Error(error)),
            Ok(_) => return wrong("neither the launch nor the read reported a fault"),
        },
    };
    output.fill(T::SENTINEL)?;
    let rewritten = output.to_vec()?;
    ensure(rewritten.iter().all(|x| x.same(T::SENTINEL)), || {
        "a rewritten vector does not hold what was written".into()
    })?;
    Ok(first)
}

/// Checks that the fault names this place.
pub fn check_place(fault: &Fault, place: &Place) -> Check {
    ensure(fault.kernel == place.kernel, || {
        format!("the fault names kernel `{}`", fault.kernel)
    })?;
    ensure(fault.file.replace('\\', "/").ends_with(place.file), || {
        format!("the fault names file {}", fault.file)
    })?;
    ensure(fault.line == place.line, || {
        format!("the fault names line {}, not {}", fault.line, place.line)
    })?;
    ensure(fault.column > 0, || "the fault names no column".into())
}
