//! A Python module whose kernels exchange arrays with NumPy through DLPack, without copies.
//!
//! `test.py` uses it; `README.md` says how to build it.

mod capsule;

use std::sync::Mutex;

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use sarek::interop::dlpack::Tensor;
use sarek::prelude::*;

#[kernel]
fn saxpy_kernel(a: f32, #[item] x: f32, #[item] y: &mut f32) {
    *y = a * x + *y;
}

/// An array for `numpy.from_dlpack`, which can be taken once.
#[pyclass]
struct Array(Mutex<Option<Tensor>>);

#[pymethods]
impl Array {
    /// The tensor as a capsule, by the protocol of the Python array API.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let host = self.__dlpack_device__();
        if stream.is_some() || dl_device.is_some_and(|device| device != host) || copy == Some(true) {
            return Err(PyBufferError::new_err("the array is in the host's memory, and is not copied"));
        }
        let tensor = self.0.lock().ok().and_then(|mut tensor| tensor.take());
        let taken = || PyBufferError::new_err("the array was taken already");
        capsule::give(py, tensor.ok_or_else(taken)?, max_version)
    }

    /// The place of the memory: the host.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (sarek::interop::dlpack::abi::device_type::CPU, 0)
    }
}

/// Returns `a * x + y` as a new array. `x` and `y` are read where they are.
#[pyfunction]
fn saxpy(a: f32, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Array> {
    // SAFETY: no Python code runs while these vectors live: this function calls none, and holds on to the
    // interpreter. The result is of a copy, made when the kernel writes `y`.
    let (x, y) = unsafe { (capsule::take(x)?, capsule::take(y)?) };
    let shape = y.shape().map_err(capsule::refused)?;
    let run = || {
        let x = x.into_vector::<f32>()?;
        let mut y = y.into_vector::<f32>()?;
        saxpy_kernel(a, &x, &mut y).run()?;
        Tensor::from_vector(y, &shape)
    };
    Ok(Array(Mutex::new(Some(run().map_err(capsule::refused)?))))
}

/// Adds `a * x` to `y`, in its memory.
#[pyfunction]
fn saxpy_in_place(a: f32, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: as above.
    let (x, y) = unsafe { (capsule::take(x)?, capsule::take(y)?) };
    let run = || {
        // Two arrays may share memory, and `y` is written.
        let x = Vector::from_vec(x.into_vector::<f32>()?.to_vec()?);
        // SAFETY: as above, and `x` is a copy.
        let mut y = unsafe { y.into_vector_in_place::<f32>()? };
        saxpy_kernel(a, &x, &mut y).run()?;
        // Waits for the results.
        y.as_slice().map(|_| ())
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
