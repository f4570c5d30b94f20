//! Device memory, given out in blocks that are used again.
//!
//! A block that is dropped stays with the device, together with the streams that may still use it; whoever gets it
//! next lets its own stream wait for those. So nothing waits on the host for memory, and the same sequence of
//! allocations and drops gives the same places each time: the lowest one that fits, of those in use last
//! or never.
//!
//! Where a device binds parts of buffers ([`DeviceInfo::slabs`](crate::plugin::backend::DeviceInfo::slabs)), small blocks are
//! parts of slabs: one kind of slab for what kernels only read, one for what they write. Larger blocks are buffers of
//! their own. When the device is out of memory, all that is unused is given back and the allocation tried again.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::{Device, Queue};
use crate::plugin::backend::{Mem, Slice};
use crate::plugin::claims::{Request, Subject};
use crate::plugin::tag::{StorageKind, Tag};
use crate::sync::fork;
use crate::sync::lock;
use crate::sync::span::span;
use crate::{Error, Result};

/// Blocks up to this size are parts of slabs.
const SMALL: usize = 256 << 10;

/// Bytes of a slab.
const SLAB: usize = 4 << 20;

/// A large block serves requests that are smaller by a quarter at most.
const fn serves(block: usize, bytes: usize) -> bool {
    block >= bytes && block - bytes <= block / 4
}

/// What a block is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Kernels read it.
    Constant,
    /// Kernels write it.
    Working,
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemoryUse {
    /// What vectors hold there.
    pub used: u64,
    /// The most that they held at once.
    pub peak: u64,
    /// What the device has given for that, and keeps for later.
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

/// A buffer of the device's, in the order of their numbers.
struct Buffer {
    number: u64,
    mem: Arc<dyn Mem>,
    key: Key,
    /// The parts that are free, in the order of their offsets.
    free: Vec<Free>,
}

/// What a buffer serves.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    /// `None` of a buffer that is one block.
    slab: Option<Purpose>,
    /// `None` for the device's own memory.
    storage: Option<Tag<StorageKind>>,
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

    /// Takes `len` bytes if a free part has them.
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

    /// Takes a part back and joins it with its neighbours, of whose users those stay that are busy.
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

/// Memory of a device, which returns to the pool.
pub(crate) struct Block {
    device: Device,
    place: Place,
    /// Is it somebody else's, who gets it back when it is dropped?
    imported: bool,
}

impl Block {
    /// Memory that was not taken from the pool.
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

    /// All of it, which may be a little more than was asked for.
    pub(crate) fn slice(&self) -> &Slice {
        &self.place.slice
    }

    /// The streams that may still use it for its previous owner.
    pub(crate) fn take_users(&mut self) -> Vec<Arc<Queue>> {
        std::mem::take(&mut self.place.users)
    }

    /// The streams that may still use it when it is dropped.
    pub(crate) fn set_users(&mut self, users: Vec<Arc<Queue>>) {
        self.place.users = users;
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let users = std::mem::take(&mut self.place.users);
        if fork::is_forked() {
            // It is the parent's.
            std::mem::forget((users, self.place.slice.mem.clone()));
            return;
        }
        if self.imported {
            // Its owner may do anything with it: what was queued is waited for.
            for user in users {
                let _lost = user.raw.sync();
            }
            return;
        }
        let default = self.device.default_queue();
        // A stream that is idle need not be remembered, nor kept alive by this.
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

    /// Takes out what is unused; how many bytes that is.
    fn unused(&self) -> (Vec<Buffer>, u64) {
        let mut state = lock(&self.state);
        let unused: Vec<Buffer> = state.buffers.extract_if(.., |b| b.is_unused()).collect();
        let bytes = unused.iter().map(|buffer| buffer.mem.len() as u64).sum();
        state.use_.reserved -= bytes;
        (unused, bytes)
    }

    /// A place among those that are free.
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

    /// A place in a new buffer.
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
        taken.expect("a new buffer has room for what it was made for")
    }
}

impl MemoryUse {
    fn take(&mut self, bytes: usize) {
        self.used += bytes as u64;
        self.peak = self.peak.max(self.used);
    }
}

impl Device {
    /// Memory of at least one byte, of any content; the device's own, or of a storage that its backend has claimed.
    pub(crate) fn block(
        &self,
        bytes: usize,
        purpose: Purpose,
        storage: Option<&Tag<StorageKind>>,
    ) -> Result<Block> {
        fork::check()?;
        let info = self.info();
        let small = info.slabs && bytes <= SMALL && storage.is_none();
        let (bytes, slab) = match small {
            true => (
                bytes.max(1).next_multiple_of(info.alignment.max(16)),
                Some(purpose),
            ),
            false => (bytes.max(1), None),
        };
        let (device, storage) = (self.clone(), storage.cloned());
        let key = Key { slab, storage };
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
        let mem = match self.alloc_in(size, key.storage.as_ref()) {
            // A slab is a convenience; where there is no room for one, there may be for the block.
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

    /// Memory that is the caller's alone, and is given back to the backend.
    pub(crate) fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        self.alloc_in(bytes, None)
    }

    /// The same of a storage. When there is none, what the pool keeps is given up first.
    fn alloc_in(&self, bytes: usize, storage: Option<&Tag<StorageKind>>) -> Result<Arc<dyn Mem>> {
        let out_of_memory = || Error::OutOfMemory {
            device: self.to_string(),
            bytes,
        };
        if bytes as u64 > self.info().max_buffer {
            return Err(out_of_memory());
        }
        let alloc = || match storage {
            None => self.raw().alloc(bytes.max(1)),
            Some(storage) => self.raw().alloc_in(bytes.max(1), storage),
        };
        if let Some(storage) = storage {
            let (kernels, bytes): (&[&sarek_ir::Kernel], _) = (&[], bytes as u64);
            let subject = Subject::Storage(storage.clone());
            self.claims().owner(&subject, &Request { kernels, bytes })?;
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

    /// What vectors hold in the device's memory, and what is kept for later ones. [`Device::used_memory`] says what the
    /// driver counts, which includes programs, other libraries and other processes.
    pub fn memory_use(&self) -> MemoryUse {
        self.pool().memory_use()
    }

    /// Gives back the memory that no vector holds, after waiting for the work that uses it; how many bytes that was.
    pub fn trim(&self) -> Result<u64> {
        fork::check()?;
        let (unused, bytes) = self.pool().unused();
        // Streams of other devices may still copy from it: they are waited for before it goes, whatever becomes of them.
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
