//! Launches that leave the block size open: the backend picks it, or the framework does.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use sarek::backend::{
    Backend, BackendDevice, BackendStream, BlockRequest, Codegen, DeviceInfo, Mem, OpenBlocks,
    Program,
};
use sarek::prelude::*;
use sarek::{Error, Result, registry};

/// Each thread writes the size of its block.
#[kernel]
fn sizes(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = block_dim_x() as u32;
    }
}

/// The same in two dimensions.
#[kernel]
fn plane(width: usize, out: &mut [u32]) {
    let i = global_idx_y() * width + global_idx_x();
    if global_idx_x() < width && i < out.len() {
        out[i] = (1000 * block_dim_y() + block_dim_x()) as u32;
    }
}

#[kernel(block = 32)]
fn fixed(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = block_dim_x() as u32;
    }
}

/// A block reverses its elements in shared memory.
#[kernel]
fn reversed(x: &[u32], out: &mut [u32]) {
    let tile = shared_slice::<u32>(4 * block_dim_x());
    let (t, i) = (thread_idx_x(), global_idx_x());
    if i < x.len() {
        tile[t] = x[i];
    }
    barrier();
    if i < out.len() {
        out[i] = tile[t];
    }
}

/// Adds up all elements, whatever the number of threads.
#[kernel]
fn total(x: &[u32], sum: &[Atomic<u32>]) {
    let mut i = global_idx_x();
    let mut own = 0;
    while i < x.len() {
        own += x[i];
        i += grid_dim_x() * block_dim_x();
    }
    sum[0].fetch_add(own);
}

type Pick = fn(&BlockRequest<'_>) -> Option<[u32; 3]>;

/// The interpreter, with blocks of its own choice.
struct Picky {
    name: &'static str,
    pick: Pick,
}

thread_local! {
    /// The number of times that a backend was asked by this thread.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

impl Backend for Picky {
    fn name(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let mut linked = registry::LINKED.iter().flat_map(|make| make());
        let interpreter = linked.find(|backend| backend.name() == "interpreter");
        let inner = interpreter.expect("the interpreter").open(ordinal)?;
        let mut info = inner.info().clone();
        info.max_shared = 1024;
        let pick = self.pick;
        Ok(Arc::new(PickyDevice { inner, info, pick }))
    }

    fn priority(&self) -> i32 {
        1 // never chosen unasked
    }
}

struct PickyDevice {
    inner: Arc<dyn BackendDevice>,
    info: DeviceInfo,
    pick: Pick,
}

// SAFETY: each call is forwarded to another device; the limits are lower than its own.
unsafe impl BackendDevice for PickyDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        self.inner.codegen()
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.load(program) }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        self.inner.alloc(bytes)
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.inner.stream()
    }

    fn pick_block(&self, request: &BlockRequest<'_>) -> Option<[u32; 3]> {
        ASKED.set(ASKED.get() + 1);
        (self.pick)(request)
    }
}

fn picky(name: &'static str, pick: Pick) -> Device {
    registry::register(Arc::new(Picky { name, pick })).unwrap();
    Device::of(name).unwrap()
}

/// The number of elements of each value, in the order in which they appear.
fn runs(values: &[u32]) -> Vec<(u32, usize)> {
    let chunks = values.chunk_by(|a, b| a == b);
    chunks.map(|chunk| (chunk[0], chunk.len())).collect()
}

fn written(n: usize, run: impl FnOnce(&mut Vector<u32>) -> Result<()>) -> Vec<(u32, usize)> {
    let mut out = Vector::zeros(n);
    run(&mut out).unwrap();
    runs(&out.to_vec().unwrap())
}

#[test]
fn the_backend_picks_the_local_size() {
    let device = picky("picky", |request| match request.threads {
        OpenBlocks::Grid([5, 1, 1]) => Some([48, 1, 1]),
        OpenBlocks::Grid(_) => Some([8, 4, 1]),
        OpenBlocks::Over([100, 1, 1]) if request.kernel.name == "sizes" => Some([10, 1, 1]),
        OpenBlocks::Cover([100, 1, 1]) => Some([64, 1, 1]),
        OpenBlocks::Cover([90, 1, 1]) => Some([50, 1, 1]),
        OpenBlocks::Over(_) | OpenBlocks::Cover(_) => None,
    });
    let on = &device;
    assert_eq!(
        written(400, |out| sizes(out).grid(5).run_on(on)),
        [(48, 240), (0, 160)]
    );
    assert_eq!(
        written(400, |out| sizes(out).over(100).run_on(on)),
        [(10, 100), (0, 300)]
    );
    // The threads are those of every device.
    assert_eq!(
        written(400, |out| sizes(out).cover(100).run_on(on)),
        [(64, 128), (0, 272)]
    );
    // A block that would make more of them run is not used.
    assert_eq!(
        written(400, |out| sizes(out).cover(90).run_on(on)),
        [(96, 96), (0, 304)]
    );
    let all = written(16 * 12, |out| plane(16, out).grid((2, 3)).run_on(on));
    assert_eq!(all, [(4008, 16 * 12)]);
    let stream = device.new_stream().unwrap();
    let queued = written(96, |out| sizes(out).grid(5).enqueue(&stream)?.sync());
    assert_eq!(queued, [(48, 96)]);

    // A size that the user or the kernel sets is no question.
    let before = ASKED.get();
    assert_eq!(
        written(40, |out| sizes(out).grid(5).block(7).run_on(on)),
        [(7, 35), (0, 5)]
    );
    assert_eq!(
        written(99, |out| fixed(out).grid(3).run_on(on)),
        [(32, 96), (0, 3)]
    );
    assert_eq!(
        written(99, |out| fixed(out).over(90).run_on(on)),
        [(32, 90), (0, 9)]
    );
    assert_eq!(ASKED.get(), before);

    assert!(sizes(&mut Vector::zeros(1)).grid(0).run_on(on).is_ok());
}

#[test]
fn a_picked_block_must_fit() {
    fn picks(request: &BlockRequest<'_>) -> Option<[u32; 3]> {
        let OpenBlocks::Grid([which, ..]) = request.threads else {
            return None;
        };
        let block = [[0, 1, 1], [4096, 1, 1], [65, 1, 1], [64, 1, 1]][which as usize - 1];
        // The backend can find out by itself.
        assert_eq!(
            request.check(block).is_ok(),
            which == 4 || request.kernel.shared.is_empty() && which == 3
        );
        Some(block)
    }

    let device = picky("unfit", picks);
    let x = Vector::from_vec((0..256).collect());
    for (grid, part) in [
        (
            1,
            "`unfit` picks blocks of 0 for it: such a block has no threads",
        ),
        (2, "blocks of 4096 for it: a block of 4096 is too large"),
        // 4 elements of 4 bytes for each thread, of 1024 bytes.
        (
            3,
            "blocks of 65 for it: a block takes 1040 bytes of shared memory",
        ),
    ] {
        let error = reversed(&x, &mut Vector::zeros(256))
            .grid(grid)
            .run_on(&device);
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Launch { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
    let mut out = Vector::zeros(256);
    reversed(&x, &mut out).grid(4).run_on(&device).unwrap();
    assert_eq!(out.to_vec().unwrap(), x.to_vec().unwrap());
    assert_eq!(
        written(100, |out| sizes(out).grid(3).run_on(&device)),
        [(65, 100)]
    );
}

/// Without a pick, the block is the largest that the device's shared memory has room for.
#[test]
fn the_default_block_has_room() {
    let device = picky("modest", |_| None);
    assert_eq!(
        written(600, |out| sizes(out).grid(2).run_on(&device)),
        [(256, 512), (0, 88)]
    );
    let x = Vector::from_vec((0..300).collect());
    let mut out = Vector::zeros(300);
    reversed(&x, &mut out).grid(3).run_on(&device).unwrap();
    let out = out.to_vec().unwrap();
    assert_eq!(out[..192], x.to_vec().unwrap()[..192]);
    assert_eq!(out[192..], [0; 108], "three blocks of 64");
    let all = written(64 * 24, |out| plane(64, out).grid((2, 3)).run_on(&device));
    assert_eq!(all, [(8032, 64 * 24)]);
}

#[test]
fn every_device_runs_a_number_of_blocks() {
    let x = Vector::from_vec((1..=10_000).collect());
    let own = ["picky", "unfit", "modest"];
    for device in Device::all() {
        if own.contains(&device.backend()) {
            continue;
        }
        for grid in [1, 3, 64] {
            let mut sum = Vector::<u32>::zeros(1);
            total(&x, &mut sum).grid(grid).run_on(&device).unwrap();
            assert_eq!(sum.to_vec().unwrap(), [50_005_000], "{device}");
        }
    }
    let mut sum = Vector::<u32>::zeros(1);
    total(&x, &mut sum).grid(8).run().unwrap();
    assert_eq!(sum.to_vec().unwrap(), [50_005_000]);
}
