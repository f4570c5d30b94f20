//! Decides when launches go to the device.
//!
//! To hand queued work to a device takes the host several times as long as to queue one launch. So launches that follow
//! each other closely go together: a launch goes at once, unless others went less than [`PAUSE`] ago. Otherwise it waits
//! for [`MOST`] launches, or for anything else that the device is asked.

use std::time::{Duration, Instant};

/// The number of launches that go together, so that the device does not wait for the host.
const MOST: u32 = 16;

/// The time after launches have gone during which others wait for company. Launches of a debug build take many times longer.
const PAUSE: Duration = Duration::from_micros(if cfg!(debug_assertions) { 2000 } else { 100 });

/// The launches of a queue that wait.
#[derive(Default)]
pub(crate) struct Burst {
    waiting: u32,
    /// The time at which the last ones went.
    gone: Option<Instant>,
}

impl Burst {
    /// Counts a launch; true if all have to go now.
    pub fn push(&mut self) -> bool {
        self.waiting += 1;
        self.waiting >= MOST || self.gone.is_none_or(|time| time.elapsed() > PAUSE)
    }

    /// Notes that all have gone.
    pub fn go(&mut self) {
        self.waiting = 0;
        self.gone = Some(Instant::now());
    }
}
