//! A lazy iterator over devices in order of preference, which opens backends only when needed.
//!
//! The order is: the position in `SAREK_BACKEND`, then the priority (higher first), then the
//! backend's name, then the ordinal. A device may lower its backend's priority, but not raise it.
//! So a device that ranks above every unopened backend comes next. A machine with a good device
//! therefore never starts the drivers of worse ones.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Device;
use super::registry::Entry;

/// An entry in the order: a device, or the reason for having none.
#[derive(Clone, Debug)]
pub(crate) enum Candidate {
    /// A device.
    Device(Device),
    /// A backend without devices, or a device that cannot be opened.
    Absent {
        /// The name of the backend or device.
        who: String,
        /// The reason.
        reason: String,
    },
}

/// The sort key: position in the preference, priority, name, ordinal. The least comes first.
type Key = (usize, Reverse<i32>, &'static str, usize);

pub(super) struct Ranked {
    /// Unopened backends; the next one is last.
    unopened: Vec<(Key, Arc<Entry>)>,
    /// Known candidates that have not been returned yet; the next one is last.
    ready: Vec<(Key, Candidate)>,
}

impl Ranked {
    /// Starts with these backends, each with its position in the preference.
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
