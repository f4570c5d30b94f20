//! Python capsules with tensors of DLPack.

use std::ffi::CStr;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use sarek::interop::dlpack::Tensor;

const UNVERSIONED: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_UNVERSIONED: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// The error for Python.
pub fn refused(error: sarek::Error) -> PyErr {
    PyBufferError::new_err(error.to_string())
}

/// Takes a tensor from an object with `__dlpack__`, such as an array of NumPy.
///
/// # Safety
/// Until the tensor and the vector made of it are dropped, no Python code runs that writes the array.
pub unsafe fn take(of: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let version = [("max_version", (1u32, 0u32))].into_py_dict(of.py())?;
    let capsule = match of.call_method("__dlpack__", (), Some(&version)) {
        // A producer that knows no versions.
        Err(error) if error.is_instance_of::<PyTypeError>(of.py()) => {
            of.call_method0("__dlpack__")?
        }
        capsule => capsule?,
    };
    let at = capsule.as_ptr();
    // SAFETY: the object is live. A valid capsule of such a name has such a structure, which belongs to the one
    // who renames the capsule. The caller promises the rest.
    unsafe {
        if ffi::PyCapsule_IsValid(at, VERSIONED.as_ptr()) == 1 {
            let structure = ffi::PyCapsule_GetPointer(at, VERSIONED.as_ptr());
            ffi::PyCapsule_SetName(at, USED_VERSIONED.as_ptr());
            Tensor::from_versioned(structure.cast()).map_err(refused)
        } else if ffi::PyCapsule_IsValid(at, UNVERSIONED.as_ptr()) == 1 {
            let structure = ffi::PyCapsule_GetPointer(at, UNVERSIONED.as_ptr());
            ffi::PyCapsule_SetName(at, USED_UNVERSIONED.as_ptr());
            Tensor::from_raw(structure.cast()).map_err(refused)
        } else {
            Err(PyTypeError::new_err("`__dlpack__` returned no tensor"))
        }
    }
}

/// Makes a capsule of a tensor, with a version if the consumer knows version 1.
pub fn give(
    py: Python<'_>,
    tensor: Tensor,
    max_version: Option<(u32, u32)>,
) -> PyResult<Bound<'_, PyAny>> {
    let versioned = max_version.is_some_and(|(major, _)| major >= 1);
    let (structure, name) = match versioned {
        true => (tensor.into_versioned().map_err(refused)?.cast(), VERSIONED),
        false => (tensor.into_raw().map_err(refused)?.cast(), UNVERSIONED),
    };
    // SAFETY: the interpreter is attached; the name is static, and the destructor fits the structure.
    unsafe {
        let capsule = ffi::PyCapsule_New(structure, name.as_ptr(), Some(delete_unused));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Frees a tensor that no consumer took.
unsafe extern "C" fn delete_unused(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with a capsule made above. A consumer would have renamed it.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            let structure = ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr());
            drop(Tensor::from_versioned(structure.cast()));
        } else if ffi::PyCapsule_IsValid(capsule, UNVERSIONED.as_ptr()) == 1 {
            let structure = ffi::PyCapsule_GetPointer(capsule, UNVERSIONED.as_ptr());
            drop(Tensor::from_raw(structure.cast()));
        }
    }
}
