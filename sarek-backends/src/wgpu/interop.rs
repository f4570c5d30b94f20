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
///
/// Neither gives access to the buffer of a vector: wgpu checks all that safe code does with them, and [`buffer`] is `unsafe`.
pub fn device_and_queue(of: &sarek_runtime::Device) -> Result<(wgpu::Device, wgpu::Queue)> {
    let shared = device(of)?.shared();
    Ok((shared.device.clone(), shared.queue.clone()))
}

/// The buffer of a vector that is lent, see [`Vector::lend`], and where in it the elements begin, in bytes. What is submitted
/// to the device's queue comes after what was queued before.
///
/// # Safety
/// wgpu lets safe code write any buffer, so the caller answers for what is done with this one and with its clones:
///
/// - Nothing outside the vector's elements is used: other vectors may have the rest of the buffer.
/// - Elements are written only if [`Lent::is_mutable`], and with values that are valid for their type.
/// - Nothing is submitted or mapped that uses it once `lent` is dropped, and the buffer is not destroyed.
pub unsafe fn buffer(lent: &Lent<'_>) -> Result<(wgpu::Buffer, u64)> {
    let own = device(lent.stream().device())?;
    // SAFETY: the caller's promise.
    let slice = unsafe { lent.slice() };
    let memory: &Memory = jit::memory(&own.shared().name, slice)?;
    Ok((memory.buffer.clone(), slice.offset as u64))
}

/// A vector of all elements of a buffer, which has to be of the device that [`device_and_queue`] gives, and usable as storage and
/// for copies both ways.
///
/// # Safety
/// wgpu lets whoever has a clone of the buffer write it. So the caller sees to it that, while the vector lives,
///
/// - nobody else writes, maps or destroys the buffer, or reads it other than in turns with what is queued for the vector;
/// - it is imported once, and is not the buffer of another vector ([`buffer`]).
///
/// Its bytes are elements that are valid for their type. It belongs to the device.
pub unsafe fn import<T: Element>(
    of: &sarek_runtime::Device,
    buffer: wgpu::Buffer,
) -> Result<Vector<T>> {
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
    // SAFETY: the caller's promises; wgpu clears what nobody has written.
    unsafe { Vector::from_device(of, Slice { mem, offset, len }) }
}
