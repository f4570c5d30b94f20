//! What launches of a device came to that are alike in all that decides how they run: they are checked, proved and
//! looked up once.
//!
//! Launches are alike that agree in kernel, shape, schedule, environments, the lengths and storages of vectors, and integers among the
//! arguments. Floats decide nothing, unless the length of a shared array depends on one.
//!
//! The same is kept of the device that a launch is best run on.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex};

use sarek_ir::analysis::range::ArgFact;

use super::Ready;
use super::plan::Plan;
use super::prepare::Addresses;
use super::run::How;
use super::space::Shape;
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};
use crate::sync::lock;

/// How a launch runs on a device.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) how: How,
}

/// What is known of the latest launches, by kernel.
pub(crate) struct Memo<T>(Mutex<HashMap<u64, Vec<Entry<T>>, BuildHasherDefault<Addresses>>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

struct Entry<T> {
    shape: Shape,
    /// Is it launched over items? Which ones that are follows from the kernel.
    over_items: bool,
    schedule: Option<Tag<ScheduleKind>>,
    environments: Arc<[String]>,
    strided: bool,
    facts: Vec<ArgFact>,
    /// Which vectors are elsewhere than in devices' own memory.
    stored: Vec<(usize, Tag<StorageKind>, u64)>,
    known: T,
}

/// How many launches of a kernel are kept.
const KEPT: usize = 16;

impl<T> Entry<T> {
    fn is_of(&self, ready: &Ready<'_>) -> bool {
        let call = &ready.call;
        self.shape == ready.shape
            && self.over_items != ready.items.is_empty()
            && self.strided == call.strided
            && self.schedule == call.schedule
            && self.facts.iter().copied().eq(call.facts())
            && self.environments == *call.environments()
            && self.stored.iter().cloned().eq(call.stored())
    }
}

impl<T: Clone> Memo<T> {
    /// What is known of a launch that is like an earlier one.
    pub(super) fn get(&self, ready: &Ready<'_>) -> Option<T> {
        let mut all = lock(&self.0);
        let entries = all.get_mut(&ready.call.kernel.id)?;
        let at = entries.iter().position(|entry| entry.is_of(ready))?;
        // The one used last is looked at first.
        entries[..=at].rotate_right(1);
        Some(entries[0].known.clone())
    }

    /// Keeps what is known of a launch.
    pub(super) fn put(&self, ready: &Ready<'_>, known: &T) {
        let call = &ready.call;
        let entry = Entry {
            shape: ready.shape,
            over_items: !ready.items.is_empty(),
            schedule: call.schedule.clone(),
            environments: call.environments().clone(),
            strided: call.strided,
            facts: call.facts().collect(),
            stored: call.stored().collect(),
            known: known.clone(),
        };
        let mut all = lock(&self.0);
        let entries = all.entry(call.kernel.id).or_default();
        entries.truncate(KEPT - 1);
        entries.insert(0, entry);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        lock(&self.0).clear();
    }
}
