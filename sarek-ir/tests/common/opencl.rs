use std::ffi::c_void;
use std::ptr;
use std::sync::{LazyLock, Mutex};

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

use sarek_ir::write::{Slot, SlotKind, Source};

use super::skip;

static CONTEXT: LazyLock<Result<Context, String>> = LazyLock::new(|| {
    let devices = get_all_devices(CL_DEVICE_TYPE_ALL).map_err(|e| e.to_string())?;
    let device = devices.first().ok_or("there is no OpenCL device")?;
    Context::from_device(&Device::new(*device)).map_err(|e| e.to_string())
});

/// Serializes builds: PoCL's compiler is unreliable with several at a time.
static BUILD: Mutex<()> = Mutex::new(());

fn build(context: &Context, text: &str) -> Program {
    let _guard = BUILD.lock().unwrap_or_else(|e| e.into_inner());
    Program::create_and_build_from_source(context, text, "-cl-std=CL1.2")
        .unwrap_or_else(|log| panic!("{log}\n{text}"))
}

/// Compiles OpenCL C 1.2.
pub fn compile(text: &str) {
    match &*CONTEXT {
        Ok(context) => drop(build(context, text)),
        Err(why) => skip("opencl", why),
    }
}

/// True if there is a device to run on.
pub fn present() -> bool {
    match &*CONTEXT {
        Ok(_) => true,
        Err(why) => {
            skip("opencl", why);
            false
        }
    }
}

/// Runs a kernel over `n` threads in blocks of 4. `buffers` are in the order of the slots of buffers (the fault record
/// last), `scalars` in that of scalar parameters.
pub fn run(source: &Source, n: u64, buffers: &mut [Vec<u8>], scalars: &[Vec<u8>]) {
    let context = CONTEXT.as_ref().expect("asked for `present` before");
    let program = build(context, &source.text);
    let kernel = Kernel::create(&program, &source.entry).expect("the entry exists");
    let queue = CommandQueue::create_default_with_properties(context, 0, 0).expect("a queue");
    let mut memory: Vec<Buffer<u8>> = vec![];
    for bytes in buffers.iter() {
        // SAFETY: no host pointer is given, and the write below stays within the buffer.
        unsafe {
            let mut buffer = Buffer::create(
                context,
                CL_MEM_READ_WRITE,
                bytes.len().max(8),
                ptr::null_mut(),
            )
            .expect("memory");
            queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, bytes, &[])
                .expect("a copy");
            memory.push(buffer);
        }
    }
    let (mut next_buffer, mut next_scalar, mut lens) = (0, 0, vec![]);
    for (i, Slot { kind, ty }) in source.slots.iter().enumerate() {
        let index = |v: u64| v.to_ne_bytes()[..ty.size()].to_vec();
        let bytes = match kind {
            SlotKind::Buffer { .. } | SlotKind::Output(_) | SlotKind::Faults => {
                lens.push((buffers[next_buffer].len() / ty.size()) as u64);
                // SAFETY: a `cl_mem` is what a buffer argument takes.
                unsafe { kernel.set_arg(i as u32, &memory[next_buffer].get()) }.expect("argument");
                next_buffer += 1;
                continue;
            }
            SlotKind::Len(_) => index(*lens.last().expect("a length follows its buffer")),
            SlotKind::Scalar(_) => {
                next_scalar += 1;
                scalars[next_scalar - 1].clone()
            }
            SlotKind::Shared(_) => panic!("run on devices by the backends' tests"),
            SlotKind::Extent(axis) => index(if axis.index() == 0 { n } else { 1 }),
            SlotKind::Grid(axis) => index(if axis.index() == 0 { n.div_ceil(4) } else { 1 }),
        };
        // SAFETY: the bytes have the size of the slot's type.
        unsafe {
            opencl3::kernel::set_kernel_arg(
                kernel.get(),
                i as u32,
                bytes.len(),
                bytes.as_ptr().cast::<c_void>(),
            )
        }
        .expect("argument");
    }
    let threads = n.div_ceil(4) as usize * 4;
    // SAFETY: the arguments are set, and the generated kernel performs the checks that the variant selects.
    unsafe {
        queue
            .enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &threads, &4, &[])
            .expect("a launch");
        for (bytes, buffer) in buffers.iter_mut().zip(&memory) {
            queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, bytes, &[])
                .expect("a copy");
        }
    }
}
