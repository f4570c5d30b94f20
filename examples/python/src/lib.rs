//! A Python module whose kernels exchange arrays with NumPy and PyTorch through DLPack, without copies.
//!
//! `test.py` uses it; `README.md` says how to build it.

mod capsule;

use std::sync::Mutex;

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use sarek::interop::cuda::{from_tensor, to_tensor};
use sarek::interop::dlpack::Tensor;
use sarek::interop::dlpack::abi::{DLDevice, device_type};
use sarek::prelude::*;

#[kernel]
fn saxpy_kernel(a: f32, #[item] x: f32, #[item] y: &mut f32) {
    *y = a * x + *y;
}

#[kernel]
fn sum_kernel(a: f32, #[item] x: f32, #[item] y: f32, #[item] sum: &mut f32) {
    *sum = a * x + y;
}

#[kernel]
fn copy_kernel(#[item] x: f32, #[item] copy: &mut f32) {
    *copy = x;
}

/// An array for `numpy.from_dlpack` or `torch.from_dlpack`, which can be taken once.
#[pyclass]
struct Array {
    tensor: Mutex<Option<Tensor>>,
    device: (i32, i32),
}

impl Array {
    fn new(tensor: Tensor) -> sarek::Result<Array> {
        let DLDevice { device_type, device_id } = tensor.device()?;
        Ok(Array {
            tensor: Mutex::new(Some(tensor)),
            device: (device_type, device_id),
        })
    }
}

#[pymethods]
impl Array {
    /// The tensor as a capsule, by the protocol of the Python array API. Its elements are complete, so a consumer's
    /// stream has nothing to wait for.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let on_host = self.device.0 == device_type::CPU;
        if stream.is_some() && on_host {
            return Err(PyBufferError::new_err("the array is in the host's memory, and has no stream"));
        }
        if dl_device.is_some_and(|device| device != self.device) || copy == Some(true) {
            return Err(PyBufferError::new_err("the array is not copied"));
        }
        let tensor = self.tensor.lock().ok().and_then(|mut tensor| tensor.take());
        let taken = || PyBufferError::new_err("the array was taken already");
        capsule::give(py, tensor.ok_or_else(taken)?, max_version)
    }

    /// The place of the memory.
    fn __dlpack_device__(&self) -> (i32, i32) {
        self.device
    }
}

/// The CUDA device of a tensor; none for memory of the host.
fn cuda_device(of: &Tensor) -> sarek::Result<Option<Device>> {
    let DLDevice { device_type, device_id } = of.device()?;
    let is_here = |device: &Device| device.backend() == "cuda" && device.ordinal() == device_id as usize;
    match device_type {
        device_type::CUDA => Ok(Device::all().into_iter().find(is_here)),
        _ => Ok(None),
    }
}

/// Returns `a * x + y` as a new array, on the device of `y`. `x` and `y` are read where they are.
#[pyfunction]
fn saxpy(a: f32, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Array> {
    // SAFETY: no Python code runs while these vectors live: this function calls none, and holds on to the
    // interpreter. The result is in memory of its own.
    let (x, y) = unsafe { (capsule::take(x)?, capsule::take(y)?) };
    let run = || {
        let shape = y.shape()?;
        let Some(device) = cuda_device(&y)? else {
            let x = x.into_vector::<f32>()?;
            let mut y = y.into_vector::<f32>()?;
            saxpy_kernel(a, &x, &mut y).run()?;
            return Array::new(Tensor::from_vector(y, &shape)?);
        };
        // SAFETY: as above.
        let (x, y) = unsafe { (from_tensor::<f32>(&device, x)?, from_tensor::<f32>(&device, y)?) };
        let mut sum = Vector::zeros(y.len());
        sum_kernel(a, &x, &y, &mut sum).run_on(&device)?;
        Array::new(to_tensor(sum, &shape, &device.stream())?)
    };
    run().map_err(capsule::refused)
}

/// Adds `a * x` to `y`, in its memory.
#[pyfunction]
fn saxpy_in_place(a: f32, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: as above.
    let (x, y) = unsafe { (capsule::take(x)?, capsule::take(y)?) };
    let run = || {
        let Some(device) = cuda_device(&y)? else {
            // Two arrays may share memory, and `y` is written.
            let x = Vector::from_vec(x.into_vector::<f32>()?.to_vec()?);
            // SAFETY: as above, and `x` is a copy.
            let mut y = unsafe { y.into_vector_in_place::<f32>()? };
            saxpy_kernel(a, &x, &mut y).run()?;
            // Waits for the results.
            return y.as_slice().map(|_| ());
        };
        // SAFETY: as above. The vector of `x` is gone when that of `y` is made.
        let x = unsafe { from_tensor::<f32>(&device, x)? };
        let mut of_x = Vector::zeros(x.len());
        copy_kernel(&x, &mut of_x).run_on(&device)?;
        device.sync()?;
        drop(x);
        // SAFETY: as above.
        let mut y = unsafe { from_tensor::<f32>(&device, y)? };
        saxpy_kernel(a, &of_x, &mut y).run_on(&device)?;
        device.sync()
    };
    run().map_err(capsule::refused)
}

/// The module.
#[pymodule]
fn sarek_python(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(saxpy, module)?)?;
    module.add_function(wrap_pyfunction!(saxpy_in_place, module)?)?;
    module.add_class::<Array>()
}
