//! Devices in order of preference, opened no sooner than needed.
//!
//! The order is: the position in `SAREK_BACKEND`, then the priority (higher first), then the
//! backend's name, then the ordinal. A device may lower its backend's priority but not raise it;
//! so a device that ranks above every backend not yet opened is known to be next, and a machine
//! with a good device never starts the drivers of the lesser ones.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Device;
use super::registry::Entry;

/// What stands at a place of the order.
#[derive(Clone, Debug)]
pub(crate) enum Candidate {
    /// A device.
    Device(Device),
    /// A backend without devices, or a device that cannot be opened.
    Absent {
        /// Its name.
        who: String,
        /// Why.
        reason: String,
    },
}

/// Position in the preference, priority, name, ordinal: the least comes first.
type Key = (usize, Reverse<i32>, &'static str, usize);

pub(super) struct Ranked {
    /// Backends not yet asked, the next one last.
    unopened: Vec<(Key, Arc<Entry>)>,
    /// What is known and not yet given out, the next one last.
    ready: Vec<(Key, Candidate)>,
}

impl Ranked {
    /// Of these backends, each with its position in the preference.
    pub(super) fn new(backends: impl Iterator<Item = (usize, Arc<Entry>)>) -> Ranked {
        let key = |rank, entry: &Entry| (rank, Reverse(entry.priority()), entry.name(), 0);
        let mut unopened: Vec<_> = backends.map(|(rank, e)| (key(rank, &e), e)).collect();
        unopened.sort_by_key(|(key, _)| Reverse(*key));
        Ranked {
            unopened,
            ready: Vec::new(),
        }
    }

    fn open(&mut self, key: Key, entry: &Entry) {
        let (rank, ..) = key;
        for (ordinal, candidate) in entry.candidates().into_iter().enumerate() {
            let priority = match &candidate {
                Candidate::Device(device) => device.priority(),
                Candidate::Absent { .. } => entry.priority(),
            };
            self.ready
                .push(((rank, Reverse(priority), entry.name(), ordinal), candidate));
        }
        self.ready.sort_by_key(|(key, _)| Reverse(*key));
    }
}

impl Iterator for Ranked {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        loop {
            let ready = self.ready.last().map(|(key, _)| *key);
            let open_first = match (ready, self.unopened.last()) {
                (Some(ready), Some((unopened, _))) => *unopened < ready,
                (None, Some(_)) => true,
                (_, None) => false,
            };
            if !open_first {
                return self.ready.pop().map(|(_, candidate)| candidate);
            }
            if let Some((key, entry)) = self.unopened.pop() {
                self.open(key, &entry);
            }
        }
    }
}
