//! Checks lock-free synchronization with loom: in all interleavings of a few threads, and with all values that the
//! memory model allows a load to see. A slot of a transfer is a cell that loom watches, so it detects concurrent uses.

#[path = "../src/cuda/board.rs"]
mod board;

/// Replaces `cuda::sync` by loom's primitives.
mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub use loom::thread::yield_now;
}

use std::cell::Cell;
use std::sync::Arc;

use board::{Board, Driver};
use loom::cell::UnsafeCell;

/// Slots with several copying threads, each of which has one piece of every part.
struct Shared<const SLOTS: usize, const COPIERS: usize> {
    board: Board<SLOTS>,
    /// The content of each piece of each slot: the number of its part, from 1.
    slots: [[UnsafeCell<usize>; COPIERS]; SLOTS],
}

impl<const SLOTS: usize, const COPIERS: usize> Shared<SLOTS, COPIERS> {
    fn put(&self, part: usize, piece: usize) {
        // SAFETY: loom ends the model on a concurrent access.
        self.slots[part % SLOTS][piece].with_mut(|slot| unsafe { *slot = part + 1 });
    }

    fn expect(&self, part: usize, piece: usize) {
        // SAFETY: as in `put`.
        let found = self.slots[part % SLOTS][piece].with(|slot| unsafe { *slot });
        assert_eq!(found, part + 1, "what a slot holds");
    }

    /// The device's access to a part's slot.
    fn transfer(&self, way: Way, part: usize) {
        for piece in 0..COPIERS {
            match way {
                Way::Up => self.expect(part, piece),
                Way::Down => self.put(part, piece),
            }
        }
    }

    /// The work of a copying thread, as in `Crews::upload` and `Crews::download`.
    fn copy(&self, way: Way, parts: usize, piece: usize) {
        for part in 0..parts {
            let is_well = match way {
                Way::Up => self.board.await_free(part),
                Way::Down => self.board.await_arrived(part),
            };
            if !is_well {
                return;
            }
            match way {
                Way::Up => self.put(part, piece),
                Way::Down => self.expect(part, piece),
            }
            self.board.add_copied(part, 1);
        }
    }
}

#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

/// A device that finishes a part when it is polled for the second time, and uses the slot until then.
struct Device<U> {
    use_slot: U,
    /// The number of parts begun, and of those polled.
    begun: Cell<usize>,
    asked: Cell<usize>,
    /// The part at which it fails.
    fails: Option<usize>,
}

impl<U: Fn(usize)> Driver for Device<U> {
    type Error = ();

    fn begin(&self, part: usize) -> Result<(), ()> {
        assert_eq!(
            self.begun.replace(part + 1),
            part,
            "each part once, in order"
        );
        match self.fails == Some(part) {
            true => Err(()),
            false => Ok(()),
        }
    }

    fn is_done(&self, part: usize) -> Result<bool, ()> {
        assert!(part < self.begun.get(), "of a part that was begun");
        let is_done = self.asked.replace(part + 1) > part;
        if is_done {
            (self.use_slot)(part);
        }
        Ok(is_done)
    }
}

/// Checks a transfer of `parts` parts in all interleavings.
fn transfer<const SLOTS: usize, const COPIERS: usize>(
    way: Way,
    parts: usize,
    fails: Option<usize>,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        // Loom runs one thread at a time, and its cells are for that thread only.
        #[allow(clippy::arc_with_non_send_sync)]
        let shared = Arc::new(Shared::<SLOTS, COPIERS> {
            board: Board::new(),
            slots: std::array::from_fn(|_| std::array::from_fn(|_| UnsafeCell::new(0))),
        });
        shared.board.clear();
        let threads: Vec<_> = (0..COPIERS)
            .map(|piece| {
                let shared = shared.clone();
                loom::thread::spawn(move || shared.copy(way, parts, piece))
            })
            .collect();
        let device = Device {
            use_slot: |part| shared.transfer(way, part),
            begun: Cell::new(0),
            asked: Cell::new(0),
            fails,
        };
        let end = match way {
            Way::Up => shared.board.send(&device, 0..parts, |_| COPIERS),
            Way::Down => shared.board.fetch(&device, 0..parts, COPIERS),
        };
        // No thread waits forever, even if the driver failed.
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(end.is_err(), fails.is_some());
        let last = fails.unwrap_or(parts - 1);
        assert_eq!(device.begun.get(), last + 1);
    });
}

#[test]
fn slots_are_handed_on() {
    for way in [Way::Up, Way::Down] {
        transfer::<2, 1>(way, 4, None);
        transfer::<1, 1>(way, 3, None);
    }
}

/// As many slots as parts: loom's scheduler is not fair, so three threads cannot wait for each other.
#[test]
fn what_several_threads_copied_is_seen() {
    transfer::<2, 2>(Way::Up, 2, None);
}

#[test]
fn nobody_waits_for_a_driver_that_failed() {
    for way in [Way::Up, Way::Down] {
        for part in 0..3 {
            transfer::<2, 1>(way, 3, Some(part));
        }
    }
}
