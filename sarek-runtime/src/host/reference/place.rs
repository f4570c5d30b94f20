//! The place where the user's function panicked. `catch_unwind` does not report it, so a panic hook
//! records it.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

use super::POSITION;
use crate::{Error, Fault, FaultKind};

/// The place where a thread of a kernel panicked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PanicPlace {
    /// The source file.
    pub file: String,
    /// The line, starting at 1.
    pub line: u32,
    /// The column, starting at 1.
    pub column: u32,
    /// The global ids of the thread along x, y and z.
    pub thread: [u64; 3],
}

impl PanicPlace {
    /// The error for a panic of the user's function with this message.
    pub fn into_error(self, kernel: &str, message: String) -> Error {
        Error::Fault(Box::new(Fault {
            kernel: kernel.into(),
            file: self.file,
            line: self.line,
            column: self.column,
            thread: self.thread,
            kind: match overflowed(&message) {
                Some(operation) => FaultKind::Overflow {
                    operation: operation.into(),
                },
                None => FaultKind::Panic(message),
            },
        }))
    }
}

/// The operation in core's overflow message. For a method it is the operator that the method uses.
fn overflowed(message: &str) -> Option<&'static str> {
    Some(match message {
        "attempt to add with overflow" => "+",
        "attempt to subtract with overflow" | "attempt to negate with overflow" => "-",
        "attempt to multiply with overflow" => "*",
        "attempt to shift left with overflow" => "<<",
        "attempt to shift right with overflow" => ">>",
        _ => return None,
    })
}

/// A panic payload with its place, while it unwinds out of the threads of a block.
pub(super) struct Placed {
    panic: Box<dyn Any + Send>,
    place: PanicPlace,
}

thread_local! {
    static LAST: RefCell<Option<PanicPlace>> = const { RefCell::new(None) };
}

/// Starts recording where kernel functions panic. The previous panic hook is still called. If
/// another hook is set later, places are no longer recorded.
pub fn note_panics() {
    static ONCE: Once = Once::new();
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if let (Some(position), Some(at)) = (POSITION.get(), panic.location()) {
                let global = |axis: usize| {
                    let of_block =
                        position.block[axis] as u64 * u64::from(position.space.block[axis]);
                    of_block + position.thread[axis] as u64
                };
                LAST.set(Some(PanicPlace {
                    file: at.file().to_owned(),
                    line: at.line(),
                    column: at.column(),
                    thread: [0, 1, 2].map(global),
                }));
            }
            before(panic);
        }));
    });
}

/// The panic payload, with its place if this thread has recorded one.
pub(super) fn placed(panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    match LAST.take() {
        Some(place) => Box::new(Placed { panic, place }),
        None => panic,
    }
}

/// Splits a panic of the user's function into its payload and its place, if that is known.
pub fn place_of(panic: Box<dyn Any + Send>) -> (Box<dyn Any + Send>, Option<PanicPlace>) {
    match placed(panic).downcast::<Placed>() {
        Ok(placed) => (placed.panic, Some(placed.place)),
        Err(panic) => (panic, None),
    }
}
