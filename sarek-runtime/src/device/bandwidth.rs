//! How fast a device's memory is.

use std::time::{Duration, Instant};

use super::Device;
use crate::Result;
use crate::plugin::backend::Codegen;
use crate::plugin::backend::Slice;

/// Bytes of a copy that is timed; less where the device has little memory.
const BYTES: usize = 128 << 20;

/// The best of so many copies counts.
const ROUNDS: usize = 6;

impl Device {
    /// Bytes a second that the device copies within its memory, each byte counted when it is read and when it is written.
    /// Measured once, when it is first asked for, with up to 256 MiB of memory. `None` where there is nothing to measure: of a
    /// device that cannot copy by itself, or interprets kernels.
    pub fn bandwidth(&self) -> Result<Option<f64>> {
        crate::sync::fork::check()?;
        let mut known = crate::sync::lock(&self.0.bandwidth);
        if let Some(known) = *known {
            return Ok(known);
        }
        let time = match self.raw().codegen() {
            Codegen::Interpret => None,
            Codegen::Direct => Some((BYTES, host_copy(BYTES))),
            Codegen::Jit(..) => self.device_copy()?,
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
        // SAFETY: all of memory that nobody else has.
        unsafe { raw.zero(&from) }?;
        // SAFETY: all of two memories of one length that nobody else has; one was just filled.
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

/// The best time of a copy by all threads of the processor.
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
