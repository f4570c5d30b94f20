//! Runs OpenCL C through the driver API, without sarek's runtime. It uses one context, one in-order queue, and
//! kernels whose arguments are set once.

use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, Device};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use sarek::Element;

use crate::common::Fallible;
use crate::device::{Baseline, Value};

/// The hand-written kernels on a device.
pub struct OpenCl {
    context: Context,
    queue: CommandQueue,
    program: Program,
}

/// A kernel with its arguments set.
pub struct Launch {
    kernel: Kernel,
    global: [usize; 2],
    local: [usize; 2],
}

impl OpenCl {
    /// Builds the kernels for the first device of this name, with the options that sarek uses.
    pub fn new(name: &str) -> Fallible<OpenCl> {
        let mut devices = vec![];
        for platform in get_platforms()? {
            devices.extend(
                platform
                    .get_devices(CL_DEVICE_TYPE_ALL)?
                    .into_iter()
                    .map(Device::new),
            );
        }
        let named = |device: &Device| device.name().is_ok_and(|n| n.trim() == name);
        let device = devices
            .into_iter()
            .find(named)
            .ok_or("the device is gone")?;
        let rounded = device.single_fp_config()? & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        let options = match rounded {
            true => "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt",
            false => "-cl-std=CL1.2",
        };
        let context = Context::from_device(&device)?;
        let text = concat!(include_str!("kernels.cl"), include_str!("blocks.cl"));
        #[allow(deprecated)] // the function that replaces it needs OpenCL 2
        // SAFETY: the device belongs to the context.
        let queue = unsafe { CommandQueue::create(&context, device.id(), 0) }?;
        Ok(OpenCl {
            program: Program::create_and_build_from_source(&context, text, options)?,
            queue,
            context,
        })
    }
}

impl Baseline for OpenCl {
    type Buffer = Buffer<u8>;
    type Launch = Launch;

    const LANGUAGE: &'static str = "OpenCL C";

    fn upload<T: Element>(&self, data: &[T]) -> Fallible<Buffer<u8>> {
        let bytes = size_of_val(data);
        // SAFETY: elements are plain data, and read as bytes; the write blocks until it is done.
        unsafe {
            let data = std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), bytes);
            let mut buffer =
                Buffer::create(&self.context, CL_MEM_READ_WRITE, bytes, ptr::null_mut())?;
            self.queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, data, &[])?;
            Ok(buffer)
        }
    }

    fn download<T: Element + Default>(&self, buffer: &Buffer<u8>, len: usize) -> Fallible<Vec<T>> {
        let mut data = vec![T::default(); len];
        // SAFETY: the buffer holds as many elements, of a type for which all bytes are valid;
        // the read blocks until it is done.
        unsafe {
            let bytes = data.as_mut_ptr().cast::<u8>();
            let bytes = std::slice::from_raw_parts_mut(bytes, len * size_of::<T>());
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, bytes, &[])?;
        }
        Ok(data)
    }

    fn prepare(
        &self,
        kernel: &str,
        threads: [usize; 2],
        block: [u32; 2],
        args: &[Value<'_, Buffer<u8>>],
    ) -> Fallible<Launch> {
        let kernel = Kernel::create(&self.program, kernel)?;
        for (index, arg) in (0..).zip(args) {
            // SAFETY: the arguments are those of the kernel, in its order.
            unsafe {
                match arg {
                    Value::Buffer(buffer) => kernel.set_arg(index, &buffer.get()),
                    Value::U32(value) => kernel.set_arg(index, value),
                    Value::F32(value) => kernel.set_arg(index, value),
                }
            }?;
        }
        let local = block.map(|n| n as usize);
        let global = [0, 1].map(|axis| threads[axis].next_multiple_of(local[axis]));
        Ok(Launch {
            kernel,
            global,
            local,
        })
    }

    fn queue(&self, launch: &mut Launch) -> Fallible {
        let (global, local) = (launch.global.as_ptr(), launch.local.as_ptr());
        let kernel = launch.kernel.get();
        // SAFETY: all arguments are set, and both sizes have two dimensions.
        unsafe {
            self.queue
                .enqueue_nd_range_kernel(kernel, 2, ptr::null(), global, local, &[])
        }?;
        Ok(())
    }

    fn sync(&self) -> Fallible {
        Ok(self.queue.finish()?)
    }
}
