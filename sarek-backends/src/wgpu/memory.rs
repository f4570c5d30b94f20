//! wgpu buffers.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use sarek_runtime::backend::{Mem, Slice, is_forked};
use sarek_runtime::{Error, Result};
use wgpu::{BufferBinding, BufferDescriptor, BufferUsages, COPY_BUFFER_ALIGNMENT};

use super::device::{Shared, thread_ends};
use crate::jit::{self, lock};

/// A buffer; its size is rounded up to a multiple of 4 bytes.
pub(super) struct Memory {
    /// Unlike an address, never reused.
    id: u64,
    pub buffer: wgpu::Buffer,
    shared: Arc<Shared>,
    len: usize,
    /// True if the user created it.
    imported: bool,
}

/// Buffers that were dropped where wgpu cannot be called, each with its device and its `imported` flag. The next
/// allocation releases them.
static DEFERRED_DROPS: Mutex<Vec<(Arc<Shared>, wgpu::Buffer, bool)>> = Mutex::new(Vec::new());

/// The usages of a vector's buffer.
pub(super) const USAGE: BufferUsages = BufferUsages::STORAGE
    .union(BufferUsages::COPY_SRC)
    .union(BufferUsages::COPY_DST);

impl Memory {
    pub fn new(shared: &Arc<Shared>, len: usize) -> Result<Memory> {
        let exhausted = || Error::OutOfMemory {
            device: shared.name.clone(),
            bytes: len,
        };
        let size = (len as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT);
        if size > shared.max_buffer() {
            return Err(exhausted());
        }
        shared.check_thread()?;
        let left = std::mem::take(&mut *lock(&DEFERRED_DROPS));
        left.iter()
            .filter(|(.., imported)| !imported)
            .for_each(|(of, buffer, _)| destroy(of, buffer));
        let (buffer, error) = shared.scoped(|| {
            shared.device.create_buffer(&BufferDescriptor {
                label: None,
                size,
                usage: USAGE,
                mapped_at_creation: false,
            })
        });
        match error {
            Some(wgpu::Error::OutOfMemory { .. }) => Err(exhausted()),
            Some(error) => Err(shared.error(format!("creating a buffer failed: {error}"))),
            None => shared.alive().map(|()| Memory {
                id: next_id(),
                buffer,
                shared: shared.clone(),
                len,
                imported: false,
            }),
        }
    }

    /// Wraps an existing buffer.
    pub fn imported(shared: &Arc<Shared>, buffer: wgpu::Buffer) -> Memory {
        Memory {
            id: next_id(),
            len: buffer.size() as usize,
            buffer,
            shared: shared.clone(),
            imported: true,
        }
    }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Memory {
    /// True if it belongs to this device.
    pub fn belongs_to(&self, shared: &Shared) -> bool {
        self.shared.device == shared.device
    }
}

// SAFETY: the buffer reports its size.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Destroying frees the memory after the submissions that use it, even while a program keeps a bind group with
        // the buffer.
        if is_forked() {
            // The parent owns it.
            std::mem::forget(self.buffer.clone());
        } else if thread_ends() {
            let (shared, buffer) = (self.shared.clone(), self.buffer.clone());
            lock(&DEFERRED_DROPS).push((shared, buffer, self.imported));
        } else if !self.imported {
            destroy(&self.shared, &self.buffer);
        }
    }
}

/// Destroys a buffer, after submitting the launches that may use it.
fn destroy(shared: &Shared, buffer: &wgpu::Buffer) {
    if let Err(error) = shared.launches.submit(shared) {
        shared.report_later(error.to_string());
    }
    buffer.destroy();
}

/// The identity of a bound range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    id: u64,
    offset: u64,
    size: NonZeroU64,
}

/// A buffer argument.
pub(super) fn argument<'a>(
    shared: &Arc<Shared>,
    slice: &'a Slice,
) -> Result<(Bound, BufferBinding<'a>)> {
    let memory: &Memory = jit::memory(&shared.name, slice)?;
    let alignment = u64::from(shared.limits.min_storage_buffer_offset_alignment);
    let offset = slice.offset as u64;
    let size = NonZeroU64::new((slice.len as u64).next_multiple_of(COPY_BUFFER_ALIGNMENT));
    let (true, Some(size)) = (offset.is_multiple_of(alignment), size) else {
        return Err(Error::Unsupported {
            backend: "wgpu".into(),
            what: format!(
                "a buffer argument of {} bytes at byte {offset} on {}: arguments are not empty, \
                 and their offsets are multiples of {alignment}",
                slice.len, shared.name
            ),
        });
    };
    let bound = Bound {
        id: memory.id,
        offset,
        size,
    };
    let binding = BufferBinding {
        buffer: &memory.buffer,
        offset,
        size: Some(size),
    };
    Ok((bound, binding))
}
