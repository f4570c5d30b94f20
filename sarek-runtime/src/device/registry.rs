//! The registry of the backends in this process.
//!
//! A backend is asked for its devices when a choice first depends on them, and each device is
//! opened once. The reason why a backend has no device, or why a device did not open, is kept for
//! error messages.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};

use super::preference::Preference;
use super::ranked::Ranked;
use super::{CacheSlot, Candidate, Device, process_profile};
use crate::plugin::backend::Backend;
use crate::plugin::claims::{ClaimTable, Claims, Owner, Request};
use crate::sync::fork;
use crate::sync::lock;
use crate::{Error, Result};

/// Registers a backend; an error if one of the same name is registered.
pub fn register(backend: Arc<dyn Backend>) -> Result<()> {
    global().register(backend)
}

/// Unregisters a backend, and returns true if it was registered. Existing handles to its devices
/// stay usable.
pub fn unregister(name: &str) -> bool {
    global().unregister(name)
}

/// Functions that return the backends of crates which are linked into the program. Each is called
/// once, before the registry is first used.
///
/// ```ignore
/// #[linkme::distributed_slice(sarek_runtime::registry::LINKED)]
/// static MINE: fn() -> Vec<Arc<dyn Backend>> = || vec![Arc::new(MyBackend)];
/// ```
#[linkme::distributed_slice]
pub static LINKED: [fn() -> Vec<Arc<dyn Backend>>];

/// Registers the backends of [`LINKED`]. The first of each name wins.
fn register_linked() {
    for backend in LINKED.iter().flat_map(|make| make()) {
        let _ = register(backend);
    }
}

/// Runs `initializer` once before the next use of the registry. A function that was passed before
/// is ignored. It may register backends, and sees those that are registered so far. Built-in backends
/// are registered this way, without being started.
pub fn on_first_use(initializer: fn()) {
    global().on_first_use(initializer);
}

/// Returns the registered backends with their priorities, highest first.
pub fn backends() -> Vec<(&'static str, i32)> {
    global().ranked()
}

pub use super::properties::{Inventory, inventory};

pub(crate) fn global() -> &'static Registry {
    static GLOBAL: OnceLock<Registry> = OnceLock::new();
    GLOBAL.get_or_init(|| {
        fork::watch();
        let registry = Registry::new(Preference::from_env());
        registry.on_first_use(register_linked);
        registry
    })
}

pub(crate) struct Registry {
    preference: Preference,
    entries: Mutex<Vec<Arc<Entry>>>,
    /// The claims of all backends; locked after `entries`.
    claims: Arc<ClaimTable>,
    initializers: Mutex<Initializers>,
    /// Held while initializers run, so that other threads wait for the backends that these
    /// register.
    initializing: Mutex<()>,
    /// The thread that runs initializers. It does not wait for itself.
    initializer: Mutex<Option<ThreadId>>,
    /// Changes whenever the set of devices to choose from may have changed.
    generation: AtomicU64,
    /// The devices that launches have chosen, each with the generation.
    chosen: CacheSlot,
}

#[derive(Default)]
struct Initializers {
    known: Vec<fn()>,
    /// The number of initializers that were started.
    started: usize,
}

/// Ends the initialization, also if an initializer panics.
struct Initializing<'a>(&'a Registry);

impl Drop for Initializing<'_> {
    fn drop(&mut self) {
        *lock(&self.0.initializer) = None;
    }
}

impl Registry {
    pub(crate) fn new(preference: Preference) -> Registry {
        Registry {
            preference,
            entries: Mutex::default(),
            claims: Arc::default(),
            initializers: Mutex::default(),
            initializing: Mutex::default(),
            initializer: Mutex::default(),
            generation: AtomicU64::new(0),
            chosen: CacheSlot::default(),
        }
    }

    /// A number that changes when a backend is registered or unregistered.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The devices that launches have chosen, each with the generation.
    pub(crate) fn chosen(&self) -> &CacheSlot {
        &self.chosen
    }

    /// Makes launches choose their devices again.
    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        // This also releases devices that are gone.
        self.chosen.clear();
    }

    pub(crate) fn register(&self, backend: Arc<dyn Backend>) -> Result<()> {
        fork::check()?;
        let name = backend.name();
        let check_name = |entries: &[Arc<Entry>]| match entries.iter().any(|e| e.name() == name) {
            true => Err(Error::DuplicateBackend(name.to_owned())),
            false => Ok(()),
        };
        check_name(&lock(&self.entries))?;
        // No lock is held: the backend may ask the registry what there is.
        let mut claims = Claims::default();
        backend.claims(&mut claims);
        let (claims, priority) = (claims.of(name), backend.priority());
        let mut entries = lock(&self.entries);
        check_name(&entries)?;
        self.claims.join(&claims)?;
        entries.push(Arc::new(Entry {
            backend,
            priority,
            claims: Arc::new(claims),
            table: self.claims.clone(),
            devices: OnceLock::new(),
        }));
        self.changed();
        Ok(())
    }

    /// The backend in charge; `None` where every backend may do it.
    pub(crate) fn owner(&self, request: &Request<'_>) -> Result<Option<Owner>> {
        self.initialize();
        self.claims.owner(request)
    }

    /// The claims of all backends.
    pub(crate) fn claims(&self) -> &ClaimTable {
        &self.claims
    }

    pub(crate) fn unregister(&self, name: &str) -> bool {
        self.initialize();
        let mut entries = lock(&self.entries);
        let before = entries.len();
        entries.retain(|e| e.name() != name);
        self.claims.leave(name);
        self.changed();
        entries.len() < before
    }

    pub(crate) fn on_first_use(&self, initializer: fn()) {
        let known = &mut lock(&self.initializers).known;
        if !known.iter().any(|k| std::ptr::fn_addr_eq(*k, initializer)) {
            known.push(initializer);
            self.changed();
        }
    }

    /// Runs the initializers that have not run yet. Called by one of them, it does nothing: that sees
    /// the backends that are registered so far.
    fn initialize(&self) {
        let me = thread::current().id();
        if *lock(&self.initializer) == Some(me) {
            return;
        }
        let _one_at_a_time = lock(&self.initializing);
        *lock(&self.initializer) = Some(me);
        let _ended = Initializing(self);
        loop {
            let next = {
                let mut initializers = lock(&self.initializers);
                let next = initializers.known.get(initializers.started).copied();
                initializers.started += usize::from(next.is_some());
                next
            };
            match next {
                Some(initializer) => initializer(),
                None => return,
            }
        }
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.initialize();
        lock(&self.entries).clone()
    }

    /// The backends with their priorities, highest first.
    fn ranked(&self) -> Vec<(&'static str, i32)> {
        let entries = self.entries();
        let mut all: Vec<_> = entries.iter().map(|e| (e.name(), e.priority())).collect();
        all.sort_by_key(|(name, priority)| (std::cmp::Reverse(*priority), *name));
        all
    }

    /// The same with owned names.
    pub(super) fn named(&self) -> Vec<(String, i32)> {
        let all = self.ranked().into_iter();
        all.map(|(name, priority)| (name.to_owned(), priority))
            .collect()
    }

    /// The candidates that launches may choose from, best first.
    ///
    /// # Errors
    /// An error if `SAREK_BACKEND` names a backend that is not registered.
    pub(crate) fn allowed(&self) -> Result<impl Iterator<Item = Candidate> + use<>> {
        let entries = self.entries();
        for name in self.preference.names() {
            if !entries.iter().any(|e| e.name() == name) {
                return Err(unknown(name, &entries, " (named by SAREK_BACKEND)"));
            }
        }
        let ranked = entries
            .into_iter()
            .filter_map(|e| Some((self.preference.rank(e.name())?, e)));
        Ok(Ranked::new(ranked))
    }

    /// All devices, and all reasons for having none, best first; ignores the preference.
    pub(crate) fn everything(&self) -> impl Iterator<Item = Candidate> + use<> {
        Ranked::new(self.entries().into_iter().map(|e| (0, e)))
    }

    /// The details that the backends give of themselves, by backend.
    pub(crate) fn debug_info(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let entries = self.entries();
        let told = entries.iter().map(|entry| {
            let told = entry.guarded(|| Ok(entry.backend.debug_info()));
            let told = told.unwrap_or_else(|problem| [("error".to_owned(), problem)].into());
            (entry.name().to_owned(), told)
        });
        told.collect()
    }

    /// True if launches may choose this backend by themselves.
    pub(crate) fn allows(&self, backend: &str) -> bool {
        self.preference.rank(backend).is_some()
    }

    /// Every device, best first. In a child of `fork`, none.
    pub(crate) fn all(&self) -> Vec<Device> {
        if fork::is_forked() {
            return Vec::new();
        }
        let device = |candidate| match candidate {
            Candidate::Device(device) => Some(device),
            Candidate::Absent { .. } => None,
        };
        self.everything().filter_map(device).collect()
    }

    pub(crate) fn best(&self) -> Result<Device> {
        fork::check()?;
        let mut reasons = Vec::new();
        for candidate in self.allowed()? {
            match candidate {
                Candidate::Device(device) => return Ok(device),
                Candidate::Absent { who, reason } => reasons.push((who, reason)),
            }
        }
        Err(self.nothing(reasons))
    }

    /// The error for having found no device, with the reasons.
    pub(crate) fn nothing(&self, reasons: Vec<(String, String)>) -> Error {
        match (self.preference.names(), reasons.as_slice()) {
            ([backend], [(who, reason)]) if who == backend => Error::NoBackend {
                backend: backend.clone(),
                reason: reason.clone(),
            },
            _ => Error::NoDevice(reasons),
        }
    }

    /// The registered backend with this name.
    fn entry(&self, backend: &str) -> Result<Arc<Entry>> {
        fork::check()?;
        let entries = self.entries();
        let found = entries.iter().find(|entry| entry.name() == backend);
        found.cloned().ok_or_else(|| unknown(backend, &entries, ""))
    }

    pub(crate) fn count(&self, backend: &str) -> Result<usize> {
        Ok(self.entry(backend)?.count())
    }

    pub(crate) fn nth(&self, backend: &str, ordinal: usize) -> Result<Device> {
        let entry = self.entry(backend)?;
        let refused = |reason| Error::NoOrdinal {
            backend: backend.to_owned(),
            ordinal,
            reason,
        };
        let candidates = entry.candidates();
        let count = entry.count();
        // Without devices, the reason is the only candidate.
        let at = if count == 0 { 0 } else { ordinal };
        match candidates.into_iter().nth(at) {
            Some(Candidate::Device(device)) => Ok(device),
            Some(Candidate::Absent { reason, .. }) => Err(refused(reason)),
            None => Err(refused(format!("it has {count}"))),
        }
    }

    pub(crate) fn of(&self, backend: &str) -> Result<Device> {
        let entry = self.entry(backend)?;
        // A driver may list its software device before a GPU.
        let mut best: Option<Device> = None;
        let mut reasons = Vec::new();
        for candidate in entry.candidates() {
            match candidate {
                Candidate::Device(device) => {
                    if best
                        .as_ref()
                        .is_none_or(|b| device.priority() > b.priority())
                    {
                        best = Some(device);
                    }
                }
                Candidate::Absent { reason, .. } => reasons.push(reason),
            }
        }
        best.ok_or_else(|| Error::NoBackend {
            backend: backend.to_owned(),
            reason: reasons.join("; "),
        })
    }
}

fn unknown(name: &str, entries: &[Arc<Entry>], named_by: &str) -> Error {
    let mut names: Vec<_> = entries.iter().map(|e| e.name()).collect();
    names.sort_unstable();
    let crate_name = name.replace('-', "_");
    let registered = match names.as_slice() {
        [] => "none is".to_owned(),
        names => format!("these are: {}", names.join(", ")),
    };
    Error::NoBackend {
        backend: name.to_owned(),
        reason: format!(
            "it is not registered{named_by}; {registered}. If a crate has it, name that crate in the program, as by \
             `use {crate_name} as _;`: a dependency that no code names is not linked"
        ),
    }
}

/// A registered backend, and its devices once they were enumerated.
pub(super) struct Entry {
    backend: Arc<dyn Backend>,
    /// Its priority when it was registered.
    priority: i32,
    claims: Arc<Claims>,
    /// The claims of all backends.
    table: Arc<ClaimTable>,
    devices: OnceLock<Vec<Candidate>>,
}

impl Entry {
    pub(super) fn name(&self) -> &'static str {
        self.backend.name()
    }

    pub(super) fn priority(&self) -> i32 {
        self.priority
    }

    /// Its devices by ordinal, or the single reason why there are none.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        self.devices.get_or_init(|| self.enumerate()).clone()
    }

    /// The number of its devices, with those that cannot be opened.
    fn count(&self) -> usize {
        let candidates = self.candidates();
        let is_device = |candidate: &Candidate| match candidate {
            Candidate::Device(_) => true,
            // The reason why there is none has the name of the backend, without an ordinal.
            Candidate::Absent { who, .. } => who != self.name(),
        };
        candidates
            .iter()
            .filter(|candidate| is_device(candidate))
            .count()
    }

    fn enumerate(&self) -> Vec<Candidate> {
        let absent = |who, reason| Candidate::Absent { who, reason };
        match self.guarded(|| self.backend.count()) {
            Err(reason) => vec![absent(self.name().to_owned(), reason)],
            Ok(0) => vec![absent(
                self.name().to_owned(),
                "it has no device".to_owned(),
            )],
            Ok(count) => (0..count)
                .map(|ordinal| match self.open(ordinal) {
                    Ok(device) => Candidate::Device(device),
                    Err(reason) => absent(format!("{}:{ordinal}", self.name()), reason),
                })
                .collect(),
        }
    }

    fn open(&self, ordinal: usize) -> Result<Device, String> {
        let open = || self.backend.open(ordinal).map_err(|e| e.to_string());
        let raw = self.guarded(open)?;
        if let Some(contradiction) = self.guarded(|| Ok(raw.info().contradiction()))? {
            return Err(contradiction);
        }
        let claims = (self.claims.clone(), self.table.clone());
        let device = Device::new(self.name(), ordinal, self.priority(), raw, claims);
        process_profile::watch(&device);
        Ok(device)
    }

    /// Turns a panic into a reason for having no device. Driver bindings may panic where a library
    /// is missing or broken.
    fn guarded<T>(&self, ask: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
            let message = panic
                .downcast_ref::<&str>()
                .map(|m| (*m).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no message".to_owned());
            Err(format!("its driver panicked: {message}"))
        })
    }
}
