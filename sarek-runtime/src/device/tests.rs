mod memory;
mod profile;
mod registering;
mod streams;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicUsize, Ordering};

use sarek_ir::Scalar;

use super::*;
use crate::Error;
use crate::device::preference::Preference;
use crate::device::registry::Registry;
use crate::plugin::backend::{Backend, Features};
use crate::testing::gpu::GpuBackend;
use crate::testing::host::HostBackend;
use crate::testing::registry;

/// A backend without devices: `count` returns the given result.
struct Absent(fn() -> Result<usize, String>);

impl Backend for Absent {
    fn name(&self) -> &'static str {
        "absent"
    }

    fn count(&self) -> Result<usize, String> {
        (self.0)()
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Err(Error::Device {
            device: format!("absent:{ordinal}"),
            message: "it is busy".into(),
        })
    }

    fn priority(&self) -> i32 {
        1000
    }
}

fn names(registry: &Registry) -> Vec<&'static str> {
    registry.all().iter().map(Device::backend).collect()
}

#[test]
fn priority_decides_then_the_name() {
    let [b, a, c] = ["b", "a", "c"].map(|name| GpuBackend::new(name, 5));
    let top = GpuBackend::new("z", 6);
    assert_eq!(names(&registry("", &[b, a, c, top])), ["z", "a", "b", "c"]);
}

#[test]
fn a_device_may_lower_its_priority_but_not_raise_it() {
    let own =
        |name, backend, own| GpuBackend::with(name, backend, |info| info.priority = Some(own));
    let soft = own("soft", 90, 40);
    let loud = own("loud", 30, 200);
    let registry = registry("", &[soft, loud, GpuBackend::new("plain", 50)]);
    assert_eq!(names(&registry), ["plain", "soft", "loud"]);
    assert_eq!(registry.of("loud").unwrap().priority(), 30);
}

/// A backend whose driver lists a software device before a GPU.
struct SoftwareFirst;

impl Backend for SoftwareFirst {
    fn name(&self) -> &'static str {
        "two"
    }

    fn count(&self) -> Result<usize, String> {
        Ok(2)
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let software = (ordinal == 0).then_some(40);
        GpuBackend::with("two", 90, |info| info.priority = software).open(0)
    }

    fn priority(&self) -> i32 {
        90
    }
}

#[test]
fn the_device_of_a_backend_is_its_best() {
    let device = registry("", &[Arc::new(SoftwareFirst)]).of("two").unwrap();
    assert_eq!((device.ordinal(), device.priority()), (1, 90));
}

#[test]
fn drivers_are_started_only_when_needed_and_once() {
    let [fast, slow] = [HostBackend::new("fast", 9), HostBackend::new("slow", 5)];
    let registry = registry("", &[slow.clone(), fast.clone()]);
    assert_eq!(fast.opened.load(Relaxed), 0);
    for _ in 0..3 {
        assert_eq!(registry.best().unwrap(), registry.of("fast").unwrap());
    }
    assert_eq!(
        (fast.opened.load(Relaxed), slow.opened.load(Relaxed)),
        (1, 0)
    );
    assert_eq!(registry.all().len(), 2);
    assert_eq!(
        (fast.opened.load(Relaxed), slow.opened.load(Relaxed)),
        (1, 1)
    );
}

#[test]
fn reasons_are_kept() {
    for (count, reason) in [
        ((|| Err("no driver".into())) as fn() -> _, "no driver"),
        (|| Ok(0), "it has no device"),
        (|| Ok(1), "it is busy"),
        (
            || panic!("library {} is missing", 7),
            "its driver panicked: library 7 is missing",
        ),
    ] {
        let host = HostBackend::new("host", 1);
        let registry = registry("", &[Arc::new(Absent(count)), host]);
        assert_eq!(registry.best().unwrap().backend(), "host");
        for _ in 0..2 {
            let error = registry.of("absent").unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
    let alone = registry("", &[Arc::new(Absent(|| Err("no driver".into())))]);
    assert!(matches!(alone.best().unwrap_err(), Error::NoDevice(reasons) if reasons.len() == 1));
    assert!(matches!(registry("", &[]).best().unwrap_err(), Error::NoDevice(r) if r.is_empty()));
}

#[test]
fn devices_are_found_by_ordinal() {
    let absent = |count| {
        let backends: [Arc<dyn Backend>; 2] = [Arc::new(Absent(count)), GpuBackend::new("gpu", 1)];
        registry("gpu", &backends)
    };
    let told = |registry: &Registry, backend, ordinal| {
        let error = registry.nth(backend, ordinal).unwrap_err();
        assert!(matches!(error, Error::NoOrdinal { .. }), "{error}");
        error.to_string()
    };
    let none = absent(|| Err("no driver".into()));
    assert_eq!(none.count("absent").unwrap(), 0);
    assert_eq!(
        told(&none, "absent", 3),
        "no device 3 of backend `absent`: no driver"
    );
    let busy = absent(|| Ok(1));
    assert_eq!(busy.count("absent").unwrap(), 1);
    assert!(told(&busy, "absent", 0).contains("busy"));
    assert!(told(&busy, "absent", 1).contains("it has 1"));
    let count = busy.count("gpu").unwrap();
    let last = busy.nth("gpu", count - 1).unwrap();
    assert_eq!(
        (last.ordinal(), &last),
        (count - 1, &busy.nth("gpu", count - 1).unwrap())
    );
    assert!(told(&busy, "gpu", count).contains(&format!("it has {count}")));
    for error in [
        busy.nth("my-gpu", 0).map(drop).unwrap_err(),
        busy.count("my-gpu").map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, Error::NoBackend { .. }), "{error}");
        assert!(error.to_string().contains("`use my_gpu as _;`"), "{error}");
    }
}

#[test]
fn types_are_supported_as_features_say() {
    let gpu = registry("", &[GpuBackend::new("gpu", 1)]).best().unwrap();
    let mut info = gpu.info().clone();
    info.features = Features::default();
    assert!(info.supports(Scalar::F32) && info.supports_type::<crate::f32x4>());
    for scalar in [
        Scalar::F64,
        Scalar::U8,
        Scalar::I16,
        Scalar::F16,
        Scalar::U64,
    ] {
        assert!(!info.supports(scalar), "{scalar:?}");
    }
    assert!(!info.supports_type::<[f64; 3]>());
    info.features.f64 = true;
    assert!(info.supports_type::<[f64; 3]>() && !info.supports_type::<u64>());
}

#[test]
fn the_variable_restricts_and_orders() {
    let best = |preference: &str| {
        let absent = Arc::new(Absent(|| Err("no driver".into())));
        let backends: [Arc<dyn Backend>; 3] = [
            absent,
            GpuBackend::new("gpu", 100),
            HostBackend::new("host", 50),
        ];
        let registry = registry(preference, &backends);
        registry.best().map(|device| device.backend())
    };
    assert_eq!(best("").unwrap(), "gpu");
    assert_eq!(best("host").unwrap(), "host");
    assert_eq!(best("host,gpu").unwrap(), "host");
    assert_eq!(best("absent, host").unwrap(), "host");
    let error = best("absent").unwrap_err();
    assert!(
        matches!(&error, Error::NoBackend { reason, .. } if reason == "no driver"),
        "{error}"
    );
    let error = best("host,cdua").unwrap_err().to_string();
    assert!(
        error.contains("`cdua`") && error.contains("absent, gpu, host"),
        "{error}"
    );
}

#[test]
fn asking_for_a_backend_overrides_the_variable() {
    let backends: [Arc<dyn Backend>; 2] = [GpuBackend::new("gpu", 9), HostBackend::new("host", 5)];
    let registry = registry("host", &backends);
    assert_eq!(registry.of("gpu").unwrap().backend(), "gpu");
    assert_eq!(names(&registry), ["gpu", "host"]);
    assert!(matches!(
        registry.of("metal").unwrap_err(),
        Error::NoBackend { .. }
    ));
}

#[test]
fn names_are_unique_and_free_again_after_removal() {
    let registry = registry("", &[GpuBackend::new("gpu", 9)]);
    let device = registry.best().unwrap();
    let twice = registry.register(GpuBackend::new("gpu", 1)).unwrap_err();
    assert!(matches!(twice, Error::DuplicateBackend(name) if name == "gpu"));
    assert!(registry.unregister("gpu") && !registry.unregister("gpu"));
    assert!(registry.best().is_err());
    device.sync().unwrap();
    registry.register(GpuBackend::new("gpu", 1)).unwrap();
    assert_ne!(registry.best().unwrap(), device);
}

#[test]
fn initializers_run_once_at_the_first_use() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn initializer() {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
    let registry = Registry::new(Preference::default());
    registry.on_first_use(initializer);
    registry.on_first_use(initializer);
    assert_eq!(CALLS.load(Relaxed), 0);
    for _ in 0..2 {
        assert!(registry.all().is_empty());
        assert_eq!(CALLS.load(Relaxed), 1);
    }
}

#[test]
fn devices_are_named_for_people() {
    let device = registry("", &[GpuBackend::new("gpu", 9)]).best().unwrap();
    assert_eq!(device.to_string(), "fake GPU (gpu:0)");
    assert_eq!(format!("{:?}", device.stream()), "Stream(fake GPU (gpu:0))");
}

#[test]
fn events_mark_the_work_before_them() {
    let device = registry("", &[GpuBackend::new("gpu", 9)]).best().unwrap();
    let stream = device.stream();
    let mut x = crate::Vector::<f32>::zeros(4);
    let launch = crate::testing::kernels::axpy_call(1.0, &crate::Vector::zeros(4), &mut x)
        .over(4)
        .enqueue(&stream);
    let first = launch.unwrap();
    assert!(!first.is_done().unwrap() && !stream.is_idle().unwrap());
    let second = stream.record().unwrap();
    first.sync().unwrap();
    second.sync().unwrap();
    assert!(second.is_done().unwrap() && stream.is_idle().unwrap());
}
