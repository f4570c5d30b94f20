//! The streams and the events of the fake GPU.

use std::time::{Duration, Instant};

use super::super::work_queue::WorkQueue;
use super::*;

pub(in crate::testing) struct GpuStream {
    stats: Arc<Stats>,
    queue: Arc<WorkQueue>,
}

impl GpuStream {
    /// Queues work.
    pub(in crate::testing) fn queue(&self, work: Repeated) {
        self.queue.push(move || work());
    }

    pub(super) fn new(stats: Arc<Stats>) -> GpuStream {
        GpuStream {
            stats,
            queue: Arc::default(),
        }
    }
}

/// Runs the remaining work, as a driver would; otherwise that work would keep its own queue alive.
impl Drop for GpuStream {
    fn drop(&mut self) {
        self.queue.run_all();
    }
}

// SAFETY: queued work runs in order when a caller waits.
unsafe impl BackendStream for GpuStream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        self.stats.alive()?;
        if memory(dst).is_at(dst.offset, src.as_ptr()) {
            return Ok(());
        }
        self.stats.uploads.fetch_add(1, Ordering::Relaxed);
        let (dst, src) = (dst.clone(), src.to_vec());
        assert_eq!(dst.len, src.len());
        self.queue
            .push(move || with(&dst, |dst| dst.copy_from_slice(&src)));
        self.stats.queued()
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        self.stats.alive()?;
        if self.stats.broken.load(Ordering::Relaxed) {
            return Err(failed("it is broken"));
        }
        if let Some(work) = lock(&self.stats.meanwhile).take() {
            work();
        }
        self.queue.run_all();
        if memory(src).is_at(src.offset, dst.as_ptr()) {
            return Ok(());
        }
        self.stats.downloads.fetch_add(1, Ordering::Relaxed);
        with(src, |src| dst.copy_from_slice(src));
        Ok(())
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        self.stats.alive()?;
        self.stats.copies.fetch_add(1, Ordering::Relaxed);
        let work = copying(dst, src);
        self.queue.push(move || work());
        self.stats.queued().map(|()| true)
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let Some(loaded) = launch.program.downcast_ref::<Loaded>() else {
            panic!("another backend's program");
        };
        self.stats.alive()?;
        let work = work(launch);
        self.stats.launches.fetch_add(1, Ordering::Relaxed);
        if *launch.schedule != ScheduleKind::blocks() {
            lock(&self.stats.schedules).push(launch.schedule.to_string());
        }
        if let Some(number) = launch.environments.get::<u32>("testing/number") {
            lock(&self.stats.numbers).push(*number);
        }
        *lock(&self.stats.last) = (loaded.slots.clone(), launch.grid);
        self.queue.push(move || work());
        self.stats.queued().map(|()| None)
    }

    fn sync(&self) -> Result<()> {
        self.stats.alive()?;
        self.queue.run_all();
        match self.stats.fail_sync.swap(false, Ordering::Relaxed) {
            true => Err(failed("the wait failed")),
            false => Ok(()),
        }
    }

    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        let work = zeroing(dst);
        self.queue.push(move || work());
        self.stats.queued()
    }

    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        self.stats.events.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(GpuEvent {
            queue: self.queue.clone(),
            position: self.queue.queued.load(Ordering::Relaxed),
            time: Arc::default(),
        }))
    }

    fn record_time(&self) -> Result<Arc<dyn BackendEvent>> {
        let number = self.stats.events.fetch_add(1, Ordering::Relaxed) + 1;
        if number == self.stats.fail_time.load(Ordering::Relaxed) {
            return Err(failed("its clock stands"));
        }
        let time = Arc::new(Mutex::new(None));
        let keep = time.clone();
        self.queue.push(move || *lock(&keep) = Some(Instant::now()));
        Ok(Arc::new(GpuEvent {
            queue: self.queue.clone(),
            position: self.queue.queued.load(Ordering::Relaxed),
            time,
        }))
    }

    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        let event = event.clone();
        self.queue.push(move || event.sync().unwrap());
        Ok(())
    }

    fn is_idle(&self) -> Result<bool> {
        Ok(lock(&self.queue.waiting).is_empty())
    }
}

struct GpuEvent {
    queue: Arc<WorkQueue>,
    position: usize,
    time: Arc<Mutex<Option<Instant>>>,
}

// SAFETY: it is done once the stream has run the work before it.
unsafe impl BackendEvent for GpuEvent {
    fn elapsed(&self, since: &dyn BackendEvent) -> Result<Option<Duration>> {
        let since: &dyn Any = since;
        let since = since.downcast_ref::<GpuEvent>().map(|e| *lock(&e.time));
        let times = lock(&self.time).zip(since.flatten());
        Ok(times.map(|(end, start)| end.saturating_duration_since(start)))
    }

    fn is_done(&self) -> Result<bool> {
        Ok(self.queue.done.load(Ordering::Acquire) >= self.position)
    }

    fn sync(&self) -> Result<()> {
        self.queue.run(self.position);
        Ok(())
    }
}
