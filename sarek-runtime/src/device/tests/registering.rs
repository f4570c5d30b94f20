//! Tests of what a registration asks a backend.

use std::sync::OnceLock;
use std::sync::atomic::AtomicI32;
use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::plugin::backend::Claims;
use crate::plugin::claims::Subject;

/// Fails if `work` does not end.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    let found = receiver.recv_timeout(Duration::from_secs(20));
    found.expect("it waits for itself, or panicked")
}

/// A backend whose claims depend on the other backends.
struct Asking(&'static Registry);

impl Backend for Asking {
    fn name(&self) -> &'static str {
        "asking"
    }

    fn count(&self) -> Result<usize, String> {
        Ok(0)
    }

    fn open(&self, _: usize) -> Result<Arc<dyn BackendDevice>> {
        unreachable!("it has no device")
    }

    fn claims(&self, claims: &mut Claims) {
        assert!(self.0.of("asking").is_err(), "it is not registered yet");
        for device in self.0.all() {
            claims.by_predicate(Subject::Kernels, move |request| {
                request.kernels[0].name == device.backend()
            });
        }
        self.0.unregister("left");
    }
}

#[test]
fn claims_may_ask_the_registry() {
    let others: [Arc<dyn Backend>; 2] = [GpuBackend::new("left", 5), GpuBackend::new("right", 6)];
    let registry: &'static Registry = Box::leak(Box::new(registry("", &others)));
    ends(move || registry.register(Arc::new(Asking(registry)))).unwrap();
    assert_eq!(names(registry), ["right"]);
    let twice = ends(move || registry.register(Arc::new(Asking(registry))));
    assert!(
        matches!(twice, Err(Error::DuplicateBackend(_))),
        "{twice:?}"
    );
}

#[test]
fn claims_of_linked_backends_may_ask_the_registry() {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let registry = REGISTRY.get_or_init(|| registry("", &[GpuBackend::new("first", 5)]));
    registry.on_first_use(|| {
        let registry = REGISTRY.get().expect("it is used");
        registry.register(Arc::new(Asking(registry))).unwrap();
        registry.register(GpuBackend::new("second", 4)).unwrap();
        assert_eq!(names(registry), ["first", "second"], "those so far");
    });
    assert_eq!(ends(|| names(registry)), ["first", "second"]);
    assert!(
        registry
            .of("asking")
            .is_err_and(|e| e.to_string().contains("no device"))
    );
}

/// A backend whose priority changes.
struct Rising(&'static str, Arc<AtomicI32>);

impl Backend for Rising {
    fn name(&self) -> &'static str {
        self.0
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _: usize) -> Result<Arc<dyn BackendDevice>> {
        GpuBackend::new(self.0, 0).open(0)
    }

    fn priority(&self) -> i32 {
        self.1.load(Relaxed)
    }
}

#[test]
fn a_priority_is_that_of_the_registration() {
    let priority = Arc::new(AtomicI32::new(1));
    let rising = || Arc::new(Rising("rising", priority.clone()));
    let registry = registry("", &[GpuBackend::new("steady", 5)]);
    registry.register(rising()).unwrap();
    for change in [9, 1, 9] {
        priority.store(change, Relaxed);
        // Before and after its devices are opened.
        assert_eq!(registry.best().unwrap().backend(), "steady", "{change}");
        assert_eq!(names(&registry), ["steady", "rising"], "{change}");
        assert_eq!(
            registry.named(),
            [("steady".into(), 5), ("rising".into(), 1)]
        );
        assert_eq!(registry.of("rising").unwrap().priority(), 1);
    }
    registry.unregister("rising");
    registry.register(rising()).unwrap();
    assert_eq!(registry.best().unwrap().backend(), "rising");
    assert_eq!(names(&registry), ["rising", "steady"]);
}
