//! Room for a cache whose type its owner does not know.

use std::any::Any;
use std::sync::OnceLock;

/// A cache of launches.
pub(crate) trait LaunchCache: Any + Send + Sync {
    /// Forgets earlier launches, and with them their devices.
    fn clear(&self);

    /// The names of its programs, each with a description.
    fn debug_info(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A slot for one type of cache, which is made when it is first used.
#[derive(Default)]
pub(crate) struct CacheSlot(OnceLock<Box<dyn LaunchCache>>);

impl CacheSlot {
    /// The cache.
    ///
    /// # Panics
    /// If the slot is used for two types.
    pub(crate) fn get<T: LaunchCache + Default>(&self) -> &T {
        let cache = self.0.get_or_init(|| Box::<T>::default());
        let cache: &dyn Any = &**cache;
        match cache.downcast_ref() {
            Some(cache) => cache,
            None => unreachable!("a slot holds one type of cache"),
        }
    }

    /// The names of the cached programs, each with a description.
    pub(crate) fn debug_info(&self) -> Vec<(String, String)> {
        self.0.get().map_or(vec![], |cache| cache.debug_info())
    }

    /// Clears the cache, if there is one.
    pub(crate) fn clear(&self) {
        if let Some(cache) = self.0.get() {
            cache.clear();
        }
    }
}
