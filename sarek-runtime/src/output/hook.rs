//! The output hook: user code that receives the output of kernels.
//!
//! The hook may call anything in this crate. So it runs while the crate holds no lock that such a
//! call could need, and it never runs inside itself:
//!
//! - Output on the thread on which the hook runs, or of a launch that the hook makes, goes to
//!   standard output.
//! - A wait inside the hook does not print the output of earlier launches; a wait outside does.
//!
//! A panic of the hook is caught, and the launch or wait that printed returns it as an error.

use std::any::Any;
use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::sync::lock;
use crate::{Error, Result};

type Hook = Arc<dyn Fn(&str) + Send + Sync>;

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

/// Sends the output of kernels to `hook` from now on, instead of standard output. It is called once
/// for each line, which includes its line end. Several threads may call it at the same time.
///
/// The hook may use vectors, launch kernels, wait for devices and set another hook. While it runs,
/// output on its thread and of launches that it makes goes to standard output. It must not wait for
/// another thread that waits for a device.
///
/// If the hook panics, the kernel continues, and its results are valid.
/// [`Error::Output`](crate::Error::Output) is returned once: by the launch (on `native` and
/// `interpreter`), or by the wait that prints (on other devices).
pub fn set_output(hook: impl Fn(&str) + Send + Sync + 'static) {
    replace(Some(Arc::new(hook)));
}

/// Sends the output of kernels to standard output again.
pub fn reset_output() {
    replace(None);
}

fn replace(hook: Option<Hook>) {
    let mut current = HOOK.write().unwrap_or_else(PoisonError::into_inner);
    let former = std::mem::replace(&mut *current, hook);
    drop(current);
    // The old hook's destructors may call the crate, so it is dropped without the lock.
    drop(former);
}

thread_local! {
    /// True if the hook runs on this thread, or if the thread works for a launch that the hook
    /// made. It has no destructor, so it exists until the end of the thread.
    static IN_HOOK: Cell<bool> = const { Cell::new(false) };

    /// The message of the hook's panic on this thread that was not returned yet.
    static PANIC: Cell<Option<Box<str>>> = const { Cell::new(None) };
}

/// True if the hook has panicked in this process. Spares launches the access to [`PANIC`].
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// True if this thread works for the hook.
pub(crate) fn in_hook() -> bool {
    IN_HOOK.get()
}

/// Prints text in one piece.
pub(crate) fn emit(text: &str) {
    if in_hook() {
        return to_stdout(text);
    }
    let hook = HOOK.read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(hook) = hook else {
        return to_stdout(text);
    };
    // If the hook was replaced meanwhile, this closure drops it and its captures.
    guarded(move || hook(text));
}

/// Runs user code that output needs: the hook, or the `Debug` of a value. `None` if it panics; the
/// message is stored.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Option<R> {
    // A panic payload is user data, so its destructor runs inside the guard too.
    let done = within(true, || {
        catch_unwind(AssertUnwindSafe(work)).map_err(message)
    });
    done.map_err(keep_panic).ok()
}

/// Prints text in one piece to standard output, bypassing the hook.
pub(crate) fn to_stdout(text: &str) {
    // If standard output is closed, the text is lost.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Runs `work` with [`IN_HOOK`] set to `hook`.
fn within<R>(hook: bool, work: impl FnOnce() -> R) -> R {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IN_HOOK.set(self.0);
        }
    }
    let _reset = Reset(IN_HOOK.replace(hook));
    work()
}

fn keep_panic(message: Box<str>) {
    HAS_PANICKED.store(true, Ordering::Relaxed);
    // At the end of a thread the message is lost.
    let _ = PANIC.try_with(|kept| {
        let first = kept.take();
        kept.set(Some(first.unwrap_or(message)));
    });
}

/// Collects panics of the hook on this thread while a kernel prints. It nests: if a panic handler
/// launches another kernel meanwhile, each launch gets its own panics.
pub(crate) struct Collecting {
    /// The message that an enclosing collection holds.
    outer: Option<Box<str>>,
}

impl Collecting {
    pub(crate) fn begin() -> Collecting {
        let outer = take_panic();
        Collecting { outer }
    }

    /// Returns the error if the hook panicked.
    pub(crate) fn end(self, kernel: &str) -> Result<()> {
        let own = take_panic();
        if let Some(outer) = self.outer {
            keep_panic(outer);
        }
        own.map_or(Ok(()), |message| {
            Err(Error::Output {
                kernel: kernel.to_owned(),
                message: message.into(),
            })
        })
    }
}

/// The message of the hook's panic on this thread that was not returned yet.
fn take_panic() -> Option<Box<str>> {
    if !HAS_PANICKED.load(Ordering::Relaxed) {
        return None;
    }
    PANIC.try_with(Cell::take).ok().flatten()
}

/// The text of a panic. If the destructor of its payload panics too, the second payload is leaked.
pub(crate) fn message(panic: Box<dyn Any + Send>) -> Box<str> {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).into(),
        (None, Some(text)) => text.as_str().into(),
        (None, None) => "a panic without a message".into(),
    };
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text
}

/// The output state that the threads of one launch share with the calling thread. A backend that
/// runs a kernel on several host threads makes one for each launch. Output of those threads then
/// counts as output of the caller.
pub struct Printing {
    in_hook: bool,
    panic: Mutex<Option<Box<str>>>,
}

impl Printing {
    /// Captures the state of the calling thread.
    pub fn here() -> Printing {
        Printing {
            in_hook: in_hook(),
            panic: Mutex::default(),
        }
    }

    /// Runs a part of the launch on another thread.
    pub fn on_other_thread<R>(&self, work: impl FnOnce() -> R) -> R {
        let result = within(self.in_hook, work);
        if let Some(message) = take_panic() {
            lock(&self.panic).get_or_insert(message);
        }
        result
    }

    /// Passes a panic to the caller. Call it on the caller's thread after all other threads are
    /// done.
    pub fn end(&self) {
        if let Some(message) = lock(&self.panic).take() {
            keep_panic(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serializes the tests, because the process has only one hook.
    static ONE: Mutex<()> = Mutex::new(());

    #[test]
    fn a_hook_may_replace_itself_and_print() {
        struct Replacing;
        impl Drop for Replacing {
            fn drop(&mut self) {
                set_output(|_| {});
                emit("");
            }
        }
        let _one = lock(&ONE);
        let kept = Replacing;
        set_output(move |_| {
            let _ = &kept;
            reset_output();
            emit("");
        });
        emit("");
        reset_output();
        assert!(!in_hook());
    }

    #[test]
    fn a_panic_is_kept_for_the_caller() {
        let _one = lock(&ONE);
        // Other tests print, too.
        set_output(|line| assert!(!line.starts_with("bad"), "{line}"));
        emit("bad 1");
        emit("bad 2");
        assert_eq!(take_panic().as_deref(), Some("bad 1"));
        let printing = Printing::here();
        std::thread::scope(|scope| {
            scope.spawn(|| printing.on_other_thread(|| emit("bad 3")));
        });
        assert_eq!(take_panic(), None);
        printing.end();
        assert_eq!(take_panic().as_deref(), Some("bad 3"));
        reset_output();
    }

    #[test]
    fn a_payload_that_panics_is_left_alone() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let text = message(Box::new(Bomb));
        assert_eq!(&*text, "a panic without a message");
    }
}
