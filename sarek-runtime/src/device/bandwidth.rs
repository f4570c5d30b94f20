//! Measurement of a device's memory bandwidth.

use std::time::{Duration, Instant};

use super::Device;
use crate::Result;
use crate::plugin::backend::Pipeline;
use crate::plugin::backend::Slice;

/// The size in bytes of a timed copy; less if the device has little memory.
const BYTES: usize = 128 << 20;

/// The number of copies, of which the fastest counts.
const ROUNDS: usize = 6;

impl Device {
    /// Returns the bandwidth of copies within the device's memory, in bytes per second, with reads
    /// and writes both counted. It is measured at the first call, with up to 256 MiB of memory.
    /// `None` for a device that cannot copy by itself, or that interprets kernels.
    pub fn bandwidth(&self) -> Result<Option<f64>> {
        crate::sync::fork::check()?;
        let mut known = crate::sync::lock(&self.0.bandwidth);
        if let Some(known) = *known {
            return Ok(known);
        }
        let time = match self.pipeline() {
            Pipeline::Interpret => None,
            Pipeline::Direct => Some((BYTES, host_copy(BYTES))),
            Pipeline::Jit(..) => self.device_copy()?,
        };
        let measured = time.map(|(bytes, time)| 2.0 * bytes as f64 / time.as_secs_f64().max(1e-9));
        *known = Some(measured);
        Ok(measured)
    }

    fn device_copy(&self) -> Result<Option<(usize, Duration)>> {
        let info = self.info();
        let memory = if info.memory == 0 {
            u64::MAX
        } else {
            info.memory
        };
        let most = info.max_buffer.min(memory / 16).min(BYTES as u64);
        let bytes = (most as usize / 4096 * 4096).max(4096);
        let slice = |mem| Slice {
            mem,
            offset: 0,
            len: bytes,
        };
        let (to, from) = (slice(self.alloc(bytes)?), slice(self.alloc(bytes)?));
        let raw = &self.default_queue().raw;
        // SAFETY: a whole memory that no other code has.
        unsafe { raw.zero(&from) }?;
        // SAFETY: two whole memories of the same length that no other code has; one was just
        // filled.
        let copy = || unsafe { raw.copy(&to, &from) };
        if !copy()? {
            return Ok(None);
        }
        raw.sync()?;
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let host = Instant::now();
            let start = raw.record_time()?;
            copy()?;
            let end = raw.record_time()?;
            end.sync()?;
            let host = host.elapsed();
            let took = end.elapsed(&*start)?.filter(|took| !took.is_zero());
            best = best.min(took.unwrap_or(host));
        }
        Ok(Some((bytes, best)))
    }
}

/// The shortest time of a copy by all threads of the processor.
fn host_copy(bytes: usize) -> Duration {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
    let each = bytes.div_ceil(threads);
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(each).zip(from.chunks(each)) {
                scope.spawn(move || to.copy_from_slice(from));
            }
        });
        best = best.min(start.elapsed());
    }
    best
}
