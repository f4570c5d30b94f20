//! wgpu's own handles of devices and vectors, and vectors of wgpu's buffers.

use std::any::Any;
use std::sync::Arc;

use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Element, Error, Lent, Result, Vector};
pub use wgpu;
use wgpu::BufferUsages;

use super::device::Device;
use super::memory::{Memory, USAGE};
use crate::jit;

fn device(device: &sarek_runtime::Device) -> Result<&Device> {
    let any: &dyn Any = device.as_backend();
    any.downcast_ref()
        .ok_or_else(|| jit::foreign(device.name(), "a request for a wgpu handle"))
}

/// The device and its only queue, for buffers, pipelines and submissions of one's own.
pub fn device_and_queue(of: &sarek_runtime::Device) -> Result<(wgpu::Device, wgpu::Queue)> {
    let shared = device(of)?.shared();
    Ok((shared.device.clone(), shared.queue.clone()))
}

/// The buffer of a vector that is lent, see [`Vector::lend`], and where in it the elements begin, in bytes. What is submitted
/// to the device's queue comes after what was queued before.
pub fn buffer(lent: &Lent<'_>) -> Result<(wgpu::Buffer, u64)> {
    let own = device(lent.stream().device())?;
    let memory: &Memory = jit::memory(&own.shared().name, lent.slice())?;
    Ok((memory.buffer.clone(), lent.slice().offset as u64))
}

/// A vector of all elements of a buffer, which has to be of the device that [`device_and_queue`] gives, and usable as storage and
/// for copies both ways.
pub fn import<T: Element>(of: &sarek_runtime::Device, buffer: wgpu::Buffer) -> Result<Vector<T>> {
    let shared = device(of)?.shared();
    let lacking: BufferUsages = USAGE - buffer.usage();
    if !lacking.is_empty() {
        return Err(Error::Unsupported {
            backend: "wgpu".into(),
            what: format!("a vector of a buffer without the usages {lacking:?}"),
        });
    }
    let len = buffer.size() as usize;
    let mem: Arc<dyn Mem> = Arc::new(Memory::imported(shared, buffer));
    let offset = 0;
    // SAFETY: all submissions go to one queue, in the order of which they use the buffer.
    unsafe { Vector::from_device(of, Slice { mem, offset, len }) }
}
