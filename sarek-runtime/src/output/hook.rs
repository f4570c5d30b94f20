//! The hook that gets what kernels print.
//!
//! The hook is the user's code, and may call anything of this crate. So it is called while nothing of the crate is locked that such
//! a call could need, and it is never called from within itself:
//!
//! - What is printed on a thread while the hook runs there, or by a launch that the hook has made, goes to standard output.
//! - A wait within the hook does not print what launches before it have left; a wait outside of the hook does.
//!
//! A panic of the hook is caught here, and the launch or the wait that printed returns it as an error.

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

/// Sends what kernels print to `hook` from now on, in place of standard output: a line at a time, with its end. Other
/// threads may call it at the same time.
///
/// The hook may use vectors, launch kernels, wait for devices and set another hook. While it runs, what is printed by its thread and by
/// launches that it makes goes to standard output. It must not wait for another thread that waits for a device.
///
/// Should the hook panic, the kernel goes on, and its results are good. The launch (on `native` and `interpreter`) or the wait that
/// prints (on other devices) returns [`Error::Output`](crate::Error::Output), once.
pub fn set_output(hook: impl Fn(&str) + Send + Sync + 'static) {
    replace(Some(Arc::new(hook)));
}

/// Sends what kernels print to standard output again.
pub fn reset_output() {
    replace(None);
}

fn replace(hook: Option<Hook>) {
    let mut current = HOOK.write().unwrap_or_else(PoisonError::into_inner);
    let former = std::mem::replace(&mut *current, hook);
    drop(current);
    // What it holds may call the crate when it is dropped.
    drop(former);
}

thread_local! {
    /// Does the hook run on this thread, or does the thread work for a launch that the hook has made? Without a destructor, so that it
    /// is there to the end of the thread.
    static IN_HOOK: Cell<bool> = const { Cell::new(false) };

    /// The message of a panic of the hook on this thread that nothing has returned.
    static PANIC: Cell<Option<Box<str>>> = const { Cell::new(None) };
}

/// Has the hook panicked in this process? Spares launches a look at [`PANIC`].
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Is this thread at work for the hook?
pub(crate) fn in_hook() -> bool {
    IN_HOOK.get()
}

/// Prints text whole.
pub(crate) fn emit(text: &str) {
    if in_hook() {
        return to_stdout(text);
    }
    let hook = HOOK.read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(hook) = hook else {
        return to_stdout(text);
    };
    // The hook may have been replaced meanwhile: then this drops it, and what it holds.
    guarded(move || hook(text));
}

/// Runs code of the user's that output needs: the hook, or the `Debug` of a value. `None` if it panics, which is kept.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Option<R> {
    // What a panic holds is the user's, too, and so is its destructor.
    let done = within(true, || {
        catch_unwind(AssertUnwindSafe(work)).map_err(message)
    });
    done.map_err(keep_panic).ok()
}

/// Prints text whole, past the hook.
pub(crate) fn to_stdout(text: &str) {
    // Whoever closed standard output does not want to know.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Runs `work` with [`IN_HOOK`] as given.
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
    // At the end of a thread it is lost.
    let _ = PANIC.try_with(|kept| {
        let first = kept.take();
        kept.set(Some(first.unwrap_or(message)));
    });
}

/// Collects panics of the hook on this thread while a kernel prints. Where a hook for panics launches another kernel meanwhile, each is
/// told of its own.
pub(crate) struct Collecting {
    /// What somebody further out collects.
    outer: Option<Box<str>>,
}

impl Collecting {
    pub(crate) fn begin() -> Collecting {
        let outer = take_panic();
        Collecting { outer }
    }

    /// The error if there was one.
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

/// The message of a panic of the hook on this thread that nothing has returned yet.
fn take_panic() -> Option<Box<str>> {
    if !HAS_PANICKED.load(Ordering::Relaxed) {
        return None;
    }
    PANIC.try_with(Cell::take).ok().flatten()
}

/// The text of a panic. What else it holds may panic again when it is dropped, and is left alone then.
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

/// What the threads that work on one launch share of the caller's: a backend that runs a kernel on several threads of the host makes
/// one for each launch, so that what the kernel prints there counts as printed by the caller.
pub struct Printing {
    in_hook: bool,
    panic: Mutex<Option<Box<str>>>,
}

impl Printing {
    /// Of the calling thread.
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

    /// Hands the caller what concerns it, on its own thread, once all others are done.
    pub fn end(&self) {
        if let Some(message) = lock(&self.panic).take() {
            keep_panic(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hook is one for the process.
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
