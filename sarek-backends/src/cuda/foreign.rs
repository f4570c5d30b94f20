//! Reflection of the users' own CUDA code, through the driver.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr;

use cudarc::driver::sys::{
    CUfunction, CUjit_option, CUmodule, CUresult, cuDriverGetVersion, cuFuncGetName,
    cuFuncGetParamInfo, cuModuleEnumerateFunctions, cuModuleGetFunctionCount, cuModuleLoadData,
    cuModuleLoadDataEx,
};
use sarek_ir::write::{Cuda, Dialect};
use sarek_runtime::Result;
use sarek_runtime::backend::{Parameter, Passed};

use crate::jit;

/// The size in bytes of the buffer for the driver's log on PTX.
const LOG: usize = 16 << 10;

/// Loads an image. Otherwise returns the error code and the log of the driver's compiler.
///
/// # Safety
/// The context is current; the image is ELF, or PTX with a zero byte at its end.
pub(super) unsafe fn load(image: &[u8]) -> Result<CUmodule, (CUresult, String)> {
    let mut module = ptr::null_mut();
    if image.starts_with(b"\x7fELF") {
        // The options concern the driver's compiler, which compiled code does not need.
        // SAFETY: the caller's promise.
        let code = unsafe { cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        return match code {
            CUresult::CUDA_SUCCESS => Ok(module),
            code => Err((code, String::new())),
        };
    }
    let mut log = vec![0u8; LOG];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The size is passed as a pointer's bits.
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG)];
    // SAFETY: the image is the caller's; the number of options and the length of the buffer are as given.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    match code {
        CUresult::CUDA_SUCCESS => Ok(module),
        code => {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(LOG);
            let log = String::from_utf8_lossy(&log[..end]).trim().to_owned();
            Err((code, log))
        }
    }
}

/// True if the driver has at least this version, 12040 for 12.4. Older drivers lack functions, and cudarc panics if
/// they are called.
pub(super) fn driver_knows(version: i32) -> bool {
    let mut have = 0;
    // SAFETY: the place is valid to write.
    let code = unsafe { cuDriverGetVersion(&mut have) };
    code == CUresult::CUDA_SUCCESS && have >= version
}

/// The entry points of a module, if the driver can list them.
///
/// # Safety
/// The module is loaded in the current context.
pub(super) unsafe fn entries(module: CUmodule) -> Vec<String> {
    if !driver_knows(12040) {
        return vec![];
    }
    let mut count = 0;
    // SAFETY: the module is loaded, and the place valid to write.
    if unsafe { cuModuleGetFunctionCount(&mut count, module) } != CUresult::CUDA_SUCCESS {
        return vec![];
    }
    let mut functions: Vec<CUfunction> = vec![ptr::null_mut(); count as usize];
    // SAFETY: the list has room for that many.
    let code = unsafe { cuModuleEnumerateFunctions(functions.as_mut_ptr(), count, module) };
    if code != CUresult::CUDA_SUCCESS {
        return vec![];
    }
    let name = |function: CUfunction| {
        let mut name = ptr::null();
        // SAFETY: the function belongs to the module; the driver keeps its name.
        unsafe {
            match cuFuncGetName(&mut name, function) {
                CUresult::CUDA_SUCCESS if !name.is_null() => {
                    Some(CStr::from_ptr(name).to_string_lossy().into_owned())
                }
                _ => None,
            }
        }
    };
    functions.into_iter().filter_map(name).collect()
}

/// Compares the parameters of an entry point with the declared ones. The driver knows their sizes, but neither names
/// nor types.
///
/// # Safety
/// The function belongs to a module that is loaded in the current context.
pub(super) unsafe fn check(
    kernel: &str,
    function: CUfunction,
    parameters: &[Parameter],
) -> Result<()> {
    if !driver_knows(12040) {
        return Ok(());
    }
    let size = |at: usize| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is loaded, and both places are valid to write.
        let code = unsafe { cuFuncGetParamInfo(function, at, &mut offset, &mut size) };
        (code == CUresult::CUDA_SUCCESS).then_some(size)
    };
    let taken: Vec<usize> = (0..).map_while(size).collect();
    compare(&taken, parameters).map_err(|problem| jit::signature(kernel, Cuda.name(), problem))
}

/// Fails unless the declared parameters have these sizes.
fn compare(taken: &[usize], parameters: &[Parameter]) -> Result<(), String> {
    if taken.len() != parameters.len() {
        let (takes, declared) = (taken.len(), parameters.len());
        return Err(format!(
            "it takes {takes} arguments, and {declared} are declared"
        ));
    }
    for (size, parameter) in taken.iter().zip(parameters) {
        let (want, what) = match &parameter.kind {
            Passed::Scalar(scalar) => (scalar.size(), scalar.to_string()),
            Passed::Vector { .. } => (size_of::<u64>(), "a vector, by its address".to_owned()),
        };
        if *size != want {
            let name = &parameter.name;
            return Err(format!(
                "`{name}` has {size} bytes in the text, but is declared as {what}, which has {want}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarek_ir::Scalar;

    #[test]
    fn sizes_are_compared() {
        let scalar = |name: &str, scalar| Parameter {
            name: name.into(),
            kind: Passed::Scalar(scalar),
        };
        let declared = [scalar("a", Scalar::F32), scalar("n", Scalar::U64)];
        assert_eq!(compare(&[4, 8], &declared), Ok(()));
        let fewer = compare(&[4], &declared).unwrap_err();
        assert!(
            fewer.contains("takes 1 arguments, and 2 are declared"),
            "{fewer}"
        );
        let other = compare(&[4, 4], &declared).unwrap_err();
        assert!(other.contains("`n` has 4 bytes in the text"), "{other}");
    }
}
