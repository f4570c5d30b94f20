use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::LazyLock;

use libloading::{Library, Symbol};

use super::skip;

static NVRTC: LazyLock<Result<Library, String>> = LazyLock::new(|| {
    // SAFETY: NVRTC's initialisers have no preconditions.
    unsafe { Library::new("libnvrtc.so.12") }.map_err(|e| e.to_string())
});

type Program = *mut c_void;

/// Compiles CUDA C++ to PTX, as strictly as NVRTC can.
pub fn compile(text: &str) {
    let library = match &*NVRTC {
        Ok(library) => library,
        Err(why) => return skip("nvrtc", why),
    };
    // SAFETY: the signatures are those of `nvrtc.h`; pointers live for their calls.
    unsafe {
        let create: Symbol<
            unsafe extern "C" fn(
                *mut Program,
                *const c_char,
                *const c_char,
                c_int,
                *const *const c_char,
                *const *const c_char,
            ) -> c_int,
        > = library.get(b"nvrtcCreateProgram").expect("NVRTC");
        let build: Symbol<unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int> =
            library.get(b"nvrtcCompileProgram").expect("NVRTC");
        let destroy: Symbol<unsafe extern "C" fn(*mut Program) -> c_int> =
            library.get(b"nvrtcDestroyProgram").expect("NVRTC");
        let source = CString::new(text).expect("no NUL in a source");
        let mut program: Program = ptr::null_mut();
        let created = create(
            &mut program,
            source.as_ptr(),
            c"kernel.cu".as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        );
        assert_eq!(created, 0, "nvrtcCreateProgram");
        // 221, 222: a constant expression is infinite or 0, which is intended.
        let options = [c"--gpu-architecture=compute_75", c"-diag-suppress=221,222"];
        let options = options.map(CStr::as_ptr);
        let status = build(program, 2, options.as_ptr());
        let log = log(library, program);
        destroy(&mut program);
        assert_eq!(status, 0, "{log}\n{text}");
        assert!(!log.contains("warning"), "{log}\n{text}");
    }
}

/// # Safety
/// `program` is one of NVRTC's.
unsafe fn log(library: &Library, program: Program) -> String {
    // SAFETY: as in `compile`; the buffer has the length that NVRTC asks for.
    unsafe {
        let size: Symbol<unsafe extern "C" fn(Program, *mut usize) -> c_int> =
            library.get(b"nvrtcGetProgramLogSize").expect("NVRTC");
        let get: Symbol<unsafe extern "C" fn(Program, *mut c_char) -> c_int> =
            library.get(b"nvrtcGetProgramLog").expect("NVRTC");
        let mut len = 0;
        size(program, &mut len);
        let mut buffer = vec![0u8; len + 1];
        get(program, buffer.as_mut_ptr().cast());
        let text = CStr::from_bytes_until_nul(&buffer).expect("a terminated log");
        text.to_string_lossy().into_owned()
    }
}
