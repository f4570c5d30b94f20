//! Fake backends and kernels for this crate's tests.

pub(crate) mod gpu;
mod graph;
pub(crate) mod host;
pub(crate) mod kernels;
mod memory;
mod work_queue;

use std::sync::Arc;

use crate::Device;
use crate::device::preference::Preference;
use crate::device::registry::Registry;
use crate::plugin::backend::Backend;
use gpu::{GpuBackend, Stats};

/// A registry of these backends, with `preference` as the value of `SAREK_BACKEND`.
pub(crate) fn registry(preference: &str, backends: &[Arc<dyn Backend>]) -> Registry {
    let registry = Registry::new(Preference::parse(preference));
    for backend in backends {
        registry.register(backend.clone()).unwrap();
    }
    registry
}

/// Two devices of different backends, with their statistics.
pub(crate) fn two_gpus() -> [(Device, Arc<Stats>); 2] {
    [GpuBackend::new("one", 100), GpuBackend::new("two", 90)].map(|backend| device(&backend))
}

/// The device of a backend, with its statistics.
pub(crate) fn device(backend: &Arc<GpuBackend>) -> (Device, Arc<Stats>) {
    let one: [Arc<dyn Backend>; 1] = [backend.clone()];
    let device = registry("", &one).best().unwrap();
    (device, backend.stats.clone())
}

/// All devices of a backend.
pub(crate) fn devices(backend: &Arc<GpuBackend>) -> Vec<Device> {
    let one: [Arc<dyn Backend>; 1] = [backend.clone()];
    registry("", &one).all()
}

pub(crate) fn host() -> Device {
    registry("", &[host::HostBackend::new("host", 50)])
        .best()
        .unwrap()
}
