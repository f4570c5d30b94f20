//! Runs CUDA C through the driver API, without sarek's runtime. It uses the same NVRTC and options as
//! sarek, one stream, and `cuLaunchKernel` with arguments that are prepared once.

use std::cell::OnceCell;
use std::ffi::{CString, c_void};

use cudarc::driver::result::{self, ctx, device, module, primary_ctx, stream};
use cudarc::driver::sys::{CUdeviceptr, CUfunction, CUmodule, CUstream};
use sarek::Element;
use sarek_backends::cuda::nvrtc;

use crate::blas::Blas;
use crate::common::Fallible;
use crate::device::{Baseline, Value};

/// The hand-written kernels on a device.
pub struct Cuda {
    module: CUmodule,
    stream: CUstream,
    blas: OnceCell<Blas>,
}

/// Device memory, which is never freed.
pub struct Memory(CUdeviceptr);

/// A launch with its arguments, or a call of cuBLAS with addresses.
pub enum Launch {
    Kernel {
        function: CUfunction,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        values: Vec<u64>,
    },
    Sgemm(usize, [CUdeviceptr; 3]),
    Sgemv(usize, usize, [CUdeviceptr; 3]),
}

impl Cuda {
    /// Compiles the kernels for `arch` and loads them on the first device.
    pub fn new(arch: &str) -> Fallible<Cuda> {
        let binary = nvrtc::compile(
            "kernels",
            concat!(
                include_str!("kernels.cu"),
                include_str!("blocks.cu"),
                include_str!("tuned.cu"),
                include_str!("shapes.cu")
            ),
            arch,
        )?;
        result::init()?;
        // SAFETY: the device is from the driver; its context is never released.
        unsafe { ctx::set_current(primary_ctx::retain(device::get(0)?)?) }?;
        Ok(Cuda {
            // SAFETY: an ELF image contains its own length, and PTX ends with a zero byte.
            module: unsafe { module::load_data(binary.bytes.as_ptr().cast()) }?,
            stream: stream::create(stream::StreamKind::NonBlocking)?,
            blas: OnceCell::new(),
        })
    }

    /// A product of square matrices by cuBLAS.
    pub fn sgemm(&self, n: usize, matrices: [&Memory; 3]) -> Fallible<Launch> {
        self.blas()?;
        Ok(Launch::Sgemm(n, matrices.map(|memory| memory.0)))
    }

    /// A matrix times a vector by cuBLAS.
    pub fn sgemv(&self, rows: usize, n: usize, operands: [&Memory; 3]) -> Fallible<Launch> {
        self.blas()?;
        Ok(Launch::Sgemv(rows, n, operands.map(|memory| memory.0)))
    }

    fn blas(&self) -> Fallible<&Blas> {
        if self.blas.get().is_none() {
            let _ = self.blas.set(Blas::new(self.stream.cast())?);
        }
        Ok(self.blas.get().expect("it was set"))
    }
}

impl Baseline for Cuda {
    type Buffer = Memory;
    type Launch = Launch;

    const LANGUAGE: &'static str = "CUDA C";

    fn upload<T: Element>(&self, data: &[T]) -> Fallible<Memory> {
        // SAFETY: the memory is as large as the data.
        unsafe {
            let memory = result::malloc_sync(size_of_val(data))?;
            result::memcpy_htod_sync(memory, data)?;
            Ok(Memory(memory))
        }
    }

    fn download<T: Element + Default>(&self, buffer: &Memory, len: usize) -> Fallible<Vec<T>> {
        let mut data = vec![T::default(); len];
        // SAFETY: the memory holds as many elements, and all launches are finished.
        unsafe { result::memcpy_dtoh_sync(&mut data, buffer.0) }?;
        Ok(data)
    }

    fn prepare(
        &self,
        kernel: &str,
        threads: [usize; 2],
        block: [u32; 2],
        args: &[Value<'_, Memory>],
    ) -> Fallible<Launch> {
        let blocks = |axis: usize| (threads[axis] as u32).div_ceil(block[axis]);
        let value = |arg: &Value<'_, Memory>| match arg {
            Value::Buffer(memory) => memory.0,
            Value::U32(value) => u64::from(*value),
            Value::F32(value) => u64::from(value.to_bits()),
        };
        Ok(Launch::Kernel {
            // SAFETY: the module is never unloaded.
            function: unsafe { module::get_function(self.module, CString::new(kernel)?) }?,
            grid: (blocks(0), blocks(1), 1),
            block: (block[0], block[1], 1),
            values: args.iter().map(value).collect(),
        })
    }

    fn queue(&self, launch: &mut Launch) -> Fallible {
        let (function, grid, block, values) = match launch {
            Launch::Kernel {
                function,
                grid,
                block,
                values,
            } => (*function, *grid, *block, values),
            Launch::Sgemm(n, matrices) => return self.blas()?.sgemm(*n, *matrices),
            Launch::Sgemv(rows, n, operands) => return self.blas()?.sgemv(*rows, *n, *operands),
        };
        let mut pointers = [std::ptr::null_mut::<c_void>(); 8];
        for (pointer, value) in pointers.iter_mut().zip(&mut *values) {
            *pointer = std::ptr::from_mut(value).cast();
        }
        let pointers = &mut pointers[..values.len()];
        // SAFETY: the arguments are those of the kernel, in its order; they are copied by the call.
        unsafe { result::launch_kernel(function, grid, block, 0, self.stream, pointers) }?;
        Ok(())
    }

    fn sync(&self) -> Fallible {
        // SAFETY: the stream lives to the end of the program.
        unsafe { stream::synchronize(self.stream) }?;
        Ok(())
    }
}
