//! cuBLAS, loaded at run time.

use std::ffi::c_void;
use std::ptr;

use libloading::Library;

use crate::common::Fallible;

type Sgemm = unsafe extern "C" fn(
    *mut c_void,
    i32,
    i32,
    i32,
    i32,
    i32,
    *const f32,
    u64,
    i32,
    u64,
    i32,
    *const f32,
    u64,
    i32,
) -> i32;
type Sgemv = unsafe extern "C" fn(
    *mut c_void,
    i32,
    i32,
    i32,
    *const f32,
    u64,
    i32,
    u64,
    i32,
    *const f32,
    u64,
    i32,
) -> i32;

/// The library with a handle on a stream.
pub struct Blas {
    library: Library,
    handle: *mut c_void,
}

/// Turns a status into a result.
fn checked(call: &str, status: i32) -> Fallible {
    match status {
        0 => Ok(()),
        status => Err(format!("{call} returned {status}").into()),
    }
}

impl Blas {
    /// Loads the library, for calls on a stream of the current context.
    pub fn new(stream: *mut c_void) -> Fallible<Blas> {
        let names = ["libcublas.so.13", "libcublas.so.12", "libcublas.so"];
        // SAFETY: loading cuBLAS runs only its own initialization.
        let mut libraries = names.into_iter().map(|name| unsafe { Library::new(name) });
        let library = libraries
            .find_map(Result::ok)
            .ok_or("cuBLAS was not found")?;
        let mut handle = ptr::null_mut();
        // SAFETY: the types are those of cuBLAS's header; the stream is live.
        unsafe {
            type Create = unsafe extern "C" fn(*mut *mut c_void) -> i32;
            type SetStream = unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32;
            let create = library.get::<Create>(b"cublasCreate_v2\0")?;
            checked("cublasCreate", create(&mut handle))?;
            let set = library.get::<SetStream>(b"cublasSetStream_v2\0")?;
            checked("cublasSetStream", set(handle, stream))?;
        }
        Ok(Blas { library, handle })
    }

    /// Queues `c = a b` for square matrices in row-major order, at these addresses.
    pub fn sgemm(&self, n: usize, [a, b, c]: [u64; 3]) -> Fallible {
        let (n, one, zero) = (n as i32, 1.0, 0.0);
        // SAFETY: the matrices have `n * n` elements. In column-major order their product is that of `b` and `a`.
        let status = unsafe {
            let call = self.library.get::<Sgemm>(b"cublasSgemm_v2\0")?;
            call(self.handle, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n)
        };
        checked("cublasSgemm", status)
    }

    /// Queues `y = m x` for a matrix in row-major order, at these addresses.
    pub fn sgemv(&self, rows: usize, n: usize, [m, x, y]: [u64; 3]) -> Fallible {
        let (rows, n, one, zero) = (rows as i32, n as i32, 1.0, 0.0);
        // SAFETY: the matrix has `rows * n` elements. In column-major order it is transposed.
        let status = unsafe {
            let call = self.library.get::<Sgemv>(b"cublasSgemv_v2\0")?;
            call(self.handle, 1, n, rows, &one, m, n, x, 1, &zero, y, 1)
        };
        checked("cublasSgemv", status)
    }
}
