//! Fake backends and kernels for this crate's tests.

pub(crate) mod host;
pub(crate) mod kernels;

use std::sync::Arc;

use crate::Device;
use crate::backend::Backend;
use crate::device::preference::Preference;
use crate::device::registry::Registry;

/// A registry of these backends, with `SAREK_BACKEND` set to `preference`.
pub(crate) fn registry(preference: &str, backends: &[Arc<dyn Backend>]) -> Registry {
    let registry = Registry::new(Preference::parse(preference));
    for backend in backends {
        registry.register(backend.clone()).unwrap();
    }
    registry
}

pub(crate) fn host() -> Device {
    registry("", &[host::HostBackend::new("host", 50)])
        .best()
        .unwrap()
}
