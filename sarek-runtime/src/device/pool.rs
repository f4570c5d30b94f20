//! The memory pool of a device, which reuses blocks.
//!
//! A dropped block stays in the pool, together with the streams that may still use it. The next owner
//! makes its own stream wait for those, so the host never waits for memory. The pool is deterministic:
//! the same sequence of allocations and drops gives the same places. A small block takes the first
//! free part that fits, a large one the smallest unused buffer that fits.
//!
//! On a device that can bind parts of buffers
//! ([`DeviceInfo::slabs`](crate::plugin::backend::DeviceInfo::slabs)), small blocks are parts of
//! slabs. One kind of slab holds memory that kernels only read, another holds memory that they
//! write. Larger blocks are separate buffers. When the device is out of memory, the pool frees all
//! unused buffers and tries the allocation again.

use std::sync::{Arc, Mutex};

use sarek_ir::TypeInfo;
use serde::{Deserialize, Serialize};

use super::{Device, Queue};
use crate::plugin::backend::{BufferRequest, Mem, Slice};
use crate::plugin::claims::{Request, Subject};
use crate::plugin::tag::{StorageKind, Tag};
use crate::sync::fork;
use crate::sync::lock;
use crate::sync::span::span;
use crate::{Error, Result};

/// The largest block in bytes that is part of a slab.
const SMALL: usize = 256 << 10;

/// The size of a slab in bytes.
const SLAB: usize = 4 << 20;

/// True if a large block may serve a request: at most a quarter of it is wasted.
const fn serves(block: usize, bytes: usize) -> bool {
    block >= bytes && block - bytes <= block / 4
}

/// The use of a block by kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Kernels only read it.
    Constant,
    /// Kernels write it.
    Working,
}

/// The memory use of a device, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The memory that vectors hold now.
    pub used: u64,
    /// The most that vectors held at once.
    pub peak: u64,
    /// The memory that the pool has allocated from the device, in use or kept for later.
    pub reserved: u64,
}

#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    buffers: Vec<Buffer>,
    use_: MemoryUse,
    /// The number of the next buffer.
    next: u64,
}

/// A buffer of the device, identified by its number; numbers increase.
struct Buffer {
    number: u64,
    mem: Arc<dyn Mem>,
    key: Key,
    /// The free parts, in order of their offsets.
    free: Vec<Free>,
}

/// The requests that a buffer serves.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    /// `None` for a buffer that is one block.
    slab: Option<Purpose>,
    /// `None` for the device's own memory.
    storage: Option<Tag<StorageKind>>,
    /// The type of the elements, on a device whose buffers carry it.
    element: Option<TypeInfo>,
}

struct Free {
    offset: usize,
    len: usize,
    /// Streams that may still use it.
    users: Vec<Arc<Queue>>,
}

impl Buffer {
    fn is_unused(&self) -> bool {
        self.free.iter().map(|free| free.len).sum::<usize>() == self.mem.len()
    }

    /// Takes the first `len` free bytes, if there are that many in one part.
    fn take(&mut self, len: usize) -> Option<Place> {
        let at = self.free.iter().position(|free| free.len >= len)?;
        let free = &mut self.free[at];
        let place = Place {
            buffer: self.number,
            slice: Slice {
                mem: self.mem.clone(),
                offset: free.offset,
                len,
            },
            users: free.users.clone(),
        };
        free.offset += len;
        free.len -= len;
        if free.len == 0 {
            self.free.remove(at);
        }
        Some(place)
    }

    /// Returns a part, and merges it with its free neighbours. Their users are kept while they are
    /// busy.
    fn put(
        &mut self,
        offset: usize,
        len: usize,
        users: Vec<Arc<Queue>>,
        is_busy: impl Fn(&Arc<Queue>) -> bool,
    ) {
        let at = self.free.partition_point(|free| free.offset < offset);
        self.free.insert(at, Free { offset, len, users });
        for at in [at + 1, at] {
            if at > 0
                && at < self.free.len()
                && self.free[at - 1].offset + self.free[at - 1].len == self.free[at].offset
            {
                let next = self.free.remove(at);
                let free = &mut self.free[at - 1];
                free.len += next.len;
                let earlier = std::mem::take(&mut free.users);
                for user in earlier.into_iter().chain(next.users) {
                    if !free.users.iter().any(|u| Arc::ptr_eq(u, &user)) && is_busy(&user) {
                        free.users.push(user);
                    }
                }
            }
        }
    }
}

struct Place {
    buffer: u64,
    slice: Slice,
    users: Vec<Arc<Queue>>,
}

/// A block of device memory, which returns to the pool when it is dropped.
pub(crate) struct Block {
    device: Device,
    place: Place,
    /// True if the memory belongs to another owner, and does not return to the pool.
    imported: bool,
}

impl Block {
    /// Wraps memory that was not taken from the pool.
    pub(crate) fn imported(device: &Device, slice: Slice) -> Block {
        Block {
            device: device.clone(),
            place: Place {
                buffer: u64::MAX,
                slice,
                users: Vec::new(),
            },
            imported: true,
        }
    }

    /// The whole block, which may be a little larger than requested.
    pub(crate) fn slice(&self) -> &Slice {
        &self.place.slice
    }

    /// Takes the streams that may still use it for its previous owner.
    pub(crate) fn take_users(&mut self) -> Vec<Arc<Queue>> {
        std::mem::take(&mut self.place.users)
    }

    /// Sets the streams that may still use it when it is dropped.
    pub(crate) fn set_users(&mut self, users: Vec<Arc<Queue>>) {
        self.place.users = users;
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let users = std::mem::take(&mut self.place.users);
        if fork::is_forked() {
            // After a fork, the memory belongs to the parent process.
            std::mem::forget((users, self.place.slice.mem.clone()));
            return;
        }
        if self.imported {
            // The owner may reuse the memory at once, so queued work is waited for.
            for user in users {
                let _lost = user.raw.sync();
            }
            return;
        }
        let default = self.device.default_queue();
        // An idle stream need not be remembered or kept alive.
        let is_busy =
            |user: &Arc<Queue>| Arc::ptr_eq(user, default) || !user.raw.is_idle().unwrap_or(false);
        let users = users.into_iter().filter(is_busy).collect();
        self.device.pool().put(&self.place, users, is_busy);
    }
}

impl Pool {
    fn put(&self, place: &Place, users: Vec<Arc<Queue>>, is_busy: impl Fn(&Arc<Queue>) -> bool) {
        let mut state = lock(&self.state);
        state.use_.used -= place.slice.len as u64;
        let found = state.buffers.iter_mut().find(|b| b.number == place.buffer);
        if let Some(buffer) = found {
            buffer.put(place.slice.offset, place.slice.len, users, is_busy);
        }
    }

    pub(super) fn memory_use(&self) -> MemoryUse {
        lock(&self.state).use_
    }

    /// Removes the unused buffers; returns them and their size in bytes.
    fn unused(&self) -> (Vec<Buffer>, u64) {
        let mut state = lock(&self.state);
        let unused: Vec<Buffer> = state.buffers.extract_if(.., |b| b.is_unused()).collect();
        let bytes = unused.iter().map(|buffer| buffer.mem.len() as u64).sum();
        state.use_.reserved -= bytes;
        (unused, bytes)
    }

    /// Takes a place from the existing buffers.
    fn find(&self, bytes: usize, key: &Key) -> Option<Place> {
        let state = &mut *lock(&self.state);
        let mut buffers = state.buffers.iter_mut().filter(|b| b.key == *key);
        let place = match key.slab {
            Some(_) => buffers.find_map(|buffer| buffer.take(bytes))?,
            None => {
                let fit = buffers.filter(|b| b.is_unused() && serves(b.mem.len(), bytes));
                let buffer = fit.min_by_key(|b| (b.mem.len(), b.number))?;
                buffer.take(buffer.mem.len())?
            }
        };
        state.use_.take(place.slice.len);
        Some(place)
    }

    /// Takes a place from a new buffer.
    fn add(&self, mem: Arc<dyn Mem>, bytes: usize, key: Key) -> Place {
        let state = &mut *lock(&self.state);
        let (len, number) = (mem.len(), state.next);
        state.next += 1;
        state.use_.reserved += len as u64;
        let mut buffer = Buffer {
            number,
            mem: mem.clone(),
            key,
            free: Vec::new(),
        };
        buffer.put(0, len, Vec::new(), |_| true);
        let taken = buffer.take(bytes);
        state.buffers.push(buffer);
        state.use_.take(bytes);
        taken.expect("a new buffer has room for its first block")
    }
}

impl MemoryUse {
    fn take(&mut self, bytes: usize) {
        self.used += bytes as u64;
        self.peak = self.peak.max(self.used);
    }
}

impl Device {
    /// Allocates a block of at least one byte with arbitrary contents, in the device's own memory
    /// or in a storage that its backend has claimed. It holds elements of a type, if that is known.
    pub(crate) fn block(
        &self,
        bytes: usize,
        purpose: Purpose,
        storage: Option<&Tag<StorageKind>>,
        element: Option<TypeInfo>,
    ) -> Result<Block> {
        fork::check()?;
        let info = self.info();
        let element = element.filter(|_| self.raw().types_buffers());
        let small = info.slabs && bytes <= SMALL && storage.is_none() && element.is_none();
        let (bytes, slab) = match small {
            true => (
                bytes.max(1).next_multiple_of(info.alignment.max(16)),
                Some(purpose),
            ),
            false => (bytes.max(1), None),
        };
        let (device, storage) = (self.clone(), storage.cloned());
        let key = Key {
            slab,
            storage,
            element,
        };
        if let Some(place) = self.pool().find(bytes, &key) {
            return Ok(Block {
                device,
                place,
                imported: false,
            });
        }
        let size = match small {
            true => SLAB.min(info.max_buffer as usize).max(bytes),
            false => bytes,
        };
        let mem = match self.alloc_in(size, key.storage.as_ref(), key.element) {
            // A slab is optional: where there is no room for one, there may be room for the block.
            Err(Error::OutOfMemory { .. }) if size > bytes => self.alloc(bytes)?,
            other => other?,
        };
        let place = self.pool().add(mem, bytes, key);
        Ok(Block {
            device,
            place,
            imported: false,
        })
    }

    /// Allocates memory outside the pool; it is freed when it is dropped.
    pub(crate) fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        self.alloc_in(bytes, None, None)
    }

    /// The same for a storage. When the device is out of memory, the pool's unused memory is freed
    /// first.
    fn alloc_in(
        &self,
        bytes: usize,
        storage: Option<&Tag<StorageKind>>,
        element: Option<TypeInfo>,
    ) -> Result<Arc<dyn Mem>> {
        let out_of_memory = || Error::OutOfMemory {
            device: self.to_string(),
            bytes,
        };
        if bytes as u64 > self.info().max_buffer {
            return Err(out_of_memory());
        }
        let alloc = || match (element, storage) {
            (Some(element), storage) => self.raw().alloc_elements(&BufferRequest {
                bytes: bytes.max(1),
                element,
                storage,
            }),
            (None, None) => self.raw().alloc(bytes.max(1)),
            (None, Some(storage)) => self.raw().alloc_in(bytes.max(1), storage),
        };
        if let Some(storage) = storage {
            let subject = Subject::Storage(storage.clone());
            self.claims()
                .owner(&Request::memory(&subject, bytes as u64))?;
        }
        span!("allocate", bytes = bytes, device = self);
        match alloc() {
            Err(Error::OutOfMemory { .. }) => {}
            other => return other,
        }
        self.trim()?;
        match alloc() {
            Err(Error::OutOfMemory { .. }) => Err(out_of_memory()),
            other => other,
        }
    }

    /// Returns the memory that vectors hold on the device, and the memory that the pool keeps.
    /// [`Device::used_memory`] reports the driver's view, which includes programs, other libraries
    /// and other processes.
    pub fn memory_use(&self) -> MemoryUse {
        self.pool().memory_use()
    }

    /// Frees the memory that no vector holds, after waiting for the work that uses it. Returns the
    /// number of bytes.
    pub fn trim(&self) -> Result<u64> {
        fork::check()?;
        let (unused, bytes) = self.pool().unused();
        // Streams of other devices may still copy from it, so they are waited for, even if they
        // fail.
        let free = unused.iter().flat_map(|buffer| &buffer.free);
        for user in free.flat_map(|free| &free.users) {
            let _lost = user.raw.sync();
        }
        drop(unused);
        for queue in self.queues() {
            queue.raw.sync()?;
        }
        self.raw().trim()?;
        Ok(bytes)
    }
}
