//! Instrumentation: functions of one's own around work that carries a tag.
//!
//! A member of [`InstrumentationKind`] that is added gets its effect from a [`Provider`], which is
//! called before and after the work. It may count, measure or write records.
//!
//! | Work | Carries the tag by |
//! |---|---|
//! | a launch of a kernel | [`crate::Launch::instrument`] |
//! | a replay of a graph | [`crate::Graph::instrument`] |
//! | all launches, replays, uploads and downloads of a device, for a time | [`Device::profile_by`] |
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//!
//! use sarek_runtime::instrument::{self, Provider};
//! use sarek_runtime::{Device, Result, Work, tag};
//!
//! #[derive(Default)]
//! struct Bytes(AtomicU64);
//!
//! impl Provider for Bytes {
//!     fn after(&self, _device: &Device, work: &Work) -> Result<()> {
//!         self.0.fetch_add(work.read + work.written, Relaxed);
//!         Ok(())
//!     }
//! }
//!
//! let counted = tag::register("doc/bytes")?;
//! instrument::register(&counted, Arc::new(Bytes::default()))?;
//! // kernel(…).instrument(&counted).over(n).run()?;
//! # Ok::<(), sarek_runtime::Error>(())
//! ```
//!
//! [`DataInstrumentationKind`] is for the arrays of a launch: `save` writes them to files, and
//! `restore` reads them from there. [`DataProvider`]s of other members, or in place of these, are
//! registered likewise.

mod data;
mod files;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

pub(crate) use data::data_provider;
pub use data::{Array, DataProvider, register_data, unregister_data};
pub use files::{Restore, Save, set_data_folder};

use super::profile::{Clock, Done, Work, WorkKind};
use super::{Device, Queue};
pub use crate::error::DataProblem;
use crate::plugin::tag::{DataInstrumentationKind, InstrumentationKind, Kind, Tag};
use crate::sync::lock;
use crate::{Error, Result};

/// Functions around work that carries a tag.
///
/// They are called on the thread that queues the work. Work that a provider queues itself is not
/// instrumented. A provider does not use the vectors of the work.
pub trait Provider: Send + Sync {
    /// True if the framework waits for the stream before and after the work, so that
    /// [`Work::time`] is the time of the work. Otherwise it is 0, and nothing waits.
    fn waits(&self) -> bool {
        true
    }

    /// Called before the work is queued. An error refuses the work.
    fn before(&self, _work: &Upcoming<'_>) -> Result<()> {
        Ok(())
    }

    /// Called after the work has ended or, if nothing waits, was queued; not called if that failed.
    /// An error becomes that of the call which queued the work.
    fn after(&self, _device: &Device, _work: &Work) -> Result<()> {
        Ok(())
    }
}

/// Work that is about to be queued.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Upcoming<'a> {
    /// The device.
    pub device: &'a Device,
    /// The kind of work.
    pub kind: WorkKind,
    /// The name of the kernel or of the transfer.
    pub name: &'a str,
    /// The bytes that it reads, as in [`Work::read`].
    pub read: u64,
    /// The bytes that it writes, as in [`Work::written`].
    pub written: u64,
    /// The threads of a launch; 0 for other work.
    pub threads: u64,
}

type Providers = Mutex<HashMap<Tag<InstrumentationKind>, Arc<dyn Provider>>>;

fn providers() -> &'static Providers {
    static PROVIDERS: OnceLock<Providers> = OnceLock::new();
    PROVIDERS.get_or_init(Mutex::default)
}

/// Gives a member its provider.
///
/// # Errors
/// [`Error::Tag`] if the tag was not added, has a provider, or is one by which the library measures
/// itself: `none`, `timer`, `device_events`.
pub fn register(tag: &Tag<InstrumentationKind>, provider: Arc<dyn Provider>) -> Result<()> {
    if InstrumentationKind::MEMBERS.contains(&tag.name()) {
        return Err(problem(tag, "the library itself measures by it"));
    }
    if tag.is_undefined() || tag.is_template() {
        return Err(problem(
            tag,
            "only members have providers: add it by `tag::register`, or take an instance of it",
        ));
    }
    let mut providers = lock(providers());
    if providers.contains_key(tag) {
        return Err(problem(tag, TAKEN));
    }
    providers.insert(tag.clone(), provider);
    Ok(())
}

/// The problem of a tag with a provider.
const TAKEN: &str = "it has a provider; remove that first, by `instrument::unregister`";

/// Removes the provider of a member. Work that has begun still calls it.
///
/// # Errors
/// [`Error::Tag`] if it has none.
pub fn unregister(tag: &Tag<InstrumentationKind>) -> Result<()> {
    let removed = lock(providers()).remove(tag);
    removed.map(drop).ok_or_else(|| problem(tag, NO_PROVIDER))
}

/// The problem of a tag without a provider.
const NO_PROVIDER: &str = "it has no provider, which `instrument::register` gives it";

/// The provider of a tag that work carries; `None` for [`InstrumentationKind::none`].
pub(crate) fn provider(tag: &Tag<InstrumentationKind>) -> Result<Option<Arc<dyn Provider>>> {
    if *tag == InstrumentationKind::none() {
        return Ok(None);
    }
    let known = lock(providers()).get(tag).cloned();
    let own = InstrumentationKind::MEMBERS.contains(&tag.name());
    let missing = || {
        problem(
            tag,
            match own {
                true => "only `Device::profile_by` measures by it",
                false => NO_PROVIDER,
            },
        )
    };
    known.map(Some).ok_or_else(missing)
}

fn problem<K: Kind>(tag: &Tag<K>, problem: &str) -> Error {
    Error::Tag {
        kind: K::NAME,
        name: tag.to_string(),
        problem: problem.to_owned(),
    }
}

thread_local! {
    /// True while this thread runs a provider's function.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls a provider's function, whose own work is not instrumented.
pub(crate) fn inside<R>(call: impl FnOnce() -> R) -> R {
    struct Leave(bool);

    impl Drop for Leave {
        fn drop(&mut self) {
            let _gone = INSIDE.try_with(|inside| inside.set(self.0));
        }
    }

    let _leave = Leave(
        INSIDE
            .try_with(|inside| inside.replace(true))
            .unwrap_or(true),
    );
    call()
}

/// True while this thread runs a provider's function, or ends.
pub(crate) fn is_inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(true)
}

/// Work between the calls of its providers.
pub(crate) struct Running {
    providers: Vec<Arc<dyn Provider>>,
    device: Device,
    waits: bool,
    start: Instant,
}

impl Running {
    /// Calls the providers before the work. `queue` is the one that the work waits in, if any.
    pub(crate) fn begin(
        providers: Vec<Arc<dyn Provider>>,
        device: &Device,
        queue: Option<&Queue>,
        done: &Done,
    ) -> Result<Running> {
        let waits = providers.iter().any(|provider| provider.waits());
        if let Some(queue) = queue.filter(|_| waits) {
            queue.raw.sync()?;
        }
        let work = Upcoming {
            device,
            kind: done.kind,
            name: &done.name,
            read: done.read,
            written: done.written,
            threads: done.threads,
        };
        let mut each = providers.iter();
        each.try_for_each(|provider| inside(|| provider.before(&work)))?;
        Ok(Running {
            providers,
            device: device.clone(),
            waits,
            start: Instant::now(),
        })
    }

    /// Calls them after the work, with its start after `base`. Returns the work, and the first
    /// error of a provider.
    pub(crate) fn end(
        self,
        queue: &Queue,
        done: Done,
        base: Option<Instant>,
    ) -> Result<(Work, Result<()>)> {
        match done.kind {
            WorkKind::Kernel | WorkKind::Graph if self.waits => queue.raw.sync()?,
            WorkKind::Kernel | WorkKind::Graph | WorkKind::Upload | WorkKind::Download => {}
        }
        let time = match self.waits {
            true => self.start.elapsed(),
            false => Duration::ZERO,
        };
        let start = base.map(|base| self.start.saturating_duration_since(base));
        let work = Work {
            kind: done.kind,
            name: done.name,
            start: start.unwrap_or_default(),
            time,
            clock: Clock::Host,
            read: done.read,
            written: done.written,
            threads: done.threads,
        };
        let mut outcome = Ok(());
        for provider in &self.providers {
            let after = inside(|| provider.after(&self.device, &work));
            outcome = outcome.and(after);
        }
        Ok((work, outcome))
    }
}
