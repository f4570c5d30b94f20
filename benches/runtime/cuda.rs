//! Compares the backend `cuda` with direct calls of the driver.

use std::ffi::c_void;

use cudarc::driver::result::{self, ctx, device, graph, module, primary_ctx, stream};
use cudarc::driver::sys::{
    CUdeviceptr, CUfunction, CUgraphExec, CUgraphInstantiate_flags, CUstream, CUstreamCaptureMode,
};
use sarek::prelude::*;
use sarek_backends::cuda::nvrtc;

use crate::common::Fallible;
use crate::common::input::floats;
use crate::common::runner::{Case, Runner, Work};
use crate::{NODES, gather, saxpy};

#[path = "transfer_methods.rs"]
mod transfer_methods;

/// The number of threads of a launch.
const THREADS: usize = 256;

/// The number of elements of a transferred vector: 256 MiB.
const LARGE: usize = 64 << 20;

/// The text that sarek renders for `saxpy`, with the same parameters.
pub const TEXT: &str = "extern \"C\" __global__ void saxpy(const float a, const float* __restrict__ x, \
    float* __restrict__ y, const unsigned int y_len, const unsigned int global_dim_x) {\n\
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
    if (i >= global_dim_x) { return; }\n\
    if (i < y_len) { y[i] = a * x[i] + y[i]; }\n}\n";

/// The baseline, which uses only the driver.
struct Raw {
    function: CUfunction,
    stream: CUstream,
    x: CUdeviceptr,
    y: CUdeviceptr,
}

impl Raw {
    fn new(arch: &str) -> Fallible<Raw> {
        let binary = nvrtc::compile("saxpy", TEXT, arch)?;
        result::init()?;
        // SAFETY: the device is from the driver, and its context and the module are never released. An ELF image contains
        // its own length, and PTX ends with a zero byte. The memory has the requested size.
        unsafe {
            ctx::set_current(primary_ctx::retain(device::get(0)?)?)?;
            let module = module::load_data(binary.bytes.as_ptr().cast())?;
            Ok(Raw {
                function: module::get_function(module, c"saxpy".into())?,
                stream: stream::create(stream::StreamKind::NonBlocking)?,
                x: result::malloc_sync(4 * THREADS)?,
                y: result::malloc_sync(4 * THREADS)?,
            })
        }
    }

    fn launch(&self) -> Fallible {
        let (mut a, mut x, mut y) = (0.5f32, self.x, self.y);
        let (mut len, mut extent) = (THREADS as u32, THREADS as u32);
        let mut pointers: [*mut c_void; 5] = [
            (&raw mut a).cast(),
            (&raw mut x).cast(),
            (&raw mut y).cast(),
            (&raw mut len).cast(),
            (&raw mut extent).cast(),
        ];
        let (function, block) = (self.function, (THREADS as u32, 1, 1));
        // SAFETY: the arguments are those of the kernel, in its order; they are copied by the call.
        unsafe {
            result::launch_kernel(function, (1, 1, 1), block, 0, self.stream, &mut pointers)
        }?;
        Ok(())
    }

    fn sync(&self) -> Fallible {
        // SAFETY: the stream lives to the end of the program.
        unsafe { stream::synchronize(self.stream) }?;
        Ok(())
    }

    /// Captures [`NODES`] launches as a graph.
    fn graph(&self) -> Fallible<CUgraphExec> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream and the captured graph live to the end of the program.
        unsafe {
            stream::begin_capture(self.stream, mode)?;
            (0..NODES).try_for_each(|_| self.launch())?;
            let captured = stream::end_capture(self.stream)?;
            Ok(graph::instantiate(captured, CUgraphInstantiate_flags(0))?)
        }
    }
}

fn case(kernel: &'static str, against: &'static str, size: String, work: Work) -> Case {
    Case {
        kernel,
        against,
        size,
        work,
    }
}

pub fn run(runner: &Runner, device: &Device) -> Fallible {
    let facts = device.debug_info();
    let arch = facts
        .get("architecture")
        .ok_or("the device does not tell its architecture")?;
    let raw = Raw::new(arch)?;
    println!("cuda: {}", device.name());
    launches(runner, device, &raw)?;
    graphs(runner, device, &raw)?;
    transfers(runner, device, &raw)?;
    transfer_methods::run(runner, device)
}

fn launches(runner: &Runner, device: &Device, raw: &Raw) -> Fallible {
    if !runner.wants("cuda launch") {
        return Ok(());
    }
    let (x, mut y) = (
        Vector::from_vec(floats(THREADS, 0.1, 2.0)),
        Vector::zeros(THREADS),
    );
    // The indices of `gather` cannot be proved in bounds, so its program records faults.
    let index = Vector::from_vec((0..THREADS as u32).collect::<Vec<_>>());
    let size = || THREADS.to_string();
    let mut state = (&x, &mut y);
    let mut row = |name, ours: &mut dyn FnMut(&Vector<f32>, &mut Vector<f32>) -> Fallible| {
        runner.time_queuing(
            &case(name, "cuLaunch", size(), Work::Launch),
            &mut state,
            |(x, y), count| (0..count).try_for_each(|_| ours(x, y)),
            |_, count| (0..count).try_for_each(|_| raw.launch()),
            |_| {
                device.sync()?;
                raw.sync()
            },
        )
    };
    row("cuda launch", &mut |x, y| {
        Ok(saxpy(0.5, x, y).over(THREADS).run_on(device)?)
    })?;
    // As in the README: each launch chooses the best device.
    row("cuda run", &mut |x, y| {
        Ok(saxpy(0.5, x, y).over(THREADS).run()?)
    })?;
    row("cuda gather", &mut |x, y| {
        Ok(gather(&index, x, y).over(THREADS).run_on(device)?)
    })?;
    let stream = device.new_stream()?;
    row("cuda enqueue", &mut |x, y| {
        saxpy(0.5, x, y).over(THREADS).enqueue(&stream)?;
        Ok(())
    })
}

fn graphs(runner: &Runner, device: &Device, raw: &Raw) -> Fallible {
    if !runner.wants("cuda graph") {
        return Ok(());
    }
    let (replayed, x, mut y) = crate::graph(device, THREADS)?;
    replayed.replay((&x, &mut y))?;
    let expected: Vec<f32> = x
        .map(|x| (0..NODES).fold(0.0, |y, _| 0.5 * x + y))?
        .to_vec()?;
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
    if !y.as_slice()?.iter().zip(&expected).all(near) {
        return Err("the graph computes something else".into());
    }
    println!("{replayed:?}");
    let by_hand = raw.graph()?;
    let mut state = (&x, &mut y);
    runner.time(
        &case(
            "cuda graph",
            "cuGraph",
            format!("{NODES} x {THREADS}"),
            Work::Launch,
        ),
        &mut state,
        |(x, y), count| {
            for _ in 0..count {
                replayed.replay((*x, &mut **y))?;
            }
            Ok(device.sync()?)
        },
        |_, count| {
            for _ in 0..count {
                // SAFETY: both live to the end of the program.
                unsafe { graph::launch(by_hand, raw.stream) }?;
            }
            raw.sync()
        },
    )
}

fn transfers(runner: &Runner, device: &Device, raw: &Raw) -> Fallible {
    if !runner.wants("cuda upload") && !runner.wants("cuda download") {
        return Ok(());
    }
    let bytes = 4 * LARGE;
    let mut host = floats(LARGE, 0.1, 2.0);
    let mut vector = Vector::zeros(LARGE);
    // Only the device has a current copy.
    saxpy(0.0, &Vector::zeros(LARGE), &mut vector)
        .over(LARGE)
        .run_on(device)?;
    vector.write(0, &host)?;
    if vector.read(..)? != host {
        return Err("256 MiB came back changed".into());
    }
    // SAFETY: the context is current. The memory is used only below, and is never freed.
    let (memory, pinned) = unsafe {
        let pinned = result::malloc_host(bytes, 0)?;
        pinned.cast::<u8>().write_bytes(0, bytes);
        (
            result::malloc_sync(bytes)?,
            std::slice::from_raw_parts_mut(pinned.cast::<u8>(), bytes),
        )
    };
    let mut state = (&mut vector, &mut host, pinned);
    let size = || "256 MiB".to_owned();
    if runner.wants("cuda upload") {
        runner.time(
            &case("cuda upload", "page-locked", size(), Work::Bytes(bytes)),
            &mut state,
            |(vector, host, _), count| {
                (0..count).try_for_each(|_| vector.write(0, host))?;
                Ok(device.sync()?)
            },
            |(.., pinned), count| {
                for _ in 0..count {
                    // SAFETY: both have the same size, and nothing accesses them before the stream is finished.
                    unsafe { result::memcpy_htod_async(memory, pinned, raw.stream) }?;
                }
                raw.sync()
            },
        )?;
    }
    if runner.wants("cuda download") {
        runner.time(
            &case("cuda download", "page-locked", size(), Work::Bytes(bytes)),
            &mut state,
            |(vector, host, _), count| Ok((0..count).try_for_each(|_| vector.read_into(0, host))?),
            |(.., pinned), count| {
                for _ in 0..count {
                    // SAFETY: as above.
                    unsafe { result::memcpy_dtoh_async(pinned, memory, raw.stream) }?;
                }
                raw.sync()
            },
        )?;
    }
    Ok(())
}
