//! State that other modules keep on a device.

use std::any::Any;
use std::sync::Mutex;

use crate::Result;
use crate::sync::lock;

/// The state of one owner; dropped with the device.
pub type State = Box<dyn Any + Send + Sync>;

/// The owners that have initialised the device, by name, each with its state if it has one.
#[derive(Default)]
pub(crate) struct States(Mutex<Vec<(String, Option<State>)>>);

impl States {
    /// Initialises the device for an owner, once.
    pub(crate) fn ensure(
        &self,
        owner: &str,
        init: impl FnOnce() -> Result<Option<State>>,
    ) -> Result<()> {
        let mut states = lock(&self.0);
        if !states.iter().any(|(name, _)| name == owner) {
            states.push((owner.to_owned(), init()?));
        }
        Ok(())
    }
}

/// Drops the last one first, because it may depend on earlier ones.
impl Drop for States {
    fn drop(&mut self) {
        let states = &mut lock(&self.0);
        while let Some(last) = states.pop() {
            drop(last);
        }
    }
}
