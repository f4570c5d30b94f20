//! WebGPU through wgpu: Vulkan, Metal and Direct3D 12.
//!
//! Several of these may offer the same physical device, which is then listed once: a Direct3D adapter is left out if a
//! Vulkan one has the same PCI ids, or if both are software. Software adapters have priority 40. OpenGL is not used:
//! with Mesa's, cases of the conformance suite returned wrong numbers.
//!
//! A device has one queue, hence one stream.

mod device;
mod foreign;
pub mod interop;
mod launches;
mod memory;
mod program;
mod stream;

use std::sync::{Arc, OnceLock};

use sarek_runtime::backend::{Backend, BackendDevice};
use sarek_runtime::{Error, Result};
use wgpu::{Adapter, AdapterInfo, Backends, DeviceType, DownlevelFlags};
use wgpu::{Instance, InstanceDescriptor, InstanceFlags};

/// The WebGPU backend.
#[derive(Default)]
pub struct Wgpu {
    found: OnceLock<Result<Found, String>>,
}

/// The usable adapters, and the instance that they are of.
struct Found {
    instance: Instance,
    adapters: Vec<Adapter>,
}

impl Wgpu {
    /// Creates the backend without loading anything.
    pub fn new() -> Wgpu {
        Wgpu::default()
    }

    fn found(&self) -> Result<&Found, String> {
        self.found.get_or_init(find).as_ref().map_err(Clone::clone)
    }
}

impl Backend for Wgpu {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn count(&self) -> Result<usize, String> {
        Ok(self.found()?.adapters.len())
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let none = |reason| Error::NoBackend {
            backend: "wgpu".into(),
            reason,
        };
        let found = self.found().map_err(none)?;
        let adapter = found
            .adapters
            .get(ordinal)
            .ok_or_else(|| none(format!("it has no device {ordinal}")))?;
        Ok(device::Device::open(&found.instance, adapter)?)
    }

    fn priority(&self) -> i32 {
        80
    }
}

/// The usable adapters, or the reason why there are none.
fn find() -> Result<Found, String> {
    let (instance, adapters) = enumerate(Backends::PRIMARY);
    let (adapters, seen) = usable(adapters);
    match (adapters.is_empty(), seen) {
        (false, _) => Ok(Found {
            instance,
            adapters: distinct(adapters),
        }),
        (true, 0) => Err("no driver for Vulkan, Metal or Direct3D 12 is installed".into()),
        (true, _) => Err("no graphics device here runs compute shaders".into()),
    }
}

fn enumerate(backends: Backends) -> (Instance, Vec<Adapter>) {
    let instance = Instance::new(InstanceDescriptor {
        backends,
        // Debug builds would load validation layers, which are meant for direct users of Vulkan.
        flags: InstanceFlags::empty(),
        ..InstanceDescriptor::new_without_display_handle()
    });
    let adapters = pollster::block_on(instance.enumerate_adapters(backends));
    (instance, adapters)
}

/// The adapters that run compute shaders, and the number of all adapters.
fn usable(mut adapters: Vec<Adapter>) -> (Vec<Adapter>, usize) {
    let seen = adapters.len();
    adapters.retain(|adapter| {
        let flags = adapter.get_downlevel_capabilities().flags;
        flags.contains(DownlevelFlags::COMPUTE_SHADERS)
            && adapter.limits().max_storage_buffers_per_shader_stage > 1
    });
    (adapters, seen)
}

/// Removes duplicates of physical devices, keeping the preferred interface.
fn distinct(mut adapters: Vec<Adapter>) -> Vec<Adapter> {
    adapters.sort_by_key(|adapter| rank(adapter.get_info().backend));
    let infos: Vec<AdapterInfo> = adapters.iter().map(Adapter::get_info).collect();
    let first = |at: usize| !infos[..at].iter().any(|earlier| same(earlier, &infos[at]));
    let numbered = adapters.into_iter().enumerate();
    numbered
        .filter(|(at, _)| first(*at))
        .map(|(_, a)| a)
        .collect()
}

/// The preference order of interfaces.
fn rank(interface: wgpu::Backend) -> u8 {
    match interface {
        wgpu::Backend::Vulkan => 0,
        wgpu::Backend::Metal => 1,
        wgpu::Backend::Dx12 => 2,
        wgpu::Backend::Gl => 3,
        wgpu::Backend::BrowserWebGpu | wgpu::Backend::Noop => 4,
    }
}

/// True if two interfaces offer the same physical device.
fn same(a: &AdapterInfo, b: &AdapterInfo) -> bool {
    let software = |info: &AdapterInfo| info.device_type == DeviceType::Cpu;
    a.backend != b.backend
        && match (software(a), software(b)) {
            (true, true) => true,
            (false, false) => (a.vendor, a.device) == (b.vendor, b.device),
            (true, false) | (false, true) => false,
        }
}

#[cfg(test)]
mod tests {
    use super::same;
    use wgpu::{AdapterInfo, Backend, DeviceType};

    fn info(backend: Backend, device_type: DeviceType, ids: (u32, u32)) -> AdapterInfo {
        AdapterInfo {
            vendor: ids.0,
            device: ids.1,
            ..AdapterInfo::new(device_type, backend)
        }
    }

    #[test]
    fn one_device_is_listed_once() {
        use DeviceType::{Cpu, DiscreteGpu};
        let vulkan = info(Backend::Vulkan, DiscreteGpu, (0x10de, 1));
        let twin = vulkan.clone();
        assert!(!same(&vulkan, &twin), "two equal devices of one interface");
        assert!(same(
            &vulkan,
            &info(Backend::Dx12, DiscreteGpu, (0x10de, 1))
        ));
        assert!(!same(
            &vulkan,
            &info(Backend::Dx12, DiscreteGpu, (0x10de, 2))
        ));
        let lavapipe = info(Backend::Vulkan, Cpu, (0x10005, 0));
        assert!(same(&lavapipe, &info(Backend::Dx12, Cpu, (0x1414, 0x8c))));
        assert!(!same(&vulkan, &info(Backend::Dx12, Cpu, (0x10de, 1))));
    }
}
