//! The states that environments keep on a device.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::sync::lock;
use crate::{Error, Result};

/// The state of one environment on a device.
pub type State = Box<dyn Any + Send + Sync>;

/// The states of the environments that have initialised a device.
///
/// The framework keeps one of these for each device, and passes it to each launch
/// ([`Launch::environments`](super::Launch::environments)). The default has no states.
#[derive(Default)]
pub struct States {
    known: Mutex<Known>,
    /// Notified when an initialisation ends.
    ended: Condvar,
}

#[derive(Default)]
struct Known {
    last: Option<Arc<Kept>>,
    /// The environments that threads initialise now.
    running: Vec<(String, ThreadId)>,
}

/// A state, with those that were there before it. It may depend on them, so they outlive it.
struct Kept {
    owner: String,
    // Dropped before `before`.
    state: Option<State>,
    before: Option<Arc<Kept>>,
}

impl Known {
    fn find(&self, owner: &str) -> Option<&Arc<Kept>> {
        let mut next = self.last.as_ref();
        while let Some(kept) = next {
            if kept.owner == owner {
                return Some(kept);
            }
            next = kept.before.as_ref();
        }
        None
    }
}

impl States {
    /// The state of an environment; `None` if it keeps none here, or one of another type.
    pub fn get<T: Any + Send + Sync>(&self, environment: &str) -> Option<Held<T>> {
        let kept = lock(&self.known).find(environment)?.clone();
        Held::of(kept)
    }

    /// True if the environment has initialised the device.
    pub(crate) fn has(&self, environment: &str) -> bool {
        lock(&self.known).find(environment).is_some()
    }

    /// Initialises the device for an environment, once. Other threads wait for it.
    pub(crate) fn ensure(
        &self,
        owner: &str,
        init: impl FnOnce() -> Result<Option<State>>,
    ) -> Result<()> {
        let me = thread::current().id();
        let mut known = lock(&self.known);
        loop {
            if known.find(owner).is_some() {
                return Ok(());
            }
            match known.running.iter().find(|(name, _)| name == owner) {
                None => break,
                Some((_, thread)) if *thread == me => {
                    return Err(Error::Environment {
                        name: owner.to_owned(),
                        problem: "its initialisation needs the environment itself".to_owned(),
                    });
                }
                Some(_) => {
                    let woken = self.ended.wait(known);
                    known = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        known.running.push((owner.to_owned(), me));
        drop(known);
        // No lock is held: the function may read other states, and launch kernels.
        let running = Running(self, owner);
        let state = init()?;
        let mut known = lock(&self.known);
        let before = known.last.take();
        known.last = Some(Arc::new(Kept {
            owner: owner.to_owned(),
            state,
            before,
        }));
        drop(known);
        drop(running);
        Ok(())
    }
}

/// Ends an initialisation, also one that fails or panics.
struct Running<'a>(&'a States, &'a str);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Running(states, owner) = *self;
        lock(&states.known)
            .running
            .retain(|(name, _)| name != owner);
        states.ended.notify_all();
    }
}

/// The state of an environment on a device, for reading.
///
/// The state lives at least as long as this, and so do the states that were there before it. It is
/// dropped with the device, or with the last of these if that is later.
pub struct Held<T> {
    kept: Arc<Kept>,
    of: PhantomData<fn() -> T>,
}

impl<T: Any> Held<T> {
    fn of(kept: Arc<Kept>) -> Option<Held<T>> {
        kept.state.as_ref()?.downcast_ref::<T>()?;
        let of = PhantomData;
        Some(Held { kept, of })
    }
}

impl<T: Any> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let state = self.kept.state.as_ref();
        let state = state.and_then(|state| state.downcast_ref());
        state.unwrap_or_else(|| unreachable!("the type was compared when it was made"))
    }
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        Held {
            kept: self.kept.clone(),
            of: PhantomData,
        }
    }
}

impl<T: Any + fmt::Debug> fmt::Debug for Held<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
