//! What threads tell each other without a lock, run by loom: in all orders of a few threads, and with all that the memory model
//! allows a load to see. A slot of a transfer is a cell that loom watches: who uses it while another does, is found.

#[path = "../src/cuda/board.rs"]
mod board;

/// As `cuda::sync`, by loom's.
mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub use loom::thread::yield_now;
}

use std::cell::Cell;
use std::sync::Arc;

use board::{Board, Driver};
use loom::cell::UnsafeCell;

/// Slots that are used by so many threads that copy, each of which has a piece of every part.
struct Shared<const SLOTS: usize, const COPIERS: usize> {
    board: Board<SLOTS>,
    /// What the pieces of each slot hold, which is the part that they are of, from 1.
    slots: [[UnsafeCell<usize>; COPIERS]; SLOTS],
}

impl<const SLOTS: usize, const COPIERS: usize> Shared<SLOTS, COPIERS> {
    fn put(&self, part: usize, piece: usize) {
        // SAFETY: loom ends the model if somebody else is at it.
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

    /// What a thread that copies does, as `Crews::upload` and `Crews::download` have it.
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
            self.board.tell_copied(part, 1);
        }
    }
}

#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

/// A device that is done with a part when it is asked for the second time, and uses the slot until then.
struct Device<U> {
    use_slot: U,
    /// Parts that were begun, and those that were asked for.
    begun: Cell<usize>,
    asked: Cell<usize>,
    /// It fails at this part.
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

/// A transfer of so many parts, in all orders.
fn transfer<const SLOTS: usize, const COPIERS: usize>(
    way: Way,
    parts: usize,
    fails: Option<usize>,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        // Loom's threads run in turn, and its cells are for one of them at a time.
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
        // Nobody waits for ever, also where the driver failed.
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

/// As many slots as parts: loom, whose scheduler is not fair, cannot have three threads wait for each other.
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
