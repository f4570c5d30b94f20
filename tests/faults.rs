//! Fault injection: after a device fails, unaffected data is intact and the device is usable again.
//!
//! The failing devices are the accelerators of this machine, each wrapped in a backend that forwards all calls and makes some of
//! them fail. Devices in host memory are not tested: they allocate no device memory and cannot be lost.

use std::any::Any;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use sarek::backend::{
    Backend, BackendDevice, BackendEvent, BackendGraph, BackendStream, Codegen, DeviceInfo,
    GraphOp, Launch, Mem, Program, RawFault, Slice,
};
use sarek::prelude::*;
use sarek::tag::DeviceKind;
use sarek::{Error, Result, registry};

/// Selects the calls that fail.
#[derive(Default)]
struct Control {
    /// The number of allocations so far. All fail from number `from` on, or only number `once`; 0 disables either.
    allocs: AtomicUsize,
    from: AtomicUsize,
    once: AtomicUsize,
    /// The number of calls so far. The device is lost from call number `lost` on; 0 disables this.
    calls: AtomicUsize,
    lost: AtomicUsize,
}

impl Control {
    fn reset(&self) {
        for number in [
            &self.allocs,
            &self.from,
            &self.once,
            &self.calls,
            &self.lost,
        ] {
            number.store(0, Relaxed);
        }
    }

    fn alloc(&self, bytes: usize) -> Result<()> {
        self.call()?;
        let number = self.allocs.fetch_add(1, Relaxed) + 1;
        let from = self.from.load(Relaxed);
        if from > 0 && number >= from || number == self.once.load(Relaxed) {
            let device = "failing".into();
            return Err(Error::OutOfMemory { device, bytes });
        }
        Ok(())
    }

    fn call(&self) -> Result<()> {
        let number = self.calls.fetch_add(1, Relaxed) + 1;
        let lost = self.lost.load(Relaxed);
        match lost > 0 && number >= lost {
            false => Ok(()),
            true => Err(Error::Device {
                device: "failing".into(),
                message: "it was lost".into(),
            }),
        }
    }
}

struct Failing {
    name: &'static str,
    inner: Arc<dyn Backend>,
    control: Arc<Control>,
}

impl Backend for Failing {
    fn name(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> Result<usize, String> {
        self.inner.count().map(|count| count.min(1))
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let inner = self.inner.open(ordinal)?;
        let stream = FailingStream::on(inner.stream(), &self.control);
        Ok(Arc::new(FailingDevice {
            inner,
            stream,
            control: self.control.clone(),
        }))
    }

    fn priority(&self) -> i32 {
        1 // never chosen unasked
    }
}

struct FailingDevice {
    inner: Arc<dyn BackendDevice>,
    stream: Arc<FailingStream>,
    control: Arc<Control>,
}

// SAFETY: each call is forwarded to another device, or fails before that.
unsafe impl BackendDevice for FailingDevice {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn codegen(&self) -> Codegen<'_> {
        self.inner.codegen()
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.inner.load(program) }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        self.control.alloc(bytes)?;
        self.inner.alloc(bytes)
    }

    fn trim(&self) -> Result<()> {
        self.control.call()?;
        self.inner.trim()
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        self.control.call()?;
        Ok(FailingStream::on(self.inner.new_stream()?, &self.control))
    }

    fn fixes_shared(&self) -> bool {
        self.inner.fixes_shared()
    }

    unsafe fn graph(&self, operations: &[GraphOp<'_>]) -> Result<Option<Box<dyn BackendGraph>>> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        let inner = unsafe { self.inner.graph(operations) }?;
        Ok(inner.map(|graph| Box::new(FailingGraph(graph)) as Box<dyn BackendGraph>))
    }
}

struct FailingGraph(Box<dyn BackendGraph>);

// SAFETY: each call is forwarded to another graph, or fails before that.
unsafe impl BackendGraph for FailingGraph {
    unsafe fn replay(&self, stream: &dyn BackendStream) -> Result<()> {
        let stream: &dyn Any = stream;
        let stream: &FailingStream = stream.downcast_ref().expect("a stream of the device");
        stream.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.0.replay(&*stream.inner) }
    }
}

struct FailingStream {
    inner: Arc<dyn BackendStream>,
    control: Arc<Control>,
}

impl FailingStream {
    fn on(inner: Arc<dyn BackendStream>, control: &Arc<Control>) -> Arc<FailingStream> {
        let control = control.clone();
        Arc::new(FailingStream { inner, control })
    }
}

// SAFETY: each call is forwarded to another stream, or fails before that.
unsafe impl BackendStream for FailingStream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.inner.copy_in(dst, src) }
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.inner.copy_out(src, dst) }
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.inner.launch(launch) }
    }

    fn sync(&self) -> Result<()> {
        self.control.call()?;
        self.inner.sync()
    }

    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        self.control.call()?;
        self.inner.record()
    }

    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        self.control.call()?;
        self.inner.wait(event)
    }

    fn is_idle(&self) -> Result<bool> {
        self.control.call()?;
        self.inner.is_idle()
    }

    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.inner.zero(dst) }
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        self.control.call()?;
        // SAFETY: the caller's promise.
        unsafe { self.inner.copy(dst, src) }
    }
}

/// The failing devices, each with its control.
fn failing(name: &'static str) -> Vec<(Device, Arc<Control>)> {
    // Drivers must not be initialised by two threads at once.
    static ONE_BY_ONE: Mutex<()> = Mutex::new(());
    let _one = ONE_BY_ONE.lock();
    Device::all();
    let linked = registry::LINKED.iter().flat_map(|make| make());
    let mut found = Vec::new();
    for inner in linked.filter(|b| !["native", "interpreter"].contains(&b.name())) {
        let of = inner.name();
        if let Err(reason) = inner.count() {
            eprintln!("not run on {of}: {reason}");
            continue;
        }
        let control = Arc::new(Control::default());
        let backend = Failing {
            // A unique name for each test and backend, leaked.
            name: Box::leak(format!("{name} {of}").into_boxed_str()),
            inner,
            control: control.clone(),
        };
        let name = backend.name;
        registry::register(Arc::new(backend)).expect("the name is its own");
        found.push((Device::of(name).expect("its backend has one"), control));
    }
    found
}

#[kernel]
fn add(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] += x[i];
}

#[kernel]
fn print_first(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x[i];
    if i == 0 {
        println!("the first is {}", x[0]);
    }
}

const N: usize = 64;
const LARGE: usize = 1 << 18;

/// Uses every operation of a device that allocates or waits, and returns the results.
fn program(device: &Device) -> Result<Vec<u32>> {
    let stream = device.new_stream()?;
    let ones = Vector::filled(N, 1u32);
    let mut y = Vector::zeros(N);
    add(&ones, &mut y).over(N).enqueue(&stream)?;
    let mut lost = Vector::zeros(N + 1);
    add(&ones, &mut lost).over(N + 1).run_on(device)?;
    let fault = lost.to_vec();
    if !matches!(fault, Err(Error::Fault(_))) {
        return fault;
    }
    let mut large = Vector::filled(LARGE, 1u32);
    add(&y, &mut large).over(N).enqueue(&stream)?;
    let mut parts = large.parts_mut(2)?;
    add(&ones, &mut parts[1]).over(N).run_on(device)?;
    drop(parts);
    let mut printed = Vector::zeros(N);
    print_first(&y, &mut printed).over(N).enqueue(&stream)?;
    let mut z = Vector::zeros(N);
    z.fill_on(&stream, 5)?;
    add(&large, &mut z).over(N).run_on(device)?;
    let mut recording = device.record_graph();
    recording.fill(&mut lost, 0)?;
    recording.launch(add(&z, &mut printed).over(N))?;
    let graph = recording.finish();
    graph.replay((&z, &mut printed, &mut lost))?;
    let event = stream.record()?;
    device.stream().wait(&event)?;
    let mut all = printed.to_vec()?;
    all.extend(large.read(LARGE / 2..LARGE / 2 + 1)?);
    all.extend(Vector::gather([&y, &lost])?.read(N - 1..N + 1)?);
    device.sync()?;
    Ok(all)
}

fn expected() -> Vec<u32> {
    // y is 1, large 2, z 7: together 8.
    [vec![8; N], vec![2, 1, 0]].concat()
}

/// Discards the output of kernels.
fn quiet() {
    sarek::set_output(|_| ());
}

#[test]
fn every_allocation_may_fail() {
    quiet();
    for (device, control) in failing("out of memory") {
        assert_eq!(
            program(&device).expect("nothing fails"),
            expected(),
            "{device}"
        );
        let mut failures = 0;
        for first in 1.. {
            device.trim().expect("nothing is lost");
            control.reset();
            control.from.store(first, Relaxed);
            let tried = program(&device);
            control.reset();
            // After any failure, the device still works and holds no memory.
            let again = program(&device);
            assert_eq!(
                again.expect("nothing fails"),
                expected(),
                "{device}: {first}"
            );
            assert_eq!(device.memory_use().used, 0, "{device}: {first}");
            match tried {
                Ok(found) => {
                    assert_eq!(found, expected());
                    break;
                }
                Err(error) => {
                    let is_expected = matches!(error, Error::OutOfMemory { .. });
                    assert!(is_expected, "{device}: allocation {first}: {error}");
                    failures = first;
                }
            }
            // A single failed allocation is retried after cached memory is freed.
            device.trim().expect("nothing is lost");
            control.reset();
            control.once.store(first, Relaxed);
            let found = program(&device).expect("there is memory the second time");
            assert_eq!(found, expected(), "{device}: {first}");
        }
        println!("{device}: {failures} allocations failed");
        assert!(failures >= 5, "{device}: {failures}");
    }
}

#[test]
fn a_device_may_be_lost_at_every_call() {
    quiet();
    let host = Device::of("native").expect("it is built in");
    for (device, control) in failing("lost") {
        let kept = Vector::from_vec((0..N as u32).collect());
        let mut failures = 0;
        for call in 1.. {
            control.reset();
            // Both the device and the host have a copy of this vector.
            kept.prefetch(&device.stream()).expect("nothing is lost");
            control.reset();
            control.lost.store(call, Relaxed);
            let tried = program(&device);
            let mut y = Vector::filled(N, 1u32);
            // The vector is read from the remaining copy.
            add(&kept, &mut y)
                .over(N)
                .run_on(&host)
                .expect("another device");
            assert_eq!(y.get(N - 1).expect("it is on the host"), N as u32);
            if tried.is_err() {
                let result = add(&kept, &mut y).over(N).run_on(&device);
                let result = result.and_then(|()| device.sync());
                assert!(matches!(result, Err(Error::Device { .. })), "{result:?}");
                assert_eq!(y.get(0).expect("the host had it"), 1, "{device}: {call}");
            }
            control.reset();
            match tried {
                Ok(found) => {
                    assert_eq!(found, expected());
                    break;
                }
                Err(error) => {
                    let is_expected = matches!(error, Error::Device { .. });
                    assert!(is_expected, "{device}: call {call}: {error}");
                    failures = call;
                }
            }
            // When the device is back, leftovers of the failure do no harm.
            let fault = device.sync();
            let known = matches!(fault, Ok(()) | Err(Error::Fault(_)));
            assert!(known, "{device}: {call}: {fault:?}");
            let again = program(&device);
            assert_eq!(again.expect("it is back"), expected(), "{device}: {call}");
        }
        println!("{device}: lost at each of {failures} calls");
        assert!(failures >= 30, "{device}: {failures}");
    }
}

/// Allocates vectors until memory runs out. Software devices share the host's memory, so they get a single vector that is too large.
#[test]
fn a_full_device_goes_on() -> Result<()> {
    let fits_here = |device: &&Device| device.info().max_buffer < (8 << 30);
    let accelerators = Device::all().into_iter().filter(|d| !d.info().host_memory);
    for device in accelerators {
        let hardware = device.info().kind == DeviceKind::gpu();
        if !hardware && !fits_here(&&device) {
            eprintln!("not run on {device}: it takes as much as the host has");
            continue;
        }
        let stream = device.new_stream()?;
        let info = device.info();
        let bytes = match (hardware, info.memory) {
            (false, _) => info.max_buffer + 4,
            // The driver does not report its memory.
            (true, 0) => info.max_buffer,
            (true, memory) => info.max_buffer.min(memory / 12),
        };
        let len = bytes as usize / size_of::<u32>();
        let mut held = Vec::new();
        let full = loop {
            // Untouched pages take no memory on the host.
            let mut v = Vector::<u32>::zeros(len);
            match v.fill_on(&stream, 0).and_then(|()| stream.sync()) {
                Ok(()) => held.push(v),
                Err(error) => break (v, error),
            }
            assert!(held.len() < 100, "{device} has no end");
        };
        let (mut v, error) = full;
        println!(
            "{device}: {} vectors of {bytes} bytes, then: {error}",
            held.len()
        );
        assert!(
            matches!(error, Error::OutOfMemory { .. }),
            "{device}: {error}"
        );
        assert_eq!(v.read(len - 1..)?, [0], "the host has it");
        let ones = Vector::filled(N, 1u32);
        if let Some(last) = held.last_mut() {
            // Existing vectors remain usable.
            let launch = add(&ones, last).over(N);
            match launch.run_on(&device) {
                Ok(()) => assert_eq!(last.read(N - 1..N + 1)?, [1, 0], "{device}"),
                Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
            }
            drop(held);
            v.fill_on(&stream, 0)?;
            assert_eq!(v.read(..1)?, [0], "{device}");
        }
        let mut y = Vector::filled(N, 1u32);
        add(&ones, &mut y).over(N).run_on(&device)?;
        assert_eq!(y.to_vec()?, [2; N], "{device}");
        drop((v, y));
        device.trim()?;
    }
    Ok(())
}
