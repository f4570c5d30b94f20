//! Driver graphs of the fake GPU.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::gpu::{GpuStream, Repeated, Stats, copying, work, zeroing};
use crate::Result;
use crate::plugin::backend::{BackendGraph, BackendStream, GraphOp, Launch};
use crate::sync::lock;

pub(super) struct FakeGraph {
    works: Mutex<Vec<Repeated>>,
    stats: Arc<Stats>,
}

impl FakeGraph {
    /// The graph, if the driver makes graphs.
    pub(super) fn of(
        stats: &Arc<Stats>,
        operations: &[GraphOp<'_>],
    ) -> Result<Option<Box<dyn BackendGraph>>> {
        if !stats.graphs.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let works = operations.iter().map(|operation| match operation {
            GraphOp::Launch(launch) => work(launch),
            GraphOp::Copy { to, from } => copying(to, from),
            GraphOp::Zero(to) => zeroing(to),
        });
        Ok(Some(Box::new(FakeGraph {
            works: Mutex::new(works.collect()),
            stats: stats.clone(),
        })))
    }
}

// SAFETY: it queues the operations one by one.
unsafe impl BackendGraph for FakeGraph {
    unsafe fn replay(&self, stream: &dyn BackendStream) -> Result<()> {
        self.stats.alive()?;
        self.stats.replays.fetch_add(1, Ordering::Relaxed);
        let stream: &dyn Any = stream;
        let stream: &GpuStream = stream.downcast_ref().expect("our stream");
        let works = lock(&self.works).clone();
        works.into_iter().for_each(|work| stream.queue(work));
        Ok(())
    }

    unsafe fn set_launch(&self, operation: usize, launch: &Launch<'_>) -> bool {
        self.stats.updates.fetch_add(1, Ordering::Relaxed);
        lock(&self.works)[operation] = work(launch);
        true
    }
}
