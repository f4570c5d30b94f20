//! Tensors of DLPack in the memory of CUDA devices.

use sarek_runtime::interop::dlpack::abi::{DLDevice, device_type};
use sarek_runtime::interop::dlpack::{Refused, Tensor};
use sarek_runtime::{Device, Element, Error, Result, Stream, Vector};

use super::interop;

/// Turns a row-major tensor in a device's memory into a vector of its elements, which owns the tensor. Nothing is copied.
/// Waits for all work that other libraries have queued on the device.
///
/// # Errors
/// As for [`Tensor::into_vector`], and [`Refused::ReadOnly`]. The tensor is given back to its producer.
///
/// # Safety
/// Until the vector is dropped, nobody else reads or writes the tensor's memory.
pub unsafe fn from_tensor<T: Element>(of: &Device, tensor: Tensor) -> Result<Vector<T>> {
    let found = tensor.device()?;
    let is_managed = found.device_type == device_type::CUDA_MANAGED;
    if found != place(of) && !is_managed {
        return Err(Error::Tensor(Refused::Device(found)));
    }
    if tensor.is_read_only()? {
        return Err(Error::Tensor(Refused::ReadOnly));
    }
    let (at, len) = tensor.elements::<T>().map_err(Error::Tensor)?;
    if len == 0 {
        return Ok(Vector::from_vec(vec![]));
    }
    interop::synchronize(of)?;
    let address = at.as_ptr().expose_provenance() as u64;
    // SAFETY: the tensor has these elements on this device, and keeps them. Work on them has ended, and the caller
    // promises that no other follows.
    unsafe { interop::import(of, address, len, tensor) }
}

/// Turns a vector into a tensor of this shape in the memory of the stream's device, in row-major order. The tensor owns
/// the vector. The elements are complete when this returns, so their consumer need not wait for a stream; when the
/// consumer drops the tensor, all work queued on the device is waited for.
///
/// # Errors
/// The error of a launch that failed to write the vector; [`Refused::Shape`] and [`Refused::NoType`].
pub fn to_tensor<T: Element>(
    mut vector: Vector<T>,
    shape: &[usize],
    stream: &Stream,
) -> Result<Tensor> {
    Tensor::check_shape(&vector, shape).map_err(Error::Tensor)?;
    let device = stream.device().clone();
    let address = match vector.is_empty() {
        true => 0,
        false => {
            let lent = vector.lend_mut(stream)?;
            let address = interop::pointer(&lent)?;
            lent.wait()?;
            address
        }
    };
    let data: *mut T = std::ptr::with_exposed_provenance_mut(address as usize);
    let (place, owner) = (place(&device), Owner { vector, device });
    // SAFETY: the vector was brought to the device for writing, so this is its only copy, and nobody uses the vector
    // again. Its owner waits for other libraries' work.
    unsafe { Tensor::of_memory(owner, data, place, shape) }
}

/// DLPack's name of a device.
fn place(of: &Device) -> DLDevice {
    DLDevice {
        device_type: device_type::CUDA,
        device_id: of.ordinal() as i32,
    }
}

/// A vector whose memory other libraries use.
struct Owner<T: Element> {
    #[allow(dead_code)] // it keeps the elements
    vector: Vector<T>,
    device: Device,
}

impl<T: Element> Drop for Owner<T> {
    fn drop(&mut self) {
        // After an error of the device, its memory is of no use to anyone.
        let _ = interop::synchronize(&self.device);
    }
}
