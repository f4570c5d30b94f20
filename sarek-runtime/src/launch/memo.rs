//! A memo of launches: similar launches on a device are checked, proved and looked up once.
//!
//! Launches are similar if they agree in kernel, shape, schedule, environments, the lengths and
//! storages of vectors, and integer arguments. Float arguments do not matter, unless the length of
//! a shared array depends on one.
//!
//! A second memo keeps the device that was chosen for a launch.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex};

use sarek_ir::analysis::range::ArgFact;

use super::Ready;
use super::plan::Plan;
use super::prepare::Addresses;
use super::run::Executable;
use super::space::Shape;
use crate::device::LaunchCache;
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};
use crate::sync::lock;

/// The plan of a launch on a device, and the program that runs it.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) executable: Executable,
}

/// The memo of the latest launches, by kernel.
pub(crate) struct Memo<T>(Mutex<HashMap<u64, Vec<Entry<T>>, BuildHasherDefault<Addresses>>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo(Mutex::default())
    }
}

struct Entry<T> {
    shape: Shape,
    /// True if it is launched over items. The kernel determines which items.
    over_items: bool,
    schedule: Option<Tag<ScheduleKind>>,
    environments: Arc<[String]>,
    strided: bool,
    optimize: bool,
    /// True if wide accesses to all vectors are aligned.
    aligned: bool,
    facts: Vec<ArgFact>,
    /// The vectors in storages other than the devices' own memory.
    stored: Vec<(usize, Tag<StorageKind>, u64)>,
    known: T,
}

/// The number of launches kept for each kernel.
const KEPT: usize = 16;

impl<T> Entry<T> {
    fn is_of(&self, ready: &Ready<'_>) -> bool {
        let call = &ready.call;
        self.shape == ready.shape
            && self.over_items != ready.items.is_empty()
            && self.strided == call.strided
            && self.optimize == call.optimize
            && self.aligned == call.is_aligned()
            && self.schedule == call.schedule
            && self.facts.iter().copied().eq(call.facts())
            && self.environments == *call.environments()
            && self.stored.iter().cloned().eq(call.stored())
    }
}

impl<T: Clone> Memo<T> {
    /// Returns the entry of an earlier similar launch.
    pub(super) fn get(&self, ready: &Ready<'_>) -> Option<T> {
        let mut all = lock(&self.0);
        let entries = all.get_mut(&ready.call.kernel.id)?;
        let at = entries.iter().position(|entry| entry.is_of(ready))?;
        // Move the entry to the front, where the next search begins.
        entries[..=at].rotate_right(1);
        Some(entries[0].known.clone())
    }

    /// Stores an entry for a launch.
    pub(super) fn put(&self, ready: &Ready<'_>, known: &T) {
        let call = &ready.call;
        let entry = Entry {
            shape: ready.shape,
            over_items: !ready.items.is_empty(),
            schedule: call.schedule.clone(),
            environments: call.environments().clone(),
            strided: call.strided,
            optimize: call.optimize,
            aligned: call.is_aligned(),
            facts: call.facts().collect(),
            stored: call.stored().collect(),
            known: known.clone(),
        };
        let mut all = lock(&self.0);
        let entries = all.entry(call.kernel.id).or_default();
        entries.truncate(KEPT - 1);
        entries.insert(0, entry);
    }
}

impl<T: Send + 'static> LaunchCache for Memo<T> {
    fn clear(&self) {
        lock(&self.0).clear();
    }
}
