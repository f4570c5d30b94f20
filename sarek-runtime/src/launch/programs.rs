//! The programs of a device: compiled once for each kernel and variant, loaded once for each block
//! size as well.

use std::any::Any;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use crate::Result;
use crate::sync::lock;

/// What [`crate::backend::BackendDevice::load`] returned.
pub(super) type Loaded = Arc<dyn Any + Send + Sync>;

/// Programs that a device has loaded.
#[derive(Default)]
pub(crate) struct Programs {
    /// Of host devices: one for each kernel.
    pub(super) bodies: Cache<u64, Loaded>,
}

/// A map whose values are made once each, also when several threads ask for one at the same time.
pub(super) struct Cache<K, V>(Mutex<HashMap<K, Arc<Mutex<Option<V>>>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// The value of `key`; `make` is tried again after it failed.
    pub(super) fn get(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<V> {
        let place = lock(&self.0).entry(key).or_default().clone();
        let mut value = lock(&place);
        match &*value {
            Some(value) => Ok(value.clone()),
            None => {
                let made = make()?;
                *value = Some(made.clone());
                Ok(made)
            }
        }
    }
}
