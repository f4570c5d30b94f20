//! Tests of the planner of the optimizer.

use std::collections::HashSet;
use std::process::Command;

use super::super::optimize::{Kept, Planning};
use super::super::plan::Plan;
use super::*;
use crate::plugin::tag::DeviceKind;
use crate::settings::Optimize;
use sarek_ir::optimize::Optimization;
use sarek_ir::{AtomicOp, Axis, Builtin, DivideOp};

/// A GPU with 100 processors.
fn large_gpu() -> Arc<GpuBackend> {
    GpuBackend::with("gpu", 1, |info| {
        info.kind = DeviceKind::gpu();
        info.compute_units = 100;
    })
}

/// The plan of `axpy` over `n` elements on a GPU.
fn planned(n: usize, optimize: bool, change: impl FnOnce(&mut Call<'_>)) -> Plan {
    let gpu = GpuBackend::with("gpu", 1, |info| info.kind = DeviceKind::gpu());
    planned_on(&gpu, n, optimize, change)
}

fn planned_on(
    gpu: &Arc<GpuBackend>,
    n: usize,
    optimize: bool,
    change: impl FnOnce(&mut Call<'_>),
) -> Plan {
    let mut def = kernels::axpy();
    def.optimize = optimize;
    let def = kernels::leak(def);
    let (x, mut y) = (Vector::<f32>::zeros(n), Vector::<f32>::zeros(n));
    // SAFETY: these are the arguments of `axpy`.
    let launch: Launch<'_> =
        unsafe { Launch::of(def, [1.0f32.into(), (&x).into(), (&mut y).into()]) };
    let mut ready = launch.over(n);
    change(&mut ready.call);
    ready.plan(&device(gpu).0).unwrap()
}

fn kept(plan: &Plan) -> Option<Kept> {
    plan.optimized.as_ref()?.as_ref().err().copied()
}

#[test]
fn a_large_launch_starts_fewer_threads() {
    let n = 1 << 20;
    let plan = planned(n, true, |_| ());
    assert_eq!(plan.asked.extent, [n as u64, 1, 1]);
    assert_eq!(plan.space.extent, [n as u64 / 4, 1, 1]);
    assert_eq!(
        u64::from(plan.grid[0]) * u64::from(plan.space.block[0]),
        n as u64 / 4
    );
    // Lanes that do not exist are left out by the kernel.
    let plan = planned(n + 1, true, |_| ());
    assert_eq!(plan.space.extent, [n as u64 / 4 + 1, 1, 1]);
}

#[test]
fn merged_threads_may_have_a_folded_grid() {
    let n = 1 << 20;
    let gpu = GpuBackend::with("gpu", 1, |info| {
        info.kind = DeviceKind::gpu();
        info.max_grid = [1000; 3];
    });
    let plan = planned_on(&gpu, n, true, |_| ());
    assert_eq!(plan.space.extent, [n as u64 / 4, 1, 1]);
    assert!(plan.is_folded() && plan.grid[0] <= 1000 && plan.grid[1] > 1);
}

#[test]
fn other_launches_run_as_written() {
    let n = 1 << 20;
    assert_eq!(kept(&planned(1000, true, |_| ())), Some(Kept::Small));
    assert_eq!(kept(&planned(n, false, |_| ())), Some(Kept::Forbidden));
    // A replay may bind vectors that begin anywhere.
    assert_eq!(
        kept(&planned(n, true, |call| call.rebound = true)),
        Some(Kept::NoPattern)
    );
    let software = GpuBackend::new("software", 1);
    assert_eq!(
        kept(&planned_on(&software, n, true, |_| ())),
        Some(Kept::NoGpu)
    );
    let plan = planned_on(&software, n, true, |_| ());
    assert_eq!(plan.space, plan.asked);
}

/// The plan of a product of matrices with `n` rows, columns and turns on a device with 100 processors.
fn planned_product(n: usize) -> Plan {
    let s = Sketch::new("product");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice("b", Scalar::F32));
    let (c, size) = (s.slice_mut("c", Scalar::F32), s.scalar("n", Scalar::Usize));
    let id = |axis| s.id(Builtin::GlobalIdx(axis));
    let (x, y) = (s.let_("x", id(Axis::X)), s.let_("y", id(Axis::Y)));
    let sum = s.let_mut("sum", s.f32(0.0));
    s.for_("k", s.n(0), s.arg(size), |k, _| {
        let left = s.load(a, y.get() * s.arg(size) + k.get());
        let right = s.load(b, k.get() * s.arg(size) + x.get());
        s.set(sum, sum.get() + left * right);
    });
    s.store(c, y.get() * s.arg(size) + x.get(), sum.get());
    let mut def = kernels::def(s.finish(), kernels::axpy().direct.run);
    def.optimize = true;
    let def = kernels::leak(def);
    let gpu = large_gpu();
    let (a, b) = (Vector::<f32>::zeros(n * n), Vector::<f32>::zeros(n * n));
    let mut c = Vector::<f32>::zeros(n * n);
    // SAFETY: these are the arguments of `product`, which is not run.
    let launch: Launch<'_> =
        unsafe { Launch::of(def, [(&a).into(), (&b).into(), (&mut c).into(), n.into()]) };
    launch.over((n, n)).plan(&device(&gpu).0).unwrap()
}

#[test]
fn large_products_are_staged_in_tiles_that_fill_the_device() {
    let tiled = |n| {
        let plan = planned_product(n);
        let optimized = plan.transformed()?;
        let stage = optimized.optimization.stage?;
        assert_eq!(optimized.kernel.block, Some(plan.space.block));
        assert_eq!(plan.shared.len(), 2);
        let block = plan.space.block.map(u64::from);
        let threads = [0, 1, 2].map(|axis| plan.space.grid[axis] * block[axis]);
        assert_eq!(plan.space.extent, threads);
        Some((stage.tile, plan.space.block, stage.rest, stage.missing))
    };
    let (whole, large, middle) = ([0; 3], [128, 128, 1], [128, 64, 1]);
    assert_eq!(tiled(2048), Some((large, [16, 16, 1], false, whole)));
    assert_eq!(tiled(1024), Some((middle, [16, 16, 1], false, whole)));
    assert_eq!(tiled(1001), Some((middle, [16, 16, 1], true, [23, 23, 0])));
    assert_eq!(tiled(512), Some(([64, 64, 1], [8, 16, 1], false, whole)));
    assert_eq!(tiled(256), None);
}

/// The plan of a histogram of `n` words over `threads` threads with `len` counters, on a device with 100 processors.
fn planned_counts(n: usize, threads: usize, len: usize) -> Plan {
    let s = Sketch::new("counts");
    let (x, counts) = (s.slice("x", Scalar::U32), s.atomics("counts", Scalar::U32));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.if_(i.get().lt(s.len(x)), || {
        let at = s.load(x, i.get()).divide(DivideOp::Rem, s.u32(len as u32));
        s.atomic_discard(AtomicOp::Add, counts, at.cast(Scalar::Usize), &[s.u32(1)]);
    });
    let mut def = kernels::def(s.finish(), kernels::axpy().direct.run);
    def.optimize = true;
    let def = kernels::leak(def);
    let gpu = large_gpu();
    let (x, counts) = (Vector::<u32>::zeros(n), Vector::<u32>::zeros(len));
    // SAFETY: these are the arguments of `counts`, which is not run.
    let launch: Launch<'_> = unsafe { Launch::of(def, [(&x).into(), (&counts).into()]) };
    launch.over(threads).plan(&device(&gpu).0).unwrap()
}

#[test]
fn blocks_of_a_histogram_count_in_shared_memory() {
    let copies = |n, threads, len| {
        let plan = planned_counts(n, threads, len);
        let optimized = plan.transformed()?;
        let copies = optimized.optimization.privatize?;
        let merges = &optimized.optimization.merges;
        assert_eq!(plan.space.block, [copies.block, 1, 1]);
        assert_eq!(plan.shared[..], [len as u64]);
        let block = u64::from(copies.block);
        assert_eq!(plan.space.extent[0], plan.space.grid[0] * block);
        // All threads have work, in four blocks for each processor or more.
        let lanes: u64 = merges.iter().map(|merge| u64::from(merge.factor)).product();
        let each = lanes * u64::from(copies.turns);
        assert!(plan.space.extent[0] * each >= threads as u64);
        assert!((plan.space.extent[0] - block) * each < threads as u64);
        Some((lanes, copies.turns, copies.missing[0]))
    };
    assert_eq!(copies(1 << 24, 1 << 24, 256), Some((4, 16, 0)));
    // The guard of the kernel excludes the threads that a block has too many.
    assert_eq!(copies((1 << 24) + 4, (1 << 24) + 8, 256), Some((4, 16, 0)));
    // Here no guard excludes them, so that they are counted.
    assert!(copies(1 << 24, (1 << 24) - 4, 256).is_some_and(|(_, _, missing)| missing > 0));
    // Rows of threads that are no multiple of a wide access.
    assert_eq!(copies((1 << 24) + 1, (1 << 24) + 1, 256), Some((4, 16, 0)));
    // Too few threads for so many counters, and copies that do not fit.
    assert_eq!(copies(1 << 18, 1 << 18, 1 << 16), None);
    assert_eq!(copies(1 << 24, 1 << 24, 1 << 14), None);
}

/// The number of structs of [`planned_structs`].
const STRUCTS: usize = 1 << 17;

/// The plan of a kernel that doubles structs of `words` floats, with a thread for each.
fn planned_structs(words: usize) -> Plan {
    planned_structs_by(words, |launch| launch.over(STRUCTS))
}

/// The same for threads that are launched in this way.
fn planned_structs_by(words: usize, by: fn(Launch<'_>) -> Ready<'_>) -> Plan {
    let s = Sketch::new("structs");
    let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    let at = |word: usize| i.get() * s.n(words as u64) + s.n(word as u64);
    let values: Vec<_> = (0..words)
        .map(|word| s.let_("value", s.load(x, at(word))))
        .collect();
    for (word, value) in values.iter().enumerate() {
        s.store(y, at(word), value.get() + value.get());
    }
    let mut def = kernels::def(s.finish(), kernels::axpy().direct.run);
    def.optimize = true;
    let def = kernels::leak(def);
    let (x, mut y) = (
        Vector::<f32>::zeros(STRUCTS * words),
        Vector::<f32>::zeros(STRUCTS * words),
    );
    // SAFETY: these are the arguments of `structs`, which is not run.
    let launch: Launch<'_> = unsafe { Launch::of(def, [(&x).into(), (&mut y).into()]) };
    by(launch).plan(&device(&large_gpu()).0).unwrap()
}

#[test]
fn structs_of_several_words_are_accessed_by_wide_words() {
    let plan = planned_structs(8);
    let optimized = plan.transformed().expect("it has a plan");
    let Optimization {
        merges, aligned, ..
    } = &optimized.optimization;
    assert_eq!((merges.len(), aligned.len()), (0, 2));
    assert_eq!(plan.space, plan.asked);
    let words = optimized.optimization.to_string();
    assert!(words.contains("at once"), "{words}");
    // The words of a thread begin at no multiple of a wide access.
    assert_eq!(kept(&planned_structs(3)), Some(Kept::NoPattern));
}

/// A kernel may ask for the sizes of its blocks.
#[test]
fn wide_words_leave_blocks_as_they_were_launched() {
    let plan = planned_structs_by(8, |launch| launch.grid(STRUCTS / 64).block(64));
    let optimized = plan.transformed().expect("it has a plan");
    assert_eq!(optimized.space, plan.asked);
    assert_eq!(plan.space.block, [64, 1, 1]);
}

/// The plan of a stencil over rows, columns and planes.
fn planned_planes(extent: [usize; 3]) -> Plan {
    let s = Sketch::new("planes");
    let (x, y) = (s.slice("x", Scalar::F32), s.slice_mut("y", Scalar::F32));
    let n = s.scalar("n", Scalar::Usize);
    let id = |axis| s.id(Builtin::GlobalIdx(axis));
    let row = s.let_("row", id(Axis::Z) * s.arg(n) + id(Axis::Y));
    let at = s.let_("at", (row.get() + s.n(1)) * s.arg(n) + id(Axis::X));
    let beside = s.load(x, at.get() + s.n(1)) + s.load(x, at.get() + s.n(2));
    let rows = s.load(x, at.get() + s.arg(n)) + s.load(x, at.get() - s.arg(n));
    s.store(y, at.get(), s.load(x, at.get()) + beside + rows);
    let mut def = kernels::def(s.finish(), kernels::axpy().direct.run);
    def.optimize = true;
    let def = kernels::leak(def);
    let [wide, high, deep] = extent;
    let len = wide * (high * deep + 4);
    let (x, mut y) = (Vector::<f32>::zeros(len), Vector::<f32>::zeros(len));
    // SAFETY: these are the arguments of `planes`, which is not run.
    let launch: Launch<'_> =
        unsafe { Launch::of(def, [(&x).into(), (&mut y).into(), wide.into()]) };
    launch
        .over((wide, high, deep))
        .plan(&device(&large_gpu()).0)
        .unwrap()
}

#[test]
fn stencils_with_planes_are_merged_along_x() {
    let merges = |extent| {
        let plan = planned_planes(extent);
        let optimized = plan.transformed().expect("it has a plan");
        let merges = optimized.optimization.merges.iter();
        merges
            .map(|merge| (merge.axis, merge.factor))
            .collect::<Vec<_>>()
    };
    assert_eq!(merges([64, 64, 64]), [(Axis::X, 4)]);
    assert_eq!(merges([63, 64, 64]), [(Axis::Y, 4)]);
    assert_eq!(merges([512, 512, 1]), [(Axis::Y, 4)]);
}

#[test]
fn launches_with_the_same_plan_share_a_kernel() {
    let mut def = kernels::axpy();
    def.optimize = true;
    let def = kernels::leak(def);
    let gpu = device(&large_gpu()).0;
    let plan = |n: usize| {
        let (x, mut y) = (Vector::<f32>::zeros(n), Vector::<f32>::zeros(n));
        // SAFETY: these are the arguments of `axpy`, which is not run.
        let launch: Launch<'_> =
            unsafe { Launch::of(def, [1.0f32.into(), (&x).into(), (&mut y).into()]) };
        launch.over(n).plan(&gpu).unwrap()
    };
    let [first, other, ragged] = [1 << 20, (1 << 20) - 400, (1 << 20) - 399].map(plan);
    let kernel = |plan: &Plan| plan.transformed().expect("it has a plan").kernel.clone();
    assert!(Arc::ptr_eq(&kernel(&first), &kernel(&other)));
    assert!(!Arc::ptr_eq(&kernel(&first), &kernel(&ragged)));
}

/// The plan of `axpy` for a seed.
fn seeded(seed: u64, n: usize) -> Option<Optimization> {
    let mut def = kernels::axpy();
    def.optimize = true;
    let def = kernels::leak(def);
    let (x, mut y) = (Vector::<f32>::zeros(n), Vector::<f32>::zeros(n));
    // SAFETY: these are the arguments of `axpy`, which is not run.
    let launch: Launch<'_> =
        unsafe { Launch::of(def, [1.0f32.into(), (&x).into(), (&mut y).into()]) };
    let ready = launch.over(n);
    let device = device(&GpuBackend::new("software", 1)).0;
    let plan = ready.plan(&device).unwrap();
    let planning = Planning {
        call: &ready.call,
        info: device.info(),
        space: plan.asked,
        proof: &plan.proof,
        target: "fake",
        ends_loops: false,
        mode: Optimize::Seed(seed),
    };
    planning.choose().ok().map(|own| own.optimization.clone())
}

#[test]
fn seeds_select_plans() {
    let all: Vec<_> = (0..60).map(|seed| seeded(seed, 100)).collect();
    // Also small launches on software devices are transformed.
    assert!(all.iter().all(Option::is_some));
    let again: Vec<_> = (0..60).map(|seed| seeded(seed, 100)).collect();
    assert_eq!(all, again);
    let different: HashSet<_> = all.iter().collect();
    assert!(different.len() > 8, "{}", different.len());
    let plans = || all.iter().flatten();
    assert!(plans().any(|plan| plan.aligned.is_empty()));
    assert!(plans().any(|plan| !plan.aligned.is_empty()));
}

/// Set in a child process, whose disk cache is a folder of the test.
const CHILD: &str = "SAREK_TEST_OPTIMIZED";

#[test]
fn transformed_kernels_are_compiled_once_for_all_processes() {
    if std::env::var(CHILD).is_ok() {
        let launch = |n: usize| {
            let (device, stats) = device(&large_gpu());
            stats.keeps_artifacts.store(true, Relaxed);
            let mut def = kernels::axpy();
            def.optimize = true;
            let def = kernels::leak(def);
            let (x, mut y) = (Vector::<f32>::zeros(n), Vector::<f32>::zeros(n));
            // SAFETY: these are the arguments of `axpy`.
            let launch: Launch<'_> =
                unsafe { Launch::of(def, [1.0f32.into(), (&x).into(), (&mut y).into()]) };
            launch.over(n).run_on(&device).unwrap();
            stats.compiles.load(Relaxed)
        };
        let (small, large) = (1000, 1 << 20);
        println!("compiled {} {}", launch(small), launch(large));
        // The texts of the transformed kernel and of the other one differ.
        println!("written {}", crate::cache::status().written);
        return;
    }
    let folder = std::env::temp_dir().join(format!("sarek-optimized-{}", std::process::id()));
    let run = || {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "launch::tests::optimize::transformed_kernels_are_compiled_once_for_all_processes",
                "--exact",
                "--nocapture",
            ])
            .env(CHILD, "1")
            .env("SAREK_CACHE", &folder)
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        String::from_utf8_lossy(&child.stdout).into_owned()
    };
    let (first, second) = (run(), run());
    let _ = std::fs::remove_dir_all(&folder);
    assert!(first.contains("compiled 1 1\nwritten 2"), "{first}");
    assert!(second.contains("compiled 0 0\nwritten 0"), "{second}");
}
