//! Times each driver call of the first launch in a process. This is the minimum for any library.

use std::ffi::c_void;
use std::path::Path;
use std::time::Instant;

use cudarc::driver::result::{self, ctx, device, event, module, primary_ctx, stream};
use cudarc::driver::sys::{CUevent_flags, CUstream};
use sarek::prelude::*;
use sarek_backends::cuda::nvrtc;

use crate::common::Fallible;
use crate::cuda::TEXT;

/// Compiles the kernel with NVRTC and writes the result to a file.
pub fn image(to: &Path) -> Fallible {
    let facts = Device::of("cuda")?.debug_info();
    let arch = facts
        .get("architecture")
        .ok_or("the device does not tell its architecture")?;
    std::fs::write(to, nvrtc::compile("saxpy", TEXT, arch)?.bytes)?;
    Ok(())
}

/// Prints the time of each step; holds the start of the current one.
struct Steps(Instant);

impl Steps {
    fn done(&mut self, step: &str) {
        println!("    {step} {} µs", self.0.elapsed().as_micros());
        self.0 = Instant::now();
    }
}

/// Loads the kernel from a file and launches it.
pub fn first(image: &Path) -> Fallible {
    const N: usize = 1000;
    result::init()?;
    // SAFETY: the device is from the driver, and its context is never released.
    unsafe { ctx::set_current(primary_ctx::retain(device::get(0)?)?) }?;
    let stream = stream::create(stream::StreamKind::NonBlocking)?;
    let image = std::fs::read(image)?;
    let begun = Instant::now();
    let mut steps = Steps(begun);
    // SAFETY: an ELF image contains its own length, and PTX ends with a zero byte. The module is never unloaded.
    let module = unsafe { module::load_data(image.as_ptr().cast()) }?;
    steps.done("cuModuleLoadData");
    // SAFETY: the module is loaded.
    let function = unsafe { module::get_function(module, c"saxpy".into()) }?;
    steps.done("cuModuleGetFunction");
    // SAFETY: the memory is used only below, by work that this function waits for.
    let (mut x, mut y) = unsafe { (result::malloc_sync(4 * N)?, result::malloc_sync(4 * N)?) };
    steps.done("cuMemAlloc, twice");
    // SAFETY: as above.
    let pinned = unsafe { result::malloc_host(1 << 20, 0) }?;
    steps.done("cuMemHostAlloc of 1 MiB");
    (0..64).try_for_each(|_| event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING).map(|_| ()))?;
    steps.done("cuEventCreate, 64 times");
    // SAFETY: the page-locked memory is large enough, and nothing else uses it until the stream is finished.
    let host = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<f32>(), N) };
    host.fill(1.0);
    // SAFETY: as above.
    unsafe {
        result::memcpy_htod_async(x, host, stream)?;
        result::memcpy_htod_async(y, host, stream)?;
    }
    steps.done("cuMemcpyHtoDAsync, twice");
    let (mut a, mut len, mut extent) = (3.0f32, N as u32, N as u32);
    let mut pointers: [*mut c_void; 5] = [
        (&raw mut a).cast(),
        (&raw mut x).cast(),
        (&raw mut y).cast(),
        (&raw mut len).cast(),
        (&raw mut extent).cast(),
    ];
    // SAFETY: the arguments are those of the kernel, in its order; they are copied by the call.
    unsafe { result::launch_kernel(function, (4, 1, 1), (256, 1, 1), 0, stream, &mut pointers) }?;
    steps.done("cuLaunchKernel");
    let mut back = vec![0.0f32; N];
    read(&mut back, y, stream)?;
    steps.done("cuMemcpyDtoHAsync to ordinary memory, waited for");
    read(host, y, stream)?;
    steps.done("the same to page-locked memory, later");
    println!("    all of it {} µs", begun.elapsed().as_micros());
    Ok(())
}

fn read(to: &mut [f32], from: u64, stream: CUstream) -> Fallible {
    // SAFETY: the memory has the same size, and the function waits for the stream.
    unsafe {
        result::memcpy_dtoh_async(to, from, stream)?;
        stream::synchronize(stream)?;
    }
    Ok(())
}
