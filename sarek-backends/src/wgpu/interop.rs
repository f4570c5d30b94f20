//! Access to the wgpu handles of devices and vectors, and import of wgpu buffers as vectors.

use std::any::Any;
use std::sync::Arc;

use sarek_runtime::backend::{Mem, Slice};
use sarek_runtime::{Element, Error, Lent, Result, Vector};
pub use wgpu;
use wgpu::{BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout};
use wgpu::{BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingResource, BindingType};
use wgpu::{BufferBindingType, BufferUsages, COPY_BUFFER_ALIGNMENT, ShaderStages};

use super::device::Device;
use super::memory::{Memory, USAGE, argument};
use crate::jit;

fn device(device: &sarek_runtime::Device) -> Result<&Device> {
    let any: &dyn Any = device.as_backend();
    any.downcast_ref()
        .ok_or_else(|| jit::foreign(device.name(), "a request for a wgpu handle"))
}

/// The device and its only queue, for your own buffers, pipelines and submissions.
///
/// Neither gives access to the buffer of a vector: [`buffer`] is `unsafe`, and wgpu checks everything else that safe
/// code does with them.
pub fn device_and_queue(of: &sarek_runtime::Device) -> Result<(wgpu::Device, wgpu::Queue)> {
    let shared = device(of)?.shared();
    Ok((shared.device.clone(), shared.queue.clone()))
}

/// The instance and the adapter of the device, for the surface of a window on which the device draws.
pub fn instance_and_adapter(of: &sarek_runtime::Device) -> Result<(wgpu::Instance, wgpu::Adapter)> {
    let (instance, adapter) = device(of)?.origin();
    Ok((instance.clone(), adapter.clone()))
}

/// A bind group with the elements of lent vectors, for a pipeline of your own: the vector at index `i` is
/// `@binding(i) var<storage, read>`. Submissions to the device's queue run after all work queued before.
///
/// The layouts of equally many vectors and equal stages are compatible, so one pipeline serves many groups. Create a
/// group for each submission, and submit it while the vectors are lent: later, the buffer may have other elements.
///
/// # Errors
/// [`Error::Unsupported`] for an empty vector, [`Error::Device`] for vectors of different devices, or for too many.
pub fn bind(lent: &[&Lent<'_>], stages: ShaderStages) -> Result<(BindGroupLayout, BindGroup)> {
    let Some(first) = lent.first() else {
        return Err(Error::Unsupported {
            backend: "wgpu".into(),
            what: "a bind group without vectors".into(),
        });
    };
    let own = device(first.stream().device())?;
    own.flush()?;
    let shared = own.shared();
    let (mut layout, mut entries) = (vec![], vec![]);
    for (binding, lent) in (0..).zip(lent) {
        // SAFETY: the layout allows reads only, in any order with this library's work, which is on the same queue. A group that
        // is used too late reads other bytes, and has no other effect: wgpu keeps the buffer, and text of WGSL reads any bits.
        let slice = unsafe { lent.slice() };
        let memory: &Memory = jit::memory(&shared.name, slice)?;
        if !memory.belongs_to(shared) {
            return Err(jit::foreign(
                &shared.name,
                "a vector lent to another device",
            ));
        }
        let (_, elements) = argument(shared, slice)?;
        layout.push(BindGroupLayoutEntry {
            binding,
            visibility: stages,
            ty: BindingType::Buffer {
                ty: BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
        entries.push(BindGroupEntry {
            binding,
            resource: BindingResource::Buffer(elements),
        });
    }
    shared.checked("creating a bind group", || {
        let layout = shared
            .device
            .create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: None,
                entries: &layout,
            });
        let group = shared.device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        (layout, group)
    })
}

/// The buffer of a lent vector, see [`Vector::lend`], and the offset of its elements in bytes. Submissions to the
/// device's queue run after all work queued before.
///
/// # Safety
/// wgpu lets safe code write any buffer, so the caller answers for all uses of this one and its clones:
///
/// - They only use the vector's elements, since other vectors may use the rest of the buffer.
/// - They write elements only if [`Lent::is_mutable`], and with values that are valid for their type.
/// - None is submitted or mapped after `lent` is dropped, and the buffer is not destroyed.
pub unsafe fn buffer(lent: &Lent<'_>) -> Result<(wgpu::Buffer, u64)> {
    let own = device(lent.stream().device())?;
    own.flush()?;
    // SAFETY: the caller's promise.
    let slice = unsafe { lent.slice() };
    let memory: &Memory = jit::memory(&own.shared().name, slice)?;
    Ok((memory.buffer.clone(), slice.offset as u64))
}

/// Imports all of a buffer as a vector. The buffer must belong to the device that [`device_and_queue`] returns, and
/// allow use as storage and copies both ways. Its size must be a multiple of 4 bytes.
///
/// # Safety
/// wgpu lets every owner of a clone of the buffer write it. So the caller guarantees that, while the vector lives,
///
/// - no other code writes, maps or destroys the buffer, and reads are ordered with the vector's queued commands, which are
///   submitted at the latest when the vector is lent or its stream is waited for;
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
    if !buffer.size().is_multiple_of(COPY_BUFFER_ALIGNMENT) {
        return Err(Error::Unsupported {
            backend: "wgpu".into(),
            what: format!(
                "a vector of a buffer of {len} bytes: round the size up to a multiple of {COPY_BUFFER_ALIGNMENT}"
            ),
        });
    }
    let mem: Arc<dyn Mem> = Arc::new(Memory::imported(shared, buffer));
    let offset = 0;
    // SAFETY: the caller's promises; wgpu zeroes unwritten memory.
    unsafe { Vector::from_device(of, Slice { mem, offset, len }) }
}
