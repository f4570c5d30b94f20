//! Which devices can run a call.

use super::Call;
use super::space::check_block;
use crate::device::Candidate;
use crate::device::registry::Registry;
use crate::{Device, Error, Result};

/// The best device that can run it.
pub(super) fn best(registry: &Registry, call: &Call<'_>) -> Result<Device> {
    let mut rejected = Vec::new();
    for candidate in registry.allowed()? {
        match candidate {
            Candidate::Device(device) => match obstacles(&device, call).as_slice() {
                [] => return Ok(device),
                reasons => rejected.push((device.to_string(), reasons.join("; "))),
            },
            Candidate::Absent { who, reason } => rejected.push((who, reason)),
        }
    }
    Err(registry.nothing(rejected))
}

/// An error unless the device can run it.
pub(super) fn check(device: &Device, call: &Call<'_>) -> Result<()> {
    let reasons = obstacles(device, call);
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Error::NotEligible {
        kernel: call.kernel.name().to_owned(),
        device: device.to_string(),
        reasons,
    })
}

/// Why the device cannot run it; empty if it can.
pub(super) fn obstacles(device: &Device, call: &Call<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    reasons.extend(
        call.kernel
            .block()
            .and_then(|block| check_block(block, device.info()).err()),
    );
    reasons
}
