//! The device and its memories.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sarek::backend::{
    BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Mem, Origin, Program, Slice,
};
use sarek::ir::Kernel;
use sarek::ir::write::Slot;
use sarek::tag::{DeviceKind, StorageKind, Tag};
use sarek::{Error, Result};

use super::stream::Queue;
use super::{MxuC, NAME};

/// The bytes of an operand's memory, and of the accumulator.
const UNIT_BYTES: usize = 1 << 20;

pub(super) struct Simulated {
    info: DeviceInfo,
    queue: Arc<Queue>,
}

impl Simulated {
    pub(super) fn new() -> Simulated {
        let features = Features {
            f64: true,
            f64_math: true,
            i64: true,
            storage8: true,
            storage16: true,
            atomics64: true,
            fences: true,
            ..Features::default()
        };
        Simulated {
            info: DeviceInfo {
                name: "simulated matrix unit".into(),
                kind: DeviceKind::software(),
                features,
                max_block: [1024, 1024, 64],
                max_block_threads: 1024,
                max_grid: [65535; 3],
                max_shared: 64 << 10,
                memory: 4 << 30,
                max_buffer: 1 << 30,
                slabs: true,
                ..DeviceInfo::default()
            },
            queue: Arc::default(),
        }
    }
}

/// A program: the kernel and the meaning of its arguments.
pub(super) struct Loaded {
    pub(super) kernel: Arc<Kernel>,
    pub(super) slots: Vec<Slot>,
}

// SAFETY: each allocation is a vector of its own, and the interpreter makes all checks of a kernel.
unsafe impl BackendDevice for Simulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&MxuC, &MxuC)
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Binary {
                source,
                origin: Origin::Rendered(kernel),
                ..
            } => Ok(Arc::new(Loaded {
                kernel: Arc::clone(kernel),
                slots: source.slots.clone(),
            })),
            // The device interprets the IR, and cannot run text alone.
            Program::Binary { .. } | Program::Direct(_) | Program::Ir(_) => Err(foreign("program")),
        }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Memory::new(bytes, StorageKind::device()))
    }

    fn alloc_in(&self, bytes: usize, storage: &Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        match bytes <= UNIT_BYTES {
            true => Ok(Memory::new(bytes, storage.clone())),
            false => Err(Error::Device {
                device: NAME.into(),
                message: format!("`{storage}` has {UNIT_BYTES} bytes, not {bytes}"),
            }),
        }
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.queue.clone()
    }

    fn debug_info(&self) -> BTreeMap<String, String> {
        self.queue.transfers()
    }
}

/// A piece of one of the device's memories.
pub(super) struct Memory {
    bytes: Mutex<Vec<u8>>,
    len: usize,
    storage: Tag<StorageKind>,
}

impl Memory {
    fn new(len: usize, storage: Tag<StorageKind>) -> Arc<Memory> {
        let bytes = Mutex::new(vec![0; len]);
        Arc::new(Memory {
            bytes,
            len,
            storage,
        })
    }

    /// The memory of a slice, which must be this backend's.
    pub(super) fn of(slice: &Slice) -> Result<&Memory> {
        let memory: &dyn Any = &*slice.mem;
        memory.downcast_ref().ok_or_else(|| foreign("memory"))
    }

    pub(super) fn storage(&self) -> &Tag<StorageKind> {
        &self.storage
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: the length is that of the bytes which it owns.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.len
    }
}

pub(super) fn foreign(what: &str) -> Error {
    Error::Device {
        device: NAME.into(),
        message: format!("was given another backend's {what}"),
    }
}
