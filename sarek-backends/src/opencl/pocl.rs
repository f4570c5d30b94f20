//! Works around PoCL 3.1's deviations from OpenCL C.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::{Mutex, Once};

use opencl3::command_queue::finish;
use opencl3::types::cl_command_queue;
use sarek_runtime::backend::is_forked;
use sarek_runtime::{Error, Result};

use super::device::Shared;
use crate::jit::{Binary, lock};

/// The text before each program.
///
/// PoCL's library promises its compiler that these functions never see NaN. A NaN known at compile time then removes
/// the result and its store. PoCL's compiler must also not see how predicates relate to each other, or it turns them
/// back into branches around barriers, which it mishandles.
pub(super) const PRELUDE: &str = "\
#define srk_opaque volatile
#define SRK_POCL_FUNCTION(T, NAME, IS_NAN) \\
    static T __attribute__((overloadable)) srk_pocl_##NAME(T x) { return IS_NAN(x) ? x : NAME(x); }
#define SRK_POCL_FUNCTIONS(T, IS_NAN) \\
    SRK_POCL_FUNCTION(T, floor, IS_NAN) \\
    SRK_POCL_FUNCTION(T, ceil, IS_NAN) \\
    SRK_POCL_FUNCTION(T, trunc, IS_NAN) \\
    SRK_POCL_FUNCTION(T, round, IS_NAN) \\
    SRK_POCL_FUNCTION(T, rint, IS_NAN) \\
    SRK_POCL_FUNCTION(T, exp, IS_NAN) \\
    SRK_POCL_FUNCTION(T, exp2, IS_NAN) \\
    SRK_POCL_FUNCTION(T, exp10, IS_NAN) \\
    SRK_POCL_FUNCTION(T, expm1, IS_NAN) \\
    SRK_POCL_FUNCTION(T, sinh, IS_NAN) \\
    SRK_POCL_FUNCTION(T, cosh, IS_NAN) \\
    SRK_POCL_FUNCTION(T, tanh, IS_NAN) \\
    static T __attribute__((overloadable)) srk_pocl_pow(T x, T y) { return x == 1 || y == 0 ? 1 : pow(x, y); }
#define SRK_POCL_NAN_32(x) ((as_uint(x) & 0x7fffffffu) > 0x7f800000u)
#define SRK_POCL_NAN_64(x) ((as_ulong(x) & 0x7fffffffffffffffUL) > 0x7ff0000000000000UL)
SRK_POCL_FUNCTIONS(float, SRK_POCL_NAN_32)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
SRK_POCL_FUNCTIONS(double, SRK_POCL_NAN_64)
#endif
#undef floor
#define floor srk_pocl_floor
#undef ceil
#define ceil srk_pocl_ceil
#undef trunc
#define trunc srk_pocl_trunc
#undef round
#define round srk_pocl_round
#undef rint
#define rint srk_pocl_rint
#undef exp
#define exp srk_pocl_exp
#undef exp2
#define exp2 srk_pocl_exp2
#undef exp10
#define exp10 srk_pocl_exp10
#undef expm1
#define expm1 srk_pocl_expm1
#undef sinh
#define sinh srk_pocl_sinh
#undef cosh
#define cosh srk_pocl_cosh
#undef tanh
#define tanh srk_pocl_tanh
#undef pow
#define pow srk_pocl_pow
#line 1
";

/// Refuses blocks of one or two threads with barriers. PoCL copies the code of each thread of such a block instead of
/// making a loop, and aborts the process over barriers in branches of that code.
///
/// # Errors
/// If this is such a program, and the environment does not request loops.
pub(super) fn refuse_copies(shared: &Shared, binary: &Binary<'_>) -> Result<()> {
    const METHOD: &str = "POCL_WORK_GROUP_METHOD";
    let loops = std::env::var(METHOD).is_ok_and(|method| method.starts_with("loop"));
    let waits = binary.source.text.contains("barrier(");
    if !shared.is_pocl || loops || !waits || binary.threads() > 2 {
        return Ok(());
    }
    Err(Error::Launch {
        kernel: binary.kernel.to_owned(),
        problem: format!(
            "PoCL cannot be trusted with barriers in blocks of one or two threads: take larger blocks, or set \
             {METHOD}=loopvec in the environment"
        ),
    })
}

/// The handles of PoCL queues in use.
static QUEUES: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Makes the process's exit wait for this queue, which has just run a program for the first time. Otherwise PoCL's
/// threads keep running while its libraries are torn down, and crash. PoCL registers its own exit handlers when it
/// first compiles, which a first launch does; so they run after this one.
pub(super) fn watch(queue: cl_command_queue) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: `atexit` may be called at any time. PoCL is loaded, so its own exit handlers run later. If the
        // registration fails, nothing changes.
        let _ = unsafe { atexit(finish_all) };
    });
    lock(&QUEUES).insert(queue as usize);
}

/// Call before a queue is released.
pub(super) fn forget(queue: cl_command_queue) {
    lock(&QUEUES).remove(&(queue as usize));
}

unsafe extern "C" {
    fn atexit(callback: extern "C" fn()) -> c_int;
}

extern "C" fn finish_all() {
    if is_forked() {
        return; // the parent has the threads that would finish them
    }
    // If another thread holds the lock, the exit must not wait for it.
    if let Ok(queues) = QUEUES.try_lock() {
        for &queue in queues.iter() {
            let _ = finish(queue as cl_command_queue);
        }
    }
}
