//! The claims of all backends of a registry, which its devices share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::{Claims, Owner, Request};
use crate::Result;
use crate::sync::lock;

#[derive(Default)]
pub(crate) struct ClaimTable {
    all: Mutex<Arc<Claims>>,
    /// True if some predicate decides about launches.
    predicates: AtomicBool,
}

impl ClaimTable {
    /// Adds the claims of a backend; an error if one of its keys has an owner.
    pub(crate) fn join(&self, claims: &Claims) -> Result<()> {
        let mut all = lock(&self.all);
        Arc::make_mut(&mut all).join(claims)?;
        self.predicates
            .store(all.has_predicates(), Ordering::Release);
        Ok(())
    }

    /// Removes the claims of a backend.
    pub(crate) fn leave(&self, owner: &str) {
        let mut all = lock(&self.all);
        Arc::make_mut(&mut all).leave(owner);
        self.predicates
            .store(all.has_predicates(), Ordering::Release);
    }

    /// True if each launch must ask. Otherwise the answers for similar launches are the same until
    /// a backend is registered or unregistered.
    pub(crate) fn has_predicates(&self) -> bool {
        self.predicates.load(Ordering::Acquire)
    }

    /// The backend in charge. Predicates may use the table themselves, so it is not locked while
    /// they run.
    pub(crate) fn owner(&self, request: &Request<'_>) -> Result<Option<Owner>> {
        let all = lock(&self.all).clone();
        all.owner(request)
    }
}
