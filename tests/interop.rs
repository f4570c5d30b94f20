//! Interoperability: importing memory of other libraries as vectors, and lending vectors to them.

use std::sync::Arc;

use sarek::interop;
use sarek::prelude::*;
use sarek::{Error, Result};

/// Adds `by` to each element.
#[kernel]
fn add(by: u32, v: &mut [u32]) {
    let i = global_idx_x();
    v[i] += by;
}

/// Adds `x` to `y`.
#[kernel]
fn sum(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] += x[i];
}

const N: usize = 300;

fn numbers(from: u32) -> Vec<u32> {
    (from..from + N as u32).collect()
}

fn device(backend: &str) -> Option<Device> {
    match Device::of(backend) {
        Ok(device) => Some(device),
        Err(reason) => {
            eprintln!("not run: {reason}");
            None
        }
    }
}

#[test]
fn borrowed_elements_are_a_vector_for_a_while() -> Result<()> {
    for device in Device::all() {
        let (mut own, more) = (numbers(0), vec![1u32; N]);
        let at = own.as_ptr();
        let ran = Vector::with_slice_mut(&mut own, |v| {
            let here = v.as_slice()?.as_ptr();
            assert_eq!(here, at, "no copy is made");
            add(7, v).over(N).run_on(&device)?;
            Vector::with_slice(&more, |more| sum(more, v).over(N).run_on(&device))?;
            v.set(0, v.get(0)? + 100)?;
            add(1, v).over(N).run_on(&device)
        });
        ran??;
        let mut expected = numbers(9);
        expected[0] += 100;
        assert_eq!(own, expected, "{device}");
    }
    Ok(())
}

#[test]
fn a_fault_is_reported_when_the_elements_come_back() -> Result<()> {
    for device in Device::all() {
        let mut own = numbers(0);
        let ran = Vector::with_slice_mut(&mut own, |v| add(1, v).over(N + 1).run_on(&device));
        let error = match ran {
            Ok(ran) => ran.err(),
            Err(error) => Some(error),
        };
        assert!(
            matches!(error, Some(Error::Fault(_))),
            "{device}: {error:?}"
        );
        let _ = device.sync();
    }
    Ok(())
}

/// An owner whose drop is observable.
struct Owner {
    elements: Vec<u32>,
    _alive: Arc<()>,
}

impl AsMut<[u32]> for Owner {
    fn as_mut(&mut self) -> &mut [u32] {
        &mut self.elements
    }
}

#[test]
fn owners_are_kept_as_long_as_their_vector() -> Result<()> {
    for device in Device::all() {
        let alive = Arc::new(());
        let elements = numbers(5);
        let at = elements.as_ptr();
        let mut v = Vector::from_owner(Owner {
            elements,
            _alive: alive.clone(),
        });
        add(2, &mut v).over(N).run_on(&device)?;
        assert_eq!(v.to_vec()?, numbers(7));
        assert_eq!(
            v.as_slice()?.as_ptr(),
            at,
            "what comes back comes to where it was"
        );
        assert_eq!(Arc::strong_count(&alive), 2);
        v.fill(3)?;
        assert_eq!(v.as_slice()?.as_ptr(), at);
        assert_eq!(v.into_vec()?, [3; N]);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
    Ok(())
}

/// The body of a child process.
#[test]
fn child_takes_a_lent_vector_away() {
    if std::env::var_os("SAREK_TEST_CHILD").is_none() {
        return;
    }
    let mut kept = Vector::zeros(0);
    let mut own = numbers(0);
    let _ = Vector::with_slice_mut(&mut own, |v| std::mem::swap(v, &mut kept));
    unreachable!("the process has ended");
}

#[test]
fn a_lent_vector_cannot_be_taken_away() {
    let this = std::env::current_exe().expect("a test has a program");
    let child = std::process::Command::new(this)
        .args(["child_takes_a_lent_vector_away", "--exact", "--nocapture"])
        .env("SAREK_TEST_CHILD", "1")
        .output()
        .expect("it runs");
    let output = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(
        !child.status.success() && output.contains("was taken away"),
        "{output}"
    );
    assert!(!output.contains("unreachable"), "{output}");
}

#[test]
fn shared_elements_stay_as_they_are() -> Result<()> {
    for device in Device::all() {
        let shared: Arc<[u32]> = numbers(1).into();
        let mut v = Vector::from_shared(shared.clone());
        assert_eq!(v.as_slice()?.as_ptr(), shared.as_ptr(), "no copy is made");
        let mut y = Vector::zeros(N);
        sum(&v, &mut y).over(N).run_on(&device)?;
        add(1, &mut v).over(N).run_on(&device)?;
        assert_eq!(v.to_vec()?, numbers(2), "{device}");
        assert_eq!((&shared[..], y.to_vec()?), (&numbers(1)[..], numbers(1)));
    }
    Ok(())
}

#[test]
fn host_devices_lend_nothing() -> Result<()> {
    let v = Vector::zeros(N);
    let v: &Vector<u32> = &v;
    for device in Device::all() {
        let lent = v.lend(&device.stream());
        assert_eq!(lent.is_err(), device.info().host_memory, "{device}");
    }
    Ok(())
}

#[cfg(all(feature = "cuda", feature = "opencl", feature = "wgpu"))]
#[test]
fn handles_are_those_of_the_backend() -> Result<()> {
    for device in Device::all().iter().filter(|d| !d.info().host_memory) {
        let stream = device.stream();
        let cuda = interop::cuda::context(device).is_ok();
        // SAFETY: the queue is not used.
        let opencl = unsafe { interop::opencl::queue(&stream) }.is_ok();
        let wgpu = interop::wgpu::device_and_queue(device).is_ok();
        let name = device.backend();
        assert_eq!(
            [cuda, opencl, wgpu],
            ["cuda", "opencl", "wgpu"].map(|of| of == name)
        );
    }
    Ok(())
}

#[cfg(feature = "opencl")]
mod opencl {
    use super::*;
    use interop::opencl::opencl3::command_queue::{
        enqueue_read_buffer, enqueue_write_buffer, finish,
    };
    use interop::opencl::opencl3::memory::{CL_MEM_READ_WRITE, create_buffer, release_mem_object};
    use interop::opencl::opencl3::types::{CL_BLOCKING, cl_command_queue, cl_mem};

    const BYTES: usize = N * size_of::<u32>();

    fn write(queue: cl_command_queue, buffer: cl_mem, from: &[u32]) {
        let from = from.as_ptr().cast();
        let none = std::ptr::null();
        // SAFETY: queue and buffer are live, and `from` has `BYTES` bytes.
        unsafe { enqueue_write_buffer(queue, buffer, CL_BLOCKING, 0, BYTES, from, 0, none) }
            .expect("it is written");
    }

    fn read(queue: cl_command_queue, buffer: cl_mem, at: usize) -> Vec<u32> {
        let mut elements = vec![0u32; N];
        let to = elements.as_mut_ptr().cast();
        let none = std::ptr::null();
        // SAFETY: as above.
        unsafe { enqueue_read_buffer(queue, buffer, CL_BLOCKING, at, BYTES, to, 0, none) }
            .expect("it is read");
        elements
    }

    #[test]
    fn buffers_become_vectors() -> Result<()> {
        let Some(device) = device("opencl") else {
            return Ok(());
        };
        let stream = device.stream();
        // SAFETY: neither is released.
        let (context, queue) = unsafe {
            let context = interop::opencl::context(&device)?;
            (context, interop::opencl::queue(&stream)?)
        };
        let none = std::ptr::null_mut();
        // SAFETY: the context is live, and no host memory is named.
        let buffer = unsafe { create_buffer(context, CL_MEM_READ_WRITE, BYTES, none) };
        let buffer = buffer.expect("a buffer");
        write(queue, buffer, &numbers(0));
        // SAFETY: the buffer was written, and is used in the order of the queue.
        let mut v: Vector<u32> = unsafe { interop::opencl::import(&device, buffer) }?;
        assert_eq!((v.len(), v.devices()), (N, vec![device.clone()]));
        add(3, &mut v).over(N).run_on(&device)?;
        assert_eq!(
            read(queue, buffer, 0),
            numbers(3),
            "the kernel wrote the buffer itself"
        );
        assert_eq!(v.to_vec()?, numbers(3));
        // Modified on another device, and copied back into the buffer.
        add(4, &mut v).over(N).run_on(&Device::of("native")?)?;
        add(5, &mut v).over(N).run_on(&device)?;
        assert_eq!(read(queue, buffer, 0), numbers(12));
        drop(v);
        assert_eq!(read(queue, buffer, 0), numbers(12), "it was retained");
        // SAFETY: this is the only remaining reference.
        unsafe { release_mem_object(buffer) }.expect("it is released");
        // A buffer whose size is no multiple of the element's is refused.
        let pairs: Result<Vector<[u32; 7]>> = {
            // SAFETY: as above.
            let odd = unsafe { create_buffer(context, CL_MEM_READ_WRITE, 8, none) };
            // SAFETY: nothing else uses the buffer.
            unsafe { interop::opencl::import(&device, odd.expect("a buffer")) }
        };
        assert!(matches!(pairs, Err(Error::Unsupported { .. })));
        Ok(())
    }

    #[test]
    fn vectors_are_lent() -> Result<()> {
        let Some(device) = device("opencl") else {
            return Ok(());
        };
        let stream = device.new_stream()?;
        // SAFETY: it is not released, and the copies of lent vectors are queued on it.
        let queue = unsafe { interop::opencl::queue(&stream) }?;
        let mut v = Vector::from_vec(numbers(0));
        add(1, &mut v).over(N).run_on(&device)?;
        let lent = v.lend(&stream)?;
        // SAFETY: the buffer is only read, while it is lent.
        let (buffer, at) = unsafe { interop::opencl::buffer(&lent) }?;
        assert!(!lent.is_mutable());
        assert_eq!(read(queue, buffer, at), numbers(1));
        drop(lent);
        let lent = v.lend_mut(&stream)?;
        // SAFETY: the buffer is lent mutably.
        let (buffer, at) = unsafe { interop::opencl::buffer(&lent) }?;
        assert_eq!(at, 0);
        write(queue, buffer, &numbers(50));
        finish(queue).expect("it is done");
        drop(lent);
        assert_eq!(v.to_vec()?, numbers(50), "the host copy was stale");
        // A vector of a failed launch cannot be lent.
        let mut lost = Vector::zeros(1);
        add(1, &mut lost).over(2).run_on(&device)?;
        assert!(matches!(lost.lend(&stream), Err(Error::Fault(_))));
        Ok(())
    }
}

#[cfg(feature = "wgpu")]
mod webgpu {
    use super::*;
    use interop::wgpu::wgpu;

    const BYTES: u64 = (N * size_of::<u32>()) as u64;

    fn buffer(device: &wgpu::Device, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: BYTES,
            usage,
            mapped_at_creation: false,
        })
    }

    fn bytes(elements: &[u32]) -> Vec<u8> {
        elements.iter().flat_map(|v| v.to_ne_bytes()).collect()
    }

    #[test]
    fn buffers_become_vectors_and_vectors_are_lent() -> Result<()> {
        let Some(device) = device("wgpu") else {
            return Ok(());
        };
        let (own, queue) = interop::wgpu::device_and_queue(&device)?;
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let theirs = buffer(&own, usage);
        queue.write_buffer(&theirs, 0, &bytes(&numbers(0)));
        queue.submit([]);
        // SAFETY: the buffer was written; below, uses of it and of the vector do not overlap.
        let mut v: Vector<u32> = unsafe { interop::wgpu::import(&device, theirs.clone()) }?;
        add(3, &mut v).over(N).run_on(&device)?;
        // A submission by the other library between two kernels.
        let target = Vector::<u32>::zeros(N);
        let mut target = target;
        let lent = target.lend_mut(&device.stream())?;
        // SAFETY: the buffer is lent mutably, and the write is submitted before the loan ends.
        let (into, at) = unsafe { interop::wgpu::buffer(&lent) }?;
        let mut encoder = own.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&theirs, 0, &into, at, BYTES);
        queue.submit([encoder.finish()]);
        drop(lent);
        add(10, &mut target).over(N).run_on(&device)?;
        assert_eq!(target.to_vec()?, numbers(13));
        assert_eq!(v.to_vec()?, numbers(3));
        drop(v);
        queue.write_buffer(&theirs, 0, &bytes(&numbers(1)));
        // SAFETY: the buffer was written, and its other vector is dropped.
        let again: Vector<u32> = unsafe { interop::wgpu::import(&device, theirs) }?;
        assert_eq!(
            again.to_vec()?,
            numbers(1),
            "the buffer outlives a vector of it"
        );
        let lacking = buffer(&own, wgpu::BufferUsages::STORAGE);
        // SAFETY: nothing else uses the buffer.
        let lacking = unsafe { interop::wgpu::import::<u32>(&device, lacking) };
        let error = lacking.expect_err("no copies");
        assert!(error.to_string().contains("COPY_SRC"), "{error}");
        Ok(())
    }

    /// A pipeline of the user's that reads vectors.
    const SUM: &str = "
        @group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read> b: array<u32>;
        @group(1) @binding(0) var<storage, read_write> sum: array<u32>;

        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            sum[id.x] = a[id.x] + b[id.x];
        }
    ";

    #[test]
    fn vectors_are_bound_to_pipelines() -> Result<()> {
        let Some(device) = device("wgpu") else {
            return Ok(());
        };
        let (_, adapter) = interop::wgpu::instance_and_adapter(&device)?;
        assert_eq!(adapter.get_info().name, device.name());
        let (own, queue) = interop::wgpu::device_and_queue(&device)?;
        let (mut a, mut b) = (Vector::<u32>::zeros(N), Vector::from_vec(numbers(5)));
        add(3, &mut a).over(N).run_on(&device)?;
        add(1, &mut b).over(N).run_on(&device)?;
        let stream = device.stream();
        let (lent_a, lent_b) = (a.lend(&stream)?, b.lend(&stream)?);
        let (inputs, group) =
            interop::wgpu::bind(&[&lent_a, &lent_b], wgpu::ShaderStages::COMPUTE)?;
        let layout = own.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: false },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let sum = buffer(&own, usage);
        let output = own.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: sum.as_entire_binding(),
            }],
        });
        let module = own.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(SUM.into()),
        });
        let layout = own.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&inputs), Some(&layout)],
            ..Default::default()
        });
        let pipeline = own.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let mut encoder = own.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_bind_group(1, &output, &[]);
        pass.dispatch_workgroups(N as u32, 1, 1);
        drop(pass);
        queue.submit([encoder.finish()]);
        drop((lent_a, lent_b));
        // SAFETY: nothing else uses the buffer from here on.
        let sum: Vector<u32> = unsafe { interop::wgpu::import(&device, sum) }?;
        let expected: Vec<u32> = numbers(6).iter().map(|n| n + 3).collect();
        assert_eq!(sum.to_vec()?, expected);
        Ok(())
    }

    #[test]
    fn what_cannot_be_bound_is_an_error() -> Result<()> {
        let Some(device) = device("wgpu") else {
            return Ok(());
        };
        let stages = wgpu::ShaderStages::COMPUTE;
        let none = interop::wgpu::bind(&[], stages).expect_err("no vectors");
        assert!(none.to_string().contains("without vectors"), "{none}");
        let v = Vector::<u32>::zeros(1);
        let lent = v.lend(&device.stream())?;
        let many = interop::wgpu::bind(&vec![&lent; 100_000], stages).expect_err("too many");
        assert!(many.to_string().contains("bind group"), "{many}");
        Ok(())
    }
}

#[cfg(feature = "cuda")]
mod cuda {
    use super::*;
    use interop::cuda::cudarc::driver::{CudaContext, result};

    #[test]
    fn slices_become_vectors_and_vectors_are_lent() -> Result<()> {
        let Some(device) = device("cuda") else {
            return Ok(());
        };
        let context = CudaContext::new(device.ordinal()).expect("a context");
        let stream = context.default_stream();
        let slice = stream.clone_htod(&numbers(0)).expect("a slice");
        let mut v = interop::cuda::from_slice(&device, slice)?;
        add(3, &mut v).over(N).run_on(&device)?;
        add(4, &mut v).over(N).run_on(&Device::of("native")?)?;
        add(5, &mut v).over(N).run_on(&device)?;
        assert_eq!(v.to_vec()?, numbers(12));
        drop(v);
        // An address with an owner.
        let slice = stream.clone_htod(&numbers(1)).expect("a slice");
        stream.synchronize().expect("it is done");
        let address = slice.leak();
        let alive = Arc::new(());
        // SAFETY: the memory has `N` elements, and is never freed.
        let v: Vector<u32> = unsafe { interop::cuda::import(&device, address, N, alive.clone()) }?;
        assert_eq!((v.to_vec()?, Arc::strong_count(&alive)), (numbers(1), 2));
        drop(v);
        assert_eq!(Arc::strong_count(&alive), 1);
        // Lends a vector to the other library, in stream order.
        let ours = device.new_stream()?;
        let raw = interop::cuda::stream(&ours)?;
        let mut v = Vector::from_vec(numbers(0));
        add(1, &mut v).over(N).run_on(&device)?;
        let lent = v.lend_mut(&ours)?;
        let pointer = interop::cuda::pointer(&lent)?;
        context.bind_to_thread().expect("the context is current");
        let mut seen = vec![0u32; N];
        // SAFETY: the memory is lent for work on this stream, and the code waits for that work.
        unsafe {
            result::memcpy_dtoh_async(&mut seen, pointer, raw).expect("it is read");
            result::memset_d8_async(pointer, 0, N * 4, raw).expect("it is cleared");
            result::stream::synchronize(raw).expect("it is done");
        }
        drop(lent);
        assert_eq!(seen, numbers(1));
        assert_eq!(v.to_vec()?, [0; N]);
        Ok(())
    }
}
